/*
 * Relayed calls: a call continues in the worker where it began, while its
 * session has moved to another worker. The runner relays progress and result.
 * The old worker sends on its own connection:
 *
 * leave {"key":KEY,"tool":NAME}       response `true`: from now on the call
 *                                    is detached under KEY
 *                                    (tg_job_detach.h) and can be adopted.
 *                                    -32602: the runner does not accept it
 * tell {"key":KEY,"progress":1,…}     progress, as a program reports it
 * finish {"key":KEY,"answer":JSON}    end of the call; JSON is the response
 *                                    to the adopter
 *
 * `tell` and `finish` may be notifications; a request gets `true`, or -32602 if
 * the call is not wanted any more. The notification cancel {"key":KEY} says so,
 * when the adopter cancelled or disconnected, nobody adopted the call in time,
 * or the optional timeout_ms of `leave` has passed. When the worker
 * disconnects, the adopter receives the failure "lost".
 */
#ifndef TG_RELAYED_CALL_H
#define TG_RELAYED_CALL_H

#include "runner/jobs/tg_jobs.h"

/* Handles `leave`: creates a relayed call, in ops->call. */
void tg_relayed_call_register(tg_jobs_t *jobs, tg_peer_t *peer,
                              tg_request_t *request);

/* Handles `tell`: forwards the progress of a relayed call and responds. */
void tg_relayed_call_update_progress(tg_jobs_t *jobs, tg_peer_t *peer,
                                     tg_request_t *request);

/* Handles `finish`: forwards the result of a relayed call and responds. */
void tg_relayed_call_finish(tg_jobs_t *jobs, tg_peer_t *peer,
                            tg_request_t *request);

/* Fails the relayed calls of a lost worker, before tg_peer_deinit(). */
void tg_relayed_calls_on_peer_closed(tg_jobs_t *jobs, const tg_peer_t *peer);

#endif
