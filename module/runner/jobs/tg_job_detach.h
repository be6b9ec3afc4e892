/*
 * Detached jobs, which move from one connection to another. An exiting worker
 * releases each call under a handoff token of its choice. A client that knows
 * it adopts the call with its progress and result. In between, the job keeps
 * its slot, deadline and limits, and the runner stores its result and newest
 * progress.
 *
 * release {"id":ID,"key":KEY}    ID is the id of the call (or of `adopt`) on
 *                               this connection. The response is `true`;
 *                               after it nothing more is sent for ID.
 *                               -32602: ID is answered already, or cannot
 *                               be released now
 * adopt {"key":KEY}             the response is that of the call
 *                               -32602: no job is detached under KEY
 *
 * KEY is 16 to 64 letters, digits, - and _, hard to guess.
 */
#ifndef TG_JOB_DETACH_H
#define TG_JOB_DETACH_H

#include "runner/jobs/tg_job.h"

#define TG_HANDOFF_TOKEN_MIN 16

/* Maximum number of detached jobs, as many as a worker has calls in flight. */
#define TG_DETACHED_MAX 2048

/* Handles `release`: detaches a call of this peer, in ops->call. */
void tg_jobs_detach_call(tg_jobs_t *jobs, tg_peer_t *peer,
                         tg_request_t *request);

/*
 * Handles `adopt`, in ops->call: sends the stored result, or makes the request
 * the call of the detached job.
 */
void tg_jobs_attach_call(tg_jobs_t *jobs, tg_peer_t *peer,
                         tg_request_t *request);

/*
 * Reads and checks a new handoff token, and that one more job may be detached.
 * Returns NULL, or a static error message.
 */
const char *tg_handoff_token_read_new(const tg_jobs_t *jobs,
                                      const tg_request_t *request,
                                      tg_str_t *token);

/* Detaches a job that has no call, under a checked token. */
void tg_job_detach(tg_job_t *job, tg_str_t token);

void tg_jobs_drop_detached(tg_jobs_t *jobs);

#endif
