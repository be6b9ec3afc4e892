/*
 * NGINX's clock and event loop for the scheduler.
 */
#include "nginx/sched/ngx_toolgate_sched.h"

static uint64_t ngx_toolgate_sched_now(void *host);
static void ngx_toolgate_sched_wake(void *host);

tg_sched_t ngx_toolgate_sched = {
    .now = ngx_toolgate_sched_now,
    .wake = ngx_toolgate_sched_wake,
    .memory_max = NGX_TOOLGATE_MEMORY,
};

size_t ngx_toolgate_sched_clients;
ngx_uint_t ngx_toolgate_stays;

/* ms; keeps a worker that exits while sources wait, and does nothing else. */
#define NGX_TOOLGATE_SCHED_STAY 1000

ngx_connection_t ngx_toolgate_no_connection = { .fd = (ngx_socket_t) -1 };

static ngx_event_t ngx_toolgate_sched_event;

static uint64_t
ngx_toolgate_sched_now(void *host)
{
    struct timespec now;

    (void) host;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

static void
ngx_toolgate_sched_handler(ngx_event_t *ev)
{
    if (tg_sched_run(&ngx_toolgate_sched)) {
        ngx_toolgate_sched_wake(NULL);
    } else if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}

static void
ngx_toolgate_sched_wake(void *host)
{
    ngx_event_t *ev;

    (void) host;
    ev = &ngx_toolgate_sched_event;
    ev->handler = ngx_toolgate_sched_handler;
    ev->data = &ngx_toolgate_no_connection;
    ev->log = ngx_cycle->log;
    ngx_post_event(ev, &ngx_posted_next_events);

    if (!ev->timer_set) {
        ngx_add_timer(ev, NGX_TOOLGATE_SCHED_STAY);
    }
}
