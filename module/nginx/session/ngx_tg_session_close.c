/* End of a session: by the client, after the last response, at exit. */
#include "nginx/session/ngx_tg_session_impl.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>

/* Interval between checks whether the client has all output, in ms. */
#define NGX_TG_OUTPUT_POLL_INTERVAL 20
/* Maximum bytes of input discarded per check. */
#define NGX_TG_DISCARD_SIZE 1048576

static void
ngx_tg_session_on_timer(ngx_event_t *ev)
{
    ngx_tg_session_t *session = ev->data;

    ngx_tg_session_base_wake(&session->base);
}

void
ngx_tg_session_set_timer(ngx_tg_session_t *session, ngx_msec_t time)
{
    ngx_connection_t *c;

    if (session->priv->timer == NULL) {
        c = session->base.connection;
        session->priv->timer = ngx_pcalloc(c->pool, sizeof(ngx_event_t));

        if (session->priv->timer == NULL) {
            session->base.is_broken = 1;
            ngx_tg_session_base_wake(&session->base);
            return;
        }

        session->priv->timer->handler = ngx_tg_session_on_timer;
        session->priv->timer->data = session;
        session->priv->timer->log = c->log;
    }

    if (session->priv->timer->timer_set
        && ngx_tg_timer_get_remaining_ms(session->priv->timer) > time)
    {
        ngx_del_timer(session->priv->timer);
    }

    if (!session->priv->timer->timer_set) {
        ngx_add_timer(session->priv->timer, time);
    }
}

/*
 * Checks whether an exiting worker must wait for the first request after a TLS
 * handshake, which shows if the client understands a shutdown notice.
 */
static ngx_uint_t
ngx_tg_session_awaits_first_request(ngx_tg_session_t *session)
{
#if (NGX_STREAM_SSL)
    ngx_msec_t passed;

    passed = ngx_current_msec - session->leaving_since;

    if (session->base.connection->ssl != NULL && session->bytes_in == 0
        && !session->priv->is_eof && passed < NGX_TG_LEAVING_TIMEOUT)
    {
        ngx_tg_session_set_timer(session, NGX_TG_LEAVING_TIMEOUT - passed);
        return 1;
    }
#endif

    return 0;
}

static void
ngx_tg_session_start_closing(ngx_tg_session_t *session)
{
    if (session->state != NGX_TG_SESSION_CLOSING) {
        tg_peer_send_shutdown_notice(
            &session->base.peer, TG_STR("Toolgate is reloading or stopping"));
        session->state = NGX_TG_SESSION_CLOSING;
    }
}

void
ngx_tg_session_finish_at_exit(ngx_tg_session_t *session)
{
    ngx_event_t *rev;
    tg_peer_t *peer;

    peer = &session->base.peer;

    if (ngx_tg_session_awaits_first_request(session)) {
        return;
    }

    if (peer->ncalls == 0 && session->state != NGX_TG_SESSION_CLOSING
        && !session->priv->is_drained)
    {
        /* The last bytes may have come without an event. */
        rev = session->base.connection->read;
        rev->ready = 1;
        rev->available = -1;
        ngx_tg_session_read_and_serve(session);

        /* The client reads slowly: serve the rest of its input after that. */
        if (!peer->is_toolgate && peer->out.len > TG_PEER_OUTPUT_MAX) {
            return;
        }

        session->priv->is_drained = 1;
    }

    if (peer->ncalls == 0) {
        ngx_tg_session_start_closing(session);
    }
}

static ngx_uint_t
ngx_tg_session_is_client_gone(ngx_tg_session_t *session)
{
    struct pollfd pfd;

    pfd.fd = session->base.connection->fd;
    pfd.events = 0;
    pfd.revents = 0;

    return poll(&pfd, 1, 0) == 1 && (pfd.revents & (POLLHUP | POLLERR));
}

/*
 * Checks whether TCP output is not acknowledged yet. A close with unread input
 * would drop it, so input is discarded until all is acknowledged, or nothing
 * has happened for NGX_TG_LEAVING_TIMEOUT.
 */
static ngx_uint_t
ngx_tg_session_is_output_in_transit(ngx_tg_session_t *session)
{
    ngx_connection_t *c;
    int n;

    c = session->base.connection;

    if (c->sockaddr->sa_family == AF_UNIX
        || ngx_tg_session_is_client_gone(session)) {
        return 0;
    }

    (void) recv(c->fd, NULL, NGX_TG_DISCARD_SIZE, MSG_DONTWAIT | MSG_TRUNC);

    if (ioctl(c->fd, SIOCOUTQ, &n) == -1 || n <= 0) {
        return 0;
    }

    if (session->priv->in_transit_bytes == 0
        || n < session->priv->in_transit_bytes) {
        session->priv->in_transit_bytes = n;
        session->priv->in_transit_since = ngx_current_msec;
    }

    if (ngx_current_msec - session->priv->in_transit_since
        >= NGX_TG_LEAVING_TIMEOUT)
    {
        return 0;
    }

    ngx_tg_session_set_timer(session, NGX_TG_OUTPUT_POLL_INTERVAL);

    return 1;
}

void
ngx_tg_session_send_shutdown_notice(ngx_tg_session_t *session)
{
    const tg_peer_t *peer;

    peer = &session->base.peer;

    /* Our bridge takes the notice to mean that no call was started. */
    if (session->base.is_broken || session->base.connection->error
        || (peer->is_toolgate && peer->ncalls != 0))
    {
        return;
    }

    ngx_tg_session_start_closing(session);
    (void) ngx_tg_session_flush(session);
}

void
ngx_tg_session_close_past_shutdown(ngx_tg_session_t *session)
{
    tg_peer_t *peer;

    peer = &session->base.peer;
    ngx_log_error(NGX_LOG_INFO, session->base.connection->log, 0,
                  "worker_shutdown_timeout has passed with %ui %s in flight",
                  (ngx_uint_t) peer->ncalls,
                  tg_pick_plural(peer->ncalls, "call", "calls"));

    while (peer->calls != NULL) {
        ngx_tg_call_fail_shutdown_timeout(peer->calls->host);
    }

    ngx_tg_session_start_closing(session);

#if (NGX_STREAM_SSL)
    if (session->base.connection->ssl != NULL) {
        session->base.connection->ssl->no_wait_shutdown = 1;
    }
#endif
}

ngx_uint_t
ngx_tg_session_close_if_done(ngx_tg_session_t *session, ngx_int_t flushed)
{
    ngx_tg_session_base_t *base;
    ngx_uint_t is_over;

    base = &session->base;

    if (flushed == NGX_ERROR || session->base.is_broken
        || tg_buf_has_failed(&base->peer.out)
        || ngx_tg_is_past_shutdown_timeout(base->connection))
    {
        is_over = 1;

    } else if (session->state == NGX_TG_SESSION_CLOSING) {
        is_over = flushed == NGX_OK
                  && !ngx_tg_session_is_output_in_transit(session);

    } else if (ngx_tg_time_slice_is_awaited(session)) {
        /* Serve received input, even of a client that is gone. */
        is_over = 0;

    } else if (session->priv->is_eof) {
        /* Half closed: the client may wait for responses. */
        is_over = (base->peer.ncalls + base->peer.nparked == 0
                   && flushed == NGX_OK)
                  || ngx_tg_session_is_client_gone(session);

    } else {
        /* Without reading, only poll() detects that the client is gone. */
        is_over = base->connection->read->pending_eof
                  && ngx_tg_session_is_client_gone(session);
    }

    if (is_over) {
        ngx_tg_session_close(session, NGX_STREAM_OK);
    }

    return is_over;
}
