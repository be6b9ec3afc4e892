/*
 * Calls that look like an earlier one.
 *
 * A client writes the same message again and again, but for its id and its
 * arguments.  What such a message means is known: it is compared with the
 * earlier one, and only those two are read.  Whatever differs elsewhere, or
 * was not that simple, goes the long way.
 *
 * A catalogue keeps some of them for all of its peers.
 */
#ifndef TG_PEER_FAST_PATH_H
#define TG_PEER_FAST_PATH_H

#include "protocol/tg_peer.h"

/* Bytes of a message around its id and its arguments. */
#define TG_FAST_PATH_BYTES_MAX 192
/* That are kept: clients have their dialects and their favourite tools. */
#define TG_FAST_PATH_CACHE_SIZE 4
/* Of calls that went the long way, one in so many is kept. */
#define TG_FAST_PATH_SAMPLE 8

typedef struct {
    /*
     * What it asked for; entry NULL: nothing is kept here.  Its name is within
     * bytes, and its id is empty where the answer has one.
     */
    tg_request_t request;
    tg_dialect_t dialect;
    unsigned is_mcp; /* as its peer was */

    /* The message, in pieces: behind one of them stood the arguments. */
    unsigned n;
    unsigned arguments_piece;
    size_t piece_lens[3];
    char bytes[TG_FAST_PATH_BYTES_MAX];
} tg_fast_path_t;

struct tg_fast_path_cache_s {
    unsigned n; /* calls that went the long way */
    tg_fast_path_t list[TG_FAST_PATH_CACHE_SIZE];
};

/*
 * Serves a frame, if it is such a call: its size, else 0.  A line has its end
 * behind it.
 */
size_t tg_peer_serve_fast_path(tg_peer_t *peer, tg_str_t bytes);

/* A call of a tool goes the long way; its entry is still to be found. */
void tg_peer_cache_fast_path(tg_peer_t *peer, const tg_message_t *message,
                             const tg_request_t *request);

#endif
