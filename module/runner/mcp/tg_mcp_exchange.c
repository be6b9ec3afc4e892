/* One HTTP exchange of Streamable HTTP: response headers, body and end. */
#include "runner/mcp/tg_mcp_exchange.h"

#include "base/tg_json.h"
#include "runner/http/tg_http_params.h"

#include <stdio.h>
#include <stdlib.h>

/* --- response --- */

static tg_mcp_exchange_type_t
tg_mcp_exchange_parse_type(tg_str_t value)
{
    value.len = tg_str_find_char(value, "; \t");

    return tg_str_eq_nocase(value, TG_STR("application/json"))
               ? TG_MCP_EXCHANGE_JSON
           : tg_str_eq_nocase(value, TG_STR("text/event-stream"))
               ? TG_MCP_EXCHANGE_EVENTS
               : TG_MCP_EXCHANGE_TEXT;
}

/* Stores a session id of visible ASCII: other characters could end a header. */
static void
tg_mcp_exchange_set_session_id(tg_mcp_exchange_t *exchange, tg_str_t value)
{
    size_t i;

    for (i = 0; i < value.len && value.data[i] > ' ' && value.data[i] <= '~';
         i++) {
        /* void */
    }

    if (i == value.len && i <= TG_MCP_EXCHANGE_SESSION_ID_MAX) {
        memcpy(exchange->session_id, value.data, i);
        exchange->session_id[i] = '\0';
    } else {
        exchange->session_len = value.len;
    }
}

/* Writes the reason why the session id of the handshake cannot be used. */
static void
tg_mcp_exchange_fail_session_id(tg_mcp_exchange_t *exchange)
{
    if (exchange->session_len > TG_MCP_EXCHANGE_SESSION_ID_MAX) {
        (void) snprintf(exchange->why, sizeof(exchange->why),
                        "its session id (Mcp-Session-Id) has %zu characters; "
                        "at most %d are accepted",
                        exchange->session_len, TG_MCP_EXCHANGE_SESSION_ID_MAX);
    } else {
        (void) snprintf(exchange->why, sizeof(exchange->why),
                        "its session id (Mcp-Session-Id) has characters other "
                        "than visible ASCII");
    }
}

/* Copies a value for a message. Hides secrets before the value is cut. */
static void
tg_mcp_exchange_copy_quoted(const tg_mcp_exchange_t *exchange, char *quoted,
                            tg_str_t value)
{
    tg_buf_t text;
    size_t len;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_str(&text, value);

    if (!tg_buf_has_failed(&text)) {
        tg_http_redact_headers(exchange->secrets, exchange->nsecrets, text.data,
                               text.len);
    }

    len = text.len < TG_MCP_EXCHANGE_QUOTED_MAX
              ? text.len
              : TG_MCP_EXCHANGE_QUOTED_MAX - 1;
    len = tg_buf_has_failed(&text) ? 0 : len;
    memcpy(quoted, tg_buf_view(&text).data, len);
    quoted[len] = '\0';
    tg_buf_deinit(&text);
}

static void
tg_mcp_exchange_on_header(void *ctx, tg_str_t name, tg_str_t value)
{
    tg_mcp_exchange_t *exchange;

    exchange = ctx;

    if (tg_str_eq_nocase(name, TG_STR("content-type"))) {
        exchange->type = tg_mcp_exchange_parse_type(value);
    } else if (tg_str_eq_nocase(name, TG_STR("mcp-session-id"))) {
        tg_mcp_exchange_set_session_id(exchange, value);
    } else if (tg_str_eq_nocase(name, TG_STR("retry-after"))) {
        tg_mcp_exchange_copy_quoted(exchange, exchange->retry_after, value);
    } else if (tg_str_eq_nocase(name, TG_STR("www-authenticate"))) {
        tg_mcp_exchange_copy_quoted(exchange, exchange->authenticate, value);
    }
}

static int
tg_mcp_exchange_on_head(void *ctx, int status)
{
    tg_mcp_exchange_t *exchange;

    exchange = ctx;
    exchange->status = status;

    if (exchange->is_initialize && exchange->session_len != 0) {
        return 1;
    }

    exchange->on_event(exchange);

    return 0;
}

/* Appends a message as one line: JSON has line ends only between tokens. */
static void
tg_mcp_exchange_append_message(tg_mcp_exchange_t *exchange, tg_str_t message)
{
    size_t i;

    if (message.len == 0 || tg_buf_reserve(&exchange->in, message.len + 1) != 0)
    {
        return;
    }

    i = exchange->in.len;
    tg_buf_append_str(&exchange->in, message);

    for (; i < exchange->in.len; i++) {
        if (exchange->in.data[i] == '\r' || exchange->in.data[i] == '\n') {
            exchange->in.data[i] = ' ';
        }
    }

    tg_buf_append_char(&exchange->in, '\n');
}

