#include "runner/mcp/tg_exchange.h"

#include "base/tg_json.h"
#include "runner/http/tg_http_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* --- what comes --- */

static int
tg_exchange_is_word(tg_str_t text, const char *word)
{
    return text.len == strlen(word)
           && strncasecmp(text.data, word, text.len) == 0;
}

static tg_exchange_type_t
tg_exchange_type(tg_str_t value)
{
    size_t len;

    for (len = 0; len < value.len && !tg_is_one_of(value.data[len], "; \t");
         len++) {
        /* void */
    }

    value.len = len;

    return tg_exchange_is_word(value, "application/json") ? TG_EXCHANGE_JSON
           : tg_exchange_is_word(value, "text/event-stream")
               ? TG_EXCHANGE_EVENTS
               : TG_EXCHANGE_TEXT;
}

/* Visible characters of ASCII: what else there is could end a header. */
static void
tg_exchange_take_session(tg_exchange_t *exchange, tg_str_t value)
{
    size_t i;

    for (i = 0; i < value.len && value.data[i] > ' ' && value.data[i] <= '~';
         i++) {
        /* void */
    }

    if (i == value.len && i <= TG_EXCHANGE_SESSION_MAX) {
        memcpy(exchange->session_id, value.data, i);
        exchange->session_id[i] = '\0';
    } else {
        exchange->session_len = value.len;
    }
}

/* Writes why the session's id of the handshake cannot be used. */
static void
tg_exchange_refuse_session(tg_exchange_t *exchange)
{
    if (exchange->session_len > TG_EXCHANGE_SESSION_MAX) {
        (void) snprintf(exchange->why, sizeof(exchange->why),
                        "its session id (Mcp-Session-Id) has %zu characters, "
                        "and at most %d are accepted",
                        exchange->session_len, TG_EXCHANGE_SESSION_MAX);
    } else {
        (void) snprintf(exchange->why, sizeof(exchange->why),
                        "its session id (Mcp-Session-Id) has characters other "
                        "than visible ASCII");
    }
}

/* Copies as much as a message may quote; secrets are hidden, then it is cut. */
static void
tg_exchange_quote(const tg_exchange_t *exchange, char *quoted, tg_str_t value)
{
    tg_buf_t text;
    size_t len;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_str(&text, value);

    if (!tg_buf_failed(&text)) {
        tg_http_hide(exchange->secrets, exchange->nsecrets, text.data,
                     text.len);
    }

    len = text.len < TG_EXCHANGE_QUOTED_MAX ? text.len
                                            : TG_EXCHANGE_QUOTED_MAX - 1;
    len = tg_buf_failed(&text) ? 0 : len;
    memcpy(quoted, tg_buf_view(&text).data, len);
    quoted[len] = '\0';
    tg_buf_deinit(&text);
}

static void
tg_exchange_on_header(void *ctx, tg_str_t name, tg_str_t value)
{
    tg_exchange_t *exchange;

    exchange = ctx;

    if (tg_exchange_is_word(name, "content-type")) {
        exchange->type = tg_exchange_type(value);
    } else if (tg_exchange_is_word(name, "mcp-session-id")) {
        tg_exchange_take_session(exchange, value);
    } else if (tg_exchange_is_word(name, "retry-after")) {
        tg_exchange_quote(exchange, exchange->retry_after, value);
    } else if (tg_exchange_is_word(name, "www-authenticate")) {
        tg_exchange_quote(exchange, exchange->authenticate, value);
    }
}

static int
tg_exchange_on_head(void *ctx, int status)
{
    tg_exchange_t *exchange;

    exchange = ctx;
    exchange->status = status;

    if (exchange->is_hello && exchange->session_len != 0) {
        return 1;
    }

    exchange->news(exchange);

    return 0;
}

/*
 * A message becomes a line: between the tokens of JSON a line's end is a
 * blank, and within a string there is none.
 */
