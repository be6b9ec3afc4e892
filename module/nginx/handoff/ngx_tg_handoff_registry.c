/* The registry in which masters and workers record who receives sessions. */
#include "nginx/handoff/ngx_tg_handoff_registry.h"

#include <sys/mman.h>

/* "TGbook" and the version of this layout. */
#define NGX_TG_HANDOFF_REGISTRY_MAGIC UINT64_C(0x5447626f6f6b0002)

#define ngx_tg_atomic_load(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define ngx_tg_atomic_store(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)

typedef struct {
    int32_t pid; /* 0: the record was never used */
    /* more than NGX_TG_HANDOFF_LISTENERS_MAX: any address */
    uint32_t nlisteners;
    uint64_t generation; /* 0: the record is being written */
    uint64_t leaving;    /* generation whose workers must exit */
    uint64_t listeners[NGX_TG_HANDOFF_LISTENERS_MAX];
} ngx_tg_handoff_master_t;

/* States of a worker. */
#define NGX_TG_WORKER_NOT_RECEIVING 0
#define NGX_TG_WORKER_SERVING 1
#define NGX_TG_WORKER_LINGERING 2 /* must exit, but still receives sessions */

typedef struct {
    uint32_t master;
    uint32_t state; /* NGX_TG_WORKER_* */
    uint64_t generation;
    uint64_t load; /* number of connections, when last compared */
} ngx_tg_handoff_worker_t;

struct ngx_tg_handoff_registry_s {
    uint64_t magic;
    uint64_t generation; /* last generation that was assigned */
    ngx_tg_handoff_master_t masters[NGX_TG_HANDOFF_MASTERS_MAX];
    ngx_tg_handoff_worker_t workers[NGX_TG_HANDOFF_WORKERS_MAX];
};

/* Index of this worker's record; -1: none. */
static ngx_int_t ngx_tg_handoff_registry_slot = -1;
static ngx_fd_t ngx_tg_handoff_registry_fd = -1;

ngx_fd_t
ngx_tg_handoff_registry_create(ngx_log_t *log)
{
    return ngx_tg_shm_create("toolgate-takers",
                             sizeof(ngx_tg_handoff_registry_t),
                             NGX_TG_HANDOFF_REGISTRY_MAGIC, log);
}

ngx_tg_handoff_registry_t *
ngx_tg_handoff_registry_map(ngx_fd_t fd, ngx_log_t *log)
{
    return ngx_tg_shm_map(fd, sizeof(ngx_tg_handoff_registry_t),
                          NGX_TG_HANDOFF_REGISTRY_MAGIC, log);
}

void
ngx_tg_handoff_registry_unmap(ngx_tg_handoff_registry_t *registry)
{
    (void) munmap(registry, sizeof(ngx_tg_handoff_registry_t));
}

/* --- master --- */

static ngx_uint_t
ngx_tg_is_process_alive(int32_t pid)
{
    return kill(pid, 0) == 0 || ngx_errno == NGX_EPERM;
}

ngx_int_t
ngx_tg_handoff_registry_add_master(ngx_tg_handoff_registry_t *registry)
{
    ngx_tg_handoff_master_t *master;
    ngx_uint_t i, is_again;

    /* Reuse records last: a daemon's pid changes once more. */
    for (is_again = 0; is_again < 2; is_again++) {
        for (i = 0; i < NGX_TG_HANDOFF_MASTERS_MAX; i++) {
            master = &registry->masters[i];

            if (is_again ? !ngx_tg_is_process_alive(master->pid)
                         : master->pid == 0) {
                ngx_tg_atomic_store(&master->generation, 0);
                ngx_tg_atomic_store(&master->pid, (int32_t) ngx_getpid());
                return (ngx_int_t) i;
            }
        }
    }

    return -1;
}

uint64_t
ngx_tg_handoff_registry_set_config(ngx_tg_handoff_registry_t *registry,
                                   ngx_int_t index, const uint64_t *listeners,
                                   ngx_uint_t n)
{
    ngx_tg_handoff_master_t *master;
    uint64_t generation;
    ngx_uint_t i;

    master = &registry->masters[index];
    ngx_tg_atomic_store(&master->generation, 0);
    ngx_tg_atomic_store(&master->pid, (int32_t) ngx_getpid());
    master->nlisteners = (uint32_t) n;

    for (i = 0; i < n && i < NGX_TG_HANDOFF_LISTENERS_MAX; i++) {
        master->listeners[i] = listeners[i];
    }

    generation = __atomic_add_fetch(&registry->generation, 1, __ATOMIC_SEQ_CST);
    ngx_tg_atomic_store(&master->generation, generation);

    return generation;
}

