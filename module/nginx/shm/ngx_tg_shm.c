/*
 * Inheritance from a master to workers and a new binary, through descriptors in
 * the master's environment: the module's static data is lost when its shared
 * object is replaced. Also locks, worker slots and addresses of servers.
 */
#include "nginx/shm/ngx_tg_shm.h"

#include <sys/mman.h>

ngx_int_t
ngx_tg_export_to_new_binary(ngx_cycle_t *cycle, const char *name,
                            const char *value)
{
    ngx_core_conf_t *ccf;
    ngx_str_t *var;
    size_t size;

    if (setenv(name, value, 1) == -1) {
        return NGX_ERROR;
    }

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);
    var = ngx_array_push(&ccf->env);

    if (var == NULL) {
        return NGX_ERROR;
    }

    size = ngx_strlen(name) + ngx_strlen(value) + 2;
    var->data = ngx_pnalloc(cycle->pool, size);

    if (var->data == NULL) {
        ccf->env.nelts--;
        return NGX_ERROR;
    }

    /* Like `env NAME=VALUE`, where len is the length of the name. */
    (void) ngx_snprintf(var->data, size, "%s=%s%Z", name, value);
    var->len = ngx_strlen(name);

    return NGX_OK;
}

/* --- shared memory --- */

ngx_fd_t
ngx_tg_shm_create(const char *name, size_t size, uint64_t magic, ngx_log_t *log)
{
    ngx_fd_t fd;

    fd = memfd_create(name, 0);

    if (fd != -1 && ftruncate(fd, (off_t) size) == 0
        && pwrite(fd, &magic, sizeof(magic), 0) == (ssize_t) sizeof(magic))
    {
        return fd;
    }

    ngx_log_error(NGX_LOG_ERR, log, ngx_errno,
                  "shared memory \"%s\" cannot be created", name);

    if (fd != -1) {
        (void) close(fd);
    }

    return -1;
}

void *
ngx_tg_shm_map(ngx_fd_t fd, size_t size, uint64_t magic, ngx_log_t *log)
{
    struct stat st;
    void *memory;

    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)
        || st.st_size != (off_t) size) {
        return NULL;
    }

    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED) {
        ngx_log_error(NGX_LOG_ERR, log, ngx_errno, "mmap() failed");
        return NULL;
    }

    if (*(uint64_t *) memory != magic) {
        (void) munmap(memory, size);
        return NULL;
    }

    return memory;
}

ngx_int_t
ngx_tg_shm_mutex_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;
    int rc;

    rc = pthread_mutexattr_init(&attr);

    if (rc == 0) {
        (void) pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
        (void) pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
        rc = pthread_mutex_init(lock, &attr);
        (void) pthread_mutexattr_destroy(&attr);
    }

    return rc == 0 ? NGX_OK : NGX_ERROR;
}

void
ngx_tg_shm_mutex_lock(pthread_mutex_t *lock)
{
    if (pthread_mutex_lock(lock) == EOWNERDEAD) {
        /* Every change under the lock is complete, or invisible to others. */
        (void) pthread_mutex_consistent(lock);
    }
}

void
ngx_tg_shm_mutex_unlock(pthread_mutex_t *lock)
{
    (void) pthread_mutex_unlock(lock);
}

/* --- worker slots --- */

static struct flock
ngx_tg_shm_worker_slot_flock(ngx_uint_t slot)
{
    struct flock lock;

    ngx_memzero(&lock, sizeof(lock));
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t) slot;
    lock.l_len = 1;

    return lock;
}

ngx_int_t
ngx_tg_shm_worker_slot_lock(ngx_fd_t fd, ngx_uint_t n)
{
    struct flock lock;
    ngx_uint_t i;

    for (i = 0; i < n; i++) {
        lock = ngx_tg_shm_worker_slot_flock(i);

        if (fcntl(fd, F_SETLK, &lock) == 0) {
            return (ngx_int_t) i;
        }
    }

    return -1;
}

ngx_uint_t
ngx_tg_shm_worker_slot_is_locked(ngx_fd_t fd, ngx_uint_t slot)
{
    struct flock lock;

    lock = ngx_tg_shm_worker_slot_flock(slot);

    return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* --- addresses --- */

ngx_stream_addr_conf_t *
ngx_tg_listener_get_addr_conf(const ngx_listening_t *ls, ngx_uint_t i)
{
    ngx_stream_port_t *port;

    port = ls->servers;

#if (NGX_HAVE_INET6)
    if (ls->sockaddr->sa_family == AF_INET6) {
        return &((ngx_stream_in6_addr_t *) port->addrs)[i].conf;
    }
#endif

    return &((ngx_stream_in_addr_t *) port->addrs)[i].conf;
}

ngx_stream_conf_ctx_t *
ngx_tg_addr_conf_get_ctx(const ngx_stream_addr_conf_t *addr)
{
#if (nginx_version >= 1025005)
    return addr->default_server->ctx;
#else
    return addr->ctx;
#endif
}

ngx_tg_srv_conf_t *
ngx_tg_addr_conf_get_server(const ngx_stream_addr_conf_t *addr)
{
    ngx_tg_srv_conf_t *scf;

    scf = ngx_tg_addr_conf_get_ctx(addr)
              ->srv_conf[ngx_stream_toolgate_module.ctx_index];

    return scf->catalog != NULL ? scf : NULL;
}

size_t
ngx_tg_listener_write_addr(const ngx_listening_t *ls, ngx_uint_t i,
                           u_char *room)
{
    ngx_stream_port_t *port;
    ngx_sockaddr_t sa;

    port = ls->servers;
    ngx_memcpy(&sa, ls->sockaddr, ls->socklen);

    switch (sa.sockaddr.sa_family) {
    case AF_INET:
        sa.sockaddr_in.sin_addr.s_addr =
            ((ngx_stream_in_addr_t *) port->addrs)[i].addr;
        break;
#if (NGX_HAVE_INET6)
    case AF_INET6:
        sa.sockaddr_in6.sin6_addr =
            ((ngx_stream_in6_addr_t *) port->addrs)[i].addr6;
        break;
#endif
    default:
        break;
    }

    return ngx_sock_ntop(&sa.sockaddr, ls->socklen, room, NGX_SOCKADDR_STRLEN,
                         1);
}

tg_str_t
ngx_tg_listener_write_address(const ngx_listening_t *ls,
                              const ngx_tg_srv_conf_t *scf, u_char *room)
{
    ngx_stream_port_t *port;
    ngx_uint_t i;

    port = ls->servers;

    for (i = 0; i < port->naddrs; i++) {
        if (ngx_tg_addr_conf_get_server(ngx_tg_listener_get_addr_conf(ls, i))
            == scf) {
            return tg_str((char *) room,
                          ngx_tg_listener_write_addr(ls, i, room));
        }
    }

    return TG_STR_NONE;
}

uint64_t
ngx_tg_listener_get_address_hash(const ngx_listening_t *ls,
                                 const ngx_tg_srv_conf_t *scf)
{
    u_char room[NGX_SOCKADDR_STRLEN];
    tg_str_t text;

    text = ngx_tg_listener_write_address(ls, scf, room);

    return text.data != NULL ? tg_hash_fnv1a(TG_HASH_INIT, text) : 0;
}

ngx_uint_t
ngx_tg_address_set_contains(const ngx_tg_address_set_t *addresses,
                            uint64_t address)
{
    ngx_uint_t i;

    for (i = 0; i < addresses->n; i++) {
        if (addresses->hash[i] == address) {
            return 1;
        }
    }

    return 0;
}
