/* The end of exchanges: responses, errors, retries, resumption. */
#include "base/tg_utf8.h"
#include "runner/http/tg_http_params.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_mcp_sessions.h"
#include "runner/logging/tg_log.h"

#include <stdio.h>

/* Maximum size of the body of an error that a message quotes. */
#define TG_STREAMABLE_ERROR_BODY_MAX 512

/* --- error messages --- */

/* Passes an error to the caller as the response to a request. */
static void
tg_streamable_respond_error(tg_streamable_t *streamable,
                            const tg_mcp_exchange_t *exchange, tg_str_t error)
{
    size_t consumed;
    tg_buf_t line;

    tg_buf_init(&line, tg_alloc_libc());
    tg_buf_append_cstr(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    tg_buf_append_uint(&line, exchange->request);
    tg_json_begin_member(&line, "error");
    tg_json_write_compact(&line, error);
    tg_buf_append_cstr(&line, "}\n");

    if (!tg_buf_has_failed(&line)) {
        (void) tg_mcp_conn_on_input(streamable->mcp_conn, line.data, line.len,
                                    &consumed);
    }

    tg_buf_deinit(&line);
}

/* Appends a header that helps to solve the problem, if present. */
static void
tg_streamable_append_header_note(tg_buf_t *text, const char *name,
                                 const char *value)
{
    if (value[0] != '\0') {
        tg_buf_printf(text, " (%s: ", name);
        tg_utf8_append_visible(text, tg_str_from_cstr(value), 1);
        tg_buf_append_char(text, ')');
    }
}

/* Appends the beginning of the body. */
static void
tg_streamable_append_body(tg_buf_t *text, const tg_mcp_exchange_t *exchange)
{
    tg_str_t head;

    head = tg_buf_view(&exchange->text);
    head.len = head.len < TG_STREAMABLE_ERROR_BODY_MAX
                   ? head.len
                   : TG_STREAMABLE_ERROR_BODY_MAX;
    tg_utf8_append_visible(text, head, 1);
}

/* Appends a description of a response that is not an MCP message. */
static void
tg_streamable_append_status(tg_buf_t *text, const tg_mcp_exchange_t *exchange)
{
    tg_buf_printf(text, "it answered with status %d", exchange->status);
    tg_streamable_append_header_note(text, "Retry-After",
                                     exchange->retry_after);
    tg_streamable_append_header_note(text, "WWW-Authenticate",
                                     exchange->authenticate);

    if (exchange->is_redirect) {
        tg_buf_append_cstr(text, ", a redirect, which is not followed; use its "
                                 "target URL: ");
        tg_utf8_append_visible(text, tg_str_from_cstr(exchange->redirect), 1);
        return;
    }

    if (exchange->text.len != 0) {
        tg_buf_append_cstr(text, ": ");
        tg_streamable_append_body(text, exchange);
    }
}

static tg_str_t
tg_streamable_parse_error(const tg_mcp_exchange_t *exchange)
{
    tg_message_t message;

    if (tg_message_parse(&message, tg_buf_view(&exchange->text)) != TG_OK
        || tg_json_type(message.error) != TG_JSON_OBJECT)
    {
        return TG_STR_NONE;
    }

    return message.error;
}

/* Writes the server's error, with the helpful headers in its message. */
static void
tg_streamable_extend_error(const tg_mcp_exchange_t *exchange, tg_str_t raw,
                           tg_buf_t *text, tg_buf_t *error)
{
    static const char *const replaced[] = { "message", NULL };
    tg_str_t message;

    if (tg_json_has_member(raw, TG_STR("message"), TG_JSON_STRING, &message)) {
        tg_json_append_unescaped(text, tg_json_string_body(message));
    }

    tg_streamable_append_header_note(text, "Retry-After",
                                     exchange->retry_after);
    tg_streamable_append_header_note(text, "WWW-Authenticate",
                                     exchange->authenticate);
    tg_buf_append_char(error, '{');
    tg_json_add_string(error, "message", tg_buf_view(text));
    (void) tg_json_write_members_except(error, raw, replaced, 1);
    tg_buf_append_char(error, '}');
}

/* Passes a text to the caller as the error response to a request. */
static void
tg_streamable_respond_text(tg_streamable_t *streamable,
                           const tg_mcp_exchange_t *exchange,
                           const tg_buf_t *text)
{
    tg_buf_t error;

    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_printf(&error, "{\"code\":%d,\"message\":", TG_RPC_INTERNAL_ERROR);
    tg_json_write_string(&error, tg_buf_view(text));
    tg_buf_append_char(&error, '}');

    if (!tg_buf_has_failed(text) && !tg_buf_has_failed(&error)) {
        tg_streamable_respond_error(streamable, exchange, tg_buf_view(&error));
    }

    tg_buf_deinit(&error);
}

static void
tg_streamable_respond_status(tg_streamable_t *streamable,
                             const tg_mcp_exchange_t *exchange)
{
    tg_buf_t text, error;
    tg_str_t raw;

    raw = tg_streamable_parse_error(exchange);
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());

    if (raw.data == NULL) {
        tg_streamable_append_status(&text, exchange);
        tg_streamable_respond_text(streamable, exchange, &text);

    } else {
        if (exchange->retry_after[0] != '\0'
            || exchange->authenticate[0] != '\0') {
            tg_streamable_extend_error(exchange, raw, &text, &error);
            raw = tg_buf_view(&error);
        }

        if (!tg_buf_has_failed(&text) && !tg_buf_has_failed(&error)) {
            tg_streamable_respond_error(streamable, exchange, raw);
        }
    }

    tg_buf_deinit(&text);
    tg_buf_deinit(&error);
}

