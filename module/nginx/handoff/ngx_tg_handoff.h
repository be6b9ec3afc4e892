/*
 * Handoff of sessions between worker processes, over reloads and upgrades of
 * the binary. Unless a comment says otherwise, functions of type ngx_int_t
 * return NGX_OK or NGX_ERROR.
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
/* Maximum time that an exiting worker waits for a ready one, in ms. */
#define NGX_TG_LINGER_TIMEOUT 600000
/* Maximum time, in ms, to wait for further workers once one is ready. */
#define NGX_TG_LINGER_FOR_OTHER_WORKERS 1000
/* Interval between checks for a ready worker, in ms. */
#define NGX_TG_LINGER_CHECK_INTERVAL 5

/* Ends sending at process exit, and logs the number of sent sessions. */
void ngx_tg_handoff_send_exit(ngx_cycle_t *cycle);

/* Publishes a new cycle's listeners to older workers. Runs in the master. */
void ngx_tg_handoff_publish_listeners(ngx_cycle_t *cycle);

/* Starts sending and receiving sessions in a worker. */
void ngx_tg_handoff_start(ngx_cycle_t *cycle);

void ngx_tg_handoff_receive_start(ngx_cycle_t *cycle);
/* Stops receiving, as this worker must exit; it may linger instead. */
void ngx_tg_handoff_receive_stop(void);

/* Ends receiving at exit. The last receiver closes the waiting sessions. */
void ngx_tg_handoff_receive_exit(void);

/*
 * As the last receiver, accepts each session in the socket pair, or closes its
 * client if this worker has no room or its process ends.
 */
void ngx_tg_handoff_receive_drain(void);

/* Accepts a session that was not sent, or closes it. Frees the snapshot. */
void ngx_tg_handoff_receive_back(ngx_tg_session_snapshot_t *snapshot);

/* Copies a listening socket, which NGINX closes when the worker must exit. */
void ngx_tg_linger_copy_listener(ngx_listening_t *ls);

/* Makes an exiting worker linger until a new one is ready. Returns 1 if so. */
ngx_uint_t ngx_tg_linger_start(void);

/* Closes the copies: no new clients are accepted. */
void ngx_tg_linger_close_listeners(void);

/* Returns the snapshot that came with a connection, or NULL. */
void *ngx_tg_connection_find_snapshot(ngx_connection_t *c);

/* Restores a fresh session from a received snapshot. Logs errors. */
ngx_int_t ngx_tg_session_restore(ngx_tg_session_t *session,
                                 void *received_snapshot);

#endif
