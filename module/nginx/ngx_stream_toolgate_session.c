/*
 * Events of a client's socket: reads, feeds the peer, writes what it says.
 *
 * An idle connection holds no buffers: reads go through one buffer of the
 * worker, and a session keeps only what its peer did not consume or the
 * client did not take.
 */
#include "nginx/ngx_stream_toolgate.h"

#include <poll.h>

/* One read; large enough that a usual burst of frames is one. */
#define NGX_STREAM_TOOLGATE_READ 65536
/* How long an exiting worker serves a client that is never idle. */
#define NGX_STREAM_TOOLGATE_LEAVE 5000
/* Unsent output that a session keeps while nothing waits in it. */
#define NGX_STREAM_TOOLGATE_KEEP 0

static void ngx_stream_toolgate_cleanup(void *data);
static void ngx_stream_toolgate_read_handler(ngx_event_t *rev);
static void ngx_stream_toolgate_write_handler(ngx_event_t *wev);

/* A worker has one thread: what is read lives until the handler returns. */
static u_char ngx_stream_toolgate_buffer[NGX_STREAM_TOOLGATE_READ];

/* An output buffer that whoever has something to say borrows. */
static char *ngx_stream_toolgate_spare;
static size_t ngx_stream_toolgate_spare_cap;

void
ngx_stream_toolgate_handler(ngx_stream_session_t *s)
{
    ngx_stream_toolgate_session_t *session;
    ngx_stream_toolgate_srv_conf_t *scf;
    ngx_pool_cleanup_t *cln;
    ngx_connection_t *c;

    c = s->connection;
    c->log->action = "serving tools";
    scf = ngx_stream_get_module_srv_conf(s, ngx_stream_toolgate_module);

    session = ngx_pcalloc(c->pool, sizeof(ngx_stream_toolgate_session_t));
    cln = ngx_pool_cleanup_add(c->pool, 0);

    if (session == NULL || cln == NULL) {
        ngx_stream_finalize_session(s, NGX_STREAM_INTERNAL_SERVER_ERROR);
        return;
    }

    session->stream = s;
    session->connection = c;
    session->conf = scf;
    tg_buf_init(&session->in, tg_alloc_libc());
    tg_peer_init(&session->peer, tg_alloc_libc(), &ngx_stream_toolgate_peer_ops,
                 session, (tg_dialect_t) scf->protocol, scf->catalogue,
                 &scf->info, scf->max_frame, (unsigned) scf->max_inflight);

    cln->handler = ngx_stream_toolgate_cleanup;
    cln->data = session;

    ngx_stream_set_ctx(s, session, ngx_stream_toolgate_module);

    c->read->handler = ngx_stream_toolgate_read_handler;
    c->write->handler = ngx_stream_toolgate_write_handler;

    /* What a preread phase may have taken from the socket already. */
    if (c->buffer != NULL && c->buffer->last != c->buffer->pos) {
        tg_buf_put(&session->in, (char *) c->buffer->pos,
                   (size_t) (c->buffer->last - c->buffer->pos));
        session->is_broken = tg_buf_failed(&session->in) ? 1 : 0;
        c->buffer->pos = c->buffer->last;
    }

    ngx_stream_toolgate_session_run(session);
}

static void
ngx_stream_toolgate_cleanup(void *data)
{
    ngx_stream_toolgate_session_t *session = data;

    tg_peer_deinit(&session->peer);
    tg_buf_deinit(&session->in);
}

static void
ngx_stream_toolgate_read_handler(ngx_event_t *rev)
{
    ngx_stream_toolgate_session_t *session;
    ngx_stream_session_t *s;
    ngx_connection_t *c;

    c = rev->data;
    s = c->data;
    session = ngx_stream_get_module_ctx(s, ngx_stream_toolgate_module);

    if (rev->timedout) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT,
                      session->wait == NGX_STREAM_TOOLGATE_WAIT_IDLE
                          ? "client was silent (tool_idle_timeout)"
                          : "client sent no whole frame in time "
                            "(tool_idle_timeout frame=)");
        ngx_stream_finalize_session(s, NGX_STREAM_OK);
        return;
    }

    ngx_stream_toolgate_session_run(session);
}

static void
ngx_stream_toolgate_write_handler(ngx_event_t *wev)
{
    ngx_stream_session_t *s;
    ngx_connection_t *c;

    c = wev->data;
    s = c->data;

    if (wev->timedout) {
        c->timedout = 1;
        ngx_connection_error(c, NGX_ETIMEDOUT,
                             "client did not read its answers "
                             "(tool_send_timeout)");
        ngx_stream_finalize_session(s, NGX_STREAM_OK);
        return;
    }

    ngx_stream_toolgate_session_run(
        ngx_stream_get_module_ctx(s, ngx_stream_toolgate_module));
}

/* --- out --- */

