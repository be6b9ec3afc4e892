/*
 * A peer on its way from one process to another, calls in flight included.
 *
 * The old process saves what the peer knows as bytes, and forgets it; the
 * new one loads them into a peer that tg_peer_init() just made, with its own
 * catalogue and limits.  The client notices nothing: a frame may be cut
 * anywhere, batches keep what they gathered, ids stay taken.
 *
 * Beside the state the host carries the bytes that tg_peer_handle_input() did
 * not consume and those of peer->out that were not written.
 *
 * The bytes are for processes of one machine, but loading trusts none of them.
 */
#ifndef TG_PEER_SNAPSHOT_H
#define TG_PEER_SNAPSHOT_H

#include "protocol/tg_peer.h"

/* What the host may keep of one call: where its program is to be found. */
#define TG_PEER_TOKEN_MAX 65536

/*
 * Appends what the host needs to go on with a call in flight elsewhere, at
 * most TG_PEER_TOKEN_MAX bytes.
 */
typedef void (*tg_peer_write_token_pt)(void *host, const tg_call_t *call,
                                       tg_buf_t *out);

/*
 * Appends the state to out, not from within ops->call; the peer changes in
 * nothing that counts and may be used on.  put_token may be NULL.
 * TG_OK, TG_NOMEM (only out is of no use then), TG_LIMIT: a token was too
 * long.
 *
 * Replies that wait for the rest of their batch may be a lot.  With is_apart
 * they are not in the state: tg_peer_take_replies() gives them.
 */
int tg_peer_save(tg_peer_t *peer, tg_peer_write_token_pt put_token,
                 int has_separate_replies, tg_buf_t *out);

/* May have the buffer for its own, and leave an empty one. */
typedef void (*tg_peer_take_replies_pt)(void *data, tg_buf_t *replies);

/*
 * For right after tg_peer_save() with is_apart: one buffer for each batch, as
 * tg_peer_load() will ask for them, ncalls + 1 at most.  Then the peer is to
 * be forgotten.
 */
void tg_peer_take_replies(tg_peer_t *peer, tg_peer_take_replies_pt take,
                          void *data);

/*
 * Frees the calls in flight without cancelling them: they go on elsewhere.
 * For after tg_peer_save(), when the state was handed over; the host has
 * dropped what it had of them.  tg_peer_deinit() is to follow.
 */
void tg_peer_forget_calls(tg_peer_t *peer);

/* Appends the next len bytes of what was taken: TG_OK, TG_INVALID, TG_NOMEM. */
typedef int (*tg_peer_read_replies_pt)(void *data, tg_buf_t *replies,
                                       size_t len);

/*
 * A call in flight has come over.  call->entry is the call's own: name, kind
 * and output as when it was called, whatever the catalogue says now, and
 * host NULL; its output_schema is set where now has the same.  now is what
 * the catalogue has under the name and this client may see, or NULL when
 * that is gone.  token is what put_token wrote, until the return.
 *
 * Set call->host; tg_call_respond() and its like may be used on this call at
 * once.
 */
typedef void (*tg_peer_restore_call_pt)(void *host, tg_call_t *call,
                                        const tg_catalog_entry_t *now,
                                        tg_str_t token);

/*
 * Loads a state into a peer fresh from tg_peer_init(), in whose out there
 * may be what the old process did not write.  What the state does not have
 * of replies is asked of give; NULL: it has all.  A dialect that was detected
 * or forced there stays; a connection that said nothing yet gets this peer's.
 *
 *   TG_OK      resume was called for each call in flight, oldest first;
 *              has_changed says whether what this client can see of the
 *              tools is another than there, so that it is to be told
 *              (tg_peer_notify_list_changed())
 *   TG_INVALID     no state of this version; resume was not called
 *   TG_NOMEM   likewise
 *
 * After both failures only tg_peer_deinit() may follow.
 */
int tg_peer_load(tg_peer_t *peer, tg_str_t state,
                 tg_peer_read_replies_pt read_replies, void *data,
                 tg_peer_restore_call_pt resume, int *has_changed);

#endif
