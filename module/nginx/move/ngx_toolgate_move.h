/*
 * Sessions that change their worker.
 *
 *   …_move.c     the old worker: may it go, and who takes it?  Sends it
 *   …_packed.c   as a message
 *   …_arrive.c   the new worker: takes one and gives it to NGINX
 *   …_resume.c   and goes on where the old one was
 *   …_stay.c     the old worker serves until a new one is ready
 */
#ifndef _NGX_TOOLGATE_MOVE_H_INCLUDED_
#define _NGX_TOOLGATE_MOVE_H_INCLUDED_

#include "nginx/stream/ngx_toolgate_session.h"
#include "nginx/move/ngx_toolgate_packed.h"

#include "core/tg_peer_state.h"

/* What ends in this time need not be carried. */
#define NGX_TOOLGATE_MOVE_GRACE 20
/* How long a session waits for a worker that is ready to take it. */
#define NGX_TOOLGATE_MOVE_TIME 10000
/* How long a worker that was told to exit serves until another is ready. */
#define NGX_TOOLGATE_STAY_TIME 600000
/* For how long of that when one is ready, and others are not. */
#define NGX_TOOLGATE_STAY_OTHERS 1000
/* Between two looks whether one does. */
#define NGX_TOOLGATE_MOVE_PAUSE 5

/* Says how many were moved, and lets the last ones go. */
void ngx_toolgate_move_exit(ngx_cycle_t *cycle);

/* In the master: sessions of older workers can go on in this cycle's. */
void ngx_toolgate_arrive_offer(ngx_cycle_t *cycle);

/* This worker's sessions may move from now on, and it takes others'. */
void ngx_toolgate_move_start(ngx_cycle_t *cycle);

/* This worker takes what others put; it was told to exit. */
void ngx_toolgate_arrive_start(ngx_cycle_t *cycle);
void ngx_toolgate_arrive_stop(void);

/* The process ends. */
void ngx_toolgate_arrive_exit(void);

/* Nobody is left who would take what was put: it ends here. */
void ngx_toolgate_arrive_drain(void);

/* The same of one that was not put yet; it is gone then. */
void ngx_toolgate_arrive_back(ngx_toolgate_packed_t *packed);

/* This worker has started: it keeps a copy of a listening socket. */
void ngx_toolgate_stay_prepare(ngx_listening_t *ls);

/*
 * This worker was told to exit.  1: it stays (ngx_toolgate_stays), as another
 * worker is to serve, but is not ready.
 */
ngx_uint_t ngx_toolgate_stay(void);

/* It accepts no clients any more. */
void ngx_toolgate_stay_forget(void);

/* What came with a connection, if it came from another worker. */
void *ngx_toolgate_arrival(ngx_connection_t *c);

/*
 * A session in which nothing happened yet goes on as the one that came:
 * NGX_OK or NGX_ERROR, logged.
 */
ngx_int_t ngx_toolgate_resume(ngx_toolgate_session_t *session, void *arrival);

#endif
