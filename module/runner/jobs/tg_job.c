/* The states of a job, its deadline, and the start of queued jobs. */
#include "runner/jobs/tg_job.h"

#include <stdlib.h>

/* --- states --- */

static void
tg_job_on_retry(uv_timer_t *timer)
{
    tg_jobs_start_queued(timer->data);
}

/* Starts queued jobs in the next loop iteration, never at once. */
static void
tg_jobs_schedule_retry(tg_jobs_t *jobs)
{
    if (!TAILQ_EMPTY(&jobs->queue)) {
        uv_timer_start(&jobs->retry_timer, tg_job_on_retry, 0, 0);
    }
}

void
tg_job_release_limits(tg_job_t *job)
{
    unsigned i;

    /* A job that just starts still waits in the queue. */
    for (i = 0; i < job->nlimits && !job->has_started; i++) {
        job->limits[i]->nwaiting--;
    }

    if (tg_job_unref_limits(job)) {
        tg_jobs_schedule_retry(job->jobs);
    }
}

static void
tg_job_free(tg_job_t *job)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;
    jobs->njobs--;
    jobs->bytes -= job->bytes;
    tg_job_discard(job);

    if (jobs->njobs == 0) {
        jobs->ops->idle(jobs->host);
    }
}

void
tg_job_discard(tg_job_t *job)
{
    if (job->owner != NULL) {
        job->owner->on_gone(job);
    }

    if (job->work != NULL) {
        job->type->free(job);
    }

    tg_job_params_free(&job->params);
    tg_progress_deinit(&job->progress);
    tg_buf_deinit(&job->messages);
    tg_buf_deinit(&job->answer);
    free(job);
}

void
tg_job_free_if_closed(tg_job_t *job)
{
    if (job->nhandles == 0) {
        tg_job_free(job);
    }
}

void
tg_job_ref_handle(tg_job_t *job)
{
    job->nhandles++;
}

void
tg_job_unref_handle(tg_job_t *job)
{
    if (--job->nhandles != 0) {
        return;
    }

    /* A detached job that has ended keeps only its result. */
    job->type->free(job);
    job->work = NULL;

    if (job->token_len == 0) {
        tg_job_free(job);
    }
}

static void
tg_job_on_closed(uv_handle_t *handle)
{
    tg_job_unref_handle(handle->data);
}

/* Changes the state. No other function does. */
static void
tg_job_set_state(tg_job_t *job, tg_job_state_t state)
{
    job->state = state;

    switch (state) {
    case TG_JOB_QUEUED:
        tg_job_enqueue(job);
        break;

    case TG_JOB_RUNNING:
        job->started_at = uv_now(job->jobs->loop);
        tg_job_move_to_running(job);
        break;

    case TG_JOB_ENDING:
        uv_timer_stop(&job->timer);
        break;

    case TG_JOB_DONE:
        tg_job_remove_from_list(job);
        (void) tg_job_unref_limits(job);
        tg_jobs_schedule_retry(job->jobs);
        uv_close((uv_handle_t *) &job->timer, tg_job_on_closed);
        uv_close((uv_handle_t *) &job->progress_timer, tg_job_on_closed);
    }
}

void
tg_job_on_work_ended(tg_job_t *job)
{
    job->ended_at = uv_now(job->jobs->loop);
    uv_timer_stop(&job->timer);
}

void
tg_job_set_ending(tg_job_t *job)
{
    tg_job_set_state(job, TG_JOB_ENDING);
}

void
tg_job_stop(tg_job_t *job)
{
    tg_job_set_state(job, TG_JOB_ENDING);
    job->type->stop(job);
}

void
tg_job_set_done(tg_job_t *job)
{
    tg_job_set_state(job, TG_JOB_DONE);
}

void
tg_job_cancel(tg_job_t *job)
{
    job->call = NULL;

    switch (job->state) {
    case TG_JOB_QUEUED:
        tg_job_set_state(job, TG_JOB_DONE);
        break;
    case TG_JOB_RUNNING:
        tg_job_stop(job);
        break;
    case TG_JOB_ENDING:
    case TG_JOB_DONE:
        break;
    }
}

/* --- deadline --- */

static void tg_job_on_deadline(uv_timer_t *timer);

/* Restarts the deadline timer, within max_timeout_ms. */
static void
tg_job_set_deadline(tg_job_t *job)
{
    uint64_t wait, age;

    age = uv_now(job->jobs->loop) - job->submitted_at;
    wait = job->params.max_timeout_ms;
    wait = wait > age ? wait - age : 0;

    if (wait > job->params.timeout_ms) {
        wait = job->params.timeout_ms;
    }

    uv_timer_start(&job->timer, tg_job_on_deadline, wait, 0);
}