static void
tg_exchange_put(tg_exchange_t *exchange, tg_str_t message)
{
    size_t i;

    if (message.len == 0 || tg_buf_reserve(&exchange->in, message.len + 1) != 0)
    {
        return;
    }

    i = exchange->in.len;
    tg_buf_str(&exchange->in, message);

    for (; i < exchange->in.len; i++) {
        if (exchange->in.data[i] == '\r' || exchange->in.data[i] == '\n') {
            exchange->in.data[i] = ' ';
        }
    }

    tg_buf_char(&exchange->in, '\n');
}

/* Bytes that are held of what came. */
static int
tg_exchange_hold(tg_exchange_t *exchange)
{
    if (exchange->http == NULL) {
        return TG_OK;
    }

    exchange->is_crowded = tg_http_hold(exchange->http,
                                        exchange->in.cap + exchange->text.cap
                                            + exchange->events.data.cap)
                           != TG_OK;

    return exchange->is_crowded ? TG_LIMIT : TG_OK;
}

/* 0; or it cannot be read on. */
static int
tg_exchange_read_events(tg_exchange_t *exchange, const char *data, size_t len)
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

        /* The first event of the old transport; one is enough to know. */
        if (exchange->is_old_probe) {
            exchange->is_old_sse = tg_str_eq(event.type, TG_STR("endpoint"));
            return -1;
        }

        if (event.type.len == 0 || tg_str_eq(event.type, TG_STR("message"))) {
            tg_exchange_put(exchange, event.data);
        }
    }

    exchange->is_too_large = rc == TG_LIMIT;

    return rc != TG_AGAIN || tg_buf_failed(&exchange->in);
}

static int
tg_exchange_on_body(void *ctx, const char *data, size_t len)
{
    tg_exchange_t *exchange;
    size_t max;

    exchange = ctx;

    if (tg_exchange_is_ok(exchange) && exchange->type == TG_EXCHANGE_EVENTS) {
        if (tg_exchange_read_events(exchange, data, len) != 0) {
            return TG_LIMIT;
        }

        if (exchange->in.len != 0) {
            exchange->news(exchange);
        }

        return tg_exchange_hold(exchange) != TG_OK      ? TG_LIMIT
               : exchange->in.len >= TG_EXCHANGE_UNREAD ? TG_AGAIN
                                                        : TG_OK;
    }

    max = tg_exchange_is_ok(exchange) ? exchange->max : TG_EXCHANGE_ERROR_MAX;

    if (len > max - exchange->text.len) {
        exchange->is_too_large = 1;
        return TG_LIMIT;
    }

    tg_buf_put(&exchange->text, data, len);

    return tg_buf_failed(&exchange->text) ? TG_NOMEM
                                          : tg_exchange_hold(exchange);
}

void
tg_exchange_resume(tg_exchange_t *exchange)
{
    if (exchange->http != NULL && exchange->in.len < TG_EXCHANGE_UNREAD) {
        (void) tg_exchange_hold(exchange);
        tg_http_resume(exchange->http);
    }
}

/* --- its end --- */

/*
 * The message in a body of JSON.  Some servers put the mark of the byte order
 * in front, which JSON has not, and some call it plain text, HTML (as PHP does
 * by default) or another type.
 */
static tg_str_t
tg_exchange_message(tg_exchange_t *exchange)
{
    tg_str_t text;

    text = tg_buf_view(&exchange->text);

    if (text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        tg_buf_drop(&exchange->text, 3);
        text = tg_buf_view(&exchange->text);
    }

    if (exchange->type == TG_EXCHANGE_TEXT
        && tg_json_check(text, NULL) == TG_OK) {
        exchange->type = TG_EXCHANGE_JSON;
    }

    return exchange->type == TG_EXCHANGE_JSON ? text : TG_STR("");
}

