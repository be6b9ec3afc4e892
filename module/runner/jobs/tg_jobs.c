/* The queue, the slots and the references of jobs to limits. */
#include "runner/jobs/tg_job.h"

void
tg_jobs_init(tg_jobs_t *jobs, uv_loop_t *loop, const tg_jobs_ops_t *ops,
             void *host)
{
    memset(jobs, 0, sizeof(*jobs));
    jobs->loop = loop;
    tg_uv_sched_init(&jobs->sched, loop);
    jobs->ops = ops;
    jobs->host = host;
    jobs->detached_ms = TG_DETACHED_MS;
    TAILQ_INIT(&jobs->queue);
    TAILQ_INIT(&jobs->slots);
    TAILQ_INIT(&jobs->without_slot);
    TAILQ_INIT(&jobs->detached);
    TAILQ_INIT(&jobs->writer_queue);
    uv_timer_init(loop, &jobs->retry_timer);
    jobs->retry_timer.data = jobs;
    uv_timer_init(loop, &jobs->detach_timer);
    jobs->detach_timer.data = jobs;
}

void
tg_jobs_close(tg_jobs_t *jobs)
{
    tg_uv_sched_close(&jobs->sched, NULL);
    uv_close((uv_handle_t *) &jobs->retry_timer, NULL);
    uv_close((uv_handle_t *) &jobs->detach_timer, NULL);
}

int
tg_job_ref_limits(tg_job_t *job)
{
    tg_limit_t *limit;
    unsigned i;

    for (i = 0; i < job->params.nlimits; i++) {
        /* A task may have waited long, so its params may be old. */
        limit = tg_limits_acquire(&job->jobs->limits, &job->params.limits[i],
                                  job->owner != NULL);

        if (limit == NULL) {
            (void) tg_job_unref_limits(job);
            return TG_NOMEM;
        }

        job->limits[job->nlimits++] = limit;
    }

    return TG_OK;
}

void
tg_job_enqueue(tg_job_t *job)
{
    unsigned i;

    TAILQ_INSERT_TAIL(&job->jobs->queue, job, link);
    job->jobs->nqueued++;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nwaiting++;
    }
}

static void
tg_job_dequeue(tg_job_t *job)
{
    tg_jobs_t *jobs;
    unsigned i;

    jobs = job->jobs;

    /* A job that starts may cancel the next one in the queue. */
    if (jobs->next == job) {
        jobs->next = TAILQ_NEXT(job, link);
    }

    TAILQ_REMOVE(&jobs->queue, job, link);
    jobs->nqueued--;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nwaiting--;
    }
}

void
tg_job_move_to_running(tg_job_t *job)
{
    tg_jobs_t *jobs;
    unsigned i;

    jobs = job->jobs;

    if (job->type->start != NULL) {
        tg_job_dequeue(job);
    }

    if (job->type->needs_no_slot) {
        TAILQ_INSERT_HEAD(&jobs->without_slot, job, link);
    } else {
        TAILQ_INSERT_HEAD(&jobs->slots, job, link);
        jobs->nrunning++;
        jobs->nstarted++;
    }

    job->has_started = 1;

    for (i = 0; i < job->nlimits; i++) {
        job->limits[i]->nrunning++;
    }
}

void
tg_job_remove_from_list(tg_job_t *job)
{
    if (!job->has_started) {
        tg_job_dequeue(job);
    } else if (job->type->needs_no_slot) {
        TAILQ_REMOVE(&job->jobs->without_slot, job, link);
    } else {
        TAILQ_REMOVE(&job->jobs->slots, job, link);
        job->jobs->nrunning--;
    }
}

int
tg_job_unref_limits(tg_job_t *job)
{
    unsigned i, n;

    n = job->nlimits;

    for (i = 0; i < n; i++) {
        job->limits[i]->nrunning -= job->has_started != 0;
        tg_limits_release(&job->jobs->limits, job->limits[i]);
    }

    job->nlimits = 0;

    return n != 0;
}

const tg_limit_t *
tg_job_find_busy_limit(const tg_job_t *job, const char **name)
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
