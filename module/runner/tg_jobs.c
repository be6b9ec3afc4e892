#include "runner/tg_job.h"

void
tg_jobs_init(tg_jobs_t *jobs, uv_loop_t *loop, const tg_jobs_ops_t *ops,
             void *host)
{
    memset(jobs, 0, sizeof(*jobs));
    jobs->loop = loop;
    jobs->ops = ops;
    jobs->host = host;
    jobs->held_ms = TG_HELD_MS;
    uv_timer_init(loop, &jobs->retry);
    jobs->retry.data = jobs;
    uv_timer_init(loop, &jobs->expiry);
    jobs->expiry.data = jobs;
}

void
tg_jobs_close(tg_jobs_t *jobs)
{
    uv_close((uv_handle_t *) &jobs->retry, NULL);
    uv_close((uv_handle_t *) &jobs->expiry, NULL);
}

int
tg_jobs_take_limits(tg_job_t *job)
{
    tg_limit_t *limit;
    unsigned i;

    for (i = 0; i < job->params.nlimits; i++) {
        limit = tg_limit_get(&job->jobs->limits, &job->params.limits[i]);

        if (limit == NULL) {
            (void) tg_jobs_give_back(job);
            return TG_NOMEM;
        }

        job->limits[job->nlimits++] = limit;
    }

    return TG_OK;
}

void
tg_jobs_queue(tg_job_t *job)
{
    tg_jobs_t *jobs;
    unsigned i;

    jobs = job->jobs;
    job->prev = jobs->queue_last;

    if (job->prev != NULL) {
        job->prev->next = job;
    } else {
        jobs->queue = job;
    }

    jobs->queue_last = job;
    jobs->nqueued++;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nwaiting++;
    }
}

static void
tg_jobs_unlink(tg_job_t *job, tg_job_t **first)
{
    if (job->prev != NULL) {
        job->prev->next = job->next;
    } else {
        *first = job->next;
    }

    if (job->next != NULL) {
        job->next->prev = job->prev;
    }

    job->next = NULL;
    job->prev = NULL;
}

static void
tg_jobs_unqueue(tg_job_t *job)
{
    tg_jobs_t *jobs;
    unsigned i;

    jobs = job->jobs;

    if (jobs->queue_last == job) {
        jobs->queue_last = job->prev;
    }

    tg_jobs_unlink(job, &jobs->queue);
    jobs->nqueued--;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nwaiting--;
    }
}

static void
tg_jobs_link(tg_job_t *job, tg_job_t **first)
{
    job->next = *first;

    if (job->next != NULL) {
        job->next->prev = job;
    }

    *first = job;
}

void
tg_jobs_start(tg_job_t *job)
{
    tg_jobs_t *jobs;
    unsigned i;

    jobs = job->jobs;

    if (job->kind->is_elsewhere) {
        tg_jobs_link(job, &jobs->elsewhere);
        return;
    }

    tg_jobs_unqueue(job);
    tg_jobs_link(job, &jobs->slots);
    jobs->nrunning++;
    jobs->nstarted++;
    job->has_slot = 1;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nrunning++;
    }
}

void
tg_jobs_leave(tg_job_t *job)
{
    if (job->has_slot) {
        tg_jobs_unlink(job, &job->jobs->slots);
        job->jobs->nrunning--;
    } else if (job->kind->is_elsewhere) {
        tg_jobs_unlink(job, &job->jobs->elsewhere);
    } else {
        tg_jobs_unqueue(job);
    }
}

int
tg_jobs_give_back(tg_job_t *job)
{
    unsigned i, n;

    n = job->nlimits;

    for (i = 0; i < n; i++) {
        job->limits[i]->nrunning -= job->has_slot != 0;
        tg_limit_unref(&job->jobs->limits, job->limits[i]);
    }

    job->nlimits = 0;

    return n != 0;
}

const tg_limit_t *
tg_jobs_blocker(const tg_job_t *job, const char **name)
{
    unsigned i;

    for (i = 0; i < job->nlimits; i++) {
        if (tg_limit_is_busy(job->limits[i])) {
            *name = job->params.limits[i].name;
            return job->limits[i];
        }
    }

    return NULL;
}

void
tg_jobs_put_load(tg_buf_t *text, const tg_jobs_t *jobs)
{
    tg_buf_uint(text, jobs->nrunning);
    tg_buf_text(text, " programs are running and ");
    tg_buf_uint(text, jobs->nqueued);
    tg_buf_text(text, " wait");
}
