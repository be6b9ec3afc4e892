/*
 * The host of the unit tests (t/unit/protocol_host.h) in its wild mode with a
 * few of its tools, prompts, resources and templates, for the dialects' targets
 * and as the bridge's parent; and the check that each request gets exactly one
 * reply.
 */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include "help.h"

#include "../unit/protocol_host.h"

/* Small, so that inputs reach the limit; `big` returns twice as much. */
#define FUZZ_HOST_FRAME 1024
#define FUZZ_HOST_CALLS 8

void fuzz_host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
                    size_t max_frame);

/*
 * Passes bytes to the peer and removes whatever blocks it: output is taken,
 * calls are completed.
 */
void fuzz_host_feed(host_t *host, tg_str_t bytes);

/*
 * Runs a conversation from the first byte to the shutdown notice: passes bytes
 * in pieces that the seed decides and, with is_moving, moves the session to
 * another peer after each piece.
 */
void fuzz_host_talk(host_t *host, uint32_t seed, tg_str_t bytes);

/*
 * Compares the requests in `sent` with the replies in `received`; `limit` is
 * the longest line. is_lenient: the conversation may have ended before some
 * requests.
 */
void fuzz_host_count(tg_dialect_t dialect, size_t limit, tg_str_t sent,
                     tg_str_t received, int is_lenient);

/* Runs a whole conversation of a dialect's target in all variants. */
void fuzz_host_run(tg_dialect_t dialect, const uint8_t *data, size_t size);

#endif
