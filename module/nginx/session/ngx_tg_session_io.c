/*
 * Input, output and timers of a session. An idle connection holds no buffers:
 * reads use one buffer of the worker, and a session keeps only unconsumed input
 * and output. The rest of a large message is read directly after its beginning,
 * so that each byte is copied at most once.
 */
#include "nginx/session/ngx_tg_session_impl.h"

/* Minimum size of an incomplete message whose rest is read directly. */
#define NGX_TG_DIRECT_READ_MIN 32768
/* Send timeout of an exiting worker whose tool_send_timeout is 0, in ms. */
#define NGX_TG_EXIT_SEND_TIMEOUT 60000

/* Read buffer of all sessions, whose contents each handler uses up. */
static u_char ngx_tg_read_buffer[NGX_TG_READ_BUFFER_SIZE];

/* Passes bytes to the peer; the rest goes to, or stays in, session->in. */
static int
ngx_tg_session_feed_peer(ngx_tg_session_t *session, const char *data,
                         size_t len, size_t *consumed)
{
    ngx_time_t *tp;
    int rc;

    if (session->base.conf->trace != NULL) {
        ngx_tg_session_trace_begin(session);
    }

    tp = ngx_timeofday();
    session->base.peer.now_ms = (uint64_t) tp->sec * 1000 + tp->msec;

    rc = tg_peer_handle_input(&session->base.peer, data, len, consumed);

    if (*consumed != 0) {
        ngx_tg_pre_request_remove(&session->pre_request);
        session->priv->has_read = 1;

        if (session->base.conf->trace != NULL) {
            ngx_tg_session_trace_input(session, tg_str(data, *consumed));
        }
    }

    if (rc == TG_CLOSED) {
        session->state = NGX_TG_SESSION_CLOSING;
    }

    if (rc == TG_NOMEM) {
        ngx_log_error(NGX_LOG_ERR, session->base.connection->log, 0,
                      "no memory to serve a client");
        session->base.is_broken = 1;
    }

    return rc;
}

/*
 * Reserves output space after a large message, because the response may be as
 * large. Growing a small buffer would use fresh memory each time.
 */
static void
ngx_tg_session_reserve_output(ngx_tg_session_t *session)
{
    tg_buf_t *out;

    out = &session->base.peer.out;

    if (out->len == 0 && out->cap < session->in.len
        && session->in.len >= NGX_TG_LARGE_BUFFER_SIZE)
    {
        if (out->cap != 0) {
            ngx_tg_output_buffer_return(out);
        }

        ngx_tg_buffer_cache_get(out, session->in.len * 2);
    }
}

/* Shrinks the input buffer after a large message. */
static void
ngx_tg_session_shrink_input(ngx_tg_session_t *session)
{
    tg_buf_t small;

    if (session->in.len >= NGX_TG_DIRECT_READ_MIN) {
        return;
    }

    tg_buf_init(&small, session->in.alloc);
    tg_buf_append_str(&small, tg_buf_view(&session->in));

    if (!tg_buf_has_failed(&small)) {
        ngx_tg_buffer_cache_recycle(&session->in);
        session->in = small;
    }
}

/* Passes the bytes of earlier reads to the peer. */
static int
ngx_tg_session_serve_input(ngx_tg_session_t *session)
{
    size_t consumed;
    tg_buf_t *in;
    int rc;

    in = &session->in;

    if (in->len == 0) {
        return TG_OK;
    }

    ngx_tg_session_reserve_output(session);
    rc = ngx_tg_session_feed_peer(session, in->data, in->len, &consumed);
    tg_buf_consume(in, consumed);

    if (in->len == 0) {
        ngx_tg_buffer_cache_recycle(in);
    } else if (consumed != 0 && in->cap >= NGX_TG_LARGE_BUFFER_SIZE) {
        ngx_tg_session_shrink_input(session);
    }

    return rc;
}

/*
 * Reserves space for the rest of a large message, in proportion to the bytes
 * received: a length prefix alone proves nothing.
 */
static void
ngx_tg_session_reserve_input(ngx_tg_session_t *session)
{
    size_t want;
    tg_buf_t *in;

    in = &session->in;

    if (in->cap - in->len >= NGX_TG_DIRECT_READ_MIN) {
        return;
    }

    want = ngx_max(in->len * 2, NGX_TG_LARGE_BUFFER_SIZE);
    ngx_tg_buffer_cache_get(in, SIZE_MAX);

    if (in->cap < want && tg_buf_reserve(in, want - in->len) != TG_OK) {
        session->base.is_broken = 1;
    }
}

static void
ngx_tg_session_append_input(ngx_tg_session_t *session, const u_char *data,
                            size_t len)
{
    if (len >= NGX_TG_DIRECT_READ_MIN) {
        ngx_tg_buffer_cache_get(&session->in, SIZE_MAX);
    }

    tg_buf_append(&session->in, (const char *) data, len);

    if (tg_buf_has_failed(&session->in)) {
        session->base.is_broken = 1;
    }
}

