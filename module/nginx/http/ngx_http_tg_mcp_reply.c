/* Responses of mcp_pass: one JSON body, or a stream of events. */
#include "nginx/http/ngx_http_tg_mcp.h"

static void ngx_http_tg_on_writable(ngx_http_request_t *r);

void
ngx_http_tg_set_type(ngx_http_request_t *r, const char *type, off_t len)
{
    r->headers_out.content_length_n = len;
    r->headers_out.content_type.data = (u_char *) type;
    r->headers_out.content_type.len = ngx_strlen(type);
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.content_type_lowcase = NULL;
}

/* Sends a whole body, which must live as long as the request. */
static ngx_int_t
ngx_http_tg_send_json(ngx_http_request_t *r, ngx_uint_t status, tg_str_t body,
                      ngx_buf_t *buf, ngx_chain_t *link)
{
    ngx_int_t rc;

    r->headers_out.status = status;
    ngx_http_tg_set_type(r, "application/json", (off_t) body.len);
    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    ngx_memzero(buf, sizeof(ngx_buf_t));
    buf->pos = (u_char *) body.data;
    buf->last = buf->pos + body.len;
    buf->memory = 1;
    buf->last_buf = 1;
    buf->last_in_chain = 1;
    link->buf = buf;
    link->next = NULL;

    return ngx_http_output_filter(r, link);
}

ngx_int_t
ngx_http_tg_send_error(ngx_http_request_t *r, ngx_uint_t status,
                       const char *text)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"error\":"
                               "{\"code\":-32600,\"message\":\"";
    ngx_chain_t *link;
    ngx_buf_t *buf;
    u_char *body, *end;

    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "request rejected: %s",
                  text);
    link = ngx_alloc_chain_link(r->pool);
    buf = ngx_alloc_buf(r->pool);
    body = ngx_pnalloc(r->pool, sizeof(head) + ngx_strlen(text) + 3);

    if (link == NULL || buf == NULL || body == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    end = ngx_sprintf(body, "%s%s\"}}", head, text);

    return ngx_http_tg_send_json(r, status,
                                 tg_str((char *) body, (size_t) (end - body)),
                                 buf, link);
}

/* Responds without a body: a notification was accepted. */
static ngx_int_t
ngx_http_tg_send_accepted(ngx_http_request_t *r)
{
    r->headers_out.status = 202;
    r->headers_out.content_length_n = 0;
    r->header_only = 1;

    return ngx_http_send_header(r);
}

