/* The hooks of native handlers: their calls and their duration. */
#include "nginx/native/ngx_tg_native_handler.h"

#include <signal.h>
#include <time.h>

/* Duration of a hook that is logged, in ms: it blocks all clients. */
#define NGX_TG_NATIVE_SLOW_HOOK_MS 10
/* Minimum time between two log lines about a handler's hooks, in ms. */
#define NGX_TG_NATIVE_SLOW_HOOK_LOG_MS 1000
/* Minimum time between attempts to load a library that refuses to, in ms. */
#define NGX_TG_NATIVE_LOAD_RETRY_MS 1000

/* --- functions for libraries, in any thread --- */

static int
ngx_tg_native_api_reply(toolgate_call_t call, const char *data, size_t len)
{
    return ngx_tg_native_send_reply(call, TG_FAILURE_NONE, data, len);
}

static int
ngx_tg_native_api_fail(toolgate_call_t call, const char *data, size_t len)
{
    return ngx_tg_native_send_reply(call, TG_FAILURE_PROGRAM, data, len);
}

static void
ngx_tg_native_api_log(const toolgate_tool_t *tool, int level, const char *text)
{
    ngx_tg_thread_log_write(level >= TOOLGATE_ERROR && level <= TOOLGATE_INFO
                                ? (ngx_uint_t) level
                                : NGX_LOG_NOTICE,
                            tg_str(tool->name.data, tool->name.len), text);
}

static const toolgate_api_t ngx_tg_native_api = {
    .size = sizeof(toolgate_api_t),
    .reply = ngx_tg_native_api_reply,
    .fail = ngx_tg_native_api_fail,
    .progress = ngx_tg_native_send_progress,
    .is_wanted = tg_pending_call_is_open,
    .log = ngx_tg_native_api_log,
};

/* --- config --- */

const char *
ngx_tg_native_handler_check(ngx_tg_native_handler_t *native,
                            const toolgate_handler_t *ops, u_char *text,
                            size_t size)
{
    const char *mistake;

    if (ops->abi != TOOLGATE_ABI) {
        (void) ngx_snprintf(text, size,
                            "was built with version %uD of toolgate_handler.h, "
                            "but this module needs version %d; build it with "
                            "the "
                            "header that came with the module%Z",
                            ops->abi, TOOLGATE_ABI);
        return (const char *) text;
    }

    if (ops->size < sizeof(toolgate_handler_t) || ops->call == NULL) {
        return "is not a complete handler; begin it with TOOLGATE_HEAD, and "
               "give it a call()";
    }

    native->tool.size = sizeof(toolgate_tool_t);
    native->tool.api = &ngx_tg_native_api;
    native->ops = ops;
    mistake = ops->check != NULL ? ops->check(&native->tool) : NULL;
    ngx_tg_thread_log_flush();

    if (mistake != NULL) {
        (void) ngx_snprintf(text, size, "refuses: %s%Z", mistake);
        text[size - 1] = '\0';
        return (const char *) text;
    }

    return NULL;
}

/* --- hooks --- */

/* Returns a time in ms, exact to a few ms: a precise clock costs much more. */
static uint64_t
ngx_tg_native_clock_ms(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_COARSE, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* Logs that a hook blocked the worker for `took` ms, but not too often. */
static void
ngx_tg_native_handler_log_slow_hook(ngx_tg_native_handler_t *native,
                                    const char *hook, ngx_msec_t took)
{
    ngx_time_update();
    native->nslow++;

    if (native->has_logged
        && ngx_current_msec - native->logged_at
               < NGX_TG_NATIVE_SLOW_HOOK_LOG_MS)
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "\"%*s\": %s() of \"%V\" in \"%V\" blocked the worker and "
                  "all its clients for %M ms (%ui such calls since the last "
                  "message); do slow work in a thread of the library",
                  native->tool.name.len, native->tool.name.data, hook,
                  &native->symbol, &native->file, took, native->nslow);
    native->has_logged = 1;
    native->logged_at = ngx_current_msec;
    native->nslow = 0;
}

/* Checks how long a hook took since `from`. */
static ngx_inline void
ngx_tg_native_handler_check_time(ngx_tg_native_handler_t *native,
                                 const char *hook, uint64_t from)
{
    ngx_msec_t took;

    took = (ngx_msec_t) (ngx_tg_native_clock_ms() - from);

    if (took >= NGX_TG_NATIVE_SLOW_HOOK_MS) {
        ngx_tg_native_handler_log_slow_hook(native, hook, took);
    }
}

/*
 * Calls load() with signals blocked, so that its threads leave signals to
 * NGINX's thread. Returns NULL, or the library's error.
 */
static const char *
ngx_tg_native_handler_call_load(ngx_tg_native_handler_t *native)
{
    sigset_t all, before;
    const char *mistake;
    uint64_t from;

    if (native->ops->load == NULL) {
        return NULL;
    }

    sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    from = ngx_tg_native_clock_ms();
    mistake = native->ops->load(&native->tool, &native->state);
    ngx_tg_native_handler_check_time(native, "load", from);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    ngx_tg_thread_log_flush();

    return mistake;
}

static void
ngx_tg_native_handler_load(ngx_tg_native_handler_t *native)
{
    const char *mistake;

    mistake = ngx_tg_reply_queue_init_process((ngx_cycle_t *) ngx_cycle)
                      == NGX_OK
                  ? ngx_tg_native_handler_call_load(native)
                  : "this worker has no descriptor or connection left for its "
                    "threads; see \"worker_connections\"";
    native->tried_at = ngx_current_msec;
    native->is_loaded = mistake == NULL;
    native->is_refused = mistake != NULL;

    if (mistake != NULL) {
        (void) ngx_cpystrn((u_char *) native->load_error, (u_char *) mistake,
                           sizeof(native->load_error));
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "\"%*s\": \"%V\" in \"%V\" cannot be loaded: %s",
                      native->tool.name.len, native->tool.name.data,
                      &native->symbol, &native->file, native->load_error);
    }
}

ngx_uint_t
ngx_tg_native_handler_ensure_loaded(ngx_tg_native_handler_t *native)
{
    if (!native->is_loaded
        && (!native->is_refused
            || ngx_current_msec - native->tried_at
                   >= NGX_TG_NATIVE_LOAD_RETRY_MS))
    {
        ngx_tg_native_handler_load(native);
    }

    return native->is_loaded;
}

void
ngx_tg_native_handler_unload(void *data)
{
    ngx_tg_native_handler_t *native = data;

    uint64_t from;

    if (native->is_loaded && native->ops->unload != NULL) {
        from = ngx_tg_native_clock_ms();
        native->ops->unload(native->state);
        ngx_tg_native_handler_check_time(native, "unload", from);
    }

    native->is_loaded = 0;
}

void
ngx_tg_native_handler_call(ngx_tg_native_handler_t *native,
                           const toolgate_request_t *request)
{
    uint64_t from;

    from = ngx_tg_native_clock_ms();
    native->ops->call(request);
    ngx_tg_native_handler_check_time(native, "call", from);
}

void
ngx_tg_native_handler_cancel(ngx_tg_native_handler_t *native,
                             toolgate_call_t call)
{
    uint64_t from;

    if (native->ops->cancel != NULL) {
        from = ngx_tg_native_clock_ms();
        native->ops->cancel(native->state, call);
        ngx_tg_native_handler_check_time(native, "cancel", from);
    }
}