/* Reads once. Returns 0 and sets is_eof or is_broken at the end. */
static size_t
ngx_tg_session_recv(ngx_tg_session_t *session, u_char *buf, size_t size)
{
    ngx_connection_t *c;
    ssize_t n;

    c = session->base.connection;
    n = c->recv(c, buf, size);

    if (n == NGX_AGAIN) {
        return 0;
    }

    if (n == NGX_ERROR) {
        session->base.is_broken = 1;
        return 0;
    }

    if (n == 0) {
        session->priv->is_eof = 1;
        return 0;
    }

    session->bytes_in += (uint64_t) n;
    session->base.stream->received += n;

    return (size_t) n;
}

static int
ngx_tg_session_read_rest(ngx_tg_session_t *session)
{
    tg_buf_t *in;
    size_t n;

    in = &session->in;
    ngx_tg_session_reserve_input(session);

    if (session->base.is_broken) {
        return TG_NOMEM;
    }

    n = ngx_tg_session_recv(session, (u_char *) in->data + in->len,
                            in->cap - in->len);

    if (n == 0) {
        return TG_AGAIN;
    }

    in->len += n;

    return ngx_tg_session_serve_input(session);
}

/*
 * Reads once and serves the input. TG_OK: there may be more; TG_AGAIN: not now;
 * errors as of tg_peer_handle_input().
 */
static int
ngx_tg_session_read(ngx_tg_session_t *session)
{
    size_t n, consumed;
    int rc;

    if (!session->base.connection->read->ready) {
        return TG_AGAIN;
    }

    if (session->in.len >= NGX_TG_DIRECT_READ_MIN) {
        return ngx_tg_session_read_rest(session);
    }

    n = ngx_tg_session_recv(session, ngx_tg_read_buffer,
                            NGX_TG_READ_BUFFER_SIZE);

    if (n == 0) {
        return TG_AGAIN;
    }

    if (session->in.len != 0) {
        ngx_tg_session_append_input(session, ngx_tg_read_buffer, n);
        return session->base.is_broken ? TG_NOMEM
                                       : ngx_tg_session_serve_input(session);
    }

    rc = ngx_tg_session_feed_peer(session, (char *) ngx_tg_read_buffer, n,
                                  &consumed);

    if (consumed != n) {
        ngx_tg_session_append_input(session, ngx_tg_read_buffer + consumed,
                                    n - consumed);
    }

    return rc;
}

/*
 * Checks whether input may be read. An exiting worker does not read from our
 * own bridge, which resends its requests; another Toolgate gets an error for
 * each. Other clients would lose requests: the worker reads what was received
 * before the exit, and for NGX_TG_LEAVING_TIMEOUT, but not longer, because a
 * client that is never idle must not keep the old worker.
 */
static ngx_uint_t
ngx_tg_session_can_read(const ngx_tg_session_t *session)
{
    return session->state == NGX_TG_SESSION_SERVING
           || session->base.peer.is_leaving
           || (!session->priv->is_drained && !session->base.peer.is_toolgate
               && (session->bytes_in < session->priv->bytes_to_read
                   || ngx_current_msec - session->leaving_since
                          < NGX_TG_LEAVING_TIMEOUT));
}

void
ngx_tg_session_read_and_serve(ngx_tg_session_t *session)
{
    size_t before, kept;
    int rc;

    if (ngx_tg_time_slice_is_awaited(session) || session->base.is_broken) {
        return;
    }

    ngx_tg_time_slice_begin(session);
    rc = ngx_tg_session_serve_input(session);

    for (;;) {
        if (session->base.is_broken || session->state == NGX_TG_SESSION_CLOSING
            || session->priv->is_eof || ngx_tg_time_slice_is_awaited(session))
        {
            return;
        }

        if (rc == TG_LIMIT) {
            /*
             * The peer's limit includes bytes sent already: flush, and try
             * again once the output is gone.
             */
            if (session->base.peer.out.len <= TG_PEER_OUTPUT_MAX
                || ngx_tg_session_flush(session) != NGX_OK
                || ngx_tg_time_slice_is_over(session))
            {
                return;
            }

            rc = ngx_tg_session_serve_input(session);
            continue;
        }

        if (!ngx_tg_session_can_read(session)) {
            return;
        }

        before = session->in.len;
        rc = ngx_tg_session_read(session);
        kept = session->in.len > before ? session->in.len - before : 0;

        /* With nothing left to read, the time slice need not be checked. */
        if (rc == TG_AGAIN
            || (rc == TG_OK && session->base.connection->read->ready
                && ngx_tg_time_slice_is_over_after(
                    session, kept + session->base.peer.frame_size)))
        {
            return;
        }
    }
}

/* --- output --- */

