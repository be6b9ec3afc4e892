/*
 * Jobs between two connections.
 *
 * A worker that has to leave releases its calls, each under a key of its
 * own making; whoever knows the key adopts one, and gets its progress and its
 * answer.  In between the job goes on as if nothing had happened: it
 * keeps its place, its deadlines and its limits, and what it has to say is
 * kept for it, of its progress the newest.
 *
 *     release {"id":ID,"key":KEY}   ID: of the call (or `adopt`) on this
 *                                   connection; answered with `true`, from
 *                                   then on nothing more comes for ID.
 *                                   -32602: ID was answered before, or
 *                                   cannot be released now
 *     adopt {"key":KEY}             answered as the call would have been
 *                                   -32602: nothing is held under KEY
 *
 * KEY is 16 to 64 letters, digits, - and _, and should be hard to guess.
 */
#ifndef TG_JOB_DETACH_H
#define TG_JOB_DETACH_H

#include "runner/jobs/tg_job.h"

#define TG_HANDOFF_TOKEN_MIN 16
/* As many as one worker may have calls in flight; beyond it none is taken. */
#define TG_DETACHED_MAX 2048

/* Answer the request; adopt may also take it.  From the peer's ops->call. */
void tg_jobs_detach_call(tg_jobs_t *jobs, tg_peer_t *peer,
                         tg_request_t *request);
void tg_jobs_attach_call(tg_jobs_t *jobs, tg_peer_t *peer,
                         tg_request_t *request);

/*
 * The key of the request, under which a job may be held: NULL, or why not,
 * static.
 */
const char *tg_handoff_token_read_new(const tg_jobs_t *jobs,
                                      const tg_request_t *request,
                                      tg_str_t *token);

/* Holds a job, which has no call, under such a key. */
void tg_job_detach(tg_job_t *job, tg_str_t token);

/* Ends all that is held. */
void tg_jobs_drop_detached(tg_jobs_t *jobs);

#endif
