/*
 * Programs between two connections.
 *
 * A worker that has to leave releases its calls, each under a key of its
 * own making; whoever knows the key adopts one, and gets its progress and its
 * answer.  In between the program runs on as if nothing had happened: it
 * keeps its place, its deadlines and its limits, and what it has to say is
 * kept for it, of its progress the newest.
 *
 *     release {"id":ID,"key":KEY}   ID: of the `exec` (or `adopt`) on this
 *                                   connection; answered with `true`, from
 *                                   then on nothing more comes for ID.
 *                                   -32602: ID was answered before, or
 *                                   cannot be released now
 *     adopt {"key":KEY}             answered as the `exec` would have been
 *                                   -32602: nothing is held under KEY
 *
 * KEY is 16 to 64 letters, digits, - and _, and should be hard to guess.
 */
#ifndef TG_HELD_H
#define TG_HELD_H

#include "runner/tg_execs.h"

#define TG_HELD_KEY_MIN 16
#define TG_HELD_KEY_MAX 64
/*
 * How long somebody has time to adopt it: a worker takes over a session in
 * milliseconds, a machine under load in seconds.
 */
#define TG_HELD_MS 30000
/* As many as one client may have calls in flight; beyond it none is taken. */
#define TG_HELD_MAX 2048
/* Bytes of kept answers at which no held call is started that waits. */
#define TG_HELD_BACKLOG 67108864

/* Answer the request; adopt may also take it.  From the peer's ops->call. */
void tg_held_release(tg_execs_t *execs, tg_peer_t *peer, tg_request_t *request);
void tg_held_adopt(tg_execs_t *execs, tg_peer_t *peer, tg_request_t *request);

/* May a held exec that waits be started? */
int tg_held_may_start(const tg_execs_t *execs);

/*
 * The held exec has ended with this answer, which is taken over; its last
 * progress is taken from it.  From then on it is not held any more.
 */
void tg_held_end(tg_exec_t *exec, tg_buf_t *json);

/* Ends all that is held. */
void tg_held_drop(tg_execs_t *execs);

#endif
