/*
 * How a session ends: when its client went away, when it has its answers, and
 * when its worker exits.
 */
#include "nginx/stream/ngx_toolgate_session.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>

/* ms between two looks whether the client's system has all of its answers. */
#define NGX_TOOLGATE_ARRIVED_LOOK 20
/* Bytes that are dropped with each of them. */
#define NGX_TOOLGATE_DROPPED 1048576

static void
ngx_toolgate_again_handler(ngx_event_t *ev)
{
    ngx_toolgate_session_t *session = ev->data;

    ngx_toolgate_wake(&session->front);
}

void
ngx_toolgate_session_wait(ngx_toolgate_session_t *session, ngx_msec_t time)
{
    ngx_connection_t *c;

    if (session->again == NULL) {
        c = session->front.connection;
        session->again = ngx_pcalloc(c->pool, sizeof(ngx_event_t));

        if (session->again == NULL) {
            session->is_broken = 1;
            ngx_toolgate_wake(&session->front);
            return;
        }

        session->again->handler = ngx_toolgate_again_handler;
        session->again->data = session;
        session->again->log = c->log;
    }

    if (!session->again->timer_set) {
        ngx_add_timer(session->again, time);
    }
}

/*
 * TLS was agreed upon and nothing else said: the client's first words may be
 * on their way, a call among them, and whether it understands a farewell.
 */
static ngx_uint_t
ngx_toolgate_is_expected(ngx_toolgate_session_t *session)
{
#if (NGX_STREAM_SSL)
    ngx_msec_t passed;

    passed = ngx_current_msec - session->leaving_since;

    if (session->front.connection->ssl != NULL && session->bytes_in == 0
        && !session->is_eof && passed < NGX_TOOLGATE_LEAVE)
    {
        ngx_toolgate_session_wait(session, NGX_TOOLGATE_LEAVE - passed);
        return 1;
    }
#endif

    return 0;
}

static void
ngx_toolgate_goodbye(ngx_toolgate_session_t *session)
{
    if (session->state != NGX_TOOLGATE_ENDING) {
        tg_peer_farewell(&session->front.peer,
                         TG_STR("Toolgate reloads or stops"));
        session->state = NGX_TOOLGATE_ENDING;
    }
}

void
ngx_toolgate_session_farewell(ngx_toolgate_session_t *session)
{
    ngx_event_t *rev;
    tg_peer_t *peer;

    peer = &session->front.peer;

    if (ngx_toolgate_is_expected(session)) {
        return;
    }

    if (peer->ncalls == 0 && session->state != NGX_TOOLGATE_ENDING
        && !session->is_drained)
    {
        /* Of what came last no event has told yet: a read will tell. */
        rev = session->front.connection->read;
        rev->ready = 1;
        rev->available = -1;
        ngx_toolgate_pump(session);

        /* Behind with its answers: the rest waits until it has read them. */
        if (!peer->is_toolgate && peer->out.len > TG_PEER_BACKLOG) {
            return;
        }

        session->is_drained = 1;
    }

    if (peer->ncalls == 0) {
        ngx_toolgate_goodbye(session);
    }
}

/* Nobody is there any more: both directions are shut down. */
static ngx_uint_t
ngx_toolgate_is_gone(ngx_toolgate_session_t *session)
{
    struct pollfd pfd;

    pfd.fd = session->front.connection->fd;
    pfd.events = 0;
    pfd.revents = 0;

    return poll(&pfd, 1, 0) == 1 && (pfd.revents & (POLLHUP | POLLERR));
}

/*
 * TCP takes back what has not arrived when a client says something that nobody
 * reads: that is dropped, and closed is when all has arrived, or no more does.
 */
static ngx_uint_t
ngx_toolgate_is_arriving(ngx_toolgate_session_t *session)
{
    ngx_connection_t *c;
    int n;

    c = session->front.connection;

    if (c->sockaddr->sa_family == AF_UNIX || ngx_toolgate_is_gone(session)) {
        return 0;
    }

    (void) recv(c->fd, NULL, NGX_TOOLGATE_DROPPED, MSG_DONTWAIT | MSG_TRUNC);

    if (ioctl(c->fd, SIOCOUTQ, &n) == -1 || n <= 0) {
        return 0;
    }

    if (session->arriving == 0 || n < session->arriving) {
        session->arriving = n;
        session->arriving_since = ngx_current_msec;
    }

    if (ngx_current_msec - session->arriving_since >= NGX_TOOLGATE_LEAVE) {
        return 0;
    }

    ngx_toolgate_session_wait(session, NGX_TOOLGATE_ARRIVED_LOOK);

    return 1;
}

void
ngx_toolgate_session_stopped(ngx_toolgate_session_t *session)
{
    const tg_peer_t *peer;

    peer = &session->front.peer;

    /* What ours is told means that none of its calls was started. */
    if (session->is_broken || session->front.connection->error
        || (peer->is_toolgate && peer->ncalls != 0))
    {
        return;
    }

    ngx_toolgate_goodbye(session);
    (void) ngx_toolgate_flush(session);
}

void
ngx_toolgate_session_overdue(ngx_toolgate_session_t *session)
{
    tg_peer_t *peer;

    peer = &session->front.peer;
    ngx_log_error(NGX_LOG_INFO, session->front.connection->log, 0,
                  "worker_shutdown_timeout has passed with %ui %s in flight",
                  (ngx_uint_t) peer->ncalls,
                  tg_plural(peer->ncalls, "call", "calls"));

    while (peer->calls != NULL) {
        ngx_toolgate_call_overdue(peer->calls->host);
    }

    ngx_toolgate_goodbye(session);

#if (NGX_STREAM_SSL)
    if (session->front.connection->ssl != NULL) {
        session->front.connection->ssl->no_wait_shutdown = 1;
    }
#endif
}

ngx_uint_t
ngx_toolgate_session_ended(ngx_toolgate_session_t *session, ngx_int_t flushed)
{
    ngx_toolgate_front_t *front;
    ngx_uint_t is_over;

    front = &session->front;

    if (flushed == NGX_ERROR || session->is_broken
        || tg_buf_failed(&front->peer.out)
        || ngx_toolgate_is_overdue(front->connection))
    {
        is_over = 1;

    } else if (session->state == NGX_TOOLGATE_ENDING) {
        is_over = flushed == NGX_OK && !ngx_toolgate_is_arriving(session);

    } else if (ngx_toolgate_turn_is_awaited(session)) {
        /* What it has sent is served, even when it is gone by now. */
        is_over = 0;

    } else if (session->is_eof) {
        /* Half closed: it may still wait for its answers. */
        is_over = (front->peer.ncalls + front->peer.nparked == 0
                   && flushed == NGX_OK)
                  || ngx_toolgate_is_gone(session);

    } else {
        /* Not read from, so only this tells that it went away. */
        is_over = front->connection->read->pending_eof
                  && ngx_toolgate_is_gone(session);
    }

    if (is_over) {
        ngx_toolgate_session_end(session, NGX_STREAM_OK);
    }

    return is_over;
}