static void
ngx_stream_toolgate_borrow(tg_buf_t *out)
{
    if (out->data == NULL) {
        out->data = ngx_stream_toolgate_spare;
        out->cap = ngx_stream_toolgate_spare_cap;
        ngx_stream_toolgate_spare = NULL;
        ngx_stream_toolgate_spare_cap = 0;
    }
}

static void
ngx_stream_toolgate_give_back(tg_buf_t *out)
{
    if (ngx_stream_toolgate_spare == NULL
        && out->cap <= NGX_STREAM_TOOLGATE_READ * 4)
    {
        ngx_stream_toolgate_spare = out->data;
        ngx_stream_toolgate_spare_cap = out->cap;
        out->data = NULL;
        out->cap = 0;
        out->len = 0;
        return;
    }

    tg_buf_reset(out, NGX_STREAM_TOOLGATE_KEEP);
}

/* Sends what there is: NGX_OK when all went, NGX_AGAIN, NGX_ERROR. */
static ngx_int_t
ngx_stream_toolgate_flush(ngx_stream_toolgate_session_t *session)
{
    ngx_connection_t *c;
    tg_buf_t *out;
    ssize_t n;

    c = session->connection;
    out = &session->peer.out;

    while (session->sent < out->len) {

        if (!c->write->ready) {
            return NGX_AGAIN;
        }

        n = c->send(c, (u_char *) out->data + session->sent,
                    out->len - session->sent);

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (n == NGX_AGAIN || n == 0) {

            /* The peer measures what is unsent: half gone is worth a move. */
            if (session->sent > out->len / 2) {
                tg_buf_drop(out, session->sent);
                session->sent = 0;
            }

            return NGX_AGAIN;
        }

        session->sent += (size_t) n;
        session->bytes_out += (uint64_t) n;
        session->has_sent = 1;
    }

    session->sent = 0;
    out->len = 0;

    return NGX_OK;
}

/* --- in --- */

