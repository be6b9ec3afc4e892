#include "runner/jobs/tg_slot_job.h"

static int
tg_slot_job_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    return TG_OK;
}

static int
tg_slot_job_start(tg_job_t *job)
{
    uv_timer_stop(&job->timer);
    (void) tg_progress_update(&job->progress, TG_STR("{\"progress\":0}"));
    tg_job_notify_progress_soon(job);

    return 0;
}

static void
tg_slot_job_free(tg_job_t *job)
{
}

const tg_job_type_t tg_slot_job_type = {
    .name = "place",
    .timeout_ms = TG_JOB_TIMEOUT_MAX,
    .needs_no_slot = 1,
    .read = tg_slot_job_read,
    .start = tg_slot_job_start,
    .stop = tg_job_set_done,
    .free = tg_slot_job_free,
};
