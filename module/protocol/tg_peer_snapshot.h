/*
 * Handoff of a peer from one process to another, including calls in flight.
 *
 * The old process saves the peer's state as bytes and then forgets it. The new
 * process loads the state into a peer from tg_peer_init(), with its own catalog
 * and limits. The client notices nothing: a frame may be cut anywhere, batches
 * keep their replies, ids stay in use.
 *
 * In addition to the state, the host transfers the bytes that
 * tg_peer_handle_input() did not consume and the unwritten bytes of peer->out.
 *
 * Both processes run on one machine, but loading does not trust the bytes.
 */
#ifndef TG_PEER_SNAPSHOT_H
#define TG_PEER_SNAPSHOT_H

#include "protocol/tg_peer.h"

/*
 * Largest token in bytes that the host may store for a call, for finding its
 * program.
 */
#define TG_PEER_TOKEN_MAX 65536

/*
 * Appends the host's token for a call in flight, which the new process needs to
 * continue it; at most TG_PEER_TOKEN_MAX bytes.
 */
typedef void (*tg_peer_write_token_pt)(void *host, const tg_call_t *call,
                                       tg_buf_t *out);

/*
 * Appends the state to out. Must not be called from within ops->call. The
 * peer stays usable. put_token may be NULL. TG_OK; TG_NOMEM (out is
 * unusable); TG_LIMIT if a token is too long.
 *
 * The replies of incomplete batches may be large. With has_separate_replies
 * they are not part of the state: tg_peer_take_replies() returns them.
 */
int tg_peer_save(tg_peer_t *peer, tg_peer_write_token_pt put_token,
                 int has_separate_replies, tg_buf_t *out);

/*
 * Receives the replies of a batch. May take over the buffer and leave an empty
 * one.
 */
typedef void (*tg_peer_take_replies_pt)(void *data, tg_buf_t *replies);

/*
 * Calls take with the replies of each batch, at most ncalls + 1 times, in the
 * order in which tg_peer_load() reads them. For use right after tg_peer_save()
 * with has_separate_replies; the peer must be forgotten afterwards.
 */
void tg_peer_take_replies(tg_peer_t *peer, tg_peer_take_replies_pt take,
                          void *data);

/*
 * Frees the calls in flight without cancelling them, because the new process
 * continues them. For use after tg_peer_save(), when the state was handed over
 * and the host has dropped its data of the calls. tg_peer_deinit() must
 * follow.
 */
void tg_peer_forget_calls(tg_peer_t *peer);

/*
 * Appends the next len bytes of the separate replies. TG_OK, TG_INVALID or
 * TG_NOMEM.
 */
typedef int (*tg_peer_read_replies_pt)(void *data, tg_buf_t *replies,
                                       size_t len);

/*
 * Restores a call in flight. call->entry is the call's own copy: name, kind
 * and output as at the time of the call, even if the catalog has changed. Its
 * output_schema is set if the current entry has an equal one. now: the current
 * entry of that name if the client may see it, else NULL. token: what
 * put_token appended, valid until the return. call->host is NULL.
 *
 * The function sets call->host. It may answer the call at once, with
 * tg_call_respond() for instance.
 */
typedef void (*tg_peer_restore_call_pt)(void *host, tg_call_t *call,
                                        const tg_catalog_entry_t *now,
                                        tg_str_t token);

/*
 * Loads a state into a new peer from tg_peer_init(). peer->out may already
 * have the bytes that the old process did not write. read_replies reads
 * separate replies; NULL: the state has all replies. A detected or configured
 * dialect is kept; a connection that has received nothing yet uses this peer's
 * dialect.
 *
 *   TG_OK       resume was called for each call in flight, oldest first.
 *               *changes has the bit `1 << kind` for each kind whose entries
 *               that this client sees differ from those in the old process;
 *               notify the client with tg_peer_notify_list_changes()
 *   TG_INVALID  not a valid state of this version; resume was not called
 *   TG_NOMEM    out of memory; close the connection
 *
 * After a failure only tg_peer_deinit() may be called.
 */
int tg_peer_load(tg_peer_t *peer, tg_str_t state,
                 tg_peer_read_replies_pt read_replies, void *data,
                 tg_peer_restore_call_pt resume, unsigned *changes);

#endif
