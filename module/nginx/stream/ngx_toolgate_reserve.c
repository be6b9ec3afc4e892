/*
 * Room for service: connections and descriptors that clients do not get.
 *
 * A worker whose clients have taken everything could not talk to its runner
 * and its log.  So a client that would take of the last ones is closed
 * before it has said a word; those who are connected are served on.
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
static ngx_uint_t ngx_toolgate_reserve_refused;

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

ngx_uint_t
ngx_toolgate_has_room(ngx_connection_t *c)
{
    ngx_uint_t room;
    const char *what;

    room = ngx_min(NGX_TOOLGATE_RESERVE,
                   ngx_cycle->connection_n / NGX_TOOLGATE_RESERVE_PART);

    if (ngx_cycle->free_connection_n < room) {
        what = "connections (worker_connections)";
    } else if (ngx_toolgate_reserve_is_last_file(c->fd)) {
        what = "descriptors (worker_rlimit_nofile)";
    } else {
        return 1;
    }

    /* Not a line for each, or the log were the next thing to run full. */
    ngx_toolgate_reserve_refused++;

    if (ngx_time() - ngx_toolgate_reserve_logged >= NGX_TOOLGATE_RESERVE_LOG) {
        ngx_log_error(NGX_LOG_WARN, c->log, 0,
                      "client closed: the worker needs its last %s for itself; "
                      "%ui refused since this was said last",
                      what, ngx_toolgate_reserve_refused);
        ngx_toolgate_reserve_logged = ngx_time();
        ngx_toolgate_reserve_refused = 0;
    }

    return 0;
}
