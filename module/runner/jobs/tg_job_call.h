/* Turns a request into a job, or rejects it with a failure. */
#ifndef TG_JOB_CALL_H
#define TG_JOB_CALL_H

#include "runner/jobs/tg_job.h"

/* Submits a job for the request, or responds with a failure, in ops->call. */
void tg_jobs_handle_call(tg_jobs_t *jobs, const tg_job_type_t *type, void *host,
                         tg_peer_t *peer, tg_request_t *request);

/* Cancels the job of a call that nobody waits for, in ops->cancel. */
void tg_jobs_cancel_call(tg_call_t *call);

/* Returns a job that is not submitted, or NULL after an error response. */
tg_job_t *tg_jobs_parse_call(tg_jobs_t *jobs, const tg_job_type_t *type,
                             void *host, tg_peer_t *peer,
                             const tg_request_t *request);

#endif