/* --- end of an exchange --- */

/* Fails a request that got no response, or the start of the server. */
static void
tg_streamable_fail_request(tg_streamable_t *streamable,
                           const tg_mcp_exchange_t *exchange,
                           tg_failure_t failure, tg_str_t text)
{
    tg_mcp_conn_t *mcp_conn;
    tg_buf_t said;

    mcp_conn = streamable->mcp_conn;

    if (!tg_streamable_is_own_request(streamable, exchange)) {
        tg_mcp_conn_fail_request(mcp_conn, exchange->request, failure, text);
        return;
    }

    /* Some older servers close when they do not know a method. */
    if (mcp_conn->state == TG_MCP_CONN_STARTING && exchange->status == 0
        && !(exchange->was_sent && mcp_conn->client.state == TG_MCP_PROBING))
    {
        (void) snprintf(streamable->why, sizeof(streamable->why), " %.*s",
                        (int) text.len, text.data);
        tg_mcp_conn_on_lost(mcp_conn);
        return;
    }

    tg_buf_init(&said, tg_alloc_libc());
    tg_buf_append_cstr(&said, "it ");
    tg_buf_append_str(&said, text);
    tg_streamable_respond_text(streamable, exchange, &said);
    tg_buf_deinit(&said);
}

/* Resumes a stream that has ended early. Returns 0 if that is impossible. */
static int
tg_streamable_resume_stream(tg_streamable_t *streamable,
                            tg_mcp_exchange_t *exchange)
{
    uint64_t wait;

    if (streamable->mcp_conn->client.is_modern
        || tg_mcp_exchange_get_last_id(exchange).len == 0
        || exchange->nresumed >= TG_STREAMABLE_RESUMES_MAX
        || exchange->is_too_large || exchange->status >= 400)
    {
        return 0;
    }

    wait = exchange->events.retry != 0 ? exchange->events.retry
                                       : TG_STREAMABLE_RETRY_MIN_MS;
    exchange->nresumed++;
    exchange->is_resuming = 1;
    exchange->due = tg_streamable_get_now(streamable)
                    + (wait < TG_STREAMABLE_RETRY_MAX_MS
                           ? wait
                           : TG_STREAMABLE_RETRY_MAX_MS);
    streamable->nrequests--;
    tg_mcp_exchange_reset(exchange);

    return 1;
}

