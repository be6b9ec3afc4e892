#include "core/tg_mcp_http.h"
#include "runner/mcp/tg_server.h"

#include <stdio.h>
#include <stdlib.h>

/* --- headers --- */

void
tg_streamable_put(tg_buf_t *headers, const char *name, const char *value)
{
    tg_buf_text(headers, name);
    tg_buf_text(headers, value);
    tg_buf_char(headers, '\0');
}

static void
tg_streamable_put_session(const tg_streamable_t *streamable,
                          const tg_exchange_t *exchange, tg_buf_t *headers)
{
    if (exchange->is_hello) {
        return;
    }

    if (streamable->version[0] != '\0') {
        tg_streamable_put(headers,
                          "MCP-Protocol-Version: ", streamable->version);
    }

    if (streamable->session_id[0] != '\0') {
        tg_streamable_put(headers, "Mcp-Session-Id: ", streamable->session_id);
    }
}

/*
 * NULL, or why it cannot be sent.  A message says of itself whether it is one
 * of the modern era.
 */
static const char *
tg_streamable_put_post(const tg_streamable_t *streamable,
                       const tg_exchange_t *exchange, tg_buf_t *headers)
{
    tg_message_t message;

    tg_streamable_put(headers, "Content-Type: ", "application/json");
    tg_streamable_put(headers,
                      "Accept: ", "application/json, text/event-stream");

    if (tg_message_parse(&message, tg_str(exchange->body, exchange->len))
            != TG_OK
        || message.meta.protocol_version.data == NULL)
    {
        tg_streamable_put_session(streamable, exchange, headers);
        return NULL;
    }

    tg_streamable_put(headers, "MCP-Protocol-Version: ", TG_MCP_MODERN);

    return tg_mcp_http_put(headers, &message,
                           streamable->instance->client.tools);
}

static void
tg_streamable_put_get(const tg_streamable_t *streamable,
                      const tg_exchange_t *exchange, tg_buf_t *headers)
{
    tg_str_t last;

    tg_streamable_put(headers, "Accept: ", "text/event-stream");
    tg_streamable_put_session(streamable, exchange, headers);
    last = tg_exchange_last_id(exchange);

    if (last.len != 0) {
        tg_buf_text(headers, "Last-Event-ID: ");
        tg_buf_str(headers, last);
        tg_buf_char(headers, '\0');
    }
}

/* A name without a value is one that libcurl leaves out; with ";" it is not. */
static void
tg_streamable_fix_empty(char *header)
{
    char *end;

    end = strchr(header, '\0') - 1;

    if (strchr(header, ':') == end) {
        *end = ';';
    }
}

