/*
 * The page on which masters and workers say who takes sessions.
 */
#include "nginx/move/ngx_toolgate_takers.h"

#include <sys/mman.h>

/* "TGbook" and the version of this layout. */
#define NGX_TOOLGATE_TAKERS_MAGIC UINT64_C(0x5447626f6f6b0002)

#define ngx_toolgate_load(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define ngx_toolgate_store(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)

typedef struct {
    int32_t pid;         /* 0: the record was never used */
    uint32_t nlisteners; /* more than fit: any */
    uint64_t generation; /* 0: it is being written */
    uint64_t leaving;    /* the generation that was told to exit */
    uint64_t listeners[NGX_TOOLGATE_TAKERS_LISTENERS];
} ngx_toolgate_master_t;

/* What a worker says of itself. */
#define NGX_TOOLGATE_TAKES_NOTHING 0
#define NGX_TOOLGATE_SERVES 1
#define NGX_TOOLGATE_STAYS 2 /* it was told to exit, and takes what comes */

typedef struct {
    uint32_t master;
    uint32_t is_serving; /* one of them */
    uint64_t generation;
    uint64_t load; /* its connections, when it was last asked to take one */
} ngx_toolgate_worker_t;

struct ngx_toolgate_takers_s {
    uint64_t magic;
    uint64_t generation; /* the last one that was given away */
    ngx_toolgate_master_t masters[NGX_TOOLGATE_TAKERS_MASTERS];
    ngx_toolgate_worker_t workers[NGX_TOOLGATE_TAKERS_WORKERS];
};

/* This worker's place; -1: none. */
static ngx_int_t ngx_toolgate_takers_place = -1;
static ngx_fd_t ngx_toolgate_takers_fd = -1;

ngx_fd_t
ngx_toolgate_takers_create(ngx_log_t *log)
{
    return ngx_toolgate_memory_create("toolgate-takers",
                                      sizeof(ngx_toolgate_takers_t),
                                      NGX_TOOLGATE_TAKERS_MAGIC, log);
}

ngx_toolgate_takers_t *
ngx_toolgate_takers_map(ngx_fd_t fd, ngx_log_t *log)
{
    return ngx_toolgate_memory_map(fd, sizeof(ngx_toolgate_takers_t),
                                   NGX_TOOLGATE_TAKERS_MAGIC, log);
}

void
ngx_toolgate_takers_unmap(ngx_toolgate_takers_t *takers)
{
    (void) munmap(takers, sizeof(ngx_toolgate_takers_t));
}

/* --- in a master --- */

static ngx_uint_t
ngx_toolgate_is_alive(int32_t pid)
{
    return kill(pid, 0) == 0 || ngx_errno == NGX_EPERM;
}

ngx_int_t
ngx_toolgate_takers_enrol(ngx_toolgate_takers_t *takers)
{
    ngx_toolgate_master_t *master;
    ngx_uint_t i, is_again;

    /* Those never used first: a daemon's process is not yet its last one. */
    for (is_again = 0; is_again < 2; is_again++) {
        for (i = 0; i < NGX_TOOLGATE_TAKERS_MASTERS; i++) {
            master = &takers->masters[i];

            if (is_again ? !ngx_toolgate_is_alive(master->pid)
                         : master->pid == 0) {
                ngx_toolgate_store(&master->generation, 0);
                ngx_toolgate_store(&master->pid, (int32_t) ngx_getpid());
                return (ngx_int_t) i;
            }
        }
    }

    return -1;
}

uint64_t
ngx_toolgate_takers_offer(ngx_toolgate_takers_t *takers, ngx_int_t index,
                          const uint64_t *listeners, ngx_uint_t n)
{
    ngx_toolgate_master_t *master;
    uint64_t generation;
    ngx_uint_t i;

    master = &takers->masters[index];
    ngx_toolgate_store(&master->generation, 0);
    ngx_toolgate_store(&master->pid, (int32_t) ngx_getpid());
    master->nlisteners = (uint32_t) n;

    for (i = 0; i < n && i < NGX_TOOLGATE_TAKERS_LISTENERS; i++) {
        master->listeners[i] = listeners[i];
    }

    generation = __atomic_add_fetch(&takers->generation, 1, __ATOMIC_SEQ_CST);
    ngx_toolgate_store(&master->generation, generation);

    return generation;
}

