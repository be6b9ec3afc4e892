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
#ifndef TG_ALIKE_H
#define TG_ALIKE_H

#include "core/tg_peer.h"

/* Bytes of a message around its id and its arguments. */
#define TG_ALIKE_MAX 192
/* That are kept: clients have their dialects and their favourite tools. */
#define TG_ALIKES 4
/* Of calls that went the long way, one in so many is kept. */
#define TG_ALIKE_EACH 8

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
    unsigned before;
    size_t lens[3];
    char bytes[TG_ALIKE_MAX];
} tg_alike_t;

struct tg_alikes_s {
    unsigned n; /* calls that went the long way */
    tg_alike_t list[TG_ALIKES];
};

/*
 * Serves a frame, if it is such a call: its size, else 0.  A line has its end
 * behind it.
 */
size_t tg_alike_serve(tg_peer_t *peer, tg_str_t bytes);

/* A call of a tool goes the long way; its entry is still to be found. */
void tg_alike_keep(tg_peer_t *peer, const tg_message_t *message,
                   const tg_request_t *request);

#endif
