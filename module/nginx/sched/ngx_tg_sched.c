/* The scheduler's clock and wakeups, by NGINX's event loop. */
#include "nginx/sched/ngx_tg_sched.h"

static uint64_t ngx_tg_sched_now(void *host);
static void ngx_tg_sched_wake(void *host);

tg_sched_t ngx_tg_sched = {
    .now = ngx_tg_sched_now,
    .wake = ngx_tg_sched_wake,
    .memory_max = NGX_TG_SCHED_MEMORY_MAX,
};

size_t ngx_tg_sched_client_memory;
ngx_uint_t ngx_tg_worker_is_lingering;

/* Delay of the timer that keeps an exiting worker while sources wait, in ms. */
#define NGX_TG_SCHED_EXIT_DELAY 1000

ngx_connection_t ngx_tg_dummy_connection = { .fd = (ngx_socket_t) -1 };

static ngx_event_t ngx_tg_sched_event;

static uint64_t
ngx_tg_sched_now(void *host)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

static void
ngx_tg_sched_on_event(ngx_event_t *ev)
{
    if (tg_sched_run_next(&ngx_tg_sched)) {
        ngx_tg_sched_wake(NULL);
    } else if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}

static void
ngx_tg_sched_wake(void *host)
{
    ngx_event_t *ev;

    ev = &ngx_tg_sched_event;
    ev->handler = ngx_tg_sched_on_event;
    ev->data = &ngx_tg_dummy_connection;
    ev->log = ngx_cycle->log;
    ngx_post_event(ev, &ngx_posted_next_events);

    if (!ev->timer_set) {
        ngx_add_timer(ev, NGX_TG_SCHED_EXIT_DELAY);
    }
}
