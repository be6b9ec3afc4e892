/*
 * Which workers take sessions: a page that all masters and workers of one
 * NGINX share, over reloads and binary upgrades.
 *
 * A master writes down what its newest config listens on, before its workers
 * start; each worker, of which config it is and whether it still serves.  A
 * worker that was killed is known by its lock, which the kernel took back; a
 * master, by its process.  The page outlives module objects: what it looks
 * like is part of NGX_TOOLGATE_TAKERS_MAGIC.
 */
#ifndef _NGX_TOOLGATE_TAKERS_H_INCLUDED_
#define _NGX_TOOLGATE_TAKERS_H_INCLUDED_

#include "nginx/share/ngx_toolgate_share.h"

/* Masters at the same time are two; more are those that were killed. */
#define NGX_TOOLGATE_TAKERS_MASTERS 16
/* NGINX's own bound for a master is 1024, old workers included. */
#define NGX_TOOLGATE_TAKERS_WORKERS 2048
/* Addresses of a config; beyond it any is taken for listened on. */
#define NGX_TOOLGATE_TAKERS_LISTENERS 120

typedef struct ngx_toolgate_takers_s ngx_toolgate_takers_t;

/* Who takes a session? */
typedef enum {
    NGX_TOOLGATE_TAKER_NONE = 0,
    NGX_TOOLGATE_TAKER_SOON, /* workers that have not started, or still load */
    NGX_TOOLGATE_TAKER_READY
} ngx_toolgate_taker_t;

/* A new page; -1, logged. */
ngx_fd_t ngx_toolgate_takers_create(ngx_log_t *log);

/* Maps it; NULL when fd is none, which is logged where errors matter. */
ngx_toolgate_takers_t *ngx_toolgate_takers_map(ngx_fd_t fd, ngx_log_t *log);
void ngx_toolgate_takers_unmap(ngx_toolgate_takers_t *takers);

/* --- in a master --- */

/* A record for this master: its index, or -1 when all are in use. */
ngx_int_t ngx_toolgate_takers_enrol(ngx_toolgate_takers_t *takers);

/* The config that its next workers have; returns its generation. */
uint64_t ngx_toolgate_takers_offer(ngx_toolgate_takers_t *takers,
                                   ngx_int_t master, const uint64_t *listeners,
                                   ngx_uint_t n);

uint64_t ngx_toolgate_takers_hash(struct sockaddr *sockaddr, socklen_t socklen);

/* The hash of a listener whose sessions cannot move. */
uint64_t ngx_toolgate_takers_hash_fixed(struct sockaddr *sockaddr,
                                        socklen_t socklen);

/* --- in a worker --- */

/* A record for this worker, which starts: NGX_OK, or NGX_DECLINED: none. */
ngx_int_t ngx_toolgate_takers_join(ngx_toolgate_takers_t *takers, ngx_fd_t fd,
                                   ngx_int_t master, uint64_t generation);

/* This worker has started, and takes sessions from now on. */
void ngx_toolgate_takers_serve(ngx_toolgate_takers_t *takers);

/* Is this worker's config still its master's newest? */
ngx_uint_t ngx_toolgate_takers_is_newest(ngx_toolgate_takers_t *takers);

/* This worker was told to exit. */
void ngx_toolgate_takers_leave(ngx_toolgate_takers_t *takers);

/* This worker takes nothing any more. */
void ngx_toolgate_takers_stop(ngx_toolgate_takers_t *takers);

/*
 * Who else takes sessions of a listener; 0: of any.  Another master that
 * sent its workers away may be called back: is_hoping counts on that.
 */
ngx_toolgate_taker_t ngx_toolgate_takers_taker(ngx_toolgate_takers_t *takers,
                                               uint64_t listener,
                                               ngx_uint_t is_hoping);

/*
 * Has another worker of this config fewer connections than this one, which has
 * load?  Others learn the load.
 */
ngx_uint_t ngx_toolgate_takers_has_less(ngx_toolgate_takers_t *takers,
                                        uint64_t load);

/* Is another worker of a newest config about to serve, but still starting? */
ngx_uint_t ngx_toolgate_takers_is_starting(const ngx_toolgate_takers_t *takers);

#endif
