/*
 * Registry of the workers that receive sessions: shared memory of all masters
 * and workers of one NGINX, over reloads and binary upgrades. A master records
 * the listeners of its newest config before its workers start; a worker records
 * its config and whether it serves. A killed worker is detected by its file
 * lock, which the kernel releases, and a killed master by its pid. The memory
 * outlives the module's shared objects, so NGX_TG_HANDOFF_REGISTRY_MAGIC must
 * change with the layout.
 */
#ifndef _NGX_TG_HANDOFF_REGISTRY_H_INCLUDED_
#define _NGX_TG_HANDOFF_REGISTRY_H_INCLUDED_

#include "nginx/shm/ngx_tg_shm.h"

/*
 * Maximum number of master records. At most two masters run at a time; the
 * others were killed.
 */
#define NGX_TG_HANDOFF_MASTERS_MAX 16
/*
 * Maximum number of workers; NGINX limits a master to 1024, including old
 * workers.
 */
#define NGX_TG_HANDOFF_WORKERS_MAX 2048
/*
 * Maximum number of addresses of a config; with more, every address counts as a
 * listener.
 */
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

/*
 * Maps a registry. Returns NULL if fd is not a registry, after logging
 * unexpected errors.
 */
ngx_tg_handoff_registry_t *ngx_tg_handoff_registry_map(ngx_fd_t fd,
                                                       ngx_log_t *log);
void ngx_tg_handoff_registry_unmap(ngx_tg_handoff_registry_t *registry);

/* --- master --- */

/* Adds a record for this master. Returns its index, or -1 if all are in use. */
ngx_int_t ngx_tg_handoff_registry_add_master(
    ngx_tg_handoff_registry_t *registry);

/*
 * Publishes the config of this master's next workers. Returns its generation.
 */
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

/*
 * Adds a record for this worker, which is starting. Returns NGX_OK, or
 * NGX_DECLINED if all records are in use.
 */
ngx_int_t ngx_tg_handoff_registry_add_worker(
    ngx_tg_handoff_registry_t *registry, ngx_fd_t fd, ngx_int_t master,
    uint64_t generation);

/* Registers this worker as receiving sessions. */
void ngx_tg_handoff_registry_set_serving(ngx_tg_handoff_registry_t *registry);

/* Checks whether this worker's config is its master's newest. */
ngx_uint_t ngx_tg_handoff_registry_is_newest(
    ngx_tg_handoff_registry_t *registry);

/* Registers this worker as leaving. */
void ngx_tg_handoff_registry_set_leaving(ngx_tg_handoff_registry_t *registry);

/* Registers this worker as not receiving any more. */
void ngx_tg_handoff_registry_set_stopped(ngx_tg_handoff_registry_t *registry);

/*
 * Returns the state of the other workers that receive sessions of a listener;
 * 0: of any listener. With count_idle_masters, another master that is stopping
 * its workers counts as starting, because it may start some again.
 */
ngx_tg_receiver_state_t ngx_tg_handoff_registry_find_receiver(
    ngx_tg_handoff_registry_t *registry, uint64_t listener,
    ngx_uint_t count_idle_masters);

/*
 * Checks whether another worker of this config has fewer connections than this
 * worker's load. Publishes the load.
 */
ngx_uint_t ngx_tg_handoff_registry_has_less_load(
    ngx_tg_handoff_registry_t *registry, uint64_t load);

/* Checks whether another worker of a newest config is still starting. */
ngx_uint_t ngx_tg_handoff_registry_has_starting(
    const ngx_tg_handoff_registry_t *registry);

#endif
