/*
 * Registry of the workers that receive sessions, in memory shared over reloads
 * and binary upgrades. A master records its newest listeners before it starts
 * workers; a worker records its config and state. A file lock shows that a
 * worker lives, the pid that a master lives. The memory outlives shared
 * objects: change NGX_TG_HANDOFF_REGISTRY_MAGIC with the layout.
 */
#ifndef _NGX_TG_HANDOFF_REGISTRY_H_INCLUDED_
#define _NGX_TG_HANDOFF_REGISTRY_H_INCLUDED_

#include "nginx/shm/ngx_tg_shm.h"

/* Maximum number of masters. At most two run; the others were killed. */
#define NGX_TG_HANDOFF_MASTERS_MAX 16
/* Maximum number of workers; NGINX limits a master to 1024. */
#define NGX_TG_HANDOFF_WORKERS_MAX 2048
/* Maximum number of addresses of a config; with more, any address counts. */
#define NGX_TG_HANDOFF_LISTENERS_MAX 120

typedef struct ngx_tg_handoff_registry_s ngx_tg_handoff_registry_t;

/* State of the workers that may receive a session. */
typedef enum {
    NGX_TG_RECEIVER_NONE = 0,
    /* workers are expected, or still load libraries */
    NGX_TG_RECEIVER_STARTING,
    /* a master is writing its config's record: ask again in a moment */
    NGX_TG_RECEIVER_UNKNOWN,
    NGX_TG_RECEIVER_READY
} ngx_tg_receiver_state_t;

/* Creates a registry. Returns its descriptor, or -1 after logging. */
ngx_fd_t ngx_tg_handoff_registry_create(ngx_log_t *log);

/* Maps a registry. Returns NULL, without logging if fd is no registry. */
ngx_tg_handoff_registry_t *ngx_tg_handoff_registry_map(ngx_fd_t fd,
                                                       ngx_log_t *log);
void ngx_tg_handoff_registry_unmap(ngx_tg_handoff_registry_t *registry);

/* --- master --- */

/* Adds a record for this master. Returns its index, or -1 if all are in use. */
ngx_int_t ngx_tg_handoff_registry_add_master(
    ngx_tg_handoff_registry_t *registry);

/* Publishes the config of this master's next workers. Returns its number. */
uint64_t ngx_tg_handoff_registry_set_config(ngx_tg_handoff_registry_t *registry,
                                            ngx_int_t master,
                                            const uint64_t *listeners,
                                            ngx_uint_t n);

/* Returns the hash of a listener's address, never 0. */
uint64_t ngx_tg_sockaddr_hash(struct sockaddr *sockaddr, socklen_t socklen);

/* Returns the hash of a listener whose sessions cannot move. */
uint64_t ngx_tg_sockaddr_hash_fixed(struct sockaddr *sockaddr,
                                    socklen_t socklen);

/* --- worker --- */

/* Adds a record for this worker. NGX_DECLINED: all records are in use. */
ngx_int_t ngx_tg_handoff_registry_add_worker(
    ngx_tg_handoff_registry_t *registry, ngx_fd_t fd, ngx_int_t master,
    uint64_t generation);

void ngx_tg_handoff_registry_set_serving(ngx_tg_handoff_registry_t *registry);

/* Checks whether this worker's config is its master's newest. */
ngx_uint_t ngx_tg_handoff_registry_is_newest(
    ngx_tg_handoff_registry_t *registry);

void ngx_tg_handoff_registry_set_leaving(ngx_tg_handoff_registry_t *registry);

void ngx_tg_handoff_registry_set_stopped(ngx_tg_handoff_registry_t *registry);

/*
 * Returns the state of the other workers that receive sessions of a listener;
 * 0: of any. count_idle_masters: a master that stops its workers counts as
 * starting, because it may start some again.
 */
ngx_tg_receiver_state_t ngx_tg_handoff_registry_find_receiver(
    ngx_tg_handoff_registry_t *registry, uint64_t listener,
    ngx_uint_t count_idle_masters);

/* Publishes the load, and checks whether another worker has less. */
ngx_uint_t ngx_tg_handoff_registry_has_less_load(
    ngx_tg_handoff_registry_t *registry, uint64_t load);

ngx_uint_t ngx_tg_handoff_registry_has_starting(
    const ngx_tg_handoff_registry_t *registry);

#endif
