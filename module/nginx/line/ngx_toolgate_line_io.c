/*
 * A line that is open: reading, in time slices, writing, its end.
 */
#include "nginx/line/ngx_toolgate_line_impl.h"

#if (NGX_STREAM_SSL)
#include <ngx_event_openssl.h>
#endif

/* One read; a usual burst of answers is one. */
#define NGX_TOOLGATE_LINE_READ 131072
/* One read of a large message. */
#define NGX_TOOLGATE_LINE_LARGE 1048576
/* What is read before a line is closed: more than any socket keeps. */
#define NGX_TOOLGATE_LINE_LAST 8388608
/* A buffer that was larger gives its memory back; large messages come again. */
#define NGX_TOOLGATE_LINE_KEEP 1048576
/* Who takes nothing for so long does not keep a worker that exits. */
#define NGX_TOOLGATE_LINE_PATIENCE 10000

static u_char ngx_toolgate_line_buffer[NGX_TOOLGATE_LINE_READ];

void
ngx_toolgate_line_wake(ngx_toolgate_line_t *line)
{
    ngx_event_t *wev;

    if (line->state != NGX_TOOLGATE_LINE_OPEN) {
        return;
    }

    wev = line->connection->write;
    ngx_post_event(wev, &ngx_posted_events);

    /* Not cancelable: an exiting worker stays until it is written. */
    if (ngx_exiting && !wev->timer_set) {
        ngx_add_timer(wev, NGX_TOOLGATE_LINE_PATIENCE);
    }
}

/* --- its end --- */

