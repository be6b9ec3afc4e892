/* An open upstream connection: reading in time slices, writing, closing. */
#include "nginx/upstream/ngx_tg_upstream_conn_impl.h"

#if (NGX_STREAM_SSL)
#include <ngx_event_openssl.h>
#endif

/* Size of one read in bytes: a usual burst of responses. */
#define NGX_TG_UPSTREAM_READ_SIZE 131072
/* Size of one read of a large message, in bytes. */
#define NGX_TG_UPSTREAM_READ_LARGE 1048576
/* Bytes that are read before closing: more than any socket buffer. */
#define NGX_TG_UPSTREAM_DRAIN_MAX 8388608
/* Memory that an empty buffer keeps, in bytes, for the next large message. */
#define NGX_TG_UPSTREAM_BUFFER_KEEP 1048576
/* Time in ms for which a server that does not read delays a worker's exit. */
#define NGX_TG_UPSTREAM_SEND_TIMEOUT 10000

static u_char ngx_tg_upstream_conn_buffer[NGX_TG_UPSTREAM_READ_SIZE];

void
ngx_tg_upstream_conn_wake(ngx_tg_upstream_conn_t *conn)
{
    ngx_event_t *wev;

    if (conn->state != NGX_TG_UPSTREAM_CONN_OPEN) {
        return;
    }

    wev = conn->connection->write;
    ngx_post_event(wev, &ngx_posted_events);

    /* Not cancelable: an exiting worker waits until all is written. */
    if (ngx_exiting && !wev->timer_set) {
        ngx_add_timer(wev, NGX_TG_UPSTREAM_SEND_TIMEOUT);
    }
}

/* --- close --- */

void
ngx_tg_upstream_conn_close(ngx_tg_upstream_conn_t *conn)
{
    ngx_connection_t *c;

    c = conn->connection;
    conn->state = NGX_TG_UPSTREAM_CONN_CLOSED;
    conn->connection = NULL;
    conn->sent = 0;
    conn->processed = 0;
    conn->is_finished = 0;
    conn->is_draining = 0;
    conn->is_broken = 0;
    tg_buf_reset(&conn->in, 0);
    tg_sched_dequeue(&ngx_tg_sched, &conn->source);
    (void) ngx_tg_sched_hold(&conn->source, 0);

    if (conn->timer.posted) {
        ngx_delete_posted_event(&conn->timer);
    }

    if (conn->timer.timer_set) {
        ngx_del_timer(&conn->timer);
    }

    if (c == NULL) {
        return;
    }

#if (NGX_STREAM_SSL)
    if (c->ssl != NULL) {
        c->ssl->no_wait_shutdown = 1;
        (void) ngx_ssl_shutdown(c);
    }
#endif

    if (c->pool != NULL) {
        ngx_destroy_pool(c->pool);
    }

    ngx_close_connection(c);
}

void
ngx_tg_upstream_conn_drop(ngx_tg_upstream_conn_t *conn, ngx_uint_t has_ended)
{
    ngx_uint_t nrequests;

    nrequests = conn->nrequests;
    ngx_tg_upstream_conn_close(conn);
    conn->is_dropping = has_ended ? 1 : 0;
    tg_caller_on_disconnect(&conn->caller);
    conn->is_dropping = 0;
    conn->is_drained = 0;
    conn->ops->on_lost(conn, nrequests, has_ended);
}

void
ngx_tg_upstream_conn_abort(ngx_tg_upstream_conn_t *conn)
{
    ngx_tg_upstream_conn_drop(conn, 0);
}

void
ngx_tg_upstream_conn_end(ngx_tg_upstream_conn_t *conn)
{
    ngx_tg_upstream_conn_drop(conn, 1);
}

/* --- events --- */

