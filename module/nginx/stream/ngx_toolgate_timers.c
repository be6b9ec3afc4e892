/*
 * What a client is expected to do next, and for how long.
 */
#include "nginx/stream/ngx_toolgate_session.h"

static ngx_toolgate_wait_t
ngx_toolgate_waits_for(const ngx_toolgate_session_t *session)
{
    if (session->sent < session->peer.out.len) {
        return NGX_TOOLGATE_WAIT_SENT;
    }

    if (session->peer.ncalls != 0) {
        return NGX_TOOLGATE_WAIT_NOTHING;
    }

    return tg_frame_is_partial(&session->peer.frame, session->in.len)
               ? NGX_TOOLGATE_WAIT_FRAME
               : NGX_TOOLGATE_WAIT_IDLE;
}

static void
ngx_toolgate_set_timer(ngx_event_t *ev, ngx_msec_t timeout)
{
    if (timeout != 0) {
        ngx_add_timer(ev, timeout);
    } else if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}

void
ngx_toolgate_set_timers(ngx_toolgate_session_t *session)
{
    ngx_toolgate_wait_t wait;
    ngx_msec_t to_read, to_send;
    ngx_connection_t *c;

    c = session->connection;
    wait = ngx_toolgate_waits_for(session);
    to_read = 0;
    to_send = 0;

    if (wait == NGX_TOOLGATE_WAIT_FRAME) {
        to_read = session->conf->frame_timeout;
    } else if (wait == NGX_TOOLGATE_WAIT_IDLE) {
        to_read = session->conf->idle_timeout;
    } else if (wait == NGX_TOOLGATE_WAIT_SENT) {
        to_send = session->conf->send_timeout;
    }

    if (wait != session->wait || (to_read != 0 && session->has_read)
        || (to_send != 0 && session->has_sent))
    {
        /* An idle session must not hold an exiting worker, nor be held. */
        c->read->cancelable = 1;
        ngx_toolgate_set_timer(c->read, to_read);
        ngx_toolgate_set_timer(c->write, to_send);
    }

    session->wait = wait;
    session->has_sent = 0;
    session->has_read = 0;
}
