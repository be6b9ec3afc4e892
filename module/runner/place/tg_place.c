#include "runner/place/tg_place.h"

static const char *const tg_place_members[] = { NULL };

static int
tg_place_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    return TG_OK;
}

static int
tg_place_start(tg_job_t *job)
{
    uv_timer_stop(&job->timer);
    (void) tg_progress_put(&job->progress, TG_STR("{\"progress\":0}"));
    tg_job_tell_soon(job);

    return 0;
}

static void
tg_place_free(tg_job_t *job)
{
}

const tg_kind_t tg_place_kind = {
    .name = "place",
    .members = tg_place_members,
    .timeout_ms = TG_JOB_TIMEOUT_MAX,
    .is_elsewhere = 1,
    .read = tg_place_read,
    .start = tg_place_start,
    .stop = tg_job_done,
    .free = tg_place_free,
};
