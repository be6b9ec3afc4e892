/*
 * The host of the unit tests (t/unit/protocol_host.h), wild and with a few of
 * its tools, for the dialects' targets and as the bridge's parent; and the
 * bookkeeping of "exactly one reply".
 */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include "help.h"

#include "../unit/protocol_host.h"

/* Small, so that inputs reach it; `big` puts out twice as much. */
#define FUZZ_HOST_FRAME 1024
#define FUZZ_HOST_CALLS 8

void fuzz_host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
                    size_t max_frame);

/*
 * Hands bytes to the peer.  Whatever keeps it from going on is removed:
 * output is taken, calls are ended.
 */
void fuzz_host_feed(host_t *host, tg_str_t bytes);

/*
 * Everything from its first byte to the farewell: bytes in pieces as the
 * seed has it, and with is_moving to another peer behind each.
 */
void fuzz_host_talk(host_t *host, uint32_t seed, tg_str_t bytes);

/*
 * Compares the requests in what was sent with the replies in what came back;
 * limit is that of a line.  is_lenient: the conversation may have ended before
 * some of them.
 */
void fuzz_host_count(tg_dialect_t dialect, size_t limit, tg_str_t sent,
                     tg_str_t received, int is_lenient);

/* For the dialects' targets: a whole conversation in all the ways. */
void fuzz_host_run(tg_dialect_t dialect, const uint8_t *data, size_t size);

#endif