/* Gives the peer bytes: what it leaves goes to, or stays in, session->in. */
static int
ngx_stream_toolgate_feed(ngx_stream_toolgate_session_t *session,
                         const char *data, size_t len, size_t *consumed)
{
    ngx_time_t *tp;
    int rc;

    tp = ngx_timeofday();
    session->peer.now_ms = (uint64_t) tp->sec * 1000 + tp->msec;

    rc = tg_peer_input(&session->peer, data, len, consumed);

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

/*
 * An exiting worker takes no more of a bridge of ours, which sends it anew
 * elsewhere.  Other clients would lose what is not read: they are served on
 * while calls of theirs run, but not for ever, or one that is never idle
 * would keep the old worker, and the old tools.
 */
static ngx_uint_t
ngx_stream_toolgate_may_read(const ngx_stream_toolgate_session_t *session)
{
    if (!session->is_leaving) {
        return 1;
    }

    return !session->is_drained && !session->peer.is_toolgate
           && ngx_current_msec - session->leaving_since
                  < NGX_STREAM_TOOLGATE_LEAVE;
}

/*
 * Serves what there is, until the socket is empty or the peer pauses.  While
 * its output does not drain, nothing more is read of a client.
 */
static void
ngx_stream_toolgate_pump(ngx_stream_toolgate_session_t *session)
{
    int rc;

    rc = ngx_stream_toolgate_serve(session);

    for (;;) {
        if (session->is_broken || session->is_ending || session->is_eof) {
            return;
        }

        if (rc == TG_LIMIT) {
            if (session->peer.out.len - session->sent <= TG_PEER_BACKLOG
                || ngx_stream_toolgate_flush(session) != NGX_OK)
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

        if (rc == TG_AGAIN) {
            return;
        }
    }
}

/* --- the end --- */

/* Nobody is there any more: both directions are shut down. */
static ngx_uint_t
ngx_stream_toolgate_is_gone(ngx_stream_toolgate_session_t *session)
{
    struct pollfd pfd;

    pfd.fd = session->connection->fd;
    pfd.events = 0;
    pfd.revents = 0;

    return poll(&pfd, 1, 0) == 1 && (pfd.revents & (POLLHUP | POLLERR));
}

/* An exiting worker: what came is served, once; then goodbye. */
static void
ngx_stream_toolgate_leave(ngx_stream_toolgate_session_t *session)
{
    if (session->peer.ncalls != 0 || session->is_ending) {
        return;
    }

    if (!session->is_drained) {
        ngx_stream_toolgate_pump(session);
        session->is_drained = 1;

        if (session->peer.ncalls != 0 || session->is_ending) {
            return;
        }
    }

    tg_peer_farewell(&session->peer, TG_STR("Toolgate reloads or stops"));
    session->is_ending = 1;
}

/* What the client is expected to do next. */
static ngx_stream_toolgate_wait_t
ngx_stream_toolgate_waits_for(const ngx_stream_toolgate_session_t *session)
{
    if (session->sent < session->peer.out.len) {
        return NGX_STREAM_TOOLGATE_WAIT_SENT;
    }

    if (!session->has_spoken) {
        return NGX_STREAM_TOOLGATE_WAIT_FRAME;
    }

    if (session->peer.ncalls != 0) {
        return NGX_STREAM_TOOLGATE_WAIT_NOTHING;
    }

    return tg_frame_is_partial(&session->peer.frame, session->in.len)
               ? NGX_STREAM_TOOLGATE_WAIT_FRAME
               : NGX_STREAM_TOOLGATE_WAIT_IDLE;
}

static void
ngx_stream_toolgate_set_timer(ngx_event_t *ev, ngx_msec_t timeout)
{
    if (timeout != 0) {
        ngx_add_timer(ev, timeout);
    } else if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}

/*
 * A timer runs on until the client does what is expected: single bytes of a
 * frame, or of requests while it reads no answers, put nothing off.
 */
static void
ngx_stream_toolgate_set_timers(ngx_stream_toolgate_session_t *session)
{
    ngx_stream_toolgate_wait_t wait;
    ngx_msec_t to_read, to_send;
    ngx_connection_t *c;

    c = session->connection;
    wait = ngx_stream_toolgate_waits_for(session);
    to_read = 0;
    to_send = 0;

    if (wait == NGX_STREAM_TOOLGATE_WAIT_FRAME) {
        to_read = session->conf->frame_timeout;
    } else if (wait == NGX_STREAM_TOOLGATE_WAIT_IDLE) {
        to_read = session->conf->idle_timeout;
    } else if (wait == NGX_STREAM_TOOLGATE_WAIT_SENT) {
        to_send = session->conf->send_timeout;
    }

    if (wait != session->wait || (to_read != 0 && session->has_read)
        || (to_send != 0 && session->has_sent))
    {
        /* An idle session must not hold an exiting worker, nor be held. */
        c->read->cancelable = 1;
        ngx_stream_toolgate_set_timer(c->read, to_read);
        ngx_stream_toolgate_set_timer(c->write, to_send);
    }

    session->wait = wait;
    session->has_sent = 0;
    session->has_read = 0;
}

/* Has it come to its end?  Then the session is gone. */
static ngx_uint_t
ngx_stream_toolgate_ended(ngx_stream_toolgate_session_t *session,
                          ngx_int_t flushed)
{
    ngx_uint_t is_over;

    if (flushed == NGX_ERROR || session->is_broken
        || tg_buf_failed(&session->peer.out))
    {
        is_over = 1;

    } else if (session->is_ending) {
        is_over = flushed == NGX_OK;

    } else if (session->is_eof) {
        /* Half closed: it may still wait for its answers. */
        is_over = (session->peer.ncalls == 0 && flushed == NGX_OK)
                  || ngx_stream_toolgate_is_gone(session);

    } else {
        /* Not read from, so only this tells that it went away. */
        is_over = session->connection->read->pending_eof
                  && ngx_stream_toolgate_is_gone(session);
    }

    if (is_over) {
        ngx_stream_finalize_session(session->stream, NGX_STREAM_OK);
    }

    return is_over;
}

void
ngx_stream_toolgate_session_run(ngx_stream_toolgate_session_t *session)
{
    ngx_connection_t *c;
    ngx_int_t flushed;

    /* An answer from within: the outer run goes on with it. */
    if (session->is_running) {
        return;
    }

    c = session->connection;
    session->is_running = 1;
    c->idle = 0;

    if ((ngx_exiting || c->close) && !session->is_leaving) {
        session->is_leaving = 1;
        session->leaving_since = ngx_current_msec;
    }

    ngx_stream_toolgate_borrow(&session->peer.out);
    ngx_stream_toolgate_pump(session);

    if (session->is_leaving) {
        ngx_stream_toolgate_leave(session);
    }

    flushed = session->is_broken ? NGX_ERROR
                                 : ngx_stream_toolgate_flush(session);
    session->is_running = 0;

    if (session->peer.out.len == 0) {
        ngx_stream_toolgate_give_back(&session->peer.out);
    }

    if (ngx_stream_toolgate_ended(session, flushed)) {
        return;
    }

    ngx_stream_toolgate_set_timers(session);
    c->idle = tg_peer_is_idle(&session->peer) ? 1 : 0;

    if (ngx_handle_read_event(c->read, 0) != NGX_OK
        || ngx_handle_write_event(c->write, 0) != NGX_OK)
    {
        ngx_stream_finalize_session(session->stream,
                                    NGX_STREAM_INTERNAL_SERVER_ERROR);
    }
}

void
ngx_stream_toolgate_session_exit(void)
{
    tg_free(tg_alloc_libc(), ngx_stream_toolgate_spare);
    ngx_stream_toolgate_spare = NULL;
    ngx_stream_toolgate_spare_cap = 0;
}
