/*
 * Sessions that change their worker.
 *
 *   ngx_tg_handoff_send.c   the old worker: may it go, who takes it?  Sends it
 *   ngx_tg_session_snapshot.c   as a message
 *   ngx_tg_handoff_receive.c   the new worker: takes one and gives it to NGINX
 *   ngx_tg_session_restore.c   and goes on where the old one was
 *   ngx_tg_handoff_linger.c     the old worker serves until a new one is ready
 */
#ifndef _NGX_TG_HANDOFF_H_INCLUDED_
#define _NGX_TG_HANDOFF_H_INCLUDED_

#include "nginx/session/ngx_tg_session.h"
#include "nginx/handoff/ngx_tg_session_snapshot.h"

#include "protocol/tg_peer_snapshot.h"

/* What ends in this time need not be carried. */
#define NGX_TG_HANDOFF_CALL_GRACE 20
/* How long a session waits for a worker that is ready to take it. */
#define NGX_TG_HANDOFF_TIMEOUT 10000
/* How long a worker that was told to exit serves until another is ready. */
#define NGX_TG_LINGER_TIMEOUT 600000
/* For how long of that when one is ready, and others are not. */
#define NGX_TG_LINGER_FOR_OTHER_WORKERS 1000
/* Between two looks whether one does. */
#define NGX_TG_LINGER_CHECK_INTERVAL 5

/* Says how many were moved, and lets the last ones go. */
void ngx_tg_handoff_send_exit(ngx_cycle_t *cycle);

/* In the master: sessions of older workers can go on in this cycle's. */
void ngx_tg_handoff_publish_listeners(ngx_cycle_t *cycle);

/* This worker's sessions may move from now on, and it takes others'. */
void ngx_tg_handoff_start(ngx_cycle_t *cycle);

/* This worker takes what others put; it was told to exit. */
void ngx_tg_handoff_receive_start(ngx_cycle_t *cycle);
void ngx_tg_handoff_receive_stop(void);

/* The process ends. */
void ngx_tg_handoff_receive_exit(void);

/* Nobody is left who would take what was put: it ends here. */
void ngx_tg_handoff_receive_drain(void);

/* The same of one that was not put yet; it is gone then. */
void ngx_tg_handoff_receive_back(ngx_tg_session_snapshot_t *snapshot);

/* This worker has started: it keeps a copy of a listening socket. */
void ngx_tg_linger_copy_listener(ngx_listening_t *ls);

/*
 * This worker was told to exit.  1: it stays (ngx_tg_worker_is_lingering), as
 * another worker is to serve, but is not ready.
 */
ngx_uint_t ngx_tg_linger_start(void);

/* It accepts no clients any more. */
void ngx_tg_linger_close_listeners(void);

/* What came with a connection, if it came from another worker. */
void *ngx_tg_connection_find_snapshot(ngx_connection_t *c);

/*
 * A session in which nothing happened yet goes on as the one that came:
 * NGX_OK or NGX_ERROR, logged.
 */
ngx_int_t ngx_tg_session_restore(ngx_tg_session_t *session,
                                 void *received_snapshot);

#endif