uint64_t
ngx_toolgate_takers_hash(struct sockaddr *sockaddr, socklen_t socklen)
{
    struct sockaddr_un *saun;
    uint64_t hash;

    if (sockaddr->sa_family == AF_UNIX) {
        /* What is behind the end of a path is anything. */
        saun = (struct sockaddr_un *) sockaddr;
        hash = tg_hash64(TG_HASH64, tg_str(saun->sun_path,
                                           strnlen(saun->sun_path,
                                                   sizeof(saun->sun_path))));
    } else {
        hash = tg_hash64(TG_HASH64, tg_str((char *) sockaddr, socklen));
    }

    return hash != 0 ? hash : 1;
}

uint64_t
ngx_toolgate_takers_hash_fixed(struct sockaddr *sockaddr, socklen_t socklen)
{
    uint64_t hash;

    hash = ~ngx_toolgate_takers_hash(sockaddr, socklen);

    return hash != 0 ? hash : 1;
}

/* --- in a worker --- */

ngx_int_t
ngx_toolgate_takers_join(ngx_toolgate_takers_t *takers, ngx_fd_t fd,
                         ngx_int_t index, uint64_t generation)
{
    ngx_toolgate_master_t *master;
    ngx_toolgate_worker_t *worker;
    ngx_int_t place;

    ngx_toolgate_takers_fd = fd;
    place = ngx_toolgate_place_take(fd, NGX_TOOLGATE_TAKERS_WORKERS);

    if (place == -1) {
        return NGX_DECLINED;
    }

    master = &takers->masters[index];
    ngx_toolgate_store(&master->pid, (int32_t) ngx_parent);

    /* A master that was sent away and called back starts workers anew. */
    if (ngx_toolgate_load(&master->leaving) == generation) {
        ngx_toolgate_store(&master->leaving, 0);
    }

    ngx_toolgate_takers_place = place;
    worker = &takers->workers[place];
    ngx_toolgate_store(&worker->is_serving, NGX_TOOLGATE_TAKES_NOTHING);
    worker->master = (uint32_t) index;
    worker->generation = generation;
    ngx_toolgate_store(&worker->load, 0);

    return NGX_OK;
}

static void
ngx_toolgate_takers_set(ngx_toolgate_takers_t *takers, uint32_t is_serving)
{
    if (ngx_toolgate_takers_place != -1) {
        ngx_toolgate_store(
            &takers->workers[ngx_toolgate_takers_place].is_serving, is_serving);
    }
}

void
ngx_toolgate_takers_serve(ngx_toolgate_takers_t *takers)
{
    ngx_toolgate_takers_set(takers, NGX_TOOLGATE_SERVES);
}

void
ngx_toolgate_takers_stop(ngx_toolgate_takers_t *takers)
{
    ngx_toolgate_takers_set(takers, NGX_TOOLGATE_TAKES_NOTHING);
}

ngx_uint_t
ngx_toolgate_takers_is_newest(ngx_toolgate_takers_t *takers)
{
    ngx_toolgate_worker_t *worker;

    if (ngx_toolgate_takers_place == -1) {
        return 0;
    }

    worker = &takers->workers[ngx_toolgate_takers_place];

    return ngx_toolgate_load(&takers->masters[worker->master].generation)
           == worker->generation;
}

void
ngx_toolgate_takers_leave(ngx_toolgate_takers_t *takers)
{
    ngx_toolgate_worker_t *worker;

    if (ngx_toolgate_takers_place == -1) {
        return;
    }

    worker = &takers->workers[ngx_toolgate_takers_place];

    if (ngx_toolgate_load(&worker->is_serving) == NGX_TOOLGATE_SERVES) {
        ngx_toolgate_store(&worker->is_serving, NGX_TOOLGATE_STAYS);
    }

    /* No newer config is there: the master itself leaves, or steps back. */
    if (ngx_toolgate_takers_is_newest(takers)) {
        ngx_toolgate_store(&takers->masters[worker->master].leaving,
                           worker->generation);
    }
}