/* Sends the peer's output up to the position end. NGX_AGAIN: not all of it. */
static ngx_int_t
ngx_tg_session_flush_output(ngx_tg_session_t *session, size_t end)
{
    ngx_connection_t *c;
    tg_buf_t *out;
    ssize_t n;

    c = session->base.connection;
    out = &session->base.peer.out;

    while (session->sent < end) {

        /* after a short write wev->ready is clear */
        n = c->write->ready ? c->send(c, (u_char *) out->data + session->sent,
                                      end - session->sent)
                            : NGX_AGAIN;

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (n == NGX_AGAIN || n == 0) {

            /*
             * The peer's limit counts unsent bytes. Moving the rest is cheap
             * once few are unsent and half of the buffer is sent.
             */
            if (session->sent > out->len / 2
                && out->len - session->sent <= TG_PEER_OUTPUT_MAX)
            {
                tg_buf_consume(out, session->sent);
                ngx_tg_unsent_texts_shift(session, session->sent);
                session->traced -= ngx_min(session->traced, session->sent);
                session->sent = 0;
            }

            return NGX_AGAIN;
        }

        session->sent += (size_t) n;
        session->bytes_out += (uint64_t) n;
        session->priv->has_sent = 1;
    }

    return NGX_OK;
}

ngx_int_t
ngx_tg_session_flush(ngx_tg_session_t *session)
{
    const ngx_tg_unsent_texts_t *texts;
    ngx_int_t rc;
    tg_buf_t *out;

    out = &session->base.peer.out;
    texts = &session->priv->texts;

    for (;;) {
        if (session->base.conf->trace != NULL) {
            ngx_tg_session_trace_output(session);
        }

        rc = ngx_tg_session_flush_output(session, texts->first != NULL
                                                      ? texts->first_offset
                                                      : out->len);

        if (rc == NGX_OK && session->sent == out->len) {
            ngx_tg_unsent_texts_shift(session, out->len);
            session->sent = 0;
            session->traced = 0;
            out->len = 0;
        }

        if (rc != NGX_OK || texts->first == NULL) {
            break;
        }

        rc = ngx_tg_unsent_texts_flush(session);

        if (rc != NGX_OK) {
            break;
        }
    }

    if (rc == NGX_OK && session->priv->shared_client != NULL) {
        session->priv->shared_client->backlog_bytes = 0;
    }

    return rc;
}

/*
 * Removes the unneeded write event: the kernel would report free space after
 * each response.
 */
ngx_int_t
ngx_tg_session_watch_writable(ngx_tg_session_t *session)
{
    ngx_event_t *wev;

    wev = session->base.connection->write;

#if (NGX_STREAM_SSL)
    if (session->base.connection->ssl != NULL) {
        return ngx_handle_write_event(wev, 0);
    }
#endif

    if (ngx_tg_session_get_unsent_size(session) != 0) {
        return ngx_handle_write_event(wev, 0);
    }

    return wev->active && (ngx_event_flags & NGX_USE_CLEAR_EVENT)
               ? ngx_del_event(wev, NGX_WRITE_EVENT, 0)
               : NGX_OK;
}

/* --- timers --- */

static void
ngx_tg_event_set_timeout(ngx_event_t *ev, ngx_msec_t timeout)
{
    if (timeout != 0) {
        ngx_add_timer(ev, timeout);
    } else if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}

void
ngx_tg_session_set_wait(ngx_tg_session_t *session, tg_peer_wait_t wait,
                        ngx_msec_t most)
{
    const ngx_tg_srv_conf_t *conf;
    ngx_msec_t to_read, to_send;
    ngx_connection_t *c;

    c = session->base.connection;
    conf = session->base.conf;
    to_read = wait == TG_WAIT_FRAME  ? conf->frame_timeout
              : wait == TG_WAIT_IDLE ? conf->idle_timeout
                                     : 0;
    to_send = wait == TG_WAIT_READ ? conf->send_timeout : 0;

    /* Without a timer an exiting worker would not wait. */
    if (wait == TG_WAIT_READ && to_send == 0 && ngx_tg_worker_is_exiting()) {
        to_send = NGX_TG_EXIT_SEND_TIMEOUT;
    }

    /* An idle session does not delay the worker's exit. */
    c->read->cancelable = 1;
    ngx_tg_event_set_timeout(c->read, ngx_min(to_read, most));
    ngx_tg_event_set_timeout(c->write, ngx_min(to_send, most));
    session->wait = wait;
}

void
ngx_tg_session_set_timers(ngx_tg_session_t *session)
{
    tg_peer_wait_t wait;
    ngx_uint_t is_due;

    wait = tg_peer_get_wait(&session->base.peer,
                            ngx_tg_session_get_unsent_size(session),
                            session->in.len);

    is_due = wait == TG_WAIT_READ ? session->priv->has_sent
                                  : session->priv->has_read;

    /* Most sessions have no idle timeout, and need no timer. */
    if (wait != session->wait
        || (wait == TG_WAIT_READ && ngx_tg_worker_is_exiting()
            && !session->base.connection->write->timer_set)
        || (is_due
            && (wait != TG_WAIT_IDLE || session->base.conf->idle_timeout != 0)))
    {
        ngx_tg_session_set_wait(session, wait, NGX_TIMER_INFINITE);
    }

    session->priv->has_sent = 0;
    session->priv->has_read = 0;
}
