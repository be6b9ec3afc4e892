/*
 * Handoff of sessions between worker processes, over reloads and upgrades of
 * the binary.
 *
 *   ngx_tg_handoff_send.c      old worker: hands a session off
 *   ngx_tg_session_snapshot.c  a session as a message
 *   ngx_tg_handoff_receive.c   new worker: receives sessions as connections
 *   ngx_tg_session_restore.c   new worker: restores a received session
 *   ngx_tg_handoff_linger.c    old worker: serves until a new one is ready
 *   ngx_tg_handoff_channel.c   socket pair that transfers the sessions
 *   ngx_tg_handoff_registry.c  registry of masters and receiving workers
 */
#ifndef _NGX_TG_HANDOFF_H_INCLUDED_
#define _NGX_TG_HANDOFF_H_INCLUDED_

#include "nginx/session/ngx_tg_session.h"
#include "nginx/handoff/ngx_tg_session_snapshot.h"

#include "protocol/tg_peer_snapshot.h"

/* Time to let running calls end before a handoff, in ms. */
#define NGX_TG_HANDOFF_CALL_GRACE 20
/* Maximum time that a session waits for a receiver, in ms. */
#define NGX_TG_HANDOFF_TIMEOUT 10000
/*
 * Maximum time that an exiting worker serves until another one is ready, in ms.
 */
#define NGX_TG_LINGER_TIMEOUT 600000
/*
 * Part of that time, in ms, after which it exits if one worker is ready and
 * others are still starting.
 */
#define NGX_TG_LINGER_FOR_OTHER_WORKERS 1000
/* Interval between checks for a ready worker, in ms. */
#define NGX_TG_LINGER_CHECK_INTERVAL 5

/*
 * Ends sending at process exit: closes the client in the outbox, and logs the
 * number of sessions handed off.
 */
void ngx_tg_handoff_send_exit(ngx_cycle_t *cycle);

/*
 * Publishes the listeners of a new cycle, so that sessions of older workers can
 * move to its workers. Runs in the master.
 */
void ngx_tg_handoff_publish_listeners(ngx_cycle_t *cycle);

/*
 * Starts the handoff in a worker: its sessions may move, and it receives
 * sessions.
 */
void ngx_tg_handoff_start(ngx_cycle_t *cycle);

/* Starts receiving sessions from other workers. */
void ngx_tg_handoff_receive_start(ngx_cycle_t *cycle);
/* Stops receiving, as this worker must exit; it may linger instead. */
void ngx_tg_handoff_receive_stop(void);

/*
 * Stops receiving at process exit. The last receiver closes the sessions left
 * in the socket pair.
 */
void ngx_tg_handoff_receive_exit(void);

/*
 * Empties the socket pair when no other worker receives: accepts each session,
 * or closes its client if this worker has no room or its process ends.
 */
void ngx_tg_handoff_receive_drain(void);

/*
 * Takes back a session that was not sent: accepts it, or closes its client.
 * Frees the snapshot.
 */
void ngx_tg_handoff_receive_back(ngx_tg_session_snapshot_t *snapshot);

/*
 * Copies a listening socket after the worker's start, because NGINX closes the
 * original when the worker must exit.
 */
void ngx_tg_linger_copy_listener(ngx_listening_t *ls);

/*
 * Decides whether this worker, which must exit, lingers because another worker
 * will serve but is not ready. Returns 1 if the worker lingers
 * (ngx_tg_worker_is_lingering), else 0.
 */
ngx_uint_t ngx_tg_linger_start(void);

/* Closes the copies of the listening sockets: no new clients are accepted. */
void ngx_tg_linger_close_listeners(void);

/*
 * Returns the snapshot that came with a connection from another worker, or
 * NULL.
 */
void *ngx_tg_connection_find_snapshot(ngx_connection_t *c);

/*
 * Restores a fresh session from a received snapshot. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_session_restore(ngx_tg_session_t *session,
                                 void *received_snapshot);

#endif