ngx_int_t
ngx_http_tg_add_header(ngx_http_request_t *r, const char *name,
                       const ngx_str_t *value)
{
    ngx_table_elt_t *header;

    header = ngx_list_push(&r->headers_out.headers);

    if (header == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(header, sizeof(ngx_table_elt_t));
    header->hash = 1;
    header->key.data = (u_char *) name;
    header->key.len = ngx_strlen(name);
    header->value = *value;

    return NGX_OK;
}

/* --- streams of events --- */

/* Sends the head of a stream. Proxies must not buffer it, nor NGINX zip it. */
static ngx_int_t
ngx_http_tg_begin_stream(ngx_http_tg_ctx_t *ctx)
{
    static const ngx_str_t no_cache = ngx_string("no-cache");
    static const ngx_str_t no = ngx_string("no");

    ngx_http_request_t *r;
    ngx_int_t rc;

    r = ctx->request;
    ctx->is_streaming = 1;
#if (NGX_HTTP_GZIP)
    r->gzip_tested = 1;
    r->gzip_ok = 0;
#endif
    r->headers_out.status = NGX_HTTP_OK;
    ngx_http_tg_set_type(r, "text/event-stream", -1);

    if (ngx_http_tg_add_header(r, "Cache-Control", &no_cache) != NGX_OK
        || ngx_http_tg_add_header(r, "X-Accel-Buffering", &no) != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_http_send_header(r);

    return rc == NGX_ERROR || rc > NGX_OK ? NGX_ERROR : NGX_OK;
}

/* Moves the lines of peer.out to the events. */
static void
ngx_http_tg_write_events(ngx_http_tg_ctx_t *ctx)
{
    tg_buf_t *out;
    tg_str_t rest;
    size_t len;

    out = &ctx->session->base.peer.out;
    ctx->session->bytes_out += out->len;
    tg_buf_truncate(&ctx->events, 0);

    for (rest = tg_buf_view(out); rest.len != 0;
         rest = tg_str(rest.data + len, rest.len - len))
    {
        len = tg_str_find_char(rest, "\n");
        tg_buf_append_cstr(&ctx->events, "data: ");
        tg_buf_append_str(&ctx->events, tg_str(rest.data, len));
        tg_buf_append_cstr(&ctx->events, "\n\n");
        len = ngx_min(len + 1, rest.len);
    }

    /* Streams may be open for days: they keep no large buffers. */
    tg_buf_deinit(out);
    tg_buf_init(out, tg_alloc_libc());
}

/* Checks whether the last events are not sent yet. */
static ngx_uint_t
ngx_http_tg_is_sending(const ngx_http_tg_ctx_t *ctx)
{
    return ctx->buf.pos != ctx->buf.last;
}

/* Sends the events, and the end of the stream if it is its last part. */
static ngx_int_t
ngx_http_tg_send_events(ngx_http_tg_ctx_t *ctx, ngx_uint_t is_last)
{
    ngx_memzero(&ctx->buf, sizeof(ngx_buf_t));
    ctx->buf.pos = (u_char *) ctx->events.data;
    ctx->buf.last = ctx->buf.pos + ctx->events.len;
    ctx->buf.memory = ctx->events.len != 0;
    ctx->buf.flush = 1;
    ctx->buf.last_buf = is_last ? 1 : 0;
    ctx->buf.last_in_chain = ctx->buf.last_buf;
    ctx->link.buf = &ctx->buf;
    ctx->link.next = NULL;

    return ngx_http_output_filter(ctx->request, &ctx->link);
}

/* Waits until the socket accepts more. */
static ngx_int_t
ngx_http_tg_watch_writable(ngx_http_request_t *r)
{
    ngx_http_core_loc_conf_t *clcf;
    ngx_event_t *wev;

    wev = r->connection->write;
    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    r->write_event_handler = ngx_http_tg_on_writable;

    if (!wev->delayed && !wev->timer_set) {
        ngx_add_timer(wev, clcf->send_timeout);
    }

    return ngx_handle_write_event(wev, clcf->send_lowat);
}

/*
 * Sends what the peer has. Returns NGX_AGAIN while the stream continues, else
 * the code for ngx_http_finalize_request().
 */
static ngx_int_t
ngx_http_tg_continue_stream(ngx_http_tg_ctx_t *ctx, ngx_uint_t is_last)
{
    ngx_http_request_t *r;
    ngx_int_t rc;

    r = ctx->request;

    if (!ngx_http_tg_is_sending(ctx)
        && (is_last || ctx->session->base.peer.out.len != 0))
    {
        ngx_http_tg_write_events(ctx);

        if (tg_buf_has_failed(&ctx->events)) {
            return NGX_ERROR;
        }

        ctx->is_ended = is_last ? 1 : 0;
        rc = ngx_http_tg_send_events(ctx, is_last);

        if (rc == NGX_ERROR || is_last) {
            return rc;
        }
    }

    if (ngx_http_tg_is_sending(ctx)) {
        return ctx->session->base.peer.out.len > NGX_HTTP_TG_UNSENT_MAX
                       || ngx_http_tg_watch_writable(r) != NGX_OK
                   ? NGX_ERROR
                   : NGX_AGAIN;
    }

    /* Nothing is unsent: the next events need no large buffer. */
    tg_buf_deinit(&ctx->events);
    tg_buf_init(&ctx->events, tg_alloc_libc());

    if (r->connection->write->timer_set && !r->connection->write->delayed) {
        ngx_del_timer(r->connection->write);
    }

    return NGX_AGAIN;
}

static void
ngx_http_tg_on_writable(ngx_http_request_t *r)
{
    ngx_http_tg_ctx_t *ctx;
    ngx_connection_t *c;

    ctx = ngx_http_get_module_ctx(r, ngx_http_toolgate_module);
    c = r->connection;

    if (c->write->timedout) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT, "client timed out");
        c->timedout = 1;
        ngx_http_finalize_request(r, NGX_HTTP_REQUEST_TIME_OUT);
        return;
    }

    if (c->write->delayed) {
        if (ngx_handle_write_event(c->write, 0) != NGX_OK) {
            ngx_http_finalize_request(r, NGX_ERROR);
        }

        return;
    }

    if (ngx_http_tg_is_sending(ctx)
        && ngx_http_output_filter(r, NULL) == NGX_ERROR) {
        ngx_http_finalize_request(r, NGX_ERROR);
        return;
    }

    ngx_http_tg_run(ctx);
}

static void
ngx_http_tg_on_heartbeat(ngx_event_t *ev)
{
    ngx_http_tg_ctx_t *ctx = ev->data;

    ngx_connection_t *c;

    c = ctx->request->connection;
    ngx_add_timer(ev, ctx->conf->heartbeat);

    if (ctx->session->base.peer.out.len == 0 && !ngx_http_tg_is_sending(ctx)) {
        if (!ctx->is_streaming && ngx_http_tg_begin_stream(ctx) != NGX_OK) {
            ngx_http_finalize_request(ctx->request, NGX_ERROR);
            ngx_http_run_posted_requests(c);
            return;
        }

        tg_buf_append_cstr(&ctx->events, ":\n\n");

        if (ngx_http_tg_send_events(ctx, 0) == NGX_ERROR) {
            ngx_http_finalize_request(ctx->request, NGX_ERROR);
            ngx_http_run_posted_requests(c);
            return;
        }
    }

    ngx_http_tg_run(ctx);
}

