/*
 * Detached jobs: jobs that move from one connection to another.
 *
 * A worker that exits releases each of its calls under a handoff token, which
 * the worker chooses. A client that knows the token adopts the call and
 * receives its progress and its result. In between, the job continues: it keeps
 * its slot, its deadline and its limits, and the runner stores its result and
 * its newest progress.
 *
 * release {"id":ID,"key":KEY}    ID is the id of the call (or of `adopt`) on
 *                               this connection. The response is `true`;
 *                               after it nothing more is sent for ID.
 *                               -32602: ID is answered already, or cannot
 *                               be released now
 * adopt {"key":KEY}             the response is that of the call
 *                               -32602: no job is detached under KEY
 *
 * KEY consists of 16 to 64 letters, digits, - and _, and should be hard to
 * guess.
 */
#ifndef TG_JOB_DETACH_H
#define TG_JOB_DETACH_H

#include "runner/jobs/tg_job.h"

#define TG_HANDOFF_TOKEN_MIN 16

/*
 * Maximum number of detached jobs, as many as one worker may have calls in
 * flight. Above it, `release` fails.
 */
#define TG_DETACHED_MAX 2048

/*
 * Handles `release`: detaches a call of this peer and responds. Called from the
 * peer's ops->call.
 */
void tg_jobs_detach_call(tg_jobs_t *jobs, tg_peer_t *peer,
                         tg_request_t *request);

/*
 * Handles `adopt`: responds with the stored result, or makes the request the
 * call of the detached job. Called from the peer's ops->call.
 */
void tg_jobs_attach_call(tg_jobs_t *jobs, tg_peer_t *peer,
                         tg_request_t *request);

/*
 * Reads the handoff token of the request and checks that it is valid and not in
 * use, and that one more job may be detached. Returns NULL, or a static error
 * message.
 */
const char *tg_handoff_token_read_new(const tg_jobs_t *jobs,
                                      const tg_request_t *request,
                                      tg_str_t *token);

/*
 * Detaches a job that has no call, under a token that
 * tg_handoff_token_read_new() accepted.
 */
void tg_job_detach(tg_job_t *job, tg_str_t token);

/* Cancels all detached jobs. */
void tg_jobs_drop_detached(tg_jobs_t *jobs);

#endif
