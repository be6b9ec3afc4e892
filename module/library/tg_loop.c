/*
 * What a run has of its loop: time, handles, and callbacks of the program's.
 */
#include "library/tg_run.h"

#include "base/tg_utf8.h"

#include <stdarg.h>
#include <stdio.h>

/* Of a report. */
#define TG_REPORT_MAX 2048

void
tg_report(tg_run_t *run, int code, const char *format, ...)
{
    char text[TG_REPORT_MAX], visible[TG_REPORT_MAX];
    tg_buf_t buf;
    va_list args;

    if (run->conf.report == NULL) {
        return;
    }

    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    /* Clients say what some of it is. */
    buf = tg_buf_fixed(visible, sizeof(visible) - 1);
    tg_utf8_put_visible(&buf, tg_str_c(text), 1);
    visible[buf.len] = '\0';
    run->is_calling++;
    run->conf.report(code, visible, run->conf.report_data);
    run->is_calling--;
}

static void
tg_run_on_timer(uv_timer_t *timer)
{
    tg_run_t *run;

    run = timer->data;
    run->due = 0;
    run->tick(run);
}

void
tg_run_due(tg_run_t *run, uint64_t at)
{
    uint64_t now;

    if (run->is_stopping || at == UINT64_MAX
        || (run->due != 0 && run->due <= at)) {
        return;
    }

    now = uv_now(run->loop);
    run->due = at > now ? at : now;
    (void) uv_timer_start(&run->timer, tg_run_on_timer, run->due - now, 0);
}

void
tg_run_gone(tg_run_t *run)
{
    if (--run->nopen == 0) {
        run->is_over = 1;
        run->ended(run);
    }
}

static void
tg_run_on_closed(uv_handle_t *handle)
{
    tg_run_gone(handle->data);
}

void
tg_run_close(tg_run_t *run, uv_handle_t *handle)
{
    if (handle->data != NULL && !uv_is_closing(handle)) {
        handle->data = run;
        uv_close(handle, tg_run_on_closed);
    }
}

void
tg_run_lingered(tg_run_t *run)
{
    if (--run->nlingering == 0) {
        tg_run_close(run, (uv_handle_t *) &run->timer);
    }
}

int
tg_run_is_calling(const tg_run_t *run)
{
    return run->kind == TG_LOOP_THREAD
               ? pthread_equal(run->thread, pthread_self())
               : run->is_calling != 0;
}
