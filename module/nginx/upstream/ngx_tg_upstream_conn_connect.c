/* Opening of an upstream connection: attempts to connect, and delays. */
#include "nginx/upstream/ngx_tg_upstream_conn_impl.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

void
ngx_tg_upstream_conn_set_open(ngx_tg_upstream_conn_t *conn)
{
    ngx_connection_t *c;

    c = conn->connection;
    c->read->handler = ngx_tg_upstream_conn_on_readable;
    c->write->handler = ngx_tg_upstream_conn_on_writable;
    conn->state = NGX_TG_UPSTREAM_CONN_OPEN;
    conn->last_read_at = ngx_current_msec;
    conn->has_received = 0;

    if (conn->timer.timer_set) {
        ngx_del_timer(&conn->timer);
    }

    if (c->read->ready) {
        ngx_post_event(c->read, &ngx_posted_events);
    }

    ngx_tg_upstream_conn_wake(conn);
}

void
ngx_tg_upstream_conn_fail(ngx_tg_upstream_conn_t *conn, ngx_err_t err)
{
    ngx_msec_t delay;

    ngx_tg_upstream_conn_close(conn);
    delay = conn->delay;
    conn->retry_at = ngx_current_msec + delay;
    conn->delay = ngx_min(delay * 2, conn->max_delay);
    conn->ntries++;

    if (conn->ops->on_connect_failed(conn, err) != NGX_OK) {
        ngx_tg_upstream_conn_drop(conn, 0);
        return;
    }

    conn->state = NGX_TG_UPSTREAM_CONN_BACKOFF;
    ngx_add_timer(&conn->timer, delay);
}

static void
ngx_tg_upstream_conn_on_connected(ngx_tg_upstream_conn_t *conn)
{
    ngx_int_t rc;
    int on;

    if (conn->sockaddr->sa_family != AF_UNIX) {
        on = 1;
        (void) setsockopt(conn->connection->fd, IPPROTO_TCP, TCP_NODELAY, &on,
                          sizeof(on));
        (void) setsockopt(conn->connection->fd, SOL_SOCKET, SO_KEEPALIVE, &on,
                          sizeof(on));
    }

    rc = conn->ops->on_connected != NULL ? conn->ops->on_connected(conn)
                                         : NGX_OK;

    if (rc == NGX_OK) {
        ngx_tg_upstream_conn_set_open(conn);
    } else if (rc == NGX_ERROR) {
        ngx_tg_upstream_conn_fail(conn, 0);
    }
}

static void
ngx_tg_upstream_conn_on_connect(ngx_event_t *ev)
{
    ngx_tg_upstream_conn_t *conn;
    ngx_connection_t *c;
    socklen_t len;
    int err;

    c = ev->data;
    conn = c->data;
    err = 0;
    len = sizeof(err);

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len) == -1) {
        err = ngx_socket_errno;
    }

    if (err != 0) {
        ngx_tg_upstream_conn_fail(conn, err);
    } else if (ev->write) {
        ngx_tg_upstream_conn_on_connected(conn);
    }
}

static ngx_int_t
ngx_tg_upstream_conn_add_events(ngx_connection_t *c)
{
    if (ngx_add_conn != NULL) {
        return ngx_add_conn(c);
    }

    if (ngx_add_event(c->read, NGX_READ_EVENT, NGX_LEVEL_EVENT) != NGX_OK) {
        return NGX_ERROR;
    }

    return c->write->ready
               ? NGX_OK
               : ngx_add_event(c->write, NGX_WRITE_EVENT, NGX_LEVEL_EVENT);
}

/* Attaches a socket that is connected or connecting; closes it on error. */
static ngx_int_t
ngx_tg_upstream_conn_attach_socket(ngx_tg_upstream_conn_t *conn,
                                   ngx_socket_t fd, ngx_uint_t is_connected)
{
    ngx_connection_t *c;

    c = ngx_get_connection(fd, ngx_cycle->log);

    if (c == NULL) {
        (void) ngx_close_socket(fd);
        return NGX_ERROR;
    }

    c->data = conn;
    c->type = SOCK_STREAM;
    c->recv = ngx_recv;
    c->send = ngx_send;
    c->log = ngx_cycle->log;
    c->log_error = NGX_ERROR_INFO;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_tg_upstream_conn_on_connect;
    c->write->handler = ngx_tg_upstream_conn_on_connect;
    c->write->ready = is_connected;
    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);

    if (ngx_tg_upstream_conn_add_events(c) != NGX_OK) {
        ngx_close_connection(c);
        return NGX_ERROR;
    }

    conn->connection = c;
    conn->state = NGX_TG_UPSTREAM_CONN_CONNECTING;

    return NGX_OK;
}

static void
ngx_tg_upstream_conn_start_connect(ngx_tg_upstream_conn_t *conn)
{
    ngx_uint_t is_connected;
    ngx_socket_t fd;
    ngx_err_t err;

    fd = socket(conn->sockaddr->sa_family,
                SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd == (ngx_socket_t) -1) {
        ngx_tg_upstream_conn_fail(conn, ngx_socket_errno);
        return;
    }

    is_connected = connect(fd, conn->sockaddr, conn->socklen) == 0;
    err = ngx_socket_errno;

    if (!is_connected && err != NGX_EINPROGRESS) {
        (void) ngx_close_socket(fd);
        ngx_tg_upstream_conn_fail(conn, err);
        return;
    }

    if (ngx_tg_upstream_conn_attach_socket(conn, fd, is_connected) != NGX_OK) {
        ngx_tg_upstream_conn_fail(conn, NGX_ENOMEM);
        return;
    }

    ngx_add_timer(&conn->timer, conn->connect_time);

    if (is_connected) {
        ngx_tg_upstream_conn_on_connected(conn);
    }
}

void
ngx_tg_upstream_conn_on_timer(ngx_event_t *ev)
{
    ngx_tg_upstream_conn_t *conn;

    conn = ev->data;

    if (conn->state == NGX_TG_UPSTREAM_CONN_BACKOFF) {
        ngx_tg_upstream_conn_start_connect(conn);
    } else {
        ngx_tg_upstream_conn_fail(conn, NGX_ETIMEDOUT);
    }
}

ngx_uint_t
ngx_tg_upstream_conn_is_backing_off(const ngx_tg_upstream_conn_t *conn)
{
    return conn->state <= NGX_TG_UPSTREAM_CONN_BACKOFF
           && conn->delay != conn->min_delay
           && (ngx_msec_int_t) (conn->retry_at - ngx_current_msec) > 0;
}

void
ngx_tg_upstream_conn_connect(ngx_tg_upstream_conn_t *conn)
{
    if (conn->state != NGX_TG_UPSTREAM_CONN_CLOSED) {
        return;
    }

    conn->first_try_at = ngx_current_msec;
    conn->ntries = 0;
    conn->timer.log = ngx_cycle->log;

    if (ngx_tg_upstream_conn_is_backing_off(conn)) {
        ngx_add_timer(&conn->timer, conn->retry_at - ngx_current_msec);
    } else {
        /* Connect later: a failure would answer within the sender's call. */
        ngx_post_event(&conn->timer, &ngx_posted_events);
    }

    conn->state = NGX_TG_UPSTREAM_CONN_BACKOFF;
}