/* Where a redirect leads to; what is secret in a URL stands in its query. */
static void
tg_exchange_take_redirect(tg_exchange_t *exchange, const char *redirect)
{
    exchange->is_redirect = redirect != NULL;

    if (redirect != NULL) {
        tg_exchange_quote(exchange, exchange->redirect,
                          tg_str(redirect, strcspn(redirect, "?#")));
    }
}

static void
tg_exchange_on_done(void *ctx, const tg_http_end_t *end)
{
    tg_exchange_t *exchange;

    exchange = ctx;
    exchange->http = NULL;
    exchange->is_over = 1;
    exchange->was_sent = end->was_sent;
    tg_exchange_take_redirect(exchange, end->redirect);

    if (end->result == TG_HTTP_OK) {
        if (tg_exchange_is_ok(exchange)) {
            tg_exchange_put(exchange, tg_exchange_message(exchange));
        }

    } else if (exchange->is_hello && exchange->session_len != 0) {
        tg_exchange_refuse_session(exchange);

    } else if (exchange->is_hello && end->is_headers_max) {
        (void) snprintf(exchange->why, sizeof(exchange->why),
                        "%s: its session id (Mcp-Session-Id) may be too long, "
                        "at most %d characters are accepted",
                        end->why, TG_EXCHANGE_SESSION_MAX);

    } else if (exchange->is_too_large) {
        (void) snprintf(exchange->why, sizeof(exchange->why),
                        "the answer is larger than %zu bytes", exchange->max);

    } else {
        (void) snprintf(exchange->why, sizeof(exchange->why), "%s",
                        exchange->is_crowded
                            ? "toolgate-runner receives too much at once"
                        : end->result == TG_HTTP_STOPPED
                            ? "toolgate-runner has no memory left"
                            : end->why);
    }

    exchange->news(exchange);
}

/* --- its beginning --- */

static const tg_http_ops_t tg_exchange_http_ops = {
    .header = tg_exchange_on_header,
    .head = tg_exchange_on_head,
    .body = tg_exchange_on_body,
    .done = tg_exchange_on_done,
};

tg_exchange_t *
tg_exchange_new(void (*news)(tg_exchange_t *exchange), void *host, char *body,
                size_t len, size_t max)
{
    tg_exchange_t *exchange;

    exchange = calloc(1, sizeof(*exchange));

    if (exchange == NULL) {
        free(body);
        return NULL;
    }

    exchange->news = news;
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
tg_exchange_free(tg_exchange_t *exchange)
{
    if (exchange->http != NULL) {
        tg_http_cancel(exchange->http);
    }

    tg_sse_deinit(&exchange->events);
    tg_buf_deinit(&exchange->text);
    tg_buf_deinit(&exchange->in);
    free(exchange->body);
    free(exchange);
}

void
tg_exchange_start(tg_exchange_t *exchange, tg_http_pool_t *pool,
                  tg_http_request_t *request)
{
    const char *why;

    exchange->is_started = 1;
    request->is_stream = 1;
    request->body = exchange->body != NULL && !exchange->is_resuming
                        ? tg_str(exchange->body, exchange->len)
                        : TG_STR_NONE;
    why = "toolgate-runner has no memory left";

    if (tg_http_start(pool, request, &tg_exchange_http_ops, exchange,
                      &exchange->http, &why)
        != TG_OK)
    {
        exchange->is_over = 1;
        (void) snprintf(exchange->why, sizeof(exchange->why), "%s", why);
        exchange->news(exchange);
    }
}

void
tg_exchange_rewind(tg_exchange_t *exchange)
{
    tg_sse_resume(&exchange->events);
    tg_buf_reset(&exchange->text, 0);
    exchange->status = 0;
    exchange->type = TG_EXCHANGE_TEXT;
    exchange->is_started = 0;
    exchange->is_over = 0;
    exchange->is_redirect = 0;
    exchange->is_lost = 0;
    exchange->retry_after[0] = '\0';
    exchange->authenticate[0] = '\0';
    exchange->why[0] = '\0';
}

tg_str_t
tg_exchange_last_id(const tg_exchange_t *exchange)
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
