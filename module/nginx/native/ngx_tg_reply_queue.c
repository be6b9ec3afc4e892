/* The worker's mailbox for threads' replies, emptied in time slices. */
#include "nginx/native/ngx_tg_reply_queue.h"

#include "api/toolgate_handler.h"

static void ngx_tg_reply_queue_wake(void *host);
static int ngx_tg_reply_queue_is_slice_over(void *host, size_t bytes);
static void ngx_tg_reply_queue_deliver(tg_sched_source_t *source);

static tg_mailbox_t ngx_tg_reply_queue = {
    .wake = ngx_tg_reply_queue_wake,
    .is_slice_over = ngx_tg_reply_queue_is_slice_over,
};
static tg_sched_source_t ngx_tg_reply_queue_source = {
    .run = ngx_tg_reply_queue_deliver
};
static ngx_event_t ngx_tg_reply_queue_timer;

static void
ngx_tg_reply_queue_wake(void *host)
{
    ngx_tg_worker_wakeup_send();
}

tg_mailbox_t *
ngx_tg_reply_queue_get(void)
{
    static ngx_uint_t is_known;

    /* A child process that a handler forks must not answer calls. */
    if (!is_known) {
        (void) pthread_atfork(tg_pending_calls_lock, tg_pending_calls_unlock,
                              tg_pending_calls_on_fork_child);
        is_known = 1;
    }

    return &ngx_tg_reply_queue;
}

/* --- any thread --- */

int
ngx_tg_native_send_reply(uint64_t number, tg_failure_t failure,
                         const char *data, size_t len)
{
    tg_pending_call_reply_t reply;
    const char *why;
    char text[128];

    ngx_memzero(&reply, sizeof(reply));
    reply.failure = failure;
    reply.text = tg_str(data, len);

    switch (tg_pending_call_reply(number, &reply, &why)) {

    case TG_OK:
        return TOOLGATE_OK;

    case TG_NOMEM:
        return TOOLGATE_NO_MEMORY;

    default:
        (void) snprintf(text, sizeof(text),
                        "an answer to call %llu, %s, is dropped",
                        (unsigned long long) number, why);
        ngx_tg_thread_log_write(NGX_LOG_NOTICE, TG_STR("library"), text);
        return TOOLGATE_GONE;
    }
}

int
ngx_tg_native_send_progress(uint64_t number, uint64_t progress, uint64_t total,
                            const char *message)
{
    return tg_pending_call_progress(number, progress, total, message) == TG_OK
               ? TOOLGATE_OK
               : TOOLGATE_GONE;
}

/* --- the worker's thread --- */

static int
ngx_tg_reply_queue_is_slice_over(void *host, size_t bytes)
{
    return tg_sched_is_slice_over(&ngx_tg_sched, &ngx_tg_reply_queue_source,
                                  bytes);
}

static void
ngx_tg_reply_queue_start_timer(int is_told)
{
    if (is_told && !ngx_tg_reply_queue_timer.timer_set) {
        ngx_add_timer(&ngx_tg_reply_queue_timer, TG_PROGRESS_INTERVAL_MS);
    }
}

static void
ngx_tg_reply_queue_on_timer(ngx_event_t *ev)
{
    tg_sched_begin_slice(&ngx_tg_sched);
    ngx_tg_reply_queue_start_timer(
        tg_mailbox_deliver_paced(&ngx_tg_reply_queue));
}

static void
ngx_tg_reply_queue_deliver(tg_sched_source_t *source)
{
    ngx_tg_reply_queue_start_timer(tg_mailbox_deliver(&ngx_tg_reply_queue));
}

static void
ngx_tg_reply_queue_on_wakeup(void)
{
    ngx_tg_thread_log_flush();

    if (!ngx_tg_reply_queue_source.is_queued) {
        tg_sched_begin_slice(&ngx_tg_sched);
        ngx_tg_reply_queue_deliver(&ngx_tg_reply_queue_source);
    }
}

ngx_int_t
ngx_tg_reply_queue_init_process(ngx_cycle_t *cycle)
{
    ngx_tg_reply_queue_timer.handler = ngx_tg_reply_queue_on_timer;
    ngx_tg_reply_queue_timer.data = &ngx_tg_dummy_connection;
    ngx_tg_reply_queue_timer.log = cycle->log;
    ngx_tg_reply_queue_timer.cancelable = 1;

    return ngx_tg_worker_wakeup_init(cycle, ngx_tg_reply_queue_on_wakeup);
}

void
ngx_tg_reply_queue_exit_process(void)
{
    tg_mailbox_close(&ngx_tg_reply_queue);
    tg_sched_dequeue(&ngx_tg_sched, &ngx_tg_reply_queue_source);
    ngx_tg_thread_log_close();
    ngx_tg_worker_wakeup_exit();
}