static void
ngx_tg_upstream_conn_set_write_timer(ngx_tg_upstream_conn_t *conn,
                                     ngx_uint_t has_written)
{
    ngx_event_t *wev;

    wev = conn->connection->write;

    if (wev->timer_set && (has_written || conn->caller.out.len == 0)) {
        ngx_del_timer(wev);
    }

    if (!wev->timer_set && conn->caller.out.len != 0) {
        ngx_add_timer(wev, NGX_TG_UPSTREAM_SEND_TIMEOUT);
    }
}

static ngx_int_t
ngx_tg_upstream_conn_flush(ngx_tg_upstream_conn_t *conn)
{
    ngx_connection_t *c;
    ngx_uint_t has_written;
    tg_buf_t *out;
    ssize_t n;

    c = conn->connection;
    out = &conn->caller.out;
    has_written = 0;

    while (conn->sent < out->len && c->write->ready) {
        n = c->send(c, (u_char *) out->data + conn->sent,
                    out->len - conn->sent);

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (n == NGX_AGAIN) {
            break;
        }

        has_written = 1;
        conn->sent += (size_t) n;
        tg_caller_count_written(&conn->caller, (size_t) n);
    }

    if (conn->sent == out->len) {
        tg_buf_reset(out, NGX_TG_UPSTREAM_BUFFER_KEEP);
        conn->sent = 0;

    } else if (conn->sent > out->len / 4 * 3) {
        tg_buf_consume(out, conn->sent);
        conn->sent = 0;
    }

    ngx_tg_upstream_conn_set_write_timer(conn, has_written);

    return ngx_handle_write_event(c->write, 0);
}

/* --- reading --- */

int
ngx_tg_upstream_conn_is_slice_over(void *host)
{
    ngx_tg_upstream_conn_t *conn = host;

    return tg_sched_is_slice_over(&ngx_tg_sched, &conn->source,
                                  conn->caller.frame_size);
}

/* Reads after the buffered part of a message; returns as c->recv(). */
static ssize_t
ngx_tg_upstream_conn_recv(ngx_tg_upstream_conn_t *conn)
{
    ngx_connection_t *c;
    tg_buf_t *in;
    ssize_t n;

    c = conn->connection;
    in = &conn->in;

    if (in->len == 0) {
        return c->recv(c, ngx_tg_upstream_conn_buffer,
                       NGX_TG_UPSTREAM_READ_SIZE);
    }

    tg_buf_consume(in, conn->processed);
    conn->processed = 0;

    if (tg_buf_reserve(in, NGX_TG_UPSTREAM_READ_SIZE) != TG_OK) {
        return NGX_ERROR;
    }

    n = c->recv(c, (u_char *) in->data + in->len,
                ngx_min(in->cap - in->len, NGX_TG_UPSTREAM_READ_LARGE));
    in->len += n > 0 ? (size_t) n : 0;

    return n;
}

/* Handles input. NGX_AGAIN: the time slice is over; NGX_ERROR: close. */
static ngx_int_t
ngx_tg_upstream_conn_process_input(ngx_tg_upstream_conn_t *conn, size_t n)
{
    size_t consumed;
    tg_buf_t *in;
    int rc;

    in = &conn->in;

    if (in->len != 0) {
        rc = tg_caller_handle_input(&conn->caller, in->data + conn->processed,
                                    in->len - conn->processed, &consumed);
        conn->processed += consumed;

        if (conn->processed == in->len) {
            tg_buf_reset(in, NGX_TG_UPSTREAM_BUFFER_KEEP);
            conn->processed = 0;
        }

    } else {
        rc = tg_caller_handle_input(&conn->caller,
                                    (char *) ngx_tg_upstream_conn_buffer, n,
                                    &consumed);
        tg_buf_append(in, (char *) ngx_tg_upstream_conn_buffer + consumed,
                      n - consumed);
    }

    /* A server that is shutting down gets no further requests. */
    conn->is_finished |= conn->caller.is_leaving && conn->nrequests == 0;

    if ((rc != TG_OK && rc != TG_AGAIN) || tg_buf_has_failed(in)
        || conn->is_finished)
    {
        return NGX_ERROR;
    }

    return rc == TG_AGAIN ? NGX_AGAIN : NGX_OK;
}

