/* Sends messages over Streamable HTTP: headers, queue and listen stream. */
#include "protocol/tg_mcp_http_headers.h"
#include "runner/mcp/tg_mcp_server.h"

#include <stdio.h>
#include <stdlib.h>

/* --- headers --- */

void
tg_streamable_append_header(tg_buf_t *headers, const char *name,
                            const char *value)
{
    tg_buf_append_cstr(headers, name);
    tg_buf_append_cstr(headers, value);
    tg_buf_append_char(headers, '\0');
}

static void
tg_streamable_append_session(const tg_streamable_t *streamable,
                             const tg_mcp_exchange_t *exchange,
                             tg_buf_t *headers)
{
    if (exchange->is_initialize) {
        return;
    }

    if (streamable->version[0] != '\0') {
        tg_streamable_append_header(headers, "MCP-Protocol-Version: ",
                                    streamable->version);
    }

    if (streamable->session_id[0] != '\0') {
        tg_streamable_append_header(headers,
                                    "Mcp-Session-Id: ", streamable->session_id);
    }
}

/* Appends the headers of a POST. Returns NULL, or why it cannot be sent. */
static const char *
tg_streamable_append_post_headers(const tg_streamable_t *streamable,
                                  const tg_mcp_exchange_t *exchange,
                                  tg_buf_t *headers)
{
    tg_message_t message;

    tg_streamable_append_header(headers, "Content-Type: ", "application/json");
    tg_streamable_append_header(headers, "Accept: ",
                                "application/json, text/event-stream");

    if (tg_message_parse(&message, tg_str(exchange->body, exchange->len))
            != TG_OK
        || message.meta.protocol_version.data == NULL)
    {
        tg_streamable_append_session(streamable, exchange, headers);
        return NULL;
    }

    tg_streamable_append_header(headers, "MCP-Protocol-Version: ",
                                TG_MCP_VERSION_MODERN);

    return tg_mcp_http_write_headers(headers, &message,
                                     streamable->mcp_conn->client.tools);
}

static void
tg_streamable_append_get_headers(const tg_streamable_t *streamable,
                                 const tg_mcp_exchange_t *exchange,
                                 tg_buf_t *headers)
{
    tg_str_t last;

    tg_streamable_append_header(headers, "Accept: ", "text/event-stream");
    tg_streamable_append_session(streamable, exchange, headers);
    last = tg_mcp_exchange_get_last_id(exchange);

    if (last.len != 0) {
        tg_buf_append_cstr(headers, "Last-Event-ID: ");
        tg_buf_append_str(headers, last);
        tg_buf_append_char(headers, '\0');
    }
}

/* Writes "Name;" for an empty header, which libcurl would omit otherwise. */
static void
tg_streamable_fix_empty_header(char *header)
{
    char *end;

    end = strchr(header, '\0') - 1;

    if (strchr(header, ':') == end) {
        *end = ';';
    }
}

const char **
tg_streamable_make_header_list(const tg_mcp_server_url_t *url,
                               tg_buf_t *headers)
{
    const char **list;
    char *const *own;
    size_t n, at;

    n = 1;

    for (at = 0; at < headers->len; at++) {
        n += headers->data[at] == '\0';
    }

    for (own = url->headers; *own != NULL; own++) {
        n++;
    }

    list = tg_buf_has_failed(headers) ? NULL : malloc(n * sizeof(*list));

    if (list == NULL) {
        return NULL;
    }

    for (n = 0, at = 0; at < headers->len; at += strlen(headers->data + at) + 1)
    {
        tg_streamable_fix_empty_header(headers->data + at);
        list[n++] = headers->data + at;
    }

    for (own = url->headers; *own != NULL; own++) {
        list[n++] = *own;
    }

    list[n] = NULL;

    return list;
}

/* --- one exchange --- */

tg_http_request_t
tg_streamable_make_request(const tg_mcp_server_url_t *url, const char *method,
                           const char *const *headers)
{
    tg_http_request_t request;

    memset(&request, 0, sizeof(request));
    request.method = method;
    request.url = url->url;
    request.headers = headers;
    request.ca_file = url->ca_file;
    request.proxy = url->proxy;
    request.connect_ms = url->connect_ms;
    request.timeout_ms = strcmp(method, "DELETE") == 0 ? TG_STREAMABLE_DELETE_MS
                                                       : 0;

    return request;
}

