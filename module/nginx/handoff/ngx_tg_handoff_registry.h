/*
 * Which workers take sessions: a page that all masters and workers of one
 * NGINX share, over reloads and binary upgrades.
 *
 * A master writes down what its newest config listens on, before its workers
 * start; each worker, of which config it is and whether it still serves.  A
 * worker that was killed is known by its lock, which the kernel took back; a
 * master, by its process.  The page outlives module objects: what it looks
 * like is part of NGX_TG_HANDOFF_REGISTRY_MAGIC.
 */
#ifndef _NGX_TG_HANDOFF_REGISTRY_H_INCLUDED_
#define _NGX_TG_HANDOFF_REGISTRY_H_INCLUDED_

#include "nginx/shm/ngx_tg_shm.h"

/* Masters at the same time are two; more are those that were killed. */
#define NGX_TG_HANDOFF_MASTERS_MAX 16
/* NGINX's own bound for a master is 1024, old workers included. */
#define NGX_TG_HANDOFF_WORKERS_MAX 2048
/* Addresses of a config; beyond it any is taken for listened on. */
#define NGX_TG_HANDOFF_LISTENERS_MAX 120

typedef struct ngx_tg_handoff_registry_s ngx_tg_handoff_registry_t;

/* Who takes a session? */
typedef enum {
    NGX_TG_RECEIVER_NONE = 0,
    NGX_TG_RECEIVER_STARTING, /* workers that have not started, or still load */
    NGX_TG_RECEIVER_READY
} ngx_tg_receiver_state_t;

/* A new page; -1, logged. */
ngx_fd_t ngx_tg_handoff_registry_create(ngx_log_t *log);

/* Maps it; NULL when fd is none, which is logged where errors matter. */
ngx_tg_handoff_registry_t *ngx_tg_handoff_registry_map(ngx_fd_t fd,
                                                       ngx_log_t *log);
void ngx_tg_handoff_registry_unmap(ngx_tg_handoff_registry_t *registry);

/* --- in a master --- */

/* A record for this master: its index, or -1 when all are in use. */
ngx_int_t ngx_tg_handoff_registry_add_master(
    ngx_tg_handoff_registry_t *registry);

/* The config that its next workers have; returns its generation. */
uint64_t ngx_tg_handoff_registry_set_config(ngx_tg_handoff_registry_t *registry,
                                            ngx_int_t master,
                                            const uint64_t *listeners,
                                            ngx_uint_t n);

uint64_t ngx_tg_sockaddr_hash(struct sockaddr *sockaddr, socklen_t socklen);

/* The hash of a listener whose sessions cannot move. */
uint64_t ngx_tg_sockaddr_hash_fixed(struct sockaddr *sockaddr,
                                    socklen_t socklen);

/* --- in a worker --- */

/* A record for this worker, which starts: NGX_OK, or NGX_DECLINED: none. */
ngx_int_t ngx_tg_handoff_registry_add_worker(
    ngx_tg_handoff_registry_t *registry, ngx_fd_t fd, ngx_int_t master,
    uint64_t generation);

/* This worker has started, and takes sessions from now on. */
void ngx_tg_handoff_registry_set_serving(ngx_tg_handoff_registry_t *registry);

/* Is this worker's config still its master's newest? */
ngx_uint_t ngx_tg_handoff_registry_is_newest(
    ngx_tg_handoff_registry_t *registry);

/* This worker was told to exit. */
void ngx_tg_handoff_registry_set_leaving(ngx_tg_handoff_registry_t *registry);

/* This worker takes nothing any more. */
void ngx_tg_handoff_registry_set_stopped(ngx_tg_handoff_registry_t *registry);

/*
 * Who else takes sessions of a listener; 0: of any.  Another master that
 * sent its workers away may be called back: is_hoping counts on that.
 */
ngx_tg_receiver_state_t ngx_tg_handoff_registry_find_receiver(
    ngx_tg_handoff_registry_t *registry, uint64_t listener,
    ngx_uint_t count_idle_masters);

/*
 * Has another worker of this config fewer connections than this one, which has
 * load?  Others learn the load.
 */
ngx_uint_t ngx_tg_handoff_registry_has_less_load(
    ngx_tg_handoff_registry_t *registry, uint64_t load);

/* Is another worker of a newest config about to serve, but still starting? */
ngx_uint_t ngx_tg_handoff_registry_has_starting(
    const ngx_tg_handoff_registry_t *registry);

#endif