/* Handles n read bytes. Returns as ngx_tg_upstream_conn_process_input(). */
static ngx_int_t
ngx_tg_upstream_conn_handle_read(ngx_tg_upstream_conn_t *conn, size_t n)
{
    ngx_int_t rc;

    conn->last_read_at = ngx_current_msec;
    conn->has_received = 1;
    conn->delay = conn->min_delay;
    conn->last -= ngx_min(conn->last, n);
    rc = ngx_tg_upstream_conn_process_input(conn, n);

    /* For an incomplete message, reading is what took the time. */
    return rc == NGX_OK && conn->connection->read->ready
                   && tg_sched_is_slice_over(&ngx_tg_sched, &conn->source,
                                             ngx_min(n, conn->in.len))
               ? NGX_AGAIN
               : rc;
}

/* Reads for one time slice. NGX_AGAIN: waits for the next; NGX_ERROR: close. */
static ngx_int_t
ngx_tg_upstream_conn_read(ngx_tg_upstream_conn_t *conn)
{
    ngx_event_t *rev;
    ngx_int_t rc;
    ssize_t n;

    rev = conn->connection->read;
    rc = conn->in.len != 0 ? ngx_tg_upstream_conn_process_input(conn, 0)
                           : NGX_OK;

    while (rc == NGX_OK && rev->ready
           && (!conn->is_draining || conn->last != 0)) {
        n = ngx_tg_upstream_conn_recv(conn);

        if (n == NGX_AGAIN) {
            break;
        }

        rc = n > 0 ? ngx_tg_upstream_conn_handle_read(conn, (size_t) n)
                   : NGX_ERROR;
    }

    return rc;
}

/* Checks whether the connection's buffers exceed the worker's limit. */
static ngx_uint_t
ngx_tg_upstream_conn_is_over_memory(ngx_tg_upstream_conn_t *conn)
{
    if (ngx_tg_sched_hold(&conn->source, conn->in.len + conn->caller.out.len)
            == NGX_OK
        || conn->is_never_greedy)
    {
        return 0;
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "connection to \"%V\" closed: the memory of this worker "
                  "exceeds %d MiB; this connection uses %uz bytes",
                  &conn->name, NGX_TG_SCHED_MEMORY_MAX / 1048576,
                  conn->source.memory);

    return 1;
}

/* Sets c->idle if nothing is pending, so that NGINX announces the exit. */
static ngx_uint_t
ngx_tg_upstream_conn_is_idle(ngx_tg_upstream_conn_t *conn)
{
    ngx_connection_t *c;

    c = conn->connection;
    c->idle = conn->nrequests == 0 && conn->nholds == 0
              && conn->caller.out.len == 0
              && (conn->ops->is_needed == NULL || !conn->ops->is_needed(conn));

    return c->idle;
}

/* Closes a connection without own requests after worker_shutdown_timeout. */
static ngx_uint_t
ngx_tg_upstream_conn_drop_if_overdue(ngx_tg_upstream_conn_t *conn)
{
    if (!ngx_tg_is_past_shutdown_timeout(conn->connection)
        || conn->nrequests != 0) {
        return 0;
    }

    ngx_tg_upstream_conn_drop(conn, 1);

    return 1;
}

/* Reads what has arrived, in slices; then closes, unless needed again. */
static void
ngx_tg_upstream_conn_drain(ngx_tg_upstream_conn_t *conn)
{
    ngx_int_t rc;

    rc = ngx_tg_upstream_conn_read(conn);

    if (rc == NGX_AGAIN) {
        (void) ngx_tg_upstream_conn_drop_if_overdue(conn);

    } else if (rc == NGX_ERROR || conn->is_broken
               || ngx_tg_upstream_conn_is_idle(conn))
    {
        ngx_tg_upstream_conn_drop(conn, 1);

    } else {
        conn->is_draining = 0;

        if (conn->connection->read->ready) {
            tg_sched_enqueue(&ngx_tg_sched, &conn->source);
        }
    }
}