static void
tg_streamable_fail_unsent(tg_mcp_exchange_t *exchange, const char *why)
{
    exchange->is_started = 1;
    exchange->is_over = 1;
    exchange->is_refused = 1;
    (void) snprintf(exchange->why, sizeof(exchange->why), "%s", why);
    exchange->on_event(exchange);
}

static void
tg_streamable_start_exchange(tg_streamable_t *streamable,
                             tg_mcp_exchange_t *exchange, const char *method)
{
    tg_http_request_t request;
    const tg_mcp_server_url_t *url;
    const char **list, *why;
    tg_buf_t headers;

    url = &streamable->mcp_conn->server->spec.url;
    tg_buf_init(&headers, tg_alloc_libc());
    why = NULL;

    if (strcmp(method, "POST") == 0) {
        why = tg_streamable_append_post_headers(streamable, exchange, &headers);
    } else {
        tg_streamable_append_get_headers(streamable, exchange, &headers);
    }

    list = tg_streamable_make_header_list(url, &headers);

    if (why != NULL || list == NULL) {
        tg_streamable_fail_unsent(
            exchange, why != NULL ? why : "toolgate-runner has no memory");
    } else {
        request = tg_streamable_make_request(url, method, list);

        if (exchange->is_old_probe) {
            request.timeout_ms = TG_STREAMABLE_PROBE_MS;
        } else if (request.timeout_ms == 0 && exchange->request == 0
                   && !exchange->is_listen_stream)
        {
            request.timeout_ms = TG_STREAMABLE_NOTIFICATION_MS;
        }

        exchange->secrets = url->headers;
        exchange->nsecrets = url->nsecrets;
        tg_mcp_exchange_start(exchange,
                              streamable->mcp_conn->server->servers->http,
                              &request);
    }

    free(list);
    tg_buf_deinit(&headers);
}

void
tg_streamable_remove_exchange(tg_streamable_t *streamable,
                              tg_mcp_exchange_t *exchange)
{
    TAILQ_REMOVE(&streamable->exchanges, exchange, link);
    streamable->nrequests -= exchange->request != 0 && exchange->is_started
                             && !exchange->is_listen_stream;
    streamable->nnotifications -= exchange->is_started
                                  && tg_mcp_exchange_is_notification(exchange);
    streamable->nreplies -= exchange->is_reply;

    if (streamable->reading == exchange) {
        streamable->reading = NULL;
    }

    if (streamable->ready == exchange) {
        streamable->ready = NULL;
    }

    if (streamable->listen_stream.exchange == exchange) {
        streamable->listen_stream.exchange = NULL;
    }
}

void
tg_streamable_drop_exchange(tg_streamable_t *streamable,
                            tg_mcp_exchange_t *exchange)
{
    tg_streamable_remove_exchange(streamable, exchange);
    tg_mcp_exchange_free(exchange);
}

static tg_mcp_exchange_t *
tg_streamable_add_exchange(tg_streamable_t *streamable, char *body, size_t len)
{
    tg_mcp_exchange_t *exchange;

    exchange = tg_mcp_exchange_new(streamable->on_event, streamable, body, len,
                                   TG_MCP_CONN_FRAME_MAX);

    if (exchange != NULL) {
        exchange->session = streamable->session;
        TAILQ_INSERT_TAIL(&streamable->exchanges, exchange, link);
    }

    return exchange;
}

/* --- messages --- */

/* Cancels the request to which a cancellation refers. */
static void
tg_streamable_cancel_request(tg_streamable_t *streamable,
                             tg_mcp_exchange_t *exchange,
                             const tg_message_t *message)
{
    tg_mcp_exchange_t *other;
    int64_t id;

    if (tg_json_parse_int64(message->p.request_id, &id) != TG_OK) {
        return;
    }

    TAILQ_FOREACH(other, &streamable->exchanges, link)
    {
        if (other->request != 0 && other->request == (uint64_t) id) {
            break;
        }
    }

    /*
     * Modern servers detect the cancellation by the end of the stream. An
     * unsent request has nothing to cancel.
     */
    if (streamable->mcp_conn->client.is_modern
        || (other != NULL && !other->is_started))
    {
        tg_streamable_drop_exchange(streamable, exchange);
    }

    if (other != NULL) {
        tg_streamable_drop_exchange(streamable, other);
    }
}

