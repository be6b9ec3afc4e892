/* Checks of a new call: load of the runner, params and limits. */
#include "runner/jobs/tg_job_call.h"
#include "protocol/tg_peer.h"

/* Responds with a failure and returns 1 if there are too many calls. */
static int
tg_jobs_reject_if_busy(tg_jobs_t *jobs, tg_peer_t *peer,
                       const tg_request_t *request)
{
    int is_full;

    is_full = jobs->nqueued >= TG_JOBS_QUEUE_MAX;

    if (!is_full && jobs->bytes + request->arguments.len <= TG_JOBS_BYTES_MAX) {
        return 0;
    }

    tg_peer_respond_failure(
        peer, request, TG_FAILURE_BUSY, "runner",
        TG_JOBS_LOAD_FORMAT "%s. Try again when some of them have ended.",
        jobs->nrunning, jobs->nqueued, tg_pick_plural(jobs->nqueued, "s", ""),
        is_full ? "; the queue is full"
                : "; their input has reached the limit of toolgate-runner");

    return 1;
}

/* Responds with a failure and returns 1 if the queue of a limit is full. */
static int
tg_job_reject_if_limit_full(const tg_job_t *job, tg_peer_t *peer,
                            const tg_request_t *request)
{
    const tg_job_params_t *params;
    const tg_limit_t *limit;
    tg_buf_t text;
    unsigned i;

    params = &job->params;
    limit = NULL;

    for (i = 0; i < params->nlimits; i++) {
        limit = tg_limits_update(job->jobs->limits, &params->limits[i]);

        if (limit != NULL && tg_limit_is_queue_full(limit)) {
            break;
        }
    }

    if (i == params->nlimits) {
        return 0;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_limit_append_text(&text, limit, params->limits[i].name);
    tg_peer_respond_failure(peer, request, TG_FAILURE_BUSY,
                            params->limits[i].name,
                            "%s: %.*s; call again when one has ended",
                            params->tool, (int) text.len, text.data);
    tg_buf_deinit(&text);

    return 1;
}

tg_job_t *
tg_jobs_parse_call(tg_jobs_t *jobs, const tg_job_type_t *type, void *host,
                   tg_peer_t *peer, const tg_request_t *request)
{
    const char *why;
    tg_job_t *job;

    switch (tg_job_create(jobs, type, host, request->arguments, &job, &why)) {
    case TG_OK:
        return job;

    case TG_INVALID:
        tg_peer_respond_invalid_params(peer, request, why);
        return NULL;

    case TG_LIMIT:
        tg_peer_respond_failure(peer, request, TG_FAILURE_ARGUMENTS, NULL,
                                "The call %s.", why);
        return NULL;

    default:
        tg_peer_respond_failure(peer, request, TG_FAILURE_INTERNAL, NULL,
                                TG_RUNNER_NO_MEMORY);
        return NULL;
    }
}

void
tg_jobs_handle_call(tg_jobs_t *jobs, const tg_job_type_t *type, void *host,
                    tg_peer_t *peer, tg_request_t *request)
{
    tg_job_t *job;

    if (tg_jobs_reject_if_busy(jobs, peer, request)) {
        return;
    }

    job = tg_jobs_parse_call(jobs, type, host, peer, request);

    if (job == NULL) {
        return;
    }

    if (tg_job_reject_if_limit_full(job, peer, request)) {
        tg_job_discard(job);
        return;
    }

    if (tg_job_submit(job) != TG_OK) {
        tg_peer_respond_failure(peer, request, TG_FAILURE_INTERNAL, NULL,
                                TG_RUNNER_NO_MEMORY);
        return;
    }

    job->call = tg_peer_defer_request(peer, request);

    if (job->call == NULL) {
        tg_job_cancel(job);
        return;
    }

    job->call->host = job;
    tg_jobs_start_queued(jobs);
}

void
tg_jobs_cancel_call(tg_call_t *call)
{
    tg_job_cancel(call->host);
}