/* Reports received bytes to the scheduler. TG_LIMIT: they are too many. */
static int
tg_mcp_exchange_update_held_bytes(tg_mcp_exchange_t *exchange)
{
    if (exchange->http == NULL) {
        return TG_OK;
    }

    exchange->is_over_memory = tg_http_exchange_set_held_bytes(
                                   exchange->http,
                                   exchange->in.cap + exchange->text.cap
                                       + exchange->events.data.cap)
                               != TG_OK;

    return exchange->is_over_memory ? TG_LIMIT : TG_OK;
}

/* Reads events. Returns 0, or another value if the stream cannot be read on. */
static int
tg_mcp_exchange_read_events(tg_mcp_exchange_t *exchange, const char *data,
                            size_t len)
{
    tg_sse_event_t event;
    size_t at, part;
    int rc;

    for (at = 0; (rc = tg_sse_next(&exchange->events, data + at, len - at,
                                   &part, &event))
                 == TG_OK;
         at += part)
    {
        exchange->nresumed = 0;

        /* The first event shows whether the server has the old transport. */
        if (exchange->is_old_probe) {
            exchange->is_old_sse = tg_str_eq(event.type, TG_STR("endpoint"));
            return -1;
        }

        if (event.type.len == 0 || tg_str_eq(event.type, TG_STR("message"))) {
            tg_mcp_exchange_append_message(exchange, event.data);
        }
    }

    exchange->is_too_large = rc == TG_LIMIT;

    return rc != TG_AGAIN || tg_buf_has_failed(&exchange->in);
}

static int
tg_mcp_exchange_on_body(void *ctx, const char *data, size_t len)
{
    tg_mcp_exchange_t *exchange;
    size_t max;

    exchange = ctx;

    if (tg_mcp_exchange_is_success(exchange)
        && exchange->type == TG_MCP_EXCHANGE_EVENTS)
    {
        if (tg_mcp_exchange_read_events(exchange, data, len) != 0) {
            return TG_LIMIT;
        }

        if (exchange->in.len != 0) {
            exchange->on_event(exchange);
        }

        return tg_mcp_exchange_update_held_bytes(exchange) != TG_OK ? TG_LIMIT
               : exchange->in.len >= TG_MCP_EXCHANGE_UNREAD_MAX     ? TG_AGAIN
                                                                    : TG_OK;
    }

    max = tg_mcp_exchange_is_success(exchange) ? exchange->max
                                               : TG_MCP_EXCHANGE_ERROR_MAX;

    if (len > max - exchange->text.len) {
        exchange->is_too_large = 1;
        return TG_LIMIT;
    }

    tg_buf_append(&exchange->text, data, len);

    return tg_buf_has_failed(&exchange->text)
               ? TG_NOMEM
               : tg_mcp_exchange_update_held_bytes(exchange);
}

void
tg_mcp_exchange_resume(tg_mcp_exchange_t *exchange)
{
    if (exchange->http != NULL && exchange->in.len < TG_MCP_EXCHANGE_UNREAD_MAX)
    {
        (void) tg_mcp_exchange_update_held_bytes(exchange);
        tg_http_exchange_resume(exchange->http);
    }
}

/* --- end --- */

/*
 * Returns the message in a JSON body, or an empty string. Some servers send a
 * byte order mark, or JSON as text, HTML (PHP's default) or another type.
 */
static tg_str_t
tg_mcp_exchange_get_message(tg_mcp_exchange_t *exchange)
{
    tg_str_t text;

    text = tg_buf_view(&exchange->text);

    if (text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        tg_buf_consume(&exchange->text, 3);
        text = tg_buf_view(&exchange->text);
    }

    if (exchange->type == TG_MCP_EXCHANGE_TEXT
        && tg_json_validate(text, NULL) == TG_OK)
    {
        exchange->type = TG_MCP_EXCHANGE_JSON;
    }

    return exchange->type == TG_MCP_EXCHANGE_JSON ? text : TG_STR("");
}

/* Stores a redirect's target without its query, which may contain secrets. */
static void
tg_mcp_exchange_set_redirect(tg_mcp_exchange_t *exchange, const char *redirect)
{
    exchange->is_redirect = redirect != NULL;

    if (redirect != NULL) {
        tg_mcp_exchange_copy_quoted(exchange, exchange->redirect,
                                    tg_str(redirect, strcspn(redirect, "?#")));
    }
}

