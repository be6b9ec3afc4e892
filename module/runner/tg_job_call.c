#include "runner/tg_job_call.h"

/* Answers when there is no room for the call. */
static int
tg_job_call_is_busy(tg_jobs_t *jobs, tg_peer_t *peer,
                    const tg_request_t *request)
{
    int is_full;

    is_full = jobs->nqueued >= TG_JOBS_QUEUE_MAX;

    if (!is_full && jobs->bytes + request->arguments.len <= TG_JOBS_BYTES_MAX) {
        return 0;
    }

    tg_answer_failed(peer, request, TG_FAILURE_BUSY, "runner",
                     TG_JOBS_LOAD "%s. Try again when some of them have ended.",
                     jobs->nrunning, jobs->nqueued,
                     tg_plural(jobs->nqueued, "s", ""),
                     is_full ? "; no more may wait"
                             : ", with as much input as toolgate-runner holds");

    return 1;
}

/* Answers when no more of its limit may wait. */
static int
tg_job_call_is_full(const tg_job_t *job, tg_peer_t *peer,
                    const tg_request_t *request)
{
    const tg_job_params_t *params;
    const tg_limit_t *limit;
    tg_buf_t text;
    unsigned i;

    params = &job->params;
    limit = NULL;

    for (i = 0; i < params->nlimits; i++) {
        limit = tg_limit_find(job->jobs->limits, &params->limits[i]);

        if (limit != NULL && tg_limit_is_full(limit)) {
            break;
        }
    }

    if (i == params->nlimits) {
        return 0;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_limit_put(&text, limit, params->limits[i].name);
    tg_answer_failed(peer, request, TG_FAILURE_BUSY, params->limits[i].name,
                     "%s: %.*s; call again when one has ended", params->tool,
                     (int) text.len, text.data);
    tg_buf_deinit(&text);

    return 1;
}

tg_job_t *
tg_job_call_read(tg_jobs_t *jobs, const tg_kind_t *kind, void *host,
                 tg_peer_t *peer, const tg_request_t *request)
{
    const char *why;
    tg_job_t *job;

    switch (tg_job_read(jobs, kind, host, request->arguments, &job, &why)) {
    case TG_OK:
        return job;

    case TG_BAD:
        tg_answer_wrong(peer, request, why);
        return NULL;

    case TG_LIMIT:
        tg_answer_failed(peer, request, TG_FAILURE_ARGUMENTS, NULL,
                         "The call %s.", why);
        return NULL;

    default:
        tg_answer_failed(peer, request, TG_FAILURE_INTERNAL, NULL,
                         TG_RUNNER_NO_MEMORY);
        return NULL;
    }
}

void
tg_job_call(tg_jobs_t *jobs, const tg_kind_t *kind, void *host, tg_peer_t *peer,
            tg_request_t *request)
{
    tg_job_t *job;

    if (tg_job_call_is_busy(jobs, peer, request)) {
        return;
    }

    job = tg_job_call_read(jobs, kind, host, peer, request);

    if (job == NULL) {
        return;
    }

    if (tg_job_call_is_full(job, peer, request)) {
        tg_job_discard(job);
        return;
    }

    if (tg_job_enter(job) != TG_OK) {
        tg_answer_failed(peer, request, TG_FAILURE_INTERNAL, NULL,
                         TG_RUNNER_NO_MEMORY);
        return;
    }

    job->call = tg_peer_defer(peer, request);

    if (job->call == NULL) {
        tg_job_cancel(job);
        return;
    }

    job->call->host = job;
    tg_job_schedule(jobs);
}

void
tg_job_call_cancel(tg_call_t *call)
{
    tg_job_cancel(call->host);
}
