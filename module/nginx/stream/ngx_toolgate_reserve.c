/*
 * Room for service: connections and descriptors that clients do not get.
 *
 * A worker whose clients have taken everything could not talk to its runner
 * and its log.  So a client that would take of the last ones has to have the
 * place of one that has not said a word yet, the longest silent first; where
 * all have spoken, it is closed itself.  That is settled when it is accepted:
 * TLS and the PROXY protocol take as long as a client likes.
 */
#include "nginx/stream/ngx_toolgate_session.h"

#include <sys/resource.h>

/* One for each runner, and some for what else a worker opens at times. */
#define NGX_TOOLGATE_RESERVE 16
/* Where there are few connections, it is this part of them. */
#define NGX_TOOLGATE_RESERVE_PART 8
/* Seconds between two lines of the log about it. */
#define NGX_TOOLGATE_RESERVE_LOG 10

/* 0: not asked yet. */
static rlim_t ngx_toolgate_reserve_files;
static time_t ngx_toolgate_reserve_logged;
static ngx_uint_t ngx_toolgate_reserve_closed;
/* Sessions that have not spoken, as they came. */
static ngx_queue_t ngx_toolgate_silent = { &ngx_toolgate_silent,
                                           &ngx_toolgate_silent };

/* The lowest free number is taken: a high one means that few are left. */
static ngx_uint_t
ngx_toolgate_reserve_is_last_file(ngx_socket_t fd)
{
    struct rlimit limit;
    rlim_t room;

    if (ngx_toolgate_reserve_files == 0) {
        ngx_toolgate_reserve_files = getrlimit(RLIMIT_NOFILE, &limit) == 0
                                         ? limit.rlim_cur
                                         : RLIM_INFINITY;
    }

    if (ngx_toolgate_reserve_files == RLIM_INFINITY) {
        return 0;
    }

    room = ngx_min(NGX_TOOLGATE_RESERVE,
                   ngx_toolgate_reserve_files / NGX_TOOLGATE_RESERVE_PART);

    return (rlim_t) fd + room >= ngx_toolgate_reserve_files;
}

/* What this connection is one of the last of; NULL: there are enough. */
static const char *
ngx_toolgate_shortage(const ngx_connection_t *c)
{
    ngx_uint_t room;

    room = ngx_min(NGX_TOOLGATE_RESERVE,
                   ngx_cycle->connection_n / NGX_TOOLGATE_RESERVE_PART);

    if (ngx_cycle->free_connection_n < room) {
        return "connections (worker_connections)";
    }

    return ngx_toolgate_reserve_is_last_file(c->fd)
               ? "descriptors (worker_rlimit_nofile)"
               : NULL;
}

/* Not a line for each, or the log were the next thing to run full. */
static void
ngx_toolgate_reserve_log(ngx_log_t *log, const char *what)
{
    ngx_toolgate_reserve_closed++;

    if (ngx_time() - ngx_toolgate_reserve_logged < NGX_TOOLGATE_RESERVE_LOG) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "client closed: the worker needs its last %s for itself; "
                  "%ui closed since this was said last",
                  what, ngx_toolgate_reserve_closed);
    ngx_toolgate_reserve_logged = ngx_time();
    ngx_toolgate_reserve_closed = 0;
}

/* The place of one that is silent; 0: there is none such. */
static ngx_uint_t
ngx_toolgate_take_place(ngx_connection_t *c, const char *what)
{
    ngx_toolgate_session_t *session;
    ngx_socket_t fd;

    if (ngx_queue_empty(&ngx_toolgate_silent)) {
        return 0;
    }

    session = ngx_queue_data(ngx_queue_head(&ngx_toolgate_silent),
                             ngx_toolgate_session_t, silent);
    ngx_toolgate_reserve_log(session->connection->log, what);
    ngx_toolgate_silent_leave(session);
    /* TLS must not wait for the goodbye of one that says nothing. */
    session->connection->timedout = 1;
    ngx_toolgate_end(session, NGX_STREAM_OK);

    /* The number that is free now; the event loop knows neither yet. */
    fd = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);

    if (fd != (ngx_socket_t) -1) {
        (void) ngx_close_socket(c->fd);
        c->fd = fd;
    }

    return 1;
}

void
ngx_toolgate_init_connection(ngx_connection_t *c)
{
    const char *what;
    ngx_pool_t *pool;

    do {
        what = ngx_toolgate_shortage(c);

        if (what == NULL) {
            ngx_stream_init_connection(c);
            return;
        }
    } while (ngx_toolgate_take_place(c, what));

    ngx_toolgate_reserve_log(c->log, what);
#if (NGX_STAT_STUB)
    (void) ngx_atomic_fetch_add(ngx_stat_active, -1);
#endif
    pool = c->pool;
    ngx_close_connection(c);
    ngx_destroy_pool(pool);
}

void
ngx_toolgate_silent_join(ngx_toolgate_session_t *session)
{
    ngx_queue_insert_tail(&ngx_toolgate_silent, &session->silent);
}

void
ngx_toolgate_silent_leave(ngx_toolgate_session_t *session)
{
    ngx_queue_remove(&session->silent);
    ngx_queue_init(&session->silent);
}
