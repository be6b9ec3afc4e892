/* Connects libcurl to libuv: sockets, timer, kept connections. */
#include "runner/http/tg_curl_loop.h"

#include <stdlib.h>

typedef struct {
    uv_poll_t poll;
    tg_curl_loop_t *loop;
    curl_socket_t fd;
} tg_curl_socket_t;

/* Calls on_done() for ended transfers; on_done() may add others. */
static void
tg_curl_loop_report_done(tg_curl_loop_t *loop)
{
    CURLMsg *message;
    int n;

    while (loop->multi != NULL
           && (message = loop->curl->multi_info_read(loop->multi, &n)) != NULL)
    {
        if (message->msg == CURLMSG_DONE) {
            loop->on_done(loop, message->easy_handle, message->data.result);
        }
    }
}

static void
tg_curl_loop_socket_action(tg_curl_loop_t *loop, curl_socket_t fd, int events)
{
    int n;

    (void) loop->curl->multi_socket_action(loop->multi, fd, events, &n);
    tg_curl_loop_report_done(loop);
}

/* --- sockets --- */

static void
tg_curl_socket_on_event(uv_poll_t *poll, int status, int events)
{
    tg_curl_socket_t *watched;
    int what;

    watched = poll->data;
    what = status != 0 ? CURL_CSELECT_ERR : 0;
    what |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
    what |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;

    tg_sched_begin_slice(&watched->loop->sched->sched);

    /* `watched` may be invalid after this call. */
    tg_curl_loop_socket_action(watched->loop, watched->fd, what);
}

static void
tg_curl_socket_on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static tg_curl_socket_t *
tg_curl_socket_new(tg_curl_loop_t *loop, curl_socket_t fd)
{
    tg_curl_socket_t *watched;

    watched = calloc(1, sizeof(*watched));

    if (watched == NULL
        || uv_poll_init_socket(loop->sched->loop, &watched->poll, fd) != 0)
    {
        free(watched);
        return NULL;
    }

    watched->poll.data = watched;
    watched->loop = loop;
    watched->fd = fd;
    (void) loop->curl->multi_assign(loop->multi, fd, watched);

    return watched;
}

static int
tg_curl_socket_on_set_events(CURL *easy, curl_socket_t fd, int what, void *ctx,
                             void *mine)
{
    tg_curl_socket_t *watched;
    tg_curl_loop_t *loop;
    int events;

    loop = ctx;
    watched = mine;

    if (what == CURL_POLL_REMOVE) {
        if (watched != NULL) {
            uv_close((uv_handle_t *) &watched->poll, tg_curl_socket_on_closed);
            (void) loop->curl->multi_assign(loop->multi, fd, NULL);
        }

        return 0;
    }

    if (watched == NULL) {
        watched = tg_curl_socket_new(loop, fd);
    }

    events = what & CURL_POLL_IN ? UV_READABLE : 0;
    events |= what & CURL_POLL_OUT ? UV_WRITABLE : 0;

    if (watched == NULL
        || uv_poll_start(&watched->poll, events, tg_curl_socket_on_event) != 0)
    {
        loop->is_broken = 1;
        return -1;
    }

    return 0;
}

/* --- timers --- */

static void
tg_curl_loop_on_timer(uv_timer_t *timer)
{
    tg_curl_loop_t *loop;

    loop = timer->data;
    tg_sched_begin_slice(&loop->sched->sched);
    tg_curl_loop_socket_action(loop, CURL_SOCKET_TIMEOUT, 0);
}

static void
tg_curl_loop_run(tg_sched_source_t *source)
{
    tg_curl_loop_socket_action(TG_CONTAINER_OF(source, tg_curl_loop_t, source),
                               CURL_SOCKET_TIMEOUT, 0);
}

static void
tg_curl_loop_stop_timer(tg_curl_loop_t *loop)
{
    (void) uv_timer_stop(&loop->timer);
    tg_sched_dequeue(&loop->sched->sched, &loop->source);
}

/*
 * Sets libcurl's timer. 0 ms becomes work of the scheduler: libuv would run
 * such a timer in the same iteration, and never leave its timers while a server
 * sends.
 */
static int
tg_curl_loop_on_set_timer(CURLM *multi, long ms, void *ctx)
{
    tg_curl_loop_t *loop;

    loop = ctx;

    if (ms == 0) {
        (void) uv_timer_stop(&loop->timer);
        tg_sched_enqueue(&loop->sched->sched, &loop->source);
        return 0;
    }

    tg_curl_loop_stop_timer(loop);

    if (ms > 0) {
        (void) uv_timer_start(&loop->timer, tg_curl_loop_on_timer,
                              (uint64_t) ms, 0);
    }

    return 0;
}

static void
tg_curl_loop_close_connections(tg_curl_loop_t *loop)
{
    if (loop->multi != NULL) {
        (void) loop->curl->multi_cleanup(loop->multi);
        loop->multi = NULL;
        loop->is_broken = 0;
        tg_curl_loop_stop_timer(loop);
    }
}

static void
tg_curl_loop_on_idle(uv_timer_t *timer)
{
    tg_curl_loop_close_connections(timer->data);
}

/* --- transfers --- */

int
tg_curl_loop_add(tg_curl_loop_t *loop, CURL *easy)
{
    if (loop->is_broken
        || loop->curl->multi_add_handle(loop->multi, easy) != CURLM_OK)
    {
        return TG_NOMEM;
    }

    loop->n++;
    uv_timer_stop(&loop->idle);

    return TG_OK;
}

void
tg_curl_loop_remove(tg_curl_loop_t *loop, CURL *easy)
{
    (void) loop->curl->multi_remove_handle(loop->multi, easy);
    loop->n--;

    if (loop->n == 0) {
        uv_timer_start(&loop->idle, tg_curl_loop_on_idle,
                       loop->is_broken ? 0 : loop->keepalive_ms, 0);
    }
}

/* --- init and close --- */

void
tg_curl_loop_init(tg_curl_loop_t *loop, tg_uv_sched_t *sched,
                  void (*on_done)(tg_curl_loop_t *loop, CURL *easy,
                                  CURLcode code))
{
    memset(loop, 0, sizeof(*loop));
    loop->sched = sched;
    loop->source.run = tg_curl_loop_run;
    loop->on_done = on_done;
    loop->keepalive_ms = TG_HTTP_KEEPALIVE_MS;
    uv_timer_init(sched->loop, &loop->timer);
    uv_timer_init(sched->loop, &loop->idle);
    loop->timer.data = loop;
    loop->idle.data = loop;
}

int
tg_curl_loop_open(tg_curl_loop_t *loop, const char **why)
{
    const tg_curl_t *curl;

    if (loop->multi != NULL) {
        return TG_OK;
    }

    curl = tg_curl_load(why);

    if (curl == NULL) {
        return TG_MISSING;
    }

    loop->curl = curl;
    loop->multi = curl->multi_init();

    if (loop->multi == NULL) {
        return TG_NOMEM;
    }

    (void) curl->multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION,
                              tg_curl_socket_on_set_events);
    (void) curl->multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    (void) curl->multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION,
                              tg_curl_loop_on_set_timer);
    (void) curl->multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    (void) curl->multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS,
                              (long) TG_HTTP_KEEPALIVE_MAX);

    return TG_OK;
}

void
tg_curl_loop_close(tg_curl_loop_t *loop)
{
    tg_curl_loop_close_connections(loop);
    tg_curl_loop_stop_timer(loop);
    uv_close((uv_handle_t *) &loop->timer, NULL);
    uv_close((uv_handle_t *) &loop->idle, NULL);
}
