/*
 * A server's peer with a few tools, for the dialects' targets and as the
 * bridge's parent; and the bookkeeping of "exactly one reply".
 *
 * Tools: echo (at once), json, result, large (more than max_frame), fail,
 * slow (deferred).  Methods: status (at once), later (deferred).
 */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include "help.h"

#include "core/tg_peer.h"

/* Small, so that inputs reach it. */
#define HOST_FRAME 1024
#define HOST_CALLS 8

typedef struct {
    tg_peer_t peer;
    tg_info_t info;
    tg_buf_t in;  /* not consumed yet */
    tg_buf_t out; /* all that was ever written */
    int rc;       /* of the last tg_peer_input() */
    tg_call_t *deferred[HOST_CALLS];
    unsigned ndeferred;
    unsigned ncancelled;
    int is_moving; /* to another peer behind each piece */
} host_t;

void host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
               size_t max_frame);
void host_deinit(host_t *host);

/*
 * Hands bytes to the peer, in blocks of exactly their size.  Whatever keeps
 * it from going on is removed: output is taken, calls are ended.
 */
void host_feed(host_t *host, tg_str_t bytes);

/*
 * Moves to another peer, by its state.  When memory runs out rc says so, and
 * only the end may follow.
 */
void host_move(host_t *host);

/* Loads a state that may be anything: TG_OK, TG_BAD or TG_NOMEM. */
int host_load(host_t *host, tg_str_t state);

/* Moves what the peer wrote to out. */
void host_take(host_t *host);

/* Ends the oldest call, after it told of progress; 0 when there is none. */
int host_fire(host_t *host);

/*
 * Everything from its first byte to the farewell: bytes in pieces as the
 * seed has it.
 */
void host_talk(host_t *host, uint32_t seed, tg_str_t bytes);

/*
 * Compares the requests in what was sent with the replies in what came back;
 * limit is that of a line.  is_lenient: the conversation may have ended before
 * some of them.
 */
void host_count(tg_dialect_t dialect, size_t limit, tg_str_t sent,
                tg_str_t received, int is_lenient);

/* For the dialects' targets: a whole conversation in all the ways. */
void host_run(tg_dialect_t dialect, const uint8_t *data, size_t size);

#endif
