/*
 * Events of a client's socket, and the end of a session.
 */
#include "nginx/move/ngx_toolgate_move.h"

#include <poll.h>

static void ngx_toolgate_cleanup(void *data);
static void ngx_toolgate_read_handler(ngx_event_t *rev);
static void ngx_toolgate_write_handler(ngx_event_t *wev);

void
ngx_toolgate_handler(ngx_stream_session_t *s)
{
    ngx_toolgate_session_t *session;
    ngx_toolgate_srv_conf_t *scf;
    ngx_toolgate_packed_t *packed;
    ngx_pool_cleanup_t *cln;
    ngx_connection_t *c;

    c = s->connection;
    c->log->action = "serving tools";
    packed = ngx_toolgate_arrival(c);

    scf = ngx_stream_get_module_srv_conf(s, ngx_stream_toolgate_module);

    session = ngx_pcalloc(c->pool, sizeof(ngx_toolgate_session_t));
    cln = ngx_pool_cleanup_add(c->pool, 0);

    if (session == NULL || cln == NULL) {
        ngx_stream_finalize_session(s, NGX_STREAM_INTERNAL_SERVER_ERROR);
        return;
    }

    session->stream = s;
    session->connection = c;
    session->conf = scf;
    ngx_toolgate_silent_join(session);
    tg_buf_init(&session->in, tg_alloc_libc());
    tg_peer_init(&session->peer, tg_alloc_libc(), &ngx_toolgate_peer_ops,
                 session, (tg_dialect_t) scf->protocol, scf->catalogue,
                 &scf->info, scf->max_frame, (unsigned) scf->max_inflight);

    cln->handler = ngx_toolgate_cleanup;
    cln->data = session;

    ngx_stream_set_ctx(s, session, ngx_stream_toolgate_module);

    c->read->handler = ngx_toolgate_read_handler;
    c->write->handler = ngx_toolgate_write_handler;

    if (packed != NULL && ngx_toolgate_resume(session, packed) != NGX_OK) {
        ngx_stream_finalize_session(s, NGX_STREAM_INTERNAL_SERVER_ERROR);
        return;
    }

    /* What a preread phase may have taken from the socket already. */
    if (c->buffer != NULL && c->buffer->last != c->buffer->pos) {
        tg_buf_put(&session->in, (char *) c->buffer->pos,
                   (size_t) (c->buffer->last - c->buffer->pos));
        session->is_broken = tg_buf_failed(&session->in) ? 1 : 0;
        c->buffer->pos = c->buffer->last;
    }

    ngx_toolgate_session_run(session);
}

void
ngx_toolgate_end(ngx_toolgate_session_t *session, ngx_uint_t rc)
{
    /* TLS may still wait for the client: an exiting worker stays for that. */
    session->connection->read->cancelable = 0;
    ngx_stream_finalize_session(session->stream, rc);
}

static void
ngx_toolgate_cleanup(void *data)
{
    ngx_toolgate_session_t *session = data;

    ngx_toolgate_leave_end(session);
    ngx_toolgate_turn_leave(session);
    ngx_toolgate_memory_drop(session);
    ngx_toolgate_silent_leave(session);
    tg_peer_deinit(&session->peer);
    tg_buf_deinit(&session->in);
}

static void
ngx_toolgate_read_handler(ngx_event_t *rev)
{
    ngx_toolgate_session_t *session;
    ngx_stream_session_t *s;
    ngx_connection_t *c;

    c = rev->data;
    s = c->data;
    session = ngx_stream_get_module_ctx(s, ngx_stream_toolgate_module);

    if (rev->timedout) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT,
                      session->wait == NGX_TOOLGATE_WAIT_IDLE
                          ? "client was silent (tool_idle_timeout)"
                          : "client sent no whole frame in time "
                            "(tool_idle_timeout frame=)");
        ngx_toolgate_end(session, NGX_STREAM_OK);
        return;
    }

    ngx_toolgate_session_run(session);
}

