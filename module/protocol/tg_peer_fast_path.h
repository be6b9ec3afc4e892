/*
 * Fast path for calls that equal an earlier call except for id and arguments.
 *
 * A client sends almost the same message again and again. Such a message is
 * compared with the earlier one, and only its id and its arguments are parsed.
 * Any other difference takes the normal path.
 *
 * A catalog keeps some earlier calls for all of its peers.
 */
#ifndef TG_PEER_FAST_PATH_H
#define TG_PEER_FAST_PATH_H

#include "protocol/tg_peer.h"

/* Largest message in bytes, without its id and arguments. */
#define TG_FAST_PATH_BYTES_MAX 192
/* Number of recorded calls per catalog: clients differ in format and tools. */
#define TG_FAST_PATH_CACHE_SIZE 4
/* One of this many calls on the normal path is recorded. */
#define TG_FAST_PATH_SAMPLE 8

typedef struct {
    /*
     * The parsed request; entry NULL: this slot is empty. The name is within
     * bytes. The id is empty if the response has one, otherwise absent.
     */
    tg_request_t request;
    tg_dialect_t dialect;
    unsigned is_mcp; /* is_mcp of the peer that sent the call */

    /*
     * The message as pieces of constant text. The arguments follow the piece
     * arguments_piece; the id, if any, follows another piece.
     */
    unsigned n;
    unsigned arguments_piece;
    size_t piece_lens[3];
    char bytes[TG_FAST_PATH_BYTES_MAX];
} tg_fast_path_t;

typedef struct {
    unsigned n; /* calls on the normal path */
    tg_fast_path_t list[TG_FAST_PATH_CACHE_SIZE];
} tg_fast_path_cache_t;

/* Returns the calls that the catalog keeps. NULL: no memory. */
static inline tg_fast_path_cache_t *
tg_catalog_fast_paths(tg_catalog_t *catalog)
{
    return tg_catalog_get_cache(catalog, sizeof(tg_fast_path_cache_t));
}

/*
 * Serves a frame if it matches a recorded call. Returns the size of its message
 * in bytes, else 0. bytes of a line include the line feed.
 */
size_t tg_peer_serve_fast_path(tg_peer_t *peer, tg_str_t bytes);

/*
 * Records some of the tool calls on the normal path. request->entry is not yet
 * set.
 */
void tg_peer_cache_fast_path(tg_peer_t *peer, const tg_message_t *message,
                             const tg_request_t *request);

#endif