/* Drops the oldest waiting cancellation if there are too many. */
static void
tg_streamable_limit_cancels(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange, *oldest;
    unsigned n;

    oldest = NULL;
    n = 0;

    TAILQ_FOREACH(exchange, &streamable->exchanges, link)
    {
        if (exchange->is_cancel && !exchange->is_started) {
            oldest = oldest != NULL ? oldest : exchange;
            n++;
        }
    }

    if (n > TG_STREAMABLE_CANCELS_MAX) {
        tg_streamable_drop_exchange(streamable, oldest);
    }
}

/* Sets the members of an exchange that depend on its message. */
static void
tg_streamable_classify_message(tg_streamable_t *streamable,
                               tg_mcp_exchange_t *exchange)
{
    tg_message_t message;
    int64_t id;

    if (tg_message_parse(&message, tg_str(exchange->body, exchange->len))
        != TG_OK) {
        return;
    }

    if (message.method.data == NULL) {
        exchange->is_reply = 1;
        streamable->nreplies++;

    } else if (tg_json_parse_int64(message.id, &id) == TG_OK) {
        exchange->request = (uint64_t) id;
        exchange->is_initialize = tg_json_string_eq(message.method,
                                                    TG_STR("initialize"));

        if (tg_json_string_eq(message.method, TG_STR("subscriptions/listen"))) {
            exchange->is_listen_stream = 1;
            streamable->listen_stream.exchange = exchange;
            streamable->listen_stream.opened_at = 0;
        }

    } else if (tg_json_string_eq(message.method,
                                 TG_STR("notifications/initialized")))
    {
        exchange->is_initialized = 1;
        streamable->ready = exchange;

    } else if (tg_json_string_eq(message.method,
                                 TG_STR("notifications/cancelled"))) {
        exchange->is_cancel = 1;
        tg_streamable_cancel_request(streamable, exchange, &message);
        tg_streamable_limit_cancels(streamable);
    }
}

void
tg_streamable_queue_messages(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange;
    tg_caller_t *caller;
    tg_buf_t out;
    char *body, *at, *end;

    caller = &streamable->mcp_conn->caller;

    if (caller->out.len == 0) {
        return;
    }

    /* Messages written meanwhile are for the next call. */
    out = caller->out;
    tg_buf_init(&caller->out, tg_alloc_libc());
    tg_caller_count_written(caller, out.len);

    for (at = out.data;
         (end = memchr(at, '\n', out.len - (size_t) (at - out.data))) != NULL;
         at = end + 1)
    {
        body = malloc((size_t) (end - at) + 1);
        exchange = NULL;

        if (body != NULL) {
            memcpy(body, at, (size_t) (end - at));
            exchange = tg_streamable_add_exchange(streamable, body,
                                                  (size_t) (end - at));
        }

        if (exchange == NULL) {
            caller->out.failed = 1;
            break;
        }

        tg_streamable_classify_message(streamable, exchange);
    }

    tg_buf_deinit(&out);
}

void
tg_streamable_start_queued(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange;

    TAILQ_FOREACH(exchange, &streamable->exchanges, link)
    {
        if (exchange->is_started || exchange->due != 0
            || (streamable->ready != NULL && streamable->ready != exchange))
        {
            continue;
        }

        if (exchange->request != 0 && !exchange->is_listen_stream) {
            if (streamable->nrequests >= TG_STREAMABLE_REQUESTS_MAX) {
                continue;
            }

            streamable->nrequests++;

        } else if (tg_mcp_exchange_is_notification(exchange)) {
            if (streamable->nnotifications >= TG_STREAMABLE_NOTIFICATIONS_MAX) {
                continue;
            }

            streamable->nnotifications++;
        }

        tg_streamable_start_exchange(
            streamable, exchange,
            exchange->body == NULL || exchange->is_resuming ? "GET" : "POST");
    }
}

/* --- requests without a body --- */

void
tg_streamable_open_listen(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange;

    exchange = tg_streamable_add_exchange(streamable, NULL, 0);

    if (exchange != NULL) {
        exchange->is_listen_stream = 1;
        streamable->listen_stream.exchange = exchange;
        streamable->listen_stream.opened_at = 0;
    }
}

tg_mcp_exchange_t *
tg_streamable_delete_session(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange;

    if (streamable->session_id[0] == '\0' || streamable->is_unreachable) {
        return NULL;
    }

    exchange = tg_streamable_add_exchange(streamable, NULL, 0);

    if (exchange != NULL) {
        tg_streamable_start_exchange(streamable, exchange, "DELETE");
    }

    return exchange;
}
