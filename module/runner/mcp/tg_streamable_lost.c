/*
 * The end of a session, after which another one begins.
 *
 * What servers say of a session that they do not know (any more): the
 * specification has status 404, but many say it in words, with another status,
 * or as an error of JSON-RPC within a 200.
 */
#include "core/tg_rpc.h"
#include "runner/mcp/tg_server.h"
#include "runner/mcp/tg_sessions.h"
#include "runner/tg_log.h"

#include <strings.h>

/* As several SDKs have it. */
#define TG_STREAMABLE_NO_SESSION (-32001)
/* Bytes of a text that are searched for words. */
#define TG_STREAMABLE_WORDS_MAX 4096
/* The same of a body with a status of success, which is no answer. */
#define TG_STREAMABLE_WORDS_OK 1024

static int
tg_streamable_has_word(tg_str_t text, const char *word)
{
    size_t i, len;

    len = strlen(word);

    for (i = 0; i + len <= text.len && i < TG_STREAMABLE_WORDS_MAX; i++) {
        if (strncasecmp(text.data + i, word, len) == 0) {
            return 1;
        }
    }

    return 0;
}

static int
tg_streamable_has_any(tg_str_t text, const char *const *words)
{
    for (; *words != NULL && !tg_streamable_has_word(text, *words); words++) {
        /* void */
    }

    return *words != NULL;
}

/* Does a text say that a session is unknown, or has not begun? */
static int
tg_streamable_tells_lost(tg_str_t text)
{
    static const char *const unknown[] = {
        "not found", "unknown",        "invalid",  "expired",    "no valid",
        "missing",   "not exist",      "no such",  "terminated", "closed",
        "required",  "no longer",      "inactive", "not active", "ended",
        "no active", "not recognized", "stale",    "timed out",  NULL
    };
    static const char *const unbegun[] = { "not initialized",
                                           "not been initialized",
                                           "uninitialized",
                                           "not initialised",
                                           "initialize first",
                                           "before initialization",
                                           NULL };

    return tg_streamable_has_any(text, unbegun)
           || (tg_streamable_has_word(text, "session")
               && tg_streamable_has_any(text, unknown));
}

int
tg_streamable_is_unknown(const tg_streamable_t *streamable,
                         const tg_exchange_t *exchange)
{
    tg_str_t text;

    if (exchange->is_lost) {
        return 1;
    }

    text = tg_buf_view(&exchange->text);

    if (exchange->status == 404 || exchange->status == 410) {
        return streamable->session_id[0] != '\0'
               || exchange->session != streamable->session
               || tg_streamable_tells_lost(text);
    }

    if (exchange->status == 400 && streamable->session_id[0] != '\0'
        && tg_streamable_has_word(text, "session"))
    {
        return 1;
    }

    if (tg_exchange_is_ok(exchange)) {
        return text.len <= TG_STREAMABLE_WORDS_OK
               && memmem(text.data, text.len, "\"result\"", 8) == NULL
               && tg_streamable_tells_lost(text);
    }

    return exchange->status >= 400 && exchange->status != 429
           && tg_streamable_tells_lost(text);
}

/* Is a text what the SDKs of MCP say of a session that has not begun? */
static int
tg_streamable_is_unbegun(tg_str_t text)
{
    static const char *const phrases[] = { "server not initialized",
                                           "request before initialization",
                                           "mcp-session-id", NULL };

    return tg_streamable_has_any(text, phrases);
}

/*
 * An error with the id of the request may be the tool's own: then it must say
 * so in words, and with a code that the tool's own errors rarely have.
 */
static int
tg_streamable_is_lost_error(const tg_exchange_t *exchange,
                            const tg_message_t *message)
{
    tg_str_t raw, text;
    int64_t code;
    uint64_t id;

    code = 0;

    if (tg_json_get(message->error, TG_STR("code"), &raw) != TG_OK
        || tg_json_int64(raw, &code) != TG_OK)
    {
        return 0;
    }

    text = tg_json_has(message->error, TG_STR("message"), TG_JSON_STRING, &raw)
               ? tg_json_body(raw)
               : TG_STR("");

    if (tg_caller_id(message->id, &id) != TG_OK || id != exchange->request) {
        return code == TG_STREAMABLE_NO_SESSION
               || tg_streamable_tells_lost(text);
    }

    return tg_streamable_is_unbegun(text)
           || ((code == TG_STREAMABLE_NO_SESSION || code == -32000
                || code == TG_RPC_REQUEST)
               && tg_streamable_tells_lost(text));
}

int
tg_streamable_says_lost(const tg_streamable_t *streamable,
                        const tg_exchange_t *exchange, tg_str_t line)
{
    tg_message_t message;

    /* Before the handshake there is no session that could be lost. */
    if (exchange->request == 0 || exchange->is_hello || exchange->is_resuming
        || streamable->instance->client.is_modern
        || streamable->instance->state != TG_INSTANCE_READY
        || memmem(line.data, line.len, "\"error\"", 7) == NULL)
    {
        return 0;
    }

    return tg_message_parse(&message, line) == TG_OK
           && message.method.data == NULL
           && tg_json_type(message.error) == TG_JSON_OBJECT
           && tg_streamable_is_lost_error(exchange, &message);
}

/* --- the next session --- */

int
tg_streamable_is_own(const tg_streamable_t *streamable,
                     const tg_exchange_t *exchange)
{
    const tg_instance_t *instance;

    instance = streamable->instance;

    return tg_mcp_client_is_own(
        &instance->client, tg_caller_tag(&instance->caller, exchange->request));
}

/* What the client asked in a session that is over, the next one is asked. */
static void
tg_streamable_forget(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange, *next;

    for (exchange = TAILQ_FIRST(&streamable->exchanges); exchange != NULL;
         exchange = next)
    {
        next = TAILQ_NEXT(exchange, place);

        if (exchange->is_channel || exchange->is_ready
            || (exchange->request != 0
                && tg_streamable_is_own(streamable, exchange)))
        {
            (void) tg_caller_forget(&streamable->instance->caller,
                                    exchange->request);
            tg_streamable_drop(streamable, exchange);
        }
    }
}

int
tg_streamable_renew(tg_streamable_t *streamable, unsigned session)
{
    tg_instance_t *instance;

    instance = streamable->instance;

    if (session != streamable->session) {
        return 1;
    }

    if (instance->state != TG_INSTANCE_READY) {
        return 0;
    }

    tg_instance_log(instance, TG_LOG_INFO,
                    "its session is over, another one begins");
    streamable->session++;
    tg_sessions_over(streamable);
    streamable->version[0] = '\0';
    streamable->channel.nopened = 0;
    tg_streamable_forget(streamable);
    tg_instance_renew(instance);

    return 1;
}
