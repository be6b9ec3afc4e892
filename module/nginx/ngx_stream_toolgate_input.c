/*
 * What a client says: read from its socket, and fed to the peer.
 *
 * An idle connection holds no buffers: reads go through one buffer of the
 * worker, and a session keeps only what its peer did not consume or the
 * client did not take.
 */
#include "nginx/ngx_stream_toolgate_session.h"

/* A worker has one thread: what is read lives until the handler returns. */
static u_char ngx_stream_toolgate_buffer[NGX_STREAM_TOOLGATE_READ];

/* Gives the peer bytes: what it leaves goes to, or stays in, session->in. */
static int
ngx_stream_toolgate_feed(ngx_stream_toolgate_session_t *session,
                         const char *data, size_t len, size_t *consumed)
{
    ngx_time_t *tp;
    int rc;

    tp = ngx_timeofday();
    session->peer.now_ms = (uint64_t) tp->sec * 1000 + tp->msec;

    rc = ngx_stream_toolgate_turn_input(session, data, len, consumed);

    if (*consumed != 0) {
        session->has_spoken = 1;
        session->has_read = 1;
    }

    if (rc == TG_CLOSED) {
        session->is_ending = 1;
    }

    if (rc == TG_NOMEM) {
        ngx_log_error(NGX_LOG_ERR, session->connection->log, 0,
                      "no memory to serve a client");
        session->is_broken = 1;
    }

    return rc;
}

/* What is left of earlier reads. */
static int
ngx_stream_toolgate_serve(ngx_stream_toolgate_session_t *session)
{
    size_t consumed;
    int rc;

    if (session->in.len == 0) {
        return TG_OK;
    }

    rc = ngx_stream_toolgate_feed(session, session->in.data, session->in.len,
                                  &consumed);
    tg_buf_drop(&session->in, consumed);

    if (session->in.len == 0) {
        tg_buf_reset(&session->in, 0);
    }

    return rc;
}

static void
ngx_stream_toolgate_append(ngx_stream_toolgate_session_t *session,
                           const u_char *data, size_t len)
{
    tg_buf_put(&session->in, (const char *) data, len);

    if (tg_buf_failed(&session->in)) {
        session->is_broken = 1;
    }
}

/*
 * Reads once and serves it.  TG_OK: there may be more; TG_AGAIN: not now;
 * else as tg_peer_input().
 */
static int
ngx_stream_toolgate_read(ngx_stream_toolgate_session_t *session)
{
    ngx_connection_t *c;
    size_t consumed;
    ssize_t n;
    int rc;

    c = session->connection;

    if (!c->read->ready) {
        return TG_AGAIN;
    }

    n = c->recv(c, ngx_stream_toolgate_buffer, NGX_STREAM_TOOLGATE_READ);

    if (n == NGX_AGAIN) {
        return TG_AGAIN;
    }

    if (n == NGX_ERROR) {
        session->is_broken = 1;
        return TG_AGAIN;
    }

    if (n == 0) {
        session->is_eof = 1;
        return TG_AGAIN;
    }

    session->bytes_in += (uint64_t) n;
    session->stream->received += n;

    if (session->in.len != 0) {
        ngx_stream_toolgate_append(session, ngx_stream_toolgate_buffer,
                                   (size_t) n);
        return session->is_broken ? TG_NOMEM
                                  : ngx_stream_toolgate_serve(session);
    }

    rc = ngx_stream_toolgate_feed(session, (char *) ngx_stream_toolgate_buffer,
                                  (size_t) n, &consumed);
    ngx_stream_toolgate_append(session, ngx_stream_toolgate_buffer + consumed,
                               (size_t) n - consumed);

    return rc;
}

void
ngx_stream_toolgate_pump(ngx_stream_toolgate_session_t *session)
{
    int rc;

    if (session->is_waiting) {
        return;
    }

    ngx_stream_toolgate_turn_begin();
    rc = ngx_stream_toolgate_serve(session);

    for (;;) {
        if (session->is_broken || session->is_ending || session->is_eof
            || session->is_waiting)
        {
            return;
        }

        if (rc == TG_LIMIT) {
            if (session->peer.out.len - session->sent <= TG_PEER_BACKLOG
                || ngx_stream_toolgate_flush(session) != NGX_OK
                || ngx_stream_toolgate_turn_is_over(session))
            {
                return;
            }

            rc = ngx_stream_toolgate_serve(session);
            continue;
        }

        if (!ngx_stream_toolgate_may_read(session)) {
            return;
        }

        rc = ngx_stream_toolgate_read(session);

        /* With nothing left to read, there is no need for a clock. */
        if (rc == TG_AGAIN
            || (rc == TG_OK && session->connection->read->ready
                && ngx_stream_toolgate_turn_is_over(session)))
        {
            return;
        }
    }
}
