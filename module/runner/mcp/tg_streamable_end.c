/*
 * How an exchange ends: with an answer, or what else became of its request.
 */
#include "base/tg_utf8.h"
#include "runner/http/tg_http_params.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_sessions.h"
#include "runner/tg_log.h"

#include <stdio.h>

/* Of an error's body, in a message. */
#define TG_STREAMABLE_HEAD_MAX 512

static uint64_t
tg_streamable_now(const tg_streamable_t *streamable)
{
    return uv_now(streamable->timer.loop);
}

/* --- what is told --- */

/* A request of the instance's got no answer: the caller hears an error. */
static void
tg_streamable_answer(tg_streamable_t *streamable, const tg_exchange_t *exchange,
                     tg_str_t error)
{
    size_t consumed;
    tg_buf_t line;

    tg_buf_init(&line, tg_alloc_libc());
    tg_buf_text(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    tg_buf_uint(&line, exchange->request);
    tg_buf_text(&line, ",\"error\":");
    tg_json_put_compact(&line, error);
    tg_buf_text(&line, "}\n");

    if (!tg_buf_failed(&line)) {
        (void) tg_instance_input(streamable->instance, line.data, line.len,
                                 &consumed);
    }

    tg_buf_deinit(&line);
}

/* A header that says what to do, if there is one. */
static void
tg_streamable_put_quoted(tg_buf_t *text, const char *name, const char *value)
{
    if (value[0] != '\0') {
        tg_buf_printf(text, " (%s: ", name);
        tg_utf8_put_visible(text, tg_str_c(value), 1);
        tg_buf_char(text, ')');
    }
}

/* Appends how the body begins. */
static void
tg_streamable_put_head(tg_buf_t *text, const tg_exchange_t *exchange)
{
    tg_str_t head;

    head = tg_buf_view(&exchange->text);
    head.len = head.len < TG_STREAMABLE_HEAD_MAX ? head.len
                                                 : TG_STREAMABLE_HEAD_MAX;
    tg_utf8_put_visible(text, head, 1);
}

/* What the server said instead, for people. */
static void
tg_streamable_put_status(tg_buf_t *text, const tg_exchange_t *exchange)
{
    tg_buf_printf(text, "it answered with status %d", exchange->status);
    tg_streamable_put_quoted(text, "Retry-After", exchange->retry_after);
    tg_streamable_put_quoted(text, "WWW-Authenticate", exchange->authenticate);

    if (exchange->is_redirect) {
        tg_buf_text(text, ", a redirect, which is not followed; write the URL "
                          "that it leads to: ");
        tg_utf8_put_visible(text, tg_str_c(exchange->redirect), 1);
        return;
    }

    if (exchange->text.len != 0) {
        tg_buf_text(text, ": ");
        tg_streamable_put_head(text, exchange);
    }
}

/* The error of JSON-RPC that a status comes with; or absent. */
static tg_str_t
tg_streamable_error(const tg_exchange_t *exchange)
{
    tg_message_t message;

    if (tg_message_parse(&message, tg_buf_view(&exchange->text)) != TG_OK
        || tg_json_type(message.error) != TG_JSON_OBJECT)
    {
        return TG_STR_NONE;
    }

    return message.error;
}

/* Appends an error of JSON-RPC. */
static void
tg_streamable_put_error(tg_buf_t *error, tg_str_t text)
{
    tg_buf_printf(error, "{\"code\":%d,\"message\":", TG_RPC_INTERNAL);
    tg_json_put_string(error, text);
    tg_buf_char(error, '}');
}

/* The server's own error, with what its headers say to do. */
static void
tg_streamable_add_quoted(const tg_exchange_t *exchange, tg_str_t raw,
                         tg_buf_t *text, tg_buf_t *error)
{
    static const char *const replaced[] = { "message", NULL };
    tg_str_t message;

    if (tg_json_has(raw, TG_STR("message"), TG_JSON_STRING, &message)) {
        tg_json_put_decoded(text, tg_json_body(message));
    }

    tg_streamable_put_quoted(text, "Retry-After", exchange->retry_after);
    tg_streamable_put_quoted(text, "WWW-Authenticate", exchange->authenticate);
    tg_buf_text(error, "{\"message\":");
    tg_json_put_string(error, tg_buf_view(text));
    (void) tg_json_put_others(error, raw, replaced, 1);
    tg_buf_char(error, '}');
}

static void
tg_streamable_say_status(tg_streamable_t *streamable,
                         const tg_exchange_t *exchange)
{
    tg_buf_t text, error;
    tg_str_t raw;

    raw = tg_streamable_error(exchange);
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());

    if (raw.data == NULL) {
        tg_streamable_put_status(&text, exchange);
        tg_streamable_put_error(&error, tg_buf_view(&text));
        raw = tg_buf_view(&error);

    } else if (exchange->retry_after[0] != '\0'
               || exchange->authenticate[0] != '\0')
    {
        tg_streamable_add_quoted(exchange, raw, &text, &error);
        raw = tg_buf_view(&error);
    }

    if (!tg_buf_failed(&text) && !tg_buf_failed(&error)) {
        tg_streamable_answer(streamable, exchange, raw);
    }

    tg_buf_deinit(&text);
    tg_buf_deinit(&error);
}

