/*
 * From a request to a job, or to the reason why there is none.
 */
#ifndef TG_JOB_CALL_H
#define TG_JOB_CALL_H

#include "runner/jobs/tg_job.h"

/* Answers or takes the request; to be called from the peer's ops->call. */
void tg_jobs_handle_call(tg_jobs_t *jobs, const tg_job_type_t *kind, void *host,
                         tg_peer_t *peer, tg_request_t *request);

/* The caller wants no answer: ends the job.  From ops->cancel. */
void tg_jobs_cancel_call(tg_call_t *call);

/*
 * The job that a request asks for, which has not entered; or NULL, and the
 * request is answered.
 */
tg_job_t *tg_jobs_parse_call(tg_jobs_t *jobs, const tg_job_type_t *kind,
                             void *host, tg_peer_t *peer,
                             const tg_request_t *request);

#endif
