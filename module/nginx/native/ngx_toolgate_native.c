/*
 * The hooks of native handlers, and how long they take.
 */
#include "nginx/native/ngx_toolgate_native.h"

#include <signal.h>
#include <time.h>

/* A hook that takes longer, in ms, keeps clients waiting: it is logged, */
#define NGX_TOOLGATE_NATIVE_HOLD 10
/* though a line for each would fill the disk. */
#define NGX_TOOLGATE_NATIVE_HOLD_LOG 1000
/* A library that does not load is tried again, but not with each call. */
#define NGX_TOOLGATE_NATIVE_RETRY 1000

/* --- what a library may ask, in any thread --- */

static int
ngx_toolgate_native_reply(toolgate_call_t call, const char *data, size_t len)
{
    return ngx_toolgate_mail_reply(call, TG_FAILURE_NONE, data, len);
}

static int
ngx_toolgate_native_fail(toolgate_call_t call, const char *data, size_t len)
{
    return ngx_toolgate_mail_reply(call, TG_FAILURE_PROGRAM, data, len);
}

static void
ngx_toolgate_native_log(const toolgate_tool_t *tool, int level,
                        const char *text)
{
    ngx_toolgate_line(level >= TOOLGATE_ERROR && level <= TOOLGATE_INFO
                          ? (ngx_uint_t) level
                          : NGX_LOG_NOTICE,
                      tg_str(tool->name.data, tool->name.len), text);
}

static const toolgate_api_t ngx_toolgate_native_api = {
    .size = sizeof(toolgate_api_t),
    .reply = ngx_toolgate_native_reply,
    .fail = ngx_toolgate_native_fail,
    .progress = ngx_toolgate_mail_progress,
    .is_wanted = tg_mail_is_open,
    .log = ngx_toolgate_native_log,
};

/* --- the config --- */

const char *
ngx_toolgate_native_check(ngx_toolgate_native_t *native,
                          const toolgate_handler_t *ops, u_char *text,
                          size_t size)
{
    const char *mistake;

    if (ops->abi != TOOLGATE_ABI) {
        (void) ngx_snprintf(text, size,
                            "is of version %uD of toolgate_handler.h, and "
                            "this module takes version %d; build it with the "
                            "header that came with the module%Z",
                            ops->abi, TOOLGATE_ABI);
        return (const char *) text;
    }

    if (ops->size < sizeof(toolgate_handler_t) || ops->call == NULL) {
        return "is no whole handler; begin it with TOOLGATE_HEAD, and give it "
               "a call()";
    }

    native->tool.size = sizeof(toolgate_tool_t);
    native->tool.api = &ngx_toolgate_native_api;
    native->ops = ops;
    mistake = ops->check != NULL ? ops->check(&native->tool) : NULL;
    ngx_toolgate_lines_flush();

    if (mistake != NULL) {
        (void) ngx_snprintf(text, size, "refuses: %s%Z", mistake);
        text[size - 1] = '\0';
        return (const char *) text;
    }

    return NULL;
}

/* --- a worker --- */

/* In ms, to some of them, which costs much less than to know it better. */
static uint64_t
ngx_toolgate_native_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_COARSE, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* A hook has held the worker for so long. */
static void
ngx_toolgate_native_held(ngx_toolgate_native_t *native, const char *hook,
                         ngx_msec_t took)
{
    ngx_time_update();
    native->held++;

    if (native->has_said
        && ngx_current_msec - native->said < NGX_TOOLGATE_NATIVE_HOLD_LOG)
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "\"%*s\": %s() of \"%V\" in \"%V\" held the worker and all "
                  "its clients for %M ms (%ui such since this was said last); "
                  "let a thread of the library's own do what takes longer",
                  native->tool.name.len, native->tool.name.data, hook,
                  &native->symbol, &native->file, took, native->held);
    native->has_said = 1;
    native->said = ngx_current_msec;
    native->held = 0;
}

/* A hook has returned that was called then. */
static ngx_inline void
ngx_toolgate_native_timed(ngx_toolgate_native_t *native, const char *hook,
                          uint64_t from)
{
    ngx_msec_t took;

    took = (ngx_msec_t) (ngx_toolgate_native_now() - from);

    if (took >= NGX_TOOLGATE_NATIVE_HOLD) {
        ngx_toolgate_native_held(native, hook, took);
    }
}

/* Threads that it starts are to leave signals to the one of NGINX. */
static const char *
ngx_toolgate_native_hook_load(ngx_toolgate_native_t *native)
{
    sigset_t all, before;
    const char *mistake;
    uint64_t from;

    if (native->ops->load == NULL) {
        return NULL;
    }

    sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    from = ngx_toolgate_native_now();
    mistake = native->ops->load(&native->tool, &native->state);
    ngx_toolgate_native_timed(native, "load", from);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    ngx_toolgate_lines_flush();

    return mistake;
}

static void
ngx_toolgate_native_load(ngx_toolgate_native_t *native)
{
    const char *mistake;

    mistake = ngx_toolgate_mail_init((ngx_cycle_t *) ngx_cycle) == NGX_OK
                  ? ngx_toolgate_native_hook_load(native)
                  : "this worker has no descriptor or connection left for its "
                    "threads; see \"worker_connections\"";
    native->tried = ngx_current_msec;
    native->is_loaded = mistake == NULL;
    native->is_refused = mistake != NULL;

    if (mistake != NULL) {
        (void) ngx_cpystrn((u_char *) native->refusal, (u_char *) mistake,
                           sizeof(native->refusal));
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "\"%*s\": \"%V\" in \"%V\" does not load: %s",
                      native->tool.name.len, native->tool.name.data,
                      &native->symbol, &native->file, native->refusal);
    }
}

ngx_uint_t
ngx_toolgate_native_is_ready(ngx_toolgate_native_t *native)
{
    if (!native->is_loaded
        && (!native->is_refused
            || ngx_current_msec - native->tried >= NGX_TOOLGATE_NATIVE_RETRY))
    {
        ngx_toolgate_native_load(native);
    }

    return native->is_loaded;
}

void
ngx_toolgate_native_unload(void *data)
{
    ngx_toolgate_native_t *native = data;

    uint64_t from;

    if (native->is_loaded && native->ops->unload != NULL) {
        from = ngx_toolgate_native_now();
        native->ops->unload(native->state);
        ngx_toolgate_native_timed(native, "unload", from);
    }

    native->is_loaded = 0;
}

void
ngx_toolgate_native_call(ngx_toolgate_native_t *native,
                         const toolgate_request_t *request)
{
    uint64_t from;

    from = ngx_toolgate_native_now();
    native->ops->call(request);
    ngx_toolgate_native_timed(native, "call", from);
}

void
ngx_toolgate_native_cancel(ngx_toolgate_native_t *native, toolgate_call_t call)
{
    uint64_t from;

    if (native->ops->cancel != NULL) {
        from = ngx_toolgate_native_now();
        native->ops->cancel(native->state, call);
        ngx_toolgate_native_timed(native, "cancel", from);
    }
}
