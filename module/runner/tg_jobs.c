#include "runner/tg_job.h"

void
tg_jobs_init(tg_jobs_t *jobs, uv_loop_t *loop, const tg_jobs_ops_t *ops,
             void *host)
{
    memset(jobs, 0, sizeof(*jobs));
    jobs->loop = loop;
    tg_uv_sched_init(&jobs->sched, loop);
    jobs->ops = ops;
    jobs->host = host;
    jobs->held_ms = TG_HELD_MS;
    TAILQ_INIT(&jobs->queue);
    TAILQ_INIT(&jobs->slots);
    TAILQ_INIT(&jobs->elsewhere);
    TAILQ_INIT(&jobs->held);
    TAILQ_INIT(&jobs->answers);
    uv_timer_init(loop, &jobs->retry);
    jobs->retry.data = jobs;
    uv_timer_init(loop, &jobs->expiry);
    jobs->expiry.data = jobs;
}

void
tg_jobs_close(tg_jobs_t *jobs)
{
    tg_uv_sched_close(&jobs->sched, NULL);
    uv_close((uv_handle_t *) &jobs->retry, NULL);
    uv_close((uv_handle_t *) &jobs->expiry, NULL);
}

int
tg_jobs_take_limits(tg_job_t *job)
{
    tg_limit_t *limit;
    unsigned i;

    for (i = 0; i < job->params.nlimits; i++) {
        /* A task may have waited for long. */
        limit = tg_limit_get(&job->jobs->limits, &job->params.limits[i],
                             job->owner != NULL);

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
    unsigned i;

    TAILQ_INSERT_TAIL(&job->jobs->queue, job, place);
    job->jobs->nqueued++;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nwaiting++;
    }
}

static void
tg_jobs_unqueue(tg_job_t *job)
{
    tg_jobs_t *jobs;
    unsigned i;

    jobs = job->jobs;

    /* A job that starts may cancel the one behind it. */
    if (jobs->next == job) {
        jobs->next = TAILQ_NEXT(job, place);
    }

    TAILQ_REMOVE(&jobs->queue, job, place);
    jobs->nqueued--;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nwaiting--;
    }
}

void
tg_jobs_start(tg_job_t *job)
{
    tg_jobs_t *jobs;
    unsigned i;

    jobs = job->jobs;

    if (job->kind->start != NULL) {
        tg_jobs_unqueue(job);
    }

    if (job->kind->is_elsewhere) {
        TAILQ_INSERT_HEAD(&jobs->elsewhere, job, place);
    } else {
        TAILQ_INSERT_HEAD(&jobs->slots, job, place);
        jobs->nrunning++;
        jobs->nstarted++;
    }

    job->has_started = 1;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nrunning++;
    }
}

void
tg_jobs_leave(tg_job_t *job)
{
    if (!job->has_started) {
        tg_jobs_unqueue(job);
    } else if (job->kind->is_elsewhere) {
        TAILQ_REMOVE(&job->jobs->elsewhere, job, place);
    } else {
        TAILQ_REMOVE(&job->jobs->slots, job, place);
        job->jobs->nrunning--;
    }
}

int
tg_jobs_give_back(tg_job_t *job)
{
    unsigned i, n;

    n = job->nlimits;

    for (i = 0; i < n; i++) {
        job->limits[i]->nrunning -= job->has_started != 0;
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
