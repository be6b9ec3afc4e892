#include "nginx/native/ngx_toolgate_mail.h"

#include "api/toolgate_handler.h"

static void ngx_toolgate_mail_wake(void *host);
static int ngx_toolgate_mail_slice_is_over(void *host, size_t bytes);
static void ngx_toolgate_mail_deliver(tg_source_t *source);

static tg_post_t ngx_toolgate_mails = {
    .wake = ngx_toolgate_mail_wake,
    .is_slice_over = ngx_toolgate_mail_slice_is_over,
};
static tg_source_t ngx_toolgate_mail_source = {
    .run = ngx_toolgate_mail_deliver
};
static ngx_event_t ngx_toolgate_mail_pace;

static void
ngx_toolgate_mail_wake(void *host)
{
    (void) host;
    ngx_toolgate_notify();
}

tg_post_t *
ngx_toolgate_mail_post(void)
{
    static ngx_uint_t is_known;

    /* A child of a handler's answers none of this worker's calls. */
    if (!is_known) {
        (void) pthread_atfork(tg_mail_lock, tg_mail_unlock, tg_mail_forked);
        is_known = 1;
    }

    return &ngx_toolgate_mails;
}

/* --- any thread --- */

int
ngx_toolgate_mail_reply(uint64_t number, tg_failure_t failure, const char *data,
                        size_t len)
{
    tg_mail_reply_t reply;
    const char *why;
    char text[128];

    ngx_memzero(&reply, sizeof(reply));
    reply.failure = failure;
    reply.text = tg_str(data, len);

    switch (tg_mail_reply(number, &reply, &why)) {

    case TG_OK:
        return TOOLGATE_OK;

    case TG_NOMEM:
        return TOOLGATE_NO_MEMORY;

    default:
        (void) snprintf(text, sizeof(text),
                        "an answer to call %llu, %s, is dropped",
                        (unsigned long long) number, why);
        ngx_toolgate_line(NGX_LOG_NOTICE, TG_STR("library"), text);
        return TOOLGATE_GONE;
    }
}

int
ngx_toolgate_mail_progress(uint64_t number, uint64_t progress, uint64_t total,
                           const char *message)
{
    return tg_mail_progress(number, progress, total, message) == TG_OK
               ? TOOLGATE_OK
               : TOOLGATE_GONE;
}

/* --- the worker --- */

static int
ngx_toolgate_mail_slice_is_over(void *host, size_t bytes)
{
    (void) host;

    return tg_slice_is_over(&ngx_toolgate_sched, &ngx_toolgate_mail_source,
                            bytes);
}

static void
ngx_toolgate_mail_told(int is_told)
{
    if (is_told && !ngx_toolgate_mail_pace.timer_set) {
        ngx_add_timer(&ngx_toolgate_mail_pace, TG_MAIL_PACE);
    }
}

static void
ngx_toolgate_mail_pace_handler(ngx_event_t *ev)
{
    (void) ev;
    tg_slice_begin(&ngx_toolgate_sched);
    ngx_toolgate_mail_told(tg_post_pace(&ngx_toolgate_mails));
}

static void
ngx_toolgate_mail_deliver(tg_source_t *source)
{
    (void) source;
    ngx_toolgate_mail_told(tg_post_deliver(&ngx_toolgate_mails));
}

static void
ngx_toolgate_mail_news(void)
{
    ngx_toolgate_lines_flush();

    if (!ngx_toolgate_mail_source.is_waiting) {
        tg_slice_begin(&ngx_toolgate_sched);
        ngx_toolgate_mail_deliver(&ngx_toolgate_mail_source);
    }
}

ngx_int_t
ngx_toolgate_mail_init(ngx_cycle_t *cycle)
{
    ngx_toolgate_mail_pace.handler = ngx_toolgate_mail_pace_handler;
    ngx_toolgate_mail_pace.data = &ngx_toolgate_no_connection;
    ngx_toolgate_mail_pace.log = cycle->log;
    ngx_toolgate_mail_pace.cancelable = 1;

    return ngx_toolgate_notify_init(cycle, ngx_toolgate_mail_news);
}

void
ngx_toolgate_mail_exit(void)
{
    tg_post_close(&ngx_toolgate_mails);
    tg_source_leave(&ngx_toolgate_sched, &ngx_toolgate_mail_source);
    ngx_toolgate_lines_exit();
    ngx_toolgate_notify_exit();
}