ngx_int_t
ngx_http_tg_wait(ngx_http_tg_ctx_t *ctx)
{
    ngx_http_request_t *r;
    ngx_event_t *rev;

    r = ctx->request;

    if (ctx->heartbeat.data != NULL) {
        return NGX_OK;
    }

    /* Not cancelable: an exiting worker waits for its requests. */
    ctx->heartbeat.handler = ngx_http_tg_on_heartbeat;
    ctx->heartbeat.data = ctx;
    ctx->heartbeat.log = r->connection->log;

    if (ctx->http.accepts_events) {
        ngx_add_timer(&ctx->heartbeat, ctx->conf->heartbeat);
    }

    /* In the legacy era, a client that disconnects does not cancel. */
    if (!ctx->http.is_modern) {
        return NGX_OK;
    }

    r->read_event_handler = ngx_http_test_reading;
    rev = r->connection->read;

    /* The client may have gone while its body was read. */
    if (rev->ready && !rev->posted) {
        ngx_post_event(rev, &ngx_posted_events);
    }

    return ngx_handle_read_event(rev, 0);
}

/* --- output of the session --- */

/* Returns the last line of the output, which is the reply. */
static tg_str_t
ngx_http_tg_get_reply(const tg_buf_t *out)
{
    tg_str_t text;
    size_t start;

    text = tg_buf_view(out);

    if (text.len != 0 && text.data[text.len - 1] == '\n') {
        text.len--;
    }

    start = text.len;

    while (start != 0 && text.data[start - 1] != '\n') {
        start--;
    }

    return tg_str(text.data + start, text.len - start);
}

/* Ends the subscriptions of a client at the exit of the worker. */
static void
ngx_http_tg_end_listening(tg_peer_t *peer)
{
    /*
     * This worker does not know the lists of the next one. Clients that listen
     * again must not miss a change.
     */
    tg_peer_notify_list_changes(peer, ~0U);
    tg_peer_send_shutdown_notice(peer, TG_STR("the server reloads or exits"));
}

/*
 * Sends what there is to send. Returns the code for ngx_http_finalize_request()
 * after setting ctx->is_ended, NGX_AGAIN: not yet, or NGX_ERROR.
 */
static ngx_int_t
ngx_http_tg_respond(ngx_http_tg_ctx_t *ctx)
{
    ngx_http_request_t *r;
    ngx_uint_t is_done;
    tg_str_t reply;
    tg_buf_t *out;

    r = ctx->request;
    is_done = tg_peer_is_done(&ctx->session->base.peer);
    out = &ctx->session->base.peer.out;

    if (ctx->is_streaming) {
        return ngx_http_tg_continue_stream(ctx, is_done);
    }

    if (is_done && !ctx->http.is_request) {
        ctx->is_ended = 1;
        return ngx_http_tg_send_accepted(r);
    }

    if (is_done) {
        reply = ngx_http_tg_get_reply(out);

        if (reply.len + 1 == out->len || !ctx->http.accepts_events) {
            ctx->session->bytes_out += reply.len;
            ctx->is_ended = 1;
            return ngx_http_tg_send_json(r, ctx->http.status, reply, &ctx->buf,
                                         &ctx->link);
        }

    } else if (out->len == 0) {
        return NGX_AGAIN;

    } else if (!ctx->http.accepts_events) {
        tg_buf_truncate(out, 0);
        return NGX_AGAIN;
    }

    return ngx_http_tg_begin_stream(ctx) != NGX_OK
               ? NGX_ERROR
               : ngx_http_tg_continue_stream(ctx, is_done);
}

void
ngx_http_tg_run(void *data)
{
    ngx_http_tg_ctx_t *ctx = data;

    ngx_http_request_t *r;
    ngx_connection_t *c;
    tg_peer_t *peer;
    ngx_int_t rc;

    r = ctx->request;
    c = r->connection;

    /* NGINX sends the rest. */
    if (ctx->is_ended) {
        return;
    }

    peer = &ctx->session->base.peer;
    rc = ngx_tg_embedded_session_update(ctx->session);

    if (rc == NGX_OK && ngx_exiting && tg_peer_is_listening(peer)) {
        ngx_http_tg_end_listening(peer);
    }

    if (rc == NGX_OK) {
        rc = ngx_http_tg_respond(ctx);
    }

    if (rc == NGX_AGAIN && !ctx->is_ended && ngx_http_tg_wait(ctx) == NGX_OK) {
        return;
    }

    ctx->is_ended = 1;

    if (ctx->heartbeat.timer_set) {
        ngx_del_timer(&ctx->heartbeat);
    }

    ngx_http_finalize_request(r, rc);
    ngx_http_run_posted_requests(c);
}
