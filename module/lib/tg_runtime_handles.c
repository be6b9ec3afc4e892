/* Timer, handles and report callback of a runtime. */
#include "lib/tg_runtime.h"

#include "base/tg_utf8.h"

#include <stdarg.h>
#include <stdio.h>

/* Longest report, in bytes. */
#define TG_REPORT_MAX 2048

void
tg_runtime_report(tg_runtime_t *runtime, int code, const char *format, ...)
{
    char text[TG_REPORT_MAX], visible[TG_REPORT_MAX];
    tg_buf_t buf;
    va_list args;

    if (runtime->conf.report == NULL) {
        return;
    }

    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    /* Reports may contain text of clients: control characters are replaced. */
    buf = tg_buf_make_fixed(visible, sizeof(visible) - 1);
    tg_utf8_append_visible(&buf, tg_str_from_cstr(text), 1);
    visible[buf.len] = '\0';
    runtime->ncallbacks++;
    runtime->conf.report(code, visible, runtime->conf.report_data);
    runtime->ncallbacks--;
}

static void
tg_runtime_on_timer(uv_timer_t *timer)
{
    tg_runtime_t *runtime;

    runtime = timer->data;
    runtime->due = 0;
    runtime->run_timers(runtime);
}

void
tg_runtime_schedule(tg_runtime_t *runtime, uint64_t at)
{
    uint64_t now;

    if (runtime->is_stopping || at == UINT64_MAX
        || (runtime->due != 0 && runtime->due <= at))
    {
        return;
    }

    now = uv_now(runtime->loop);
    runtime->due = at > now ? at : now;
    (void) uv_timer_start(&runtime->timer, tg_runtime_on_timer,
                          runtime->due - now, 0);
}

void
tg_runtime_unref_handle(tg_runtime_t *runtime)
{
    if (--runtime->nopen == 0) {
        runtime->is_finished = 1;
        runtime->ended(runtime);
    }
}

static void
tg_runtime_on_handle_closed(uv_handle_t *handle)
{
    tg_runtime_unref_handle(handle->data);
}

void
tg_runtime_close_handle(tg_runtime_t *runtime, uv_handle_t *handle)
{
    if (handle->data != NULL && !uv_is_closing(handle)) {
        handle->data = runtime;
        uv_close(handle, tg_runtime_on_handle_closed);
    }
}

void
tg_runtime_end_linger(tg_runtime_t *runtime)
{
    if (--runtime->nlingering == 0) {
        tg_runtime_close_handle(runtime, (uv_handle_t *) &runtime->timer);
    }
}

int
tg_runtime_is_in_callback(const tg_runtime_t *runtime)
{
    return runtime->type == TG_LOOP_THREAD
               ? pthread_equal(runtime->thread, pthread_self())
               : runtime->ncallbacks != 0;
}
