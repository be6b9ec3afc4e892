/*
 * Format of a saved peer, for tg_peer_snapshot_*.c only.
 *
 * Numbers are big-endian. A str is its length in 4 bytes (TG_SNAPSHOT_ABSENT
 * if it is absent) and its bytes.
 *
 *     magic and version   "TGPB"
 *     dialect             1
 *     frame type          1
 *     flags of the peer   2
 *     version             str: legacy MCP version, or empty
 *     client              str: name, or empty
 *     client version      str, or empty
 *     client via          str, or empty
 *     log level           1: tg_mcp_log_level_t of logging/setLevel
 *     view                8 for each kind: tg_catalog_get_view() of this client
 *     subscriptions       4: number; newest first
 *         id              str
 *         filter          1: TG_FILTER_…
 *     resources           4: number of subscriptions to one; oldest first
 *         subscription    4: its position, from 1 on; 0: resources/subscribe
 *         uri             str
 *     client_caps         1
 *     asked               4: number of requests sent to the client
 *     server requests     4: number of pending ones; oldest first
 *         id, tag         4, 8
 *     rounds              4: number of requests that wait for input; oldest
 *                         first
 *         deadline        8: Unix time in ms
 *         first, answered 4, 4
 *         id, text        str each
 *         inputs, state   str each
 *         responses       str
 *     served              4: elements served of the first batch, or 0 if no
 *                         batch is being served
 *     work                8: peer->work; only if served is not 0
 *     batches             4: number; numbered from 1 on
 *         replies         str: replies collected so far
 *     calls               4: number; oldest first
 *         kind, flags     1 byte each
 *         log level       1: tg_mcp_log_level_t of a modern request
 *         batch           4: number of its batch, or 0
 *         id              str
 *         subject, mime   str each
 *         ttl             8: in ms
 *         progress token  str
 *         last progress   str
 *         entry kind      1
 *         name            str
 *         output          1: output mode of the entry
 *         output digest   8: output_digest of the entry
 *         token           str: the host's token
 *
 * Any change of the format needs a new magic.
 */
#ifndef TG_PEER_SNAPSHOT_IMPL_H
#define TG_PEER_SNAPSHOT_IMPL_H

#include "protocol/tg_peer_impl.h"
#include "protocol/tg_peer_snapshot.h"

#define TG_SNAPSHOT_MAGIC TG_STR("TGPB")
#define TG_SNAPSHOT_ABSENT UINT32_MAX

enum {
    TG_SNAPSHOT_IS_MODERN = 1, /* flag of a call */
    TG_SNAPSHOT_IS_MCP = 2,    /* flag of a call and of the peer */
    TG_SNAPSHOT_IS_SILENT = 4, /* flag of a call */
    TG_SNAPSHOT_IS_PUBLIC = 8, /* flag of a call */
    TG_SNAPSHOT_IS_LIST = 16,  /* flag of a call */
    TG_SNAPSHOT_IS_LEGACY = 4, /* flag of the peer, as all that follow */
    TG_SNAPSHOT_IS_TOOLGATE = 8,
    TG_SNAPSHOT_IS_CLOSING = 16,
    TG_SNAPSHOT_IS_DISCARDING = 32,
    TG_SNAPSHOT_IS_REFUSING = 64,
    TG_SNAPSHOT_IS_MODERN_PEER = 128,
    TG_SNAPSHOT_RESENDS = 256,
    TG_SNAPSHOT_IS_RESPONSE = 512,
    TG_SNAPSHOT_IS_NOTIFICATION = 1024,
    TG_SNAPSHOT_DECLARED = 2048 /* times TG_CAPABILITY_… */
};

/* Unread bytes. is_bad is sticky, as the failure of tg_buf_t. */
typedef struct {
    tg_str_t left;
    /* reads separate replies; NULL: they are in the state */
    tg_peer_read_replies_pt read_replies;
    void *data;
    int is_bad;
} tg_snapshot_reader_t;

/* Reads size bytes, which stay in the state. */
tg_str_t tg_snapshot_read_bytes(tg_snapshot_reader_t *state, uint64_t size);
/* Reads a number of size bytes. */
uint64_t tg_snapshot_read_number(tg_snapshot_reader_t *state, unsigned size);
/* Reads a string, which may be absent. */
tg_str_t tg_snapshot_read_str(tg_snapshot_reader_t *state);
/* Reads a value from 0 to last in one byte. */
unsigned tg_snapshot_read_enum(tg_snapshot_reader_t *state, unsigned last);
/* Reads a count of elements of `least` bytes, at most those in the state. */
unsigned tg_snapshot_read_count(tg_snapshot_reader_t *state, size_t least);
/* Reads a raw JSON value of a client, or absent. */
tg_str_t tg_snapshot_read_json(tg_snapshot_reader_t *state, int is_scalar);
/* Reads the raw id of a request. */
tg_str_t tg_snapshot_read_id(tg_snapshot_reader_t *state);
/* Reads the escaped body of a string, or absent. */
tg_str_t tg_snapshot_read_body(tg_snapshot_reader_t *state);
/* Reads a valid UTF-8 text of at most `most` bytes. */
tg_str_t tg_snapshot_read_text(tg_snapshot_reader_t *state, size_t most);

#endif
