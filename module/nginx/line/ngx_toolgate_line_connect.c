/*
 * A line on its way: tries, pauses between them, connections.
 */
#include "nginx/line/ngx_toolgate_line_impl.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

void
ngx_toolgate_line_open(ngx_toolgate_line_t *line)
{
    ngx_connection_t *c;

    c = line->connection;
    c->read->handler = ngx_toolgate_line_read;
    c->write->handler = ngx_toolgate_line_write;
    line->state = NGX_TOOLGATE_LINE_OPEN;
    line->heard = ngx_current_msec;
    line->is_heard = 0;

    if (line->timer.timer_set) {
        ngx_del_timer(&line->timer);
    }

    if (c->read->ready) {
        ngx_post_event(c->read, &ngx_posted_events);
    }

    ngx_toolgate_line_wake(line);
}

void
ngx_toolgate_line_fail(ngx_toolgate_line_t *line, ngx_err_t err)
{
    ngx_msec_t delay;

    ngx_toolgate_line_close(line);
    delay = line->delay;
    line->until = ngx_current_msec + delay;
    line->delay = ngx_min(delay * 2, line->max_delay);
    line->ntries++;

    if (line->ops->absent(line, err) != NGX_OK) {
        ngx_toolgate_line_lose(line, 0);
        return;
    }

    line->state = NGX_TOOLGATE_LINE_RESTING;
    ngx_add_timer(&line->timer, delay);
}

/* connect() has succeeded. */
static void
ngx_toolgate_line_connected(ngx_toolgate_line_t *line)
{
    ngx_int_t rc;
    int on;

    if (line->sockaddr->sa_family != AF_UNIX) {
        on = 1;
        (void) setsockopt(line->connection->fd, IPPROTO_TCP, TCP_NODELAY, &on,
                          sizeof(on));
        (void) setsockopt(line->connection->fd, SOL_SOCKET, SO_KEEPALIVE, &on,
                          sizeof(on));
    }

    rc = line->ops->connected != NULL ? line->ops->connected(line) : NGX_OK;

    if (rc == NGX_OK) {
        ngx_toolgate_line_open(line);
    } else if (rc == NGX_ERROR) {
        ngx_toolgate_line_fail(line, 0);
    }
}

/* A connect() under way has ended. */
static void
ngx_toolgate_line_test(ngx_event_t *ev)
{
    ngx_toolgate_line_t *line;
    ngx_connection_t *c;
    socklen_t len;
    int err;

    c = ev->data;
    line = c->data;
    err = 0;
    len = sizeof(err);

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len) == -1) {
        err = ngx_socket_errno;
    }

    if (err != 0) {
        ngx_toolgate_line_fail(line, err);
    } else if (ev->write) {
        ngx_toolgate_line_connected(line);
    }
}

static ngx_int_t
ngx_toolgate_line_watch(ngx_connection_t *c)
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

/* Wraps a socket that is connected, or is being; it is closed on failure. */
static ngx_int_t
ngx_toolgate_line_attach(ngx_toolgate_line_t *line, ngx_socket_t fd,
                         ngx_uint_t is_connected)
{
    ngx_connection_t *c;

    c = ngx_get_connection(fd, ngx_cycle->log);

    if (c == NULL) {
        (void) ngx_close_socket(fd);
        return NGX_ERROR;
    }

    c->data = line;
    c->type = SOCK_STREAM;
    c->recv = ngx_recv;
    c->send = ngx_send;
    c->log = ngx_cycle->log;
    c->log_error = NGX_ERROR_INFO;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_toolgate_line_test;
    c->write->handler = ngx_toolgate_line_test;
    c->write->ready = is_connected;
    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);

    if (ngx_toolgate_line_watch(c) != NGX_OK) {
        ngx_close_connection(c);
        return NGX_ERROR;
    }

    line->connection = c;
    line->state = NGX_TOOLGATE_LINE_CONNECTING;

    return NGX_OK;
}

static void
ngx_toolgate_line_connect(ngx_toolgate_line_t *line)
{
    ngx_uint_t is_connected;
    ngx_socket_t fd;
    ngx_err_t err;

    fd = socket(line->sockaddr->sa_family,
                SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd == (ngx_socket_t) -1) {
        ngx_toolgate_line_fail(line, ngx_socket_errno);
        return;
    }

    is_connected = connect(fd, line->sockaddr, line->socklen) == 0;
    err = ngx_socket_errno;

    if (!is_connected && err != NGX_EINPROGRESS) {
        (void) ngx_close_socket(fd);
        ngx_toolgate_line_fail(line, err);
        return;
    }

    if (ngx_toolgate_line_attach(line, fd, is_connected) != NGX_OK) {
        ngx_toolgate_line_fail(line, NGX_ENOMEM);
        return;
    }

    ngx_add_timer(&line->timer, line->connect_time);

    if (is_connected) {
        ngx_toolgate_line_connected(line);
    }
}

void
ngx_toolgate_line_tick(ngx_event_t *ev)
{
    ngx_toolgate_line_t *line;

    line = ev->data;

    if (line->state == NGX_TOOLGATE_LINE_RESTING) {
        ngx_toolgate_line_connect(line);
    } else {
        ngx_toolgate_line_fail(line, NGX_ETIMEDOUT);
    }
}

ngx_uint_t
ngx_toolgate_line_rests(const ngx_toolgate_line_t *line)
{
    return line->state <= NGX_TOOLGATE_LINE_RESTING
           && line->delay != line->min_delay
           && (ngx_msec_int_t) (line->until - ngx_current_msec) > 0;
}

void
ngx_toolgate_line_begin(ngx_toolgate_line_t *line)
{
    if (line->state != NGX_TOOLGATE_LINE_AWAY) {
        return;
    }

    line->since = ngx_current_msec;
    line->ntries = 0;
    line->timer.log = ngx_cycle->log;

    if (ngx_toolgate_line_rests(line)) {
        ngx_add_timer(&line->timer, line->until - ngx_current_msec);
    } else {
        /* Not from here: a failure would answer within the caller's call. */
        ngx_post_event(&line->timer, &ngx_posted_events);
    }

    line->state = NGX_TOOLGATE_LINE_RESTING;
}