/* Appends why there is no response. The call may have been executed. */
static void
tg_streamable_append_reason(const tg_streamable_t *streamable,
                            const tg_mcp_exchange_t *exchange, tg_buf_t *text)
{
    int is_other;

    if (exchange->is_refused) {
        tg_buf_printf(text, "cannot receive this request over HTTP: %s",
                      exchange->why);
        return;
    }

    if (exchange->status == 0 && !exchange->was_sent) {
        tg_buf_printf(text, "cannot be reached; no request was sent (%s)",
                      exchange->why);
        return;
    }

    is_other = exchange->why[0] == '\0' && exchange->text.len != 0;
    tg_buf_printf(text, "gave no complete response (%s",
                  exchange->why[0] != '\0' ? exchange->why
                  : !is_other              ? "its body has no response"
                  : exchange->type == TG_MCP_EXCHANGE_JSON
                      ? "its body has no response: "
                      : "its body is not an MCP message: ");

    if (is_other) {
        tg_streamable_append_body(text, exchange);
    }

    tg_buf_append_char(text, ')');

    if (!tg_streamable_is_own_request(streamable, exchange)) {
        tg_buf_append_cstr(text,
                           "; the call may have been executed. Check what it "
                           "did before you call it again.");
    }
}

/*
 * Begins another session after a response that is not from MCP: the session's
 * state is unknown.
 */
static void
tg_streamable_renew_if_unsure(tg_streamable_t *streamable,
                              const tg_mcp_exchange_t *exchange, int is_own)
{
    if (!is_own && !streamable->is_closing && streamable->session_id[0] != '\0'
        && exchange->status != 0 && exchange->status != 429
        && !exchange->is_too_large)
    {
        (void) tg_streamable_renew_session(streamable, exchange->session);
    }
}

/* Handles a request with an error status or an error about its session. */
static void
tg_streamable_on_request_refused(tg_streamable_t *streamable,
                                 const tg_mcp_exchange_t *exchange)
{
    int is_own, is_answer;

    is_own = tg_streamable_is_own_request(streamable, exchange);

    if (tg_streamable_is_session_unknown(streamable, exchange) && !is_own
        && tg_streamable_renew_session(streamable, exchange->session))
    {
        tg_mcp_conn_resend_request(streamable->mcp_conn, exchange->request);
        return;
    }

    is_answer = tg_streamable_parse_error(exchange).data != NULL;
    tg_streamable_respond_status(streamable, exchange);

    if (!is_answer) {
        tg_streamable_renew_if_unsure(streamable, exchange, is_own);
    }
}

/*
 * Handles the error of a GET to resume a stream. The server has accepted the
 * call before, so it must not be sent again.
 */
static void
tg_streamable_on_resume_failed(tg_streamable_t *streamable,
                               tg_mcp_exchange_t *exchange)
{
    if (tg_streamable_is_session_unknown(streamable, exchange)) {
        (void) tg_streamable_renew_session(streamable, exchange->session);
    }

    (void) snprintf(exchange->why, sizeof(exchange->why),
                    "its stream could not be resumed: status %d",
                    exchange->status);
}

/*
 * Checks for HTTP+SSE after `initialize` got an error that is not from MCP: an
 * old server answers a GET with an event. Returns 1 if it is sent.
 */
static int
tg_streamable_probe_old_transport(tg_streamable_t *streamable,
                                  tg_mcp_exchange_t *exchange)
{
    tg_buf_t *init_error;

    if (!exchange->is_initialize || exchange->is_old_probe
        || exchange->is_redirect || exchange->status < 400
        || exchange->status >= 500 || exchange->status == 401
        || tg_streamable_parse_error(exchange).data != NULL)
    {
        return 0;
    }

    init_error = &streamable->init_error;
    tg_buf_truncate(init_error, 0);
    tg_streamable_append_status(init_error, exchange);
    exchange->is_old_probe = 1;
    exchange->is_resuming = 1;
    streamable->nrequests--;
    tg_mcp_exchange_reset(exchange);

    return 1;
}

static void
tg_streamable_on_probe_done(tg_streamable_t *streamable,
                            const tg_mcp_exchange_t *exchange)
{
    tg_buf_t *text;

    text = &streamable->init_error;

    if (exchange->is_old_sse) {
        tg_buf_reset(text, 0);
        tg_buf_append_cstr(
            text, "it is a server of the old transport HTTP+SSE "
                  "(2024-11-05), which Toolgate does not support; use its "
                  "URL for Streamable HTTP, often /mcp instead of /sse");
    }

    tg_streamable_respond_text(streamable, exchange, text);
}