const char **
tg_streamable_list(const tg_server_url_t *url, tg_buf_t *headers)
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

    list = tg_buf_failed(headers) ? NULL : malloc(n * sizeof(*list));

    if (list == NULL) {
        return NULL;
    }

    for (n = 0, at = 0; at < headers->len; at += strlen(headers->data + at) + 1)
    {
        tg_streamable_fix_empty(headers->data + at);
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
tg_streamable_request(const tg_server_url_t *url, const char *method,
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
tg_streamable_refuse(tg_exchange_t *exchange, const char *why)
{
    exchange->is_started = 1;
    exchange->is_over = 1;
    exchange->is_refused = 1;
    (void) snprintf(exchange->why, sizeof(exchange->why), "%s", why);
    exchange->news(exchange);
}

static void
tg_streamable_begin(tg_streamable_t *streamable, tg_exchange_t *exchange,
                    const char *method)
{
    tg_http_request_t request;
    const tg_server_url_t *url;
    const char **list, *why;
    tg_buf_t headers;

    url = &streamable->instance->server->spec.url;
    tg_buf_init(&headers, tg_alloc_libc());
    why = NULL;

    if (strcmp(method, "POST") == 0) {
        why = tg_streamable_put_post(streamable, exchange, &headers);
    } else {
        tg_streamable_put_get(streamable, exchange, &headers);
    }

    list = tg_streamable_list(url, &headers);

    if (why != NULL || list == NULL) {
        tg_streamable_refuse(exchange, why != NULL
                                           ? why
                                           : "toolgate-runner has no memory");
    } else {
        request = tg_streamable_request(url, method, list);

        if (exchange->is_old_probe) {
            request.timeout_ms = TG_STREAMABLE_PROBE_MS;
        } else if (request.timeout_ms == 0 && exchange->request == 0
                   && !exchange->is_channel)
        {
            request.timeout_ms = TG_STREAMABLE_NOTE_MS;
        }

        exchange->secrets = url->headers;
        exchange->nsecrets = url->nsecrets;
        tg_exchange_start(exchange, streamable->instance->server->servers->http,
                          &request);
    }

    free(list);
    tg_buf_deinit(&headers);
}

void
tg_streamable_drop(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    TAILQ_REMOVE(&streamable->exchanges, exchange, place);
    streamable->nrequests -= exchange->request != 0 && exchange->is_started
                             && !exchange->is_channel;
    streamable->nnotes -= exchange->is_started && tg_exchange_is_note(exchange);
    streamable->nreplies -= exchange->is_reply;

    if (streamable->hearing == exchange) {
        streamable->hearing = NULL;
    }

    if (streamable->ready == exchange) {
        streamable->ready = NULL;
    }

    if (streamable->channel.exchange == exchange) {
        streamable->channel.exchange = NULL;
    }

    tg_exchange_free(exchange);
}

static tg_exchange_t *
tg_streamable_new(tg_streamable_t *streamable, char *body, size_t len)
{
    tg_exchange_t *exchange;

    exchange = tg_exchange_new(streamable->news, streamable, body, len,
                               TG_INSTANCE_FRAME_MAX);

    if (exchange != NULL) {
        exchange->session = streamable->session;
        TAILQ_INSERT_TAIL(&streamable->exchanges, exchange, place);
    }

    return exchange;
}

/* --- messages --- */

/* What was asked is not wanted any more. */
static void
tg_streamable_cancel(tg_streamable_t *streamable, tg_exchange_t *exchange,
                     const tg_message_t *message)
{
    tg_exchange_t *other;
    int64_t id;

    if (tg_json_int64(message->p.request_id, &id) != TG_OK) {
        return;
    }

    TAILQ_FOREACH(other, &streamable->exchanges, place)
    {
        if (other->request != 0 && other->request == (uint64_t) id) {
            break;
        }
    }

    /*
     * A modern server is told by the end of its stream; one that was not told
     * of the request has nothing to cancel.
     */
    if (streamable->instance->client.is_modern
        || (other != NULL && !other->is_started))
    {
        tg_streamable_drop(streamable, exchange);
    }

    if (other != NULL) {
        tg_streamable_drop(streamable, other);
    }
}

/* Of too many cancellations that wait, the oldest is worth the least. */
static void
tg_streamable_limit_cancels(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange, *oldest;
    unsigned n;

    oldest = NULL;
    n = 0;

    TAILQ_FOREACH(exchange, &streamable->exchanges, place)
    {
        if (exchange->is_cancel && !exchange->is_started) {
            oldest = oldest != NULL ? oldest : exchange;
            n++;
        }
    }

    if (n > TG_STREAMABLE_CANCELS) {
        tg_streamable_drop(streamable, oldest);
    }
}

/* What there is to know of a message before it is sent. */
static void
tg_streamable_look(tg_streamable_t *streamable, tg_exchange_t *exchange)
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

    } else if (tg_json_int64(message.id, &id) == TG_OK) {
        exchange->request = (uint64_t) id;
        exchange->is_hello = tg_json_is_text(message.method,
                                             TG_STR("initialize"));

        if (tg_json_is_text(message.method, TG_STR("subscriptions/listen"))) {
            exchange->is_channel = 1;
            streamable->channel.exchange = exchange;
            streamable->channel.opened_at = 0;
        }

    } else if (tg_json_is_text(message.method,
                               TG_STR("notifications/initialized"))) {
        exchange->is_ready = 1;
        streamable->ready = exchange;

    } else if (tg_json_is_text(message.method,
                               TG_STR("notifications/cancelled"))) {
        exchange->is_cancel = 1;
        tg_streamable_cancel(streamable, exchange, &message);
        tg_streamable_limit_cancels(streamable);
    }
}

void
tg_streamable_take(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange;
    tg_caller_t *caller;
    tg_buf_t out;
    char *body, *at, *end;

    caller = &streamable->instance->caller;

    if (caller->out.len == 0) {
        return;
    }

    /* What is said meanwhile is for the next time. */
    out = caller->out;
    tg_buf_init(&caller->out, tg_alloc_libc());
    tg_caller_written(caller, out.len);

    for (at = out.data;
         (end = memchr(at, '\n', out.len - (size_t) (at - out.data))) != NULL;
         at = end + 1)
    {
        body = malloc((size_t) (end - at) + 1);
        exchange = NULL;

        if (body != NULL) {
            memcpy(body, at, (size_t) (end - at));
            exchange = tg_streamable_new(streamable, body, (size_t) (end - at));
        }

        if (exchange == NULL) {
            caller->out.failed = 1;
            break;
        }

        tg_streamable_look(streamable, exchange);
    }

    tg_buf_deinit(&out);
}

void
tg_streamable_start(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange;

    TAILQ_FOREACH(exchange, &streamable->exchanges, place)
    {
        if (exchange->is_started || exchange->due != 0
            || (streamable->ready != NULL && streamable->ready != exchange))
        {
            continue;
        }

        if (exchange->request != 0 && !exchange->is_channel) {
            if (streamable->nrequests >= TG_STREAMABLE_REQUESTS) {
                continue;
            }

            streamable->nrequests++;

        } else if (tg_exchange_is_note(exchange)) {
            if (streamable->nnotes >= TG_STREAMABLE_NOTES) {
                continue;
            }

            streamable->nnotes++;
        }

        tg_streamable_begin(streamable, exchange,
                            exchange->body == NULL || exchange->is_resuming
                                ? "GET"
                                : "POST");
    }
}

/* --- what has no body --- */

void
tg_streamable_get(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange;

    exchange = tg_streamable_new(streamable, NULL, 0);

    if (exchange != NULL) {
        exchange->is_channel = 1;
        streamable->channel.exchange = exchange;
        streamable->channel.opened_at = 0;
    }
}

tg_exchange_t *
tg_streamable_delete(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange;

    if (streamable->session_id[0] == '\0' || streamable->is_away) {
        return NULL;
    }

    exchange = tg_streamable_new(streamable, NULL, 0);

    if (exchange != NULL) {
        tg_streamable_begin(streamable, exchange, "DELETE");
    }

    return exchange;
}