/* Starts to read the last data, which may have caused no event yet. */
static void
ngx_tg_upstream_conn_begin_drain(ngx_tg_upstream_conn_t *conn)
{
    conn->is_draining = 1;
    conn->last = NGX_TG_UPSTREAM_DRAIN_MAX;
    conn->connection->read->ready = 1;
    conn->connection->read->available = -1;

    if (!conn->source.is_queued) {
        ngx_tg_upstream_conn_drain(conn);
    }
}

static void
ngx_tg_upstream_conn_drain_if_idle(ngx_tg_upstream_conn_t *conn)
{
    if (!ngx_tg_upstream_conn_drop_if_overdue(conn) && !conn->is_draining
        && ngx_tg_upstream_conn_is_idle(conn) && ngx_tg_worker_is_exiting())
    {
        ngx_tg_upstream_conn_begin_drain(conn);
    }
}

static void
ngx_tg_upstream_conn_run_slice(ngx_tg_upstream_conn_t *conn)
{
    ngx_event_t *rev;

    rev = conn->connection->read;
    tg_sched_begin_slice(&ngx_tg_sched);

    if (conn->is_draining) {
        ngx_tg_upstream_conn_drain(conn);
        return;
    }

    if (ngx_tg_upstream_conn_read(conn) == NGX_ERROR) {
        ngx_tg_upstream_conn_drop(conn, 1);
        return;
    }

    if (ngx_handle_read_event(rev, 0) != NGX_OK
        || ngx_tg_upstream_conn_is_over_memory(conn))
    {
        ngx_tg_upstream_conn_drop(conn, 0);
        return;
    }

    /* Output that the responses caused is written first. */
    if (conn->caller.out.len != conn->sent) {
        ngx_tg_upstream_conn_wake(conn);
    } else {
        ngx_tg_upstream_conn_drain_if_idle(conn);
    }
}

void
ngx_tg_upstream_conn_on_slice(tg_sched_source_t *source)
{
    ngx_tg_upstream_conn_run_slice(
        TG_CONTAINER_OF(source, ngx_tg_upstream_conn_t, source));
}

void
ngx_tg_upstream_conn_on_readable(ngx_event_t *rev)
{
    ngx_tg_upstream_conn_t *conn;
    ngx_connection_t *c;

    c = rev->data;
    conn = c->data;
    /* With TLS data buffered, NGINX posts this event but clears the flag. */
    rev->ready = 1;

    if (!conn->source.is_queued) {
        ngx_tg_upstream_conn_run_slice(conn);
    } else if (ngx_handle_read_event(rev, 0) != NGX_OK) {
        ngx_tg_upstream_conn_drop(conn, 0);
    } else {
        ngx_tg_upstream_conn_drain_if_idle(conn);
    }
}

void
ngx_tg_upstream_conn_on_writable(ngx_event_t *wev)
{
    ngx_tg_upstream_conn_t *conn;
    ngx_connection_t *c;

    c = wev->data;
    conn = c->data;

    /* Calls have their own timers. */
    if (wev->timedout && ngx_exiting && conn->nrequests == 0
        && conn->nholds == 0) {
        ngx_log_error(NGX_LOG_ERR, wev->log, NGX_ETIMEDOUT,
                      "%V does not read; unsent output of this exiting worker "
                      "is lost",
                      &conn->name);
        ngx_tg_upstream_conn_drop(conn, 0);
        return;
    }

    wev->timedout = 0;

    if (conn->is_broken) {
        return;
    }

    tg_sched_begin_slice(&ngx_tg_sched);

    if (ngx_tg_upstream_conn_flush(conn) != NGX_OK) {
        /* Responses and a shutdown notice may have arrived before. */
        conn->is_broken = 1;
        ngx_tg_upstream_conn_begin_drain(conn);
        return;
    }

    ngx_tg_upstream_conn_drain_if_idle(conn);
}
