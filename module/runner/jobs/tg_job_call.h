/* Turns a request into a job, or rejects the request with a failure. */
#ifndef TG_JOB_CALL_H
#define TG_JOB_CALL_H

#include "runner/jobs/tg_job.h"

/*
 * Creates and submits a job for the request, or responds with a failure. Called
 * from the peer's ops->call.
 */
void tg_jobs_handle_call(tg_jobs_t *jobs, const tg_job_type_t *type, void *host,
                         tg_peer_t *peer, tg_request_t *request);

/*
 * Cancels the job of a call whose caller wants no response any more. Called
 * from the peer's ops->cancel.
 */
void tg_jobs_cancel_call(tg_call_t *call);

/*
 * Parses the params of a request. Returns a job that is not submitted yet, or
 * NULL after it has responded with an error.
 */
tg_job_t *tg_jobs_parse_call(tg_jobs_t *jobs, const tg_job_type_t *type,
                             void *host, tg_peer_t *peer,
                             const tg_request_t *request);

#endif