/* --- the end of an exchange --- */

/*
 * A request was not answered, as something is in the way.  Without any
 * answer, a server that is to be started cannot be.
 */
static void
tg_streamable_fail(tg_streamable_t *streamable, const tg_exchange_t *exchange,
                   tg_failure_t failure, tg_str_t text)
{
    tg_instance_t *instance;
    tg_buf_t said, error;

    instance = streamable->instance;

    if (!tg_streamable_is_own(streamable, exchange)) {
        tg_instance_give_up(instance, exchange->request, failure, text);
        return;
    }

    /* Some older servers close the connection at a method they do not know. */
    if (instance->state == TG_INSTANCE_STARTING && exchange->status == 0
        && !(exchange->was_sent && instance->client.state == TG_MCP_PROBING))
    {
        (void) snprintf(streamable->why, sizeof(streamable->why), " %.*s",
                        (int) text.len, text.data);
        tg_instance_lost(instance);
        return;
    }

    tg_buf_init(&said, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_text(&said, "it ");
    tg_buf_str(&said, text);
    tg_streamable_put_error(&error, tg_buf_view(&said));

    if (!tg_buf_failed(&said) && !tg_buf_failed(&error)) {
        tg_streamable_answer(streamable, exchange, tg_buf_view(&error));
    }

    tg_buf_deinit(&said);
    tg_buf_deinit(&error);
}

/* The stream of a request has ended early: can it be resumed? */
static int
tg_streamable_resume(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    uint64_t wait;

    if (streamable->instance->client.is_modern
        || tg_exchange_last_id(exchange).len == 0
        || exchange->nresumed >= TG_STREAMABLE_RESUMES || exchange->is_too_large
        || exchange->status >= 400)
    {
        return 0;
    }

    wait = exchange->events.retry != 0 ? exchange->events.retry
                                       : TG_STREAMABLE_RETRY_MIN;
    exchange->nresumed++;
    exchange->is_resuming = 1;
    exchange->due = tg_streamable_now(streamable)
                    + (wait < TG_STREAMABLE_RETRY_MAX
                           ? wait
                           : TG_STREAMABLE_RETRY_MAX);
    streamable->nrequests--;
    tg_exchange_rewind(exchange);

    return 1;
}

/* Why there is no answer, though there may have been one. */
static void
tg_streamable_put_why(const tg_streamable_t *streamable,
                      const tg_exchange_t *exchange, tg_buf_t *text)
{
    int is_other;

    if (exchange->is_refused) {
        tg_buf_printf(text, "cannot be asked this over HTTP: %s",
                      exchange->why);
        return;
    }

    if (exchange->status == 0 && !exchange->was_sent) {
        tg_buf_printf(text, "cannot be reached, and was asked for nothing (%s)",
                      exchange->why);
        return;
    }

    is_other = exchange->why[0] == '\0' && exchange->text.len != 0;
    tg_buf_printf(text, "gave no whole answer (%s",
                  exchange->why[0] != '\0' ? exchange->why
                  : !is_other              ? "it ended without one"
                  : exchange->type == TG_EXCHANGE_JSON
                      ? "it ended without one, and said: "
                      : "what it said is no message of MCP: ");

    if (is_other) {
        tg_streamable_put_head(text, exchange);
    }

    tg_buf_char(text, ')');

    if (!tg_streamable_is_own(streamable, exchange)) {
        tg_buf_text(text, "; the call may have been executed. See what it did "
                          "before it is called again.");
    }
}

/*
 * Nobody knows whether the session is still there, as something else than an
 * answer came.  The next call begins in another one.
 */
static void
tg_streamable_doubt(tg_streamable_t *streamable, const tg_exchange_t *exchange,
                    int is_own)
{
    if (!is_own && !streamable->is_closing && streamable->session_id[0] != '\0'
        && exchange->status != 0 && exchange->status != 429
        && !exchange->is_too_large)
    {
        (void) tg_streamable_renew(streamable, exchange->session);
    }
}

/* A request got a status that is no answer, or an error about its session. */
static void
tg_streamable_end_refused(tg_streamable_t *streamable,
                          const tg_exchange_t *exchange)
{
    int is_own, is_answer;

    is_own = tg_streamable_is_own(streamable, exchange);

    if (tg_streamable_is_unknown(streamable, exchange) && !is_own
        && tg_streamable_renew(streamable, exchange->session))
    {
        tg_instance_again(streamable->instance, exchange->request);
        return;
    }

    is_answer = tg_streamable_error(exchange).data != NULL;
    tg_streamable_say_status(streamable, exchange);

    if (!is_answer) {
        tg_streamable_doubt(streamable, exchange, is_own);
    }
}

/*
 * The status is that of a GET which was to resume the stream: the call itself
 * was taken before, so that it is never sent again.
 */
static void
tg_streamable_end_resumed(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    if (tg_streamable_is_unknown(streamable, exchange)) {
        (void) tg_streamable_renew(streamable, exchange->session);
    }

    (void) snprintf(exchange->why, sizeof(exchange->why),
                    "its stream could not be resumed: status %d",
                    exchange->status);
}

/*
 * Initialize was refused, not by MCP: servers of the old transport HTTP+SSE do
 * so, and answer a GET with an event of their own.  Returns whether it is
 * asked.
 */
static int
tg_streamable_probe_old(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    tg_buf_t *refusal;

    if (!exchange->is_hello || exchange->is_old_probe || exchange->is_redirect
        || exchange->status < 400 || exchange->status >= 500
        || exchange->status == 401
        || tg_streamable_error(exchange).data != NULL)
    {
        return 0;
    }

    refusal = &streamable->refusal;
    tg_buf_truncate(refusal, 0);
    tg_streamable_put_status(refusal, exchange);
    exchange->is_old_probe = 1;
    exchange->is_resuming = 1;
    streamable->nrequests--;
    tg_exchange_rewind(exchange);

    return 1;
}

static void
tg_streamable_end_probe(tg_streamable_t *streamable,
                        const tg_exchange_t *exchange)
{
    tg_buf_t error;

    tg_buf_init(&error, tg_alloc_libc());
    tg_streamable_put_error(
        &error, exchange->is_old_sse ? TG_STR(
                    "it is a server of the old transport HTTP+SSE "
                    "(2024-11-05), which Toolgate does not speak; use its "
                    "URL for Streamable HTTP, often /mcp instead of "
                    "/sse")
                                     : tg_buf_view(&streamable->refusal));

    if (!tg_buf_failed(&error)) {
        tg_streamable_answer(streamable, exchange, tg_buf_view(&error));
    }

    tg_buf_deinit(&error);
}

static void
tg_streamable_end_request(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    tg_buf_t text;
    int is_own;

    if (tg_caller_tag(&streamable->instance->caller, exchange->request) == NULL)
    {
        return;
    }

    if (exchange->is_old_probe) {
        tg_streamable_end_probe(streamable, exchange);
        return;
    }

    if (exchange->status >= 300 || exchange->is_lost
        || (tg_exchange_is_ok(exchange)
            && tg_streamable_is_unknown(streamable, exchange)))
    {
        if (!exchange->is_resuming
            || tg_streamable_is_own(streamable, exchange)) {
            tg_streamable_end_refused(streamable, exchange);
            return;
        }

        tg_streamable_end_resumed(streamable, exchange);
    }

    /* An error without the id of the request can be about nothing else. */
    if (tg_exchange_is_ok(exchange)
        && tg_streamable_error(exchange).data != NULL) {
        tg_streamable_say_status(streamable, exchange);
        return;
    }

    streamable->is_away = exchange->status == 0 && !exchange->was_sent;
    tg_buf_init(&text, tg_alloc_libc());
    tg_streamable_put_why(streamable, exchange, &text);
    is_own = tg_streamable_is_own(streamable, exchange);
    tg_streamable_fail(streamable, exchange,
                       exchange->is_refused ? TG_FAILURE_PROGRAM
                                            : TG_FAILURE_LOST,
                       tg_buf_view(&text));
    tg_buf_deinit(&text);

    if (exchange->type == TG_EXCHANGE_JSON) {
        tg_streamable_doubt(streamable, exchange, is_own);
    }
}

/* What is no request was taken, or not. */
static void
tg_streamable_end_note(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    tg_buf_t text;

    if (tg_exchange_is_ok(exchange)) {
        return;
    }

    if (exchange->status >= 400
        && tg_streamable_is_unknown(streamable, exchange)
        && tg_streamable_renew(streamable, exchange->session))
    {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (exchange->status != 0) {
        tg_streamable_put_status(&text, exchange);
    } else {
        tg_buf_text(&text, exchange->why);
    }

    tg_instance_log(streamable->instance, TG_LOG_WARN,
                    "it did not take a message: %.*s", (int) text.len,
                    text.data);
    tg_buf_deinit(&text);
}

void
tg_streamable_end(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    const tg_server_url_t *url;
    int was_ready;

    url = &streamable->instance->server->spec.url;
    tg_http_hide(url->headers, url->nsecrets, exchange->text.data,
                 exchange->text.len);

    if (exchange->is_channel) {
        tg_streamable_end_channel(streamable, exchange);
        return;
    }

    if (exchange->request != 0
        && tg_caller_tag(&streamable->instance->caller, exchange->request)
               != NULL
        && (tg_streamable_resume(streamable, exchange)
            || tg_streamable_probe_old(streamable, exchange)))
    {
        return;
    }

    /* It is in the list no more, whatever its end brings about. */
    was_ready = exchange->is_ready && tg_exchange_is_ok(exchange);
    streamable->ready = streamable->ready == exchange ? NULL
                                                      : streamable->ready;
    TAILQ_REMOVE(&streamable->exchanges, exchange, place);
    streamable->nrequests -= exchange->request != 0 && exchange->is_started;
    streamable->nnotes -= exchange->is_started && tg_exchange_is_note(exchange);
    streamable->nreplies -= exchange->is_reply;

    if (exchange->request != 0) {
        tg_streamable_end_request(streamable, exchange);
    } else {
        tg_streamable_end_note(streamable, exchange);
    }

    if (was_ready && !streamable->is_closing) {
        tg_streamable_get(streamable);
    }

    tg_exchange_free(exchange);
}