static void
tg_mcp_exchange_on_done(void *ctx, const tg_http_exchange_end_t *end)
{
    tg_mcp_exchange_t *exchange;

    exchange = ctx;
    exchange->http = NULL;
    exchange->is_over = 1;
    exchange->was_sent = end->was_sent;
    tg_mcp_exchange_set_redirect(exchange, end->redirect);

    if (end->result == TG_HTTP_OK) {
        if (tg_mcp_exchange_is_success(exchange)) {
            tg_mcp_exchange_append_message(
                exchange, tg_mcp_exchange_get_message(exchange));
        }

    } else if (exchange->is_initialize && exchange->session_len != 0) {
        tg_mcp_exchange_fail_session_id(exchange);

    } else if (exchange->is_initialize && end->has_long_headers) {
        (void) snprintf(exchange->why, sizeof(exchange->why),
                        "%s: its session id (Mcp-Session-Id) may be too "
                        "long; at most %d characters are accepted",
                        end->why, TG_MCP_EXCHANGE_SESSION_ID_MAX);

    } else if (exchange->is_too_large) {
        (void) snprintf(exchange->why, sizeof(exchange->why),
                        "the response is larger than %zu bytes", exchange->max);

    } else {
        (void) snprintf(exchange->why, sizeof(exchange->why), "%s",
                        exchange->is_over_memory
                            ? "toolgate-runner receives too much data at once"
                        : end->result == TG_HTTP_STOPPED
                            ? "toolgate-runner has no memory left"
                            : end->why);
    }

    exchange->on_event(exchange);
}

/* --- start --- */

static const tg_http_exchange_ops_t tg_mcp_exchange_http_ops = {
    .header = tg_mcp_exchange_on_header,
    .head = tg_mcp_exchange_on_head,
    .body = tg_mcp_exchange_on_body,
    .done = tg_mcp_exchange_on_done,
};

tg_mcp_exchange_t *
tg_mcp_exchange_new(void (*on_event)(tg_mcp_exchange_t *exchange), void *host,
                    char *body, size_t len, size_t max)
{
    tg_mcp_exchange_t *exchange;

    exchange = calloc(1, sizeof(*exchange));

    if (exchange == NULL) {
        free(body);
        return NULL;
    }

    exchange->on_event = on_event;
    exchange->host = host;
    exchange->body = body;
    exchange->len = len;
    exchange->max = max;
    tg_sse_init(&exchange->events, tg_alloc_libc(), max);
    tg_buf_init(&exchange->text, tg_alloc_libc());
    tg_buf_init(&exchange->in, tg_alloc_libc());

    return exchange;
}

void
tg_mcp_exchange_free(tg_mcp_exchange_t *exchange)
{
    if (exchange->http != NULL) {
        tg_http_exchange_cancel(exchange->http);
    }

    tg_sse_deinit(&exchange->events);
    tg_buf_deinit(&exchange->text);
    tg_buf_deinit(&exchange->in);
    free(exchange->body);
    free(exchange);
}

void
tg_mcp_exchange_start(tg_mcp_exchange_t *exchange, tg_http_pool_t *pool,
                      tg_http_request_t *request)
{
    const char *why;

    exchange->is_started = 1;
    request->is_stream = 1;
    request->body = exchange->body != NULL && !exchange->is_resuming
                        ? tg_str(exchange->body, exchange->len)
                        : TG_STR_NONE;
    why = "toolgate-runner has no memory left";

    if (tg_http_exchange_start(pool, request, &tg_mcp_exchange_http_ops,
                               exchange, &exchange->http, &why)
        != TG_OK)
    {
        exchange->is_over = 1;
        (void) snprintf(exchange->why, sizeof(exchange->why), "%s", why);
        exchange->on_event(exchange);
    }
}

void
tg_mcp_exchange_reset(tg_mcp_exchange_t *exchange)
{
    tg_sse_restart(&exchange->events);
    tg_buf_reset(&exchange->text, 0);
    exchange->status = 0;
    exchange->type = TG_MCP_EXCHANGE_TEXT;
    exchange->is_started = 0;
    exchange->is_over = 0;
    exchange->is_redirect = 0;
    exchange->is_session_lost = 0;
    exchange->retry_after[0] = '\0';
    exchange->authenticate[0] = '\0';
    exchange->why[0] = '\0';
}

tg_str_t
tg_mcp_exchange_get_last_id(const tg_mcp_exchange_t *exchange)
{
    tg_str_t id;
    size_t i;

    id = tg_sse_last_id(&exchange->events);

    for (i = 0; i < id.len; i++) {
        if ((unsigned char) id.data[i] < ' ' || id.data[i] == '\x7f') {
            return TG_STR("");
        }
    }

    return id;
}
