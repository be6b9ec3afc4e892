/*
 * The kind `left`: a call that goes on in the worker where it began, while
 * its session has moved to another worker.
 *
 * The runner is where both meet.  The worker that leaves says, on its own
 * connection:
 *
 *     leave {"key":KEY,"tool":NAME}       answered with `true`: from now on
 *                                         the call is held under KEY
 *                                         (tg_job_detach.h) and can be adopted.
 *                                         -32602: it cannot be left
 *     tell {"key":KEY,"progress":1,…}     progress, as a program tells it
 *     finish {"key":KEY,"answer":JSON}    its end: the adopter is answered
 *                                         with JSON, as it is
 *
 * tell and finish may be notifications.  As requests they are answered with
 * `true`; or with -32602 when the call is not wanted any more.  Of that the
 * worker hears by the notification
 *
 *     cancel {"key":KEY}
 *
 * be it that the adopter cancelled the call or went away, that nobody adopted
 * it in time, or that its timeout_ms, which leave may have, is over.  When
 * the worker goes away itself, the adopter hears of a failure, "lost".
 */
#ifndef TG_RELAYED_CALL_H
#define TG_RELAYED_CALL_H

#include "runner/jobs/tg_jobs.h"

/* Answer the request; from the peer's ops->call. */
void tg_relayed_call_register(tg_jobs_t *jobs, tg_peer_t *peer,
                              tg_request_t *request);
void tg_relayed_call_update_progress(tg_jobs_t *jobs, tg_peer_t *peer,
                                     tg_request_t *request);
void tg_relayed_call_finish(tg_jobs_t *jobs, tg_peer_t *peer,
                            tg_request_t *request);

/* A peer goes away: what it left is lost.  Before tg_peer_deinit(). */
void tg_relayed_calls_on_peer_closed(tg_jobs_t *jobs, const tg_peer_t *peer);

#endif