static void
ngx_toolgate_write_handler(ngx_event_t *wev)
{
    ngx_toolgate_session_t *session;
    ngx_connection_t *c;

    c = wev->data;
    session = ngx_stream_get_module_ctx((ngx_stream_session_t *) c->data,
                                        ngx_stream_toolgate_module);

    if (wev->timedout) {
        c->timedout = 1;
        ngx_connection_error(c, NGX_ETIMEDOUT,
                             "client did not read its answers "
                             "(tool_send_timeout)");
        ngx_toolgate_end(session, NGX_STREAM_OK);
        return;
    }

    ngx_toolgate_session_run(session);
}

/* --- the end --- */

/* Nobody is there any more: both directions are shut down. */
static ngx_uint_t
ngx_toolgate_is_gone(ngx_toolgate_session_t *session)
{
    struct pollfd pfd;

    pfd.fd = session->connection->fd;
    pfd.events = 0;
    pfd.revents = 0;

    return poll(&pfd, 1, 0) == 1 && (pfd.revents & (POLLHUP | POLLERR));
}

/* Has it come to its end?  Then the session is gone. */
static ngx_uint_t
ngx_toolgate_ended(ngx_toolgate_session_t *session, ngx_int_t flushed)
{
    ngx_uint_t is_over;

    if (flushed == NGX_ERROR || session->is_broken
        || tg_buf_failed(&session->peer.out))
    {
        is_over = 1;

    } else if (session->is_ending) {
        is_over = flushed == NGX_OK;

    } else if (session->is_waiting) {
        /* What it has sent is served, even when it is gone by now. */
        is_over = 0;

    } else if (session->is_eof) {
        /* Half closed: it may still wait for its answers. */
        is_over = (session->peer.ncalls == 0 && flushed == NGX_OK)
                  || ngx_toolgate_is_gone(session);

    } else {
        /* Not read from, so only this tells that it went away. */
        is_over = session->connection->read->pending_eof
                  && ngx_toolgate_is_gone(session);
    }

    if (is_over) {
        ngx_toolgate_end(session, NGX_STREAM_OK);
    }

    return is_over;
}

/* Reads and serves, or says goodbye; NGX_DONE: the session is gone. */
static ngx_int_t
ngx_toolgate_work(ngx_toolgate_session_t *session)
{
    ngx_int_t rc;

    if (session->is_leaving) {
        rc = ngx_toolgate_go(session);

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    ngx_toolgate_borrow(&session->peer.out);
    ngx_toolgate_pump(session);

    if (session->is_leaving) {
        ngx_toolgate_leave(session);
    }

    return NGX_OK;
}

void
ngx_toolgate_session_run(ngx_toolgate_session_t *session)
{
    ngx_connection_t *c;
    ngx_int_t flushed;

    /* An answer from within: the outer run goes on with it. */
    if (session->is_running) {
        return;
    }

    c = session->connection;
    session->is_running = 1;

    if ((ngx_exiting || c->close) && !session->is_leaving) {
        ngx_toolgate_leave_begin(session);
    }

    if (ngx_toolgate_work(session) == NGX_DONE) {
        return;
    }

    flushed = session->is_broken ? NGX_ERROR : ngx_toolgate_flush(session);
    session->is_running = 0;

    if (session->peer.out.len == 0) {
        ngx_toolgate_give_back(&session->peer.out);
    }

    if (ngx_toolgate_ended(session, flushed)) {
        return;
    }

    ngx_toolgate_memory_count(session);
    ngx_toolgate_set_timers(session);
    /* Busy or not, it is told when the worker shall exit. */
    c->idle = 1;

    if (ngx_handle_read_event(c->read, 0) != NGX_OK
        || ngx_toolgate_watch(session) != NGX_OK)
    {
        ngx_toolgate_end(session, NGX_STREAM_INTERNAL_SERVER_ERROR);
    }
}
