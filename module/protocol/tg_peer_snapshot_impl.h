/*
 * The bytes of a saved peer; for tg_peer_snapshot_save.c and
 * tg_peer_snapshot_load.c alone.
 *
 * Numbers are big-endian.  A str is its length in 4 bytes, TG_SNAPSHOT_ABSENT
 * where there is none, and its bytes.
 *
 *     magic and version   "TGP8"
 *     dialect, frame's kind                 1 byte each
 *     flags of the peer   2
 *     version             str, of MCP's legacy, or empty
 *     client              str: its name, or empty
 *     client's version    str, or empty
 *     client's via        str, or empty
 *     view                8: tg_catalog_digest_visible() for this client
 *     subscriptions       4: how many; newest first
 *         id              str
 *         asked for       1: has_tools, and 2 for has_broadcasts
 *     can, asked          1 and 4: what it can be asked, how often it was
 *     asks                4: how many; oldest first
 *         id, tag         4, 8
 *     served              4: elements of the first batch, if its rest is to be
 *                         served; or 0
 *     work                8: the host's, about them; if there are some
 *     batches             4: how many; numbered from 1 on
 *         replies         str, those gathered so far
 *     calls               4: how many; oldest first
 *         kind, flags     1 byte each
 *         batch           4: its number, or 0
 *         id, progress token, last progress, name         str each
 *         output          1: the entry's mode
 *         schema          8: the entry's output_digest
 *         token           str, the host's
 *
 * A change in any of that is another number in the magic.
 */
#ifndef TG_PEER_SNAPSHOT_IMPL_H
#define TG_PEER_SNAPSHOT_IMPL_H

#include "protocol/tg_peer_impl.h"
#include "protocol/tg_peer_snapshot.h"

#define TG_SNAPSHOT_MAGIC TG_STR("TGP8")
#define TG_SNAPSHOT_ABSENT UINT32_MAX

enum {
    TG_SNAPSHOT_IS_MODERN = 1, /* of a call */
    TG_SNAPSHOT_IS_MCP = 2,    /* of a call and of the peer */
    TG_SNAPSHOT_IS_SILENT = 4, /* of a call */
    TG_SNAPSHOT_IS_LEGACY = 4, /* of the peer, as those below */
    TG_SNAPSHOT_IS_TOOLGATE = 8,
    TG_SNAPSHOT_IS_CLOSING = 16,
    TG_SNAPSHOT_IS_DISCARDING = 32,
    TG_SNAPSHOT_IS_REFUSING = 64,
    TG_SNAPSHOT_IS_MODERN_PEER = 128,
    TG_SNAPSHOT_RESENDS = 256,
    TG_SNAPSHOT_IS_RESPONSE = 512,
    TG_SNAPSHOT_IS_NOTIFICATION = 1024
};

#endif