uint64_t
ngx_tg_sockaddr_hash(struct sockaddr *sockaddr, socklen_t socklen)
{
    struct sockaddr_un *saun;
    uint64_t hash;

    if (sockaddr->sa_family == AF_UNIX) {
        /* Bytes after the end of a path are undefined. */
        saun = (struct sockaddr_un *) sockaddr;
        hash = tg_hash_fnv1a(TG_HASH_INIT,
                             tg_str(saun->sun_path,
                                    strnlen(saun->sun_path,
                                            sizeof(saun->sun_path))));
    } else {
        hash = tg_hash_fnv1a(TG_HASH_INIT, tg_str((char *) sockaddr, socklen));
    }

    return hash != 0 ? hash : 1;
}

uint64_t
ngx_tg_sockaddr_hash_fixed(struct sockaddr *sockaddr, socklen_t socklen)
{
    uint64_t hash;

    hash = ~ngx_tg_sockaddr_hash(sockaddr, socklen);

    return hash != 0 ? hash : 1;
}

/* --- worker --- */

ngx_int_t
ngx_tg_handoff_registry_add_worker(ngx_tg_handoff_registry_t *registry,
                                   ngx_fd_t fd, ngx_int_t index,
                                   uint64_t generation)
{
    ngx_tg_handoff_master_t *master;
    ngx_tg_handoff_worker_t *worker;
    ngx_int_t slot;

    ngx_tg_handoff_registry_fd = fd;
    slot = ngx_tg_shm_worker_slot_lock(fd, NGX_TG_HANDOFF_WORKERS_MAX);

    if (slot == -1) {
        return NGX_DECLINED;
    }

    master = &registry->masters[index];
    ngx_tg_atomic_store(&master->pid, (int32_t) ngx_parent);

    /* The master stopped its workers earlier and is starting workers again. */
    if (ngx_tg_atomic_load(&master->leaving) == generation) {
        ngx_tg_atomic_store(&master->leaving, 0);
    }

    ngx_tg_handoff_registry_slot = slot;
    worker = &registry->workers[slot];
    ngx_tg_atomic_store(&worker->state, NGX_TG_WORKER_NOT_RECEIVING);
    worker->master = (uint32_t) index;
    worker->generation = generation;
    ngx_tg_atomic_store(&worker->load, 0);

    return NGX_OK;
}

static void
ngx_tg_handoff_registry_set_state(ngx_tg_handoff_registry_t *registry,
                                  uint32_t state)
{
    if (ngx_tg_handoff_registry_slot != -1) {
        ngx_tg_atomic_store(
            &registry->workers[ngx_tg_handoff_registry_slot].state, state);
    }
}

void
ngx_tg_handoff_registry_set_serving(ngx_tg_handoff_registry_t *registry)
{
    ngx_tg_handoff_registry_set_state(registry, NGX_TG_WORKER_SERVING);
}

void
ngx_tg_handoff_registry_set_stopped(ngx_tg_handoff_registry_t *registry)
{
    ngx_tg_handoff_registry_set_state(registry, NGX_TG_WORKER_NOT_RECEIVING);
}

ngx_uint_t
ngx_tg_handoff_registry_is_newest(ngx_tg_handoff_registry_t *registry)
{
    ngx_tg_handoff_worker_t *worker;

    if (ngx_tg_handoff_registry_slot == -1) {
        return 0;
    }

    worker = &registry->workers[ngx_tg_handoff_registry_slot];

    return ngx_tg_atomic_load(&registry->masters[worker->master].generation)
           == worker->generation;
}

void
ngx_tg_handoff_registry_set_leaving(ngx_tg_handoff_registry_t *registry)
{
    ngx_tg_handoff_worker_t *worker;

    if (ngx_tg_handoff_registry_slot == -1) {
        return;
    }

    worker = &registry->workers[ngx_tg_handoff_registry_slot];

    if (ngx_tg_atomic_load(&worker->state) == NGX_TG_WORKER_SERVING) {
        ngx_tg_atomic_store(&worker->state, NGX_TG_WORKER_LINGERING);
    }

    /* There is no newer config: the master exits or stops its workers. */
    if (ngx_tg_handoff_registry_is_newest(registry)) {
        ngx_tg_atomic_store(&registry->masters[worker->master].leaving,
                            worker->generation);
    }
}

static ngx_uint_t
ngx_tg_handoff_master_has_listener(const ngx_tg_handoff_master_t *master,
                                   uint64_t listener)
{
    ngx_uint_t i;

    if (listener == 0) {
        return master->nlisteners != 0;
    }

    if (master->nlisteners > NGX_TG_HANDOFF_LISTENERS_MAX) {
        return 1;
    }

    for (i = 0; i < master->nlisteners; i++) {
        if (master->listeners[i] == listener) {
            return 1;
        }
    }

    return 0;
}

/*
 * Checks whether another live worker serves a config from `generation` to this
 * worker's. Older ones count until they must exit: if reloads are faster than
 * the loading of libraries, there may be no newer one.
 */
