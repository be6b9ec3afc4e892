/*
 * Detects the end of a session, after which another begins. By the
 * specification, the status is then 404. Many servers use another status with a
 * text, or a JSON-RPC error with status 200.
 */
#include "protocol/tg_rpc.h"
#include "runner/mcp/tg_mcp_server.h"
#include "runner/mcp/tg_mcp_sessions.h"
#include "runner/logging/tg_log.h"

#include <strings.h>

/* Error code of several SDKs for an unknown session. */
#define TG_STREAMABLE_NO_SESSION_CODE (-32001)

/* Maximum number of bytes of a text that are searched for words. */
#define TG_STREAMABLE_WORDS_MAX 4096

/* Maximum size of a successful body that is searched for words. */
#define TG_STREAMABLE_SUCCESS_WORDS_MAX 1024

static int
tg_streamable_has_text(tg_str_t text, const char *word)
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
tg_streamable_has_any_text(tg_str_t text, const char *const *words)
{
    for (; *words != NULL && !tg_streamable_has_text(text, *words); words++) {
        /* void */
    }

    return *words != NULL;
}

/* Checks whether a text says that a session is unknown or uninitialized. */
static int
tg_streamable_is_lost_text(tg_str_t text)
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

    return tg_streamable_has_any_text(text, unbegun)
           || (tg_streamable_has_text(text, "session")
               && tg_streamable_has_any_text(text, unknown));
}

int
tg_streamable_is_session_unknown(const tg_streamable_t *streamable,
                                 const tg_mcp_exchange_t *exchange)
{
    tg_str_t text;

    if (exchange->is_session_lost) {
        return 1;
    }

    text = tg_buf_view(&exchange->text);

    if (exchange->status == 404 || exchange->status == 410) {
        return streamable->session_id[0] != '\0'
               || exchange->session != streamable->session
               || tg_streamable_is_lost_text(text);
    }

    if (exchange->status == 400 && streamable->session_id[0] != '\0'
        && tg_streamable_has_text(text, "session"))
    {
        return 1;
    }

    if (tg_mcp_exchange_is_success(exchange)) {
        return text.len <= TG_STREAMABLE_SUCCESS_WORDS_MAX
               && memmem(text.data, text.len, "\"result\"", 8) == NULL
               && tg_streamable_is_lost_text(text);
    }

    return exchange->status >= 400 && exchange->status != 429
           && tg_streamable_is_lost_text(text);
}

/* Checks for the texts of MCP SDKs about an uninitialized session. */
static int
tg_streamable_is_uninitialized_text(tg_str_t text)
{
    static const char *const phrases[] = { "server not initialized",
                                           "request before initialization",
                                           "mcp-session-id", NULL };

    return tg_streamable_has_any_text(text, phrases);
}

/*
 * Checks whether an error means a lost session. One with the request's id may
 * be the tool's: both its text and code must say so, or it has an SDK's text.
 */
static int
tg_streamable_is_session_lost_error(const tg_mcp_exchange_t *exchange,
                                    const tg_message_t *message)
{
    tg_str_t raw, text;
    int64_t code;
    uint64_t id;

    code = 0;

    if (tg_json_get_member(message->error, TG_STR("code"), &raw) != TG_OK
        || tg_json_parse_int64(raw, &code) != TG_OK)
    {
        return 0;
    }

    text = tg_json_has_member(message->error, TG_STR("message"), TG_JSON_STRING,
                              &raw)
               ? tg_json_string_body(raw)
               : TG_STR("");

    if (tg_caller_parse_id(message->id, &id) != TG_OK
        || id != exchange->request) {
        return code == TG_STREAMABLE_NO_SESSION_CODE
               || tg_streamable_is_lost_text(text);
    }

    return tg_streamable_is_uninitialized_text(text)
           || ((code == TG_STREAMABLE_NO_SESSION_CODE || code == -32000
                || code == TG_RPC_INVALID_REQUEST)
               && tg_streamable_is_lost_text(text));
}

int
tg_streamable_is_session_lost(const tg_streamable_t *streamable,
                              const tg_mcp_exchange_t *exchange, tg_str_t line)
{
    tg_message_t message;

    /* Before the handshake there is no session that could be lost. */
    if (exchange->request == 0 || exchange->is_initialize
        || exchange->is_resuming || streamable->mcp_conn->client.is_modern
        || streamable->mcp_conn->state != TG_MCP_CONN_READY
        || memmem(line.data, line.len, "\"error\"", 7) == NULL)
    {
        return 0;
    }

    return tg_message_parse(&message, line) == TG_OK
           && message.method.data == NULL
           && tg_json_type(message.error) == TG_JSON_OBJECT
           && tg_streamable_is_session_lost_error(exchange, &message);
}

/* --- next session --- */

int
tg_streamable_is_own_request(const tg_streamable_t *streamable,
                             const tg_mcp_exchange_t *exchange)
{
    const tg_mcp_conn_t *mcp_conn;

    mcp_conn = streamable->mcp_conn;

    return tg_mcp_client_is_own_tag(&mcp_conn->client,
                                    tg_caller_find_tag(&mcp_conn->caller,
                                                       exchange->request));
}

/* Drops the client's own requests, which the next session repeats. */
static void
tg_streamable_drop_session_requests(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange, *next;

    TG_TAILQ_FOREACH_SAFE(exchange, &streamable->exchanges, link, next)
    {
        if (exchange->is_listen_stream || exchange->is_initialized
            || (exchange->request != 0
                && tg_streamable_is_own_request(streamable, exchange)))
        {
            (void) tg_caller_forget_request(&streamable->mcp_conn->caller,
                                            exchange->request);
            tg_streamable_drop_exchange(streamable, exchange);
        }
    }
}

int
tg_streamable_renew_session(tg_streamable_t *streamable, unsigned session)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = streamable->mcp_conn;

    if (session != streamable->session) {
        return 1;
    }

    if (mcp_conn->state != TG_MCP_CONN_READY) {
        return 0;
    }

    tg_mcp_conn_log(mcp_conn, TG_LOG_INFO,
                    "its session has ended, a new one begins");
    streamable->session++;
    tg_mcp_sessions_on_ended(streamable);
    streamable->version[0] = '\0';
    streamable->listen_stream.nopened = 0;
    tg_streamable_drop_session_requests(streamable);
    tg_mcp_conn_initialize_again(mcp_conn);

    return 1;
}
