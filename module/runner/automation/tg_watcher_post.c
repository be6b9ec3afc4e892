/*
 * From the watcher's thread to the loop.
 */
#include "runner/automation/tg_watcher_impl.h"

#include <stdlib.h>
#include <time.h>

uint64_t
tg_watcher_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000 + 1;
}

int
tg_watcher_must_end(tg_watcher_t *watcher)
{
    int must_end;

    uv_mutex_lock(&watcher->mutex);
    must_end = watcher->must_end;
    uv_mutex_unlock(&watcher->mutex);

    return must_end;
}

void
tg_finding_free(tg_finding_t *finding)
{
    tg_buf_deinit(&finding->id);
    tg_buf_deinit(&finding->text);
    free(finding);
}

void
tg_watcher_leave(tg_watcher_t *watcher, tg_str_t id, int64_t at, tg_str_t text)
{
    tg_finding_t *finding;

    finding = calloc(1, sizeof(*finding));

    if (finding == NULL) {
        return;
    }

    tg_buf_init(&finding->id, tg_alloc_libc());
    tg_buf_init(&finding->text, tg_alloc_libc());
    finding->at = at;
    tg_buf_str(&finding->id, id);
    tg_buf_str(&finding->text, text);

    if (tg_buf_failed(&finding->id) || tg_buf_failed(&finding->text)) {
        tg_finding_free(finding);
        return;
    }

    uv_mutex_lock(&watcher->mutex);
    watcher->stats.nevents += id.len != 0;
    STAILQ_INSERT_TAIL(&watcher->findings, finding, next);
    uv_mutex_unlock(&watcher->mutex);
    (void) uv_async_send(&watcher->async);
}