static void
tg_streamable_on_request_done(tg_streamable_t *streamable,
                              tg_mcp_exchange_t *exchange)
{
    tg_buf_t text;
    int is_own;

    if (tg_caller_find_tag(&streamable->mcp_conn->caller, exchange->request)
        == NULL)
    {
        return;
    }

    if (exchange->is_old_probe) {
        tg_streamable_on_probe_done(streamable, exchange);
        return;
    }

    if (exchange->status >= 300 || exchange->is_session_lost
        || (tg_mcp_exchange_is_success(exchange)
            && tg_streamable_is_session_unknown(streamable, exchange)))
    {
        if (!exchange->is_resuming
            || tg_streamable_is_own_request(streamable, exchange))
        {
            tg_streamable_on_request_refused(streamable, exchange);
            return;
        }

        tg_streamable_on_resume_failed(streamable, exchange);
    }

    /* An error without an id can only be about this request. */
    if (tg_mcp_exchange_is_success(exchange)
        && tg_streamable_parse_error(exchange).data != NULL)
    {
        tg_streamable_respond_status(streamable, exchange);
        return;
    }

    streamable->is_unreachable = exchange->status == 0 && !exchange->was_sent;
    tg_buf_init(&text, tg_alloc_libc());
    tg_streamable_append_reason(streamable, exchange, &text);
    is_own = tg_streamable_is_own_request(streamable, exchange);
    tg_streamable_fail_request(streamable, exchange,
                               exchange->is_refused ? TG_FAILURE_PROGRAM
                                                    : TG_FAILURE_LOST,
                               tg_buf_view(&text));
    tg_buf_deinit(&text);

    if (exchange->type == TG_MCP_EXCHANGE_JSON) {
        tg_streamable_renew_if_unsure(streamable, exchange, is_own);
    }
}

static void
tg_streamable_on_notification_done(tg_streamable_t *streamable,
                                   tg_mcp_exchange_t *exchange)
{
    tg_buf_t text;

    if (tg_mcp_exchange_is_success(exchange)) {
        return;
    }

    if (exchange->status >= 400
        && tg_streamable_is_session_unknown(streamable, exchange)
        && tg_streamable_renew_session(streamable, exchange->session))
    {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (exchange->status != 0) {
        tg_streamable_append_status(&text, exchange);
    } else {
        tg_buf_append_cstr(&text, exchange->why);
    }

    tg_mcp_conn_log(streamable->mcp_conn, TG_LOG_WARN,
                    "it did not accept a message: %.*s", (int) text.len,
                    text.data);
    tg_buf_deinit(&text);
}

void
tg_streamable_on_exchange_done(tg_streamable_t *streamable,
                               tg_mcp_exchange_t *exchange)
{
    const tg_mcp_server_url_t *url;
    int was_ready;

    url = &streamable->mcp_conn->server->spec.url;
    tg_http_redact_headers(url->headers, url->nsecrets, exchange->text.data,
                           exchange->text.len);

    if (exchange->is_listen_stream) {
        tg_streamable_on_listen_done(streamable, exchange);
        return;
    }

    if (exchange->request != 0
        && tg_caller_find_tag(&streamable->mcp_conn->caller, exchange->request)
               != NULL
        && (tg_streamable_resume_stream(streamable, exchange)
            || tg_streamable_probe_old_transport(streamable, exchange)))
    {
        return;
    }

    /* Remove it first: handling its end may change the list. */
    was_ready = exchange->is_initialized
                && tg_mcp_exchange_is_success(exchange);
    tg_streamable_remove_exchange(streamable, exchange);

    if (exchange->request != 0) {
        tg_streamable_on_request_done(streamable, exchange);
    } else {
        tg_streamable_on_notification_done(streamable, exchange);
    }

    if (was_ready && !streamable->is_closing) {
        tg_streamable_open_listen(streamable);
    }

    tg_mcp_exchange_free(exchange);
}