static ngx_uint_t
ngx_toolgate_has_listener(const ngx_toolgate_master_t *master,
                          uint64_t listener)
{
    ngx_uint_t i;

    if (listener == 0) {
        return master->nlisteners != 0;
    }

    if (master->nlisteners > NGX_TOOLGATE_TAKERS_LISTENERS) {
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
 * Does another worker of this config serve, and does it live?  One of a config
 * between that and this worker's takes sessions, too, until it is relieved:
 * with reloads faster than libraries load there may be no other.
 */
static ngx_uint_t
ngx_toolgate_has_worker(ngx_toolgate_takers_t *takers, ngx_uint_t master,
                        uint64_t generation)
{
    const ngx_toolgate_worker_t *own, *worker;
    ngx_uint_t i;
    uint32_t is_serving;

    own = ngx_toolgate_takers_place != -1
              ? &takers->workers[ngx_toolgate_takers_place]
              : NULL;

    for (i = 0; i < NGX_TOOLGATE_TAKERS_WORKERS; i++) {
        worker = &takers->workers[i];
        is_serving = ngx_toolgate_load(&worker->is_serving);

        if (worker == own || is_serving == NGX_TOOLGATE_TAKES_NOTHING
            || worker->master != master
            || (worker->generation == generation
                    ? is_serving != NGX_TOOLGATE_SERVES
                    : own == NULL || own->master != master
                          || worker->generation <= own->generation))
        {
            continue;
        }

        /* One's own lock is not seen, which was left out above. */
        if (ngx_toolgate_place_is_taken(ngx_toolgate_takers_fd, i)) {
            return 1;
        }
    }

    return 0;
}

ngx_toolgate_taker_t
ngx_toolgate_takers_taker(ngx_toolgate_takers_t *takers, uint64_t listener,
                          ngx_uint_t is_hoping)
{
    ngx_toolgate_master_t *master;
    ngx_toolgate_taker_t taker;
    ngx_uint_t i, own;
    uint64_t generation;

    taker = NGX_TOOLGATE_TAKER_NONE;
    own = ngx_toolgate_takers_place != -1
              ? takers->workers[ngx_toolgate_takers_place].master
              : NGX_TOOLGATE_TAKERS_MASTERS;

    for (i = 0; i < NGX_TOOLGATE_TAKERS_MASTERS; i++) {
        master = &takers->masters[i];

        if (ngx_toolgate_load(&master->pid) == 0) {
            continue;
        }

        generation = ngx_toolgate_load(&master->generation);

        if (generation != 0 && !ngx_toolgate_has_listener(master, listener)) {
            continue;
        }

        if (generation != 0 && ngx_toolgate_has_worker(takers, i, generation)) {
            return NGX_TOOLGATE_TAKER_READY;
        }

        if ((generation == 0
             || ngx_toolgate_load(&master->leaving) != generation
             || (is_hoping && i != own))
            && ngx_toolgate_is_alive(master->pid))
        {
            taker = NGX_TOOLGATE_TAKER_SOON;
        }
    }

    return taker;
}

/* Is a worker of the same config as this one, another one, and does it live? */
static ngx_uint_t
ngx_toolgate_takers_is_fellow(const ngx_toolgate_takers_t *takers, ngx_uint_t i)
{
    const ngx_toolgate_worker_t *own, *worker;

    own = &takers->workers[ngx_toolgate_takers_place];
    worker = &takers->workers[i];

    return worker != own && worker->master == own->master
           && worker->generation == own->generation
           && ngx_toolgate_load(&worker->is_serving) == NGX_TOOLGATE_SERVES
           && ngx_toolgate_place_is_taken(ngx_toolgate_takers_fd, i);
}

ngx_uint_t
ngx_toolgate_takers_has_less(ngx_toolgate_takers_t *takers, uint64_t load)
{
    ngx_toolgate_worker_t *worker;
    ngx_uint_t i;

    if (ngx_toolgate_takers_place == -1) {
        return 0;
    }

    ngx_toolgate_store(&takers->workers[ngx_toolgate_takers_place].load, load);

    for (i = 0; i < NGX_TOOLGATE_TAKERS_WORKERS; i++) {
        worker = &takers->workers[i];

        if (worker->generation != 0
            && ngx_toolgate_load(&worker->load) + 1 < load
            && ngx_toolgate_takers_is_fellow(takers, i))
        {
            return 1;
        }
    }

    return 0;
}

ngx_uint_t
ngx_toolgate_takers_is_starting(const ngx_toolgate_takers_t *takers)
{
    const ngx_toolgate_worker_t *worker;
    ngx_uint_t i;

    for (i = 0; i < NGX_TOOLGATE_TAKERS_WORKERS; i++) {
        worker = &takers->workers[i];

        if (worker->generation != 0
            && ngx_toolgate_load(&takers->masters[worker->master].generation)
                   == worker->generation
            && ngx_toolgate_load(&worker->is_serving)
                   == NGX_TOOLGATE_TAKES_NOTHING
            && (ngx_int_t) i != ngx_toolgate_takers_place
            && ngx_toolgate_place_is_taken(ngx_toolgate_takers_fd, i))
        {
            return 1;
        }
    }

    return 0;
}