static void
tg_job_on_deadline(uv_timer_t *timer)
{
    tg_job_t *job;

    job = timer->data;

    if (job->state == TG_JOB_QUEUED) {
        tg_job_fail_timeout(job);
        tg_job_set_state(job, TG_JOB_DONE);
        return;
    }

    /* Unread progress extends the deadline. */
    if (!tg_job_is_past_max_timeout(job) && job->type->poll_progress != NULL
        && job->type->poll_progress(job))
    {
        tg_job_set_deadline(job);
        tg_job_notify_progress_soon(job);
        return;
    }

    tg_job_fail_timeout(job);
    tg_job_stop(job);
}

void
tg_job_on_progress(tg_job_t *job, int has_progress)
{
    /* Progress does not count when only the rest of the output is read. */
    if (has_progress && job->state == TG_JOB_RUNNING && job->ended_at == 0) {
        tg_job_set_deadline(job);
    }

    tg_job_notify_progress(job);
}

/* --- creation and start --- */

int
tg_job_create(tg_jobs_t *jobs, const tg_job_type_t *type, void *host,
              tg_str_t raw, tg_job_t **job, const char **why)
{
    tg_str_t values[TG_JOB_MEMBERS_MAX];
    tg_job_t *made;
    int rc;

    made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return TG_NOMEM;
    }

    made->jobs = jobs;
    made->type = type;
    made->host = host;
    tg_progress_init(&made->progress);
    tg_buf_init(&made->messages, tg_alloc_libc());
    tg_buf_init(&made->answer, tg_alloc_libc());
    rc = tg_job_params_read(&made->params, raw, type->fields, type->timeout_ms,
                            values, why);

    if (rc == TG_OK) {
        made->bytes = made->params.size;
        rc = type->read(made, values, why);
    }

    if (rc != TG_OK) {
        tg_job_discard(made);
        return rc;
    }

    *job = made;

    return TG_OK;
}

int
tg_job_submit(tg_job_t *job)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;

    if (tg_job_ref_limits(job) != TG_OK) {
        tg_job_discard(job);
        return TG_NOMEM;
    }

    jobs->njobs++;
    jobs->bytes += job->bytes;

    /* The deadline counts from now; the loop's time is older. */
    uv_update_time(jobs->loop);
    uv_timer_init(jobs->loop, &job->timer);
    uv_timer_init(jobs->loop, &job->progress_timer);
    job->timer.data = job;
    job->progress_timer.data = job;
    job->nhandles = 2;
    job->submitted_at = uv_now(jobs->loop);

    if (job->owner == NULL) {
        tg_job_set_deadline(job);
    }

    tg_job_set_state(job,
                     job->type->start == NULL ? TG_JOB_RUNNING : TG_JOB_QUEUED);

    return TG_OK;
}

static int
tg_job_can_start(const tg_job_t *job)
{
    const tg_jobs_t *jobs;

    jobs = job->jobs;

    if (job->owner != NULL) {
        return 1;
    }

    return job->token_len != 0
               ? jobs->detached_bytes < TG_DETACHED_BACKLOG
               : jobs->ops->can_start(jobs->host, job->call->peer);
}

static void
tg_job_set_running(tg_job_t *job)
{
    tg_job_set_state(job, TG_JOB_RUNNING);

    /* Nobody waited before, so the deadline counts from the start. */
    if (job->owner != NULL) {
        job->submitted_at = job->started_at;
        tg_job_set_deadline(job);
        job->owner->on_started(job);
    }
}

/* Starts jobs in order; waiting for a limit does not delay the next one. */
void
tg_jobs_start_queued(tg_jobs_t *jobs)
{
    const char *name;
    tg_job_t *job;
    int is_waiting;

    is_waiting = 0;

    for (job = TAILQ_FIRST(&jobs->queue); job != NULL; job = jobs->next) {
        jobs->next = TAILQ_NEXT(job, link);

        if ((jobs->nrunning >= TG_JOBS_RUNNING_MAX && !job->type->needs_no_slot)
            || tg_job_find_busy_limit(job, &name) != NULL)
        {
            continue;
        }

        if (!tg_job_can_start(job)) {
            is_waiting = 1;
        } else if (job->type->start(job) == 0) {
            tg_job_set_running(job);
        } else {
            tg_job_set_state(job, TG_JOB_DONE);
        }
    }

    if (is_waiting) {
        uv_timer_start(&jobs->retry_timer, tg_job_on_retry, TG_JOBS_RETRY_MS,
                       0);
    }
}