static ngx_uint_t
ngx_tg_handoff_registry_has_worker(ngx_tg_handoff_registry_t *registry,
                                   ngx_uint_t master, uint64_t generation)
{
    const ngx_tg_handoff_worker_t *own, *worker;
    ngx_uint_t i;
    uint32_t state;

    own = ngx_tg_handoff_registry_slot != -1
              ? &registry->workers[ngx_tg_handoff_registry_slot]
              : NULL;

    for (i = 0; i < NGX_TG_HANDOFF_WORKERS_MAX; i++) {
        worker = &registry->workers[i];
        state = ngx_tg_atomic_load(&worker->state);

        if (worker == own || state == NGX_TG_WORKER_NOT_RECEIVING
            || worker->master != master
            || (worker->generation == generation
                    ? state != NGX_TG_WORKER_SERVING
                    : own == NULL || own->master != master
                          || worker->generation <= own->generation))
        {
            continue;
        }

        /* F_GETLK omits this process's own lock. */
        if (ngx_tg_shm_worker_slot_is_locked(ngx_tg_handoff_registry_fd, i)) {
            return 1;
        }
    }

    return 0;
}

ngx_tg_receiver_state_t
ngx_tg_handoff_registry_find_receiver(ngx_tg_handoff_registry_t *registry,
                                      uint64_t listener,
                                      ngx_uint_t count_idle_masters)
{
    ngx_tg_handoff_master_t *master;
    ngx_tg_receiver_state_t taker;
    ngx_uint_t i, look, own;
    uint64_t generation;

    taker = NGX_TG_RECEIVER_NONE;
    own = ngx_tg_handoff_registry_slot != -1
              ? registry->workers[ngx_tg_handoff_registry_slot].master
              : NGX_TG_HANDOFF_MASTERS_MAX;

    for (i = 0; i < NGX_TG_HANDOFF_MASTERS_MAX; i++) {
        master = &registry->masters[i];

        if (ngx_tg_atomic_load(&master->pid) == 0) {
            continue;
        }

        generation = ngx_tg_atomic_load(&master->generation);

        if (generation == 0) {
            if (ngx_tg_is_process_alive(master->pid)) {
                taker = NGX_TG_RECEIVER_UNKNOWN;
            }

            continue;
        }

        if (!ngx_tg_handoff_master_has_listener(master, listener)) {
            continue;
        }

        /*
         * The second look finds a worker that announced itself during the
         * first, after which another one stopped.
         */
        for (look = 0; look < 2; look++) {
            if (ngx_tg_handoff_registry_has_worker(registry, i, generation)) {
                return NGX_TG_RECEIVER_READY;
            }
        }

        if (taker == NGX_TG_RECEIVER_NONE
            && (ngx_tg_atomic_load(&master->leaving) != generation
                || (count_idle_masters && i != own))
            && ngx_tg_is_process_alive(master->pid))
        {
            taker = NGX_TG_RECEIVER_STARTING;
        }
    }

    return taker;
}

static ngx_uint_t
ngx_tg_handoff_registry_is_sibling(const ngx_tg_handoff_registry_t *registry,
                                   ngx_uint_t i)
{
    const ngx_tg_handoff_worker_t *own, *worker;

    own = &registry->workers[ngx_tg_handoff_registry_slot];
    worker = &registry->workers[i];

    return worker != own && worker->master == own->master
           && worker->generation == own->generation
           && ngx_tg_atomic_load(&worker->state) == NGX_TG_WORKER_SERVING
           && ngx_tg_shm_worker_slot_is_locked(ngx_tg_handoff_registry_fd, i);
}

ngx_uint_t
ngx_tg_handoff_registry_has_less_load(ngx_tg_handoff_registry_t *registry,
                                      uint64_t load)
{
    ngx_tg_handoff_worker_t *worker;
    ngx_uint_t i;

    if (ngx_tg_handoff_registry_slot == -1) {
        return 0;
    }

    ngx_tg_atomic_store(&registry->workers[ngx_tg_handoff_registry_slot].load,
                        load);

    for (i = 0; i < NGX_TG_HANDOFF_WORKERS_MAX; i++) {
        worker = &registry->workers[i];

        if (worker->generation != 0
            && ngx_tg_atomic_load(&worker->load) + 1 < load
            && ngx_tg_handoff_registry_is_sibling(registry, i))
        {
            return 1;
        }
    }

    return 0;
}

ngx_uint_t
ngx_tg_handoff_registry_has_starting(const ngx_tg_handoff_registry_t *registry)
{
    const ngx_tg_handoff_worker_t *worker;
    ngx_uint_t i;

    for (i = 0; i < NGX_TG_HANDOFF_WORKERS_MAX; i++) {
        worker = &registry->workers[i];

        if (worker->generation != 0
            && ngx_tg_atomic_load(&registry->masters[worker->master].generation)
                   == worker->generation
            && ngx_tg_atomic_load(&worker->state) == NGX_TG_WORKER_NOT_RECEIVING
            && (ngx_int_t) i != ngx_tg_handoff_registry_slot
            && ngx_tg_shm_worker_slot_is_locked(ngx_tg_handoff_registry_fd, i))
        {
            return 1;
        }
    }

    return 0;
}