void
ngx_toolgate_line_close(ngx_toolgate_line_t *line)
{
    ngx_connection_t *c;

    c = line->connection;
    line->state = NGX_TOOLGATE_LINE_AWAY;
    line->connection = NULL;
    line->sent = 0;
    line->taken = 0;
    line->is_over = 0;
    line->is_last = 0;
    line->is_broken = 0;
    tg_buf_reset(&line->in, 0);
    tg_source_leave(&ngx_toolgate_sched, &line->source);
    (void) ngx_toolgate_hold(&line->source, 0);

    if (line->timer.posted) {
        ngx_delete_posted_event(&line->timer);
    }

    if (line->timer.timer_set) {
        ngx_del_timer(&line->timer);
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
ngx_toolgate_line_lose(ngx_toolgate_line_t *line, ngx_uint_t has_ended)
{
    ngx_uint_t nasks;

    nasks = line->nasks;
    ngx_toolgate_line_close(line);
    line->is_losing = has_ended ? 1 : 0;
    tg_caller_lose(&line->caller);
    line->is_losing = 0;
    line->is_drained = 0;
    line->ops->lost(line, nasks, has_ended);
}

void
ngx_toolgate_line_give_up(ngx_toolgate_line_t *line)
{
    ngx_toolgate_line_lose(line, 0);
}

void
ngx_toolgate_line_end(ngx_toolgate_line_t *line)
{
    ngx_toolgate_line_lose(line, 1);
}

/* --- events --- */

/* Of bytes that are not all written by now: until when they may stay. */
static void
ngx_toolgate_line_watch_out(ngx_toolgate_line_t *line, ngx_uint_t has_written)
{
    ngx_event_t *wev;

    wev = line->connection->write;

    if (wev->timer_set && (has_written || line->caller.out.len == 0)) {
        ngx_del_timer(wev);
    }

    if (!wev->timer_set && line->caller.out.len != 0) {
        ngx_add_timer(wev, NGX_TOOLGATE_LINE_PATIENCE);
    }
}

static ngx_int_t
ngx_toolgate_line_flush(ngx_toolgate_line_t *line)
{
    ngx_connection_t *c;
    ngx_uint_t has_written;
    tg_buf_t *out;
    ssize_t n;

    c = line->connection;
    out = &line->caller.out;
    has_written = 0;

    while (line->sent < out->len && c->write->ready) {
        n = c->send(c, (u_char *) out->data + line->sent,
                    out->len - line->sent);

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (n == NGX_AGAIN) {
            break;
        }

        has_written = 1;
        line->sent += (size_t) n;
        tg_caller_written(&line->caller, (size_t) n);
    }

    if (line->sent == out->len) {
        tg_buf_reset(out, NGX_TOOLGATE_LINE_KEEP);
        line->sent = 0;

    } else if (line->sent > out->len / 4 * 3) {
        tg_buf_drop(out, line->sent);
        line->sent = 0;
    }

    ngx_toolgate_line_watch_out(line, has_written);

    return ngx_handle_write_event(c->write, 0);
}

/* --- reading --- */

int
ngx_toolgate_line_slice_is_over(void *host)
{
    ngx_toolgate_line_t *line = host;

    return tg_slice_is_over(&ngx_toolgate_sched, &line->source,
                            line->caller.serving);
}

/* Reads behind what is kept of a message; as c->recv(). */
static ssize_t
ngx_toolgate_line_recv(ngx_toolgate_line_t *line)
{
    ngx_connection_t *c;
    tg_buf_t *in;
    ssize_t n;

    c = line->connection;
    in = &line->in;

    if (in->len == 0) {
        return c->recv(c, ngx_toolgate_line_buffer, NGX_TOOLGATE_LINE_READ);
    }

    tg_buf_drop(in, line->taken);
    line->taken = 0;

    if (tg_buf_reserve(in, NGX_TOOLGATE_LINE_READ) != TG_OK) {
        return NGX_ERROR;
    }

    n = c->recv(c, (u_char *) in->data + in->len,
                ngx_min(in->cap - in->len, NGX_TOOLGATE_LINE_LARGE));
    in->len += n > 0 ? (size_t) n : 0;

    return n;
}

/* Serves what is kept.  As the caller says: NGX_AGAIN: the slice is over. */
static ngx_int_t
ngx_toolgate_line_serve(ngx_toolgate_line_t *line, size_t n)
{
    size_t consumed;
    tg_buf_t *in;
    int rc;

    in = &line->in;

    if (in->len != 0) {
        rc = tg_caller_input(&line->caller, in->data + line->taken,
                             in->len - line->taken, &consumed);
        line->taken += consumed;

        if (line->taken == in->len) {
            tg_buf_reset(in, NGX_TOOLGATE_LINE_KEEP);
            line->taken = 0;
        }

    } else {
        rc = tg_caller_input(&line->caller, (char *) ngx_toolgate_line_buffer,
                             n, &consumed);
        tg_buf_put(in, (char *) ngx_toolgate_line_buffer + consumed,
                   n - consumed);
    }

    /* Nothing more is asked of one that leaves. */
    line->is_over |= line->caller.is_leaving && line->nasks == 0;

    if ((rc != TG_OK && rc != TG_AGAIN) || tg_buf_failed(in) || line->is_over) {
        return NGX_ERROR;
    }

    return rc == TG_AGAIN ? NGX_AGAIN : NGX_OK;
}

/* n bytes were read: as ngx_toolgate_line_serve(). */
static ngx_int_t
ngx_toolgate_line_input(ngx_toolgate_line_t *line, size_t n)
{
    ngx_int_t rc;

    line->heard = ngx_current_msec;
    line->is_heard = 1;
    line->delay = line->min_delay;
    line->last -= ngx_min(line->last, n);
    rc = ngx_toolgate_line_serve(line, n);

    /* Of a message that goes on, what was read is what took time. */
    return rc == NGX_OK && line->connection->read->ready
                   && tg_slice_is_over(&ngx_toolgate_sched, &line->source,
                                       ngx_min(n, line->in.len))
               ? NGX_AGAIN
               : rc;
}

/*
 * What came, for one slice.  NGX_OK: that was all for now; NGX_AGAIN: the
 * line waits for its next slice; NGX_ERROR: nothing more will come.
 */
static ngx_int_t
ngx_toolgate_line_hear(ngx_toolgate_line_t *line)
{
    ngx_event_t *rev;
    ngx_int_t rc;
    ssize_t n;

    rev = line->connection->read;
    rc = line->in.len != 0 ? ngx_toolgate_line_serve(line, 0) : NGX_OK;

    while (rc == NGX_OK && rev->ready && (!line->is_last || line->last != 0)) {
        n = ngx_toolgate_line_recv(line);

        if (n == NGX_AGAIN) {
            break;
        }

        rc = n > 0 ? ngx_toolgate_line_input(line, (size_t) n) : NGX_ERROR;
    }

    return rc;
}

/* What it makes us hold: is that too much? */
static ngx_uint_t
ngx_toolgate_line_is_greedy(ngx_toolgate_line_t *line)
{
    if (ngx_toolgate_hold(&line->source, line->in.len + line->caller.out.len)
            == NGX_OK
        || line->is_ours)
    {
        return 0;
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "connection to \"%V\" closed: this worker holds more than "
                  "%d MiB, %uz bytes of them for it",
                  &line->name, NGX_TOOLGATE_MEMORY / 1048576,
                  line->source.memory);

    return 1;
}

/* Does nobody need it?  Noted for NGINX, which tells those of the exit. */
static ngx_uint_t
ngx_toolgate_line_is_idle(ngx_toolgate_line_t *line)
{
    ngx_connection_t *c;

    c = line->connection;
    c->idle = line->nasks == 0 && line->nkeeps == 0 && line->caller.out.len == 0
              && (line->ops->is_needed == NULL || !line->ops->is_needed(line));

    return c->idle;
}

/* Has worker_shutdown_timeout passed, and only others need it?  It is gone. */
static ngx_uint_t
ngx_toolgate_line_is_late(ngx_toolgate_line_t *line)
{
    if (!ngx_toolgate_is_overdue(line->connection) || line->nasks != 0) {
        return 0;
    }

    ngx_toolgate_line_lose(line, 1);

    return 1;
}

/* Reads what had come, in slices; then it is closed, unless it is needed. */
static void
ngx_toolgate_line_hear_last(ngx_toolgate_line_t *line)
{
    ngx_int_t rc;

    rc = ngx_toolgate_line_hear(line);

    if (rc == NGX_AGAIN) {
        (void) ngx_toolgate_line_is_late(line);

    } else if (rc == NGX_ERROR || line->is_broken
               || ngx_toolgate_line_is_idle(line))
    {
        ngx_toolgate_line_lose(line, 1);

    } else {
        line->is_last = 0;

        if (line->connection->read->ready) {
            tg_source_wait(&ngx_toolgate_sched, &line->source);
        }
    }
}

/* Of what came last no event may have told yet. */
static void
ngx_toolgate_line_begin_last(ngx_toolgate_line_t *line)
{
    line->is_last = 1;
    line->last = NGX_TOOLGATE_LINE_LAST;
    line->connection->read->ready = 1;
    line->connection->read->available = -1;

    if (!line->source.is_waiting) {
        ngx_toolgate_line_hear_last(line);
    }
}

/* What an exiting worker no longer needs must not stay open in it. */
static void
ngx_toolgate_line_rest(ngx_toolgate_line_t *line)
{
    if (!ngx_toolgate_line_is_late(line) && !line->is_last
        && ngx_toolgate_line_is_idle(line) && ngx_toolgate_exits())
    {
        ngx_toolgate_line_begin_last(line);
    }
}

/* A time slice. */
static void
ngx_toolgate_line_go_on(ngx_toolgate_line_t *line)
{
    ngx_event_t *rev;

    rev = line->connection->read;
    tg_slice_begin(&ngx_toolgate_sched);

    if (line->is_last) {
        ngx_toolgate_line_hear_last(line);
        return;
    }

    if (ngx_toolgate_line_hear(line) == NGX_ERROR) {
        ngx_toolgate_line_lose(line, 1);
        return;
    }

    if (ngx_handle_read_event(rev, 0) != NGX_OK
        || ngx_toolgate_line_is_greedy(line))
    {
        ngx_toolgate_line_lose(line, 0);
        return;
    }

    /* What the answers gave rise to is written first. */
    if (line->caller.out.len != line->sent) {
        ngx_toolgate_line_wake(line);
    } else {
        ngx_toolgate_line_rest(line);
    }
}

void
ngx_toolgate_line_run(tg_source_t *source)
{
    ngx_toolgate_line_go_on(TG_OWNER(source, ngx_toolgate_line_t, source));
}

void
ngx_toolgate_line_read(ngx_event_t *rev)
{
    ngx_toolgate_line_t *line;
    ngx_connection_t *c;

    c = rev->data;
    line = c->data;
    /* NGINX posts this event where TLS has bytes, and clears the flag. */
    rev->ready = 1;

    if (!line->source.is_waiting) {
        ngx_toolgate_line_go_on(line);
    } else if (ngx_handle_read_event(rev, 0) != NGX_OK) {
        ngx_toolgate_line_lose(line, 0);
    } else {
        ngx_toolgate_line_rest(line);
    }
}

void
ngx_toolgate_line_write(ngx_event_t *wev)
{
    ngx_toolgate_line_t *line;
    ngx_connection_t *c;

    c = wev->data;
    line = c->data;

    /* Calls have timers of their own. */
    if (wev->timedout && ngx_exiting && line->nasks == 0 && line->nkeeps == 0) {
        ngx_log_error(NGX_LOG_ERR, wev->log, NGX_ETIMEDOUT,
                      "%V takes nothing; what this worker, which exits, had "
                      "to say is lost",
                      &line->name);
        ngx_toolgate_line_lose(line, 0);
        return;
    }

    wev->timedout = 0;

    if (line->is_broken) {
        return;
    }

    tg_slice_begin(&ngx_toolgate_sched);

    if (ngx_toolgate_line_flush(line) != NGX_OK) {
        /* What it said before it went is there: answers, a farewell. */
        line->is_broken = 1;
        ngx_toolgate_line_begin_last(line);
        return;
    }

    ngx_toolgate_line_rest(line);
}
