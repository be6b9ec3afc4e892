/*
 * The page in master and worker: creation, inheritance, lock and wakeup. The
 * wakeup descriptor is never read: each write is one edge-triggered event for
 * every worker.
 */
#include "nginx/shm/ngx_tg_shm_page.h"

#include <sys/eventfd.h>
#include <sys/mman.h>

/* Format "page;wake": two descriptors. */
#define NGX_TG_SHM_PAGE_ENV_VAR "TOOLGATE_SHARE"

/* Poll interval in ms, if there are no edge-triggered events. */
#define NGX_TG_SHM_PAGE_POLL_INTERVAL 10

ngx_tg_shm_page_t *ngx_tg_shm_page;

static int ngx_tg_shm_page_fd = -1;
static int ngx_tg_shm_page_wake_fd = -1;

/* state of a worker */
static ngx_uint_t ngx_tg_shm_page_worker_slot;
static ngx_connection_t *ngx_tg_shm_page_wake_connection;
static ngx_event_t ngx_tg_shm_page_poll_event;
static void (*ngx_tg_shm_page_on_wake)(void);

/* --- master --- */

static ngx_tg_shm_page_t *
ngx_tg_shm_page_map(int fd, ngx_log_t *log)
{
    return ngx_tg_shm_map(fd, sizeof(ngx_tg_shm_page_t), NGX_TG_SHM_PAGE_MAGIC,
                          log);
}

static void
ngx_tg_shm_page_unmap(ngx_tg_shm_page_t *page)
{
    (void) munmap(page, sizeof(ngx_tg_shm_page_t));
}

/* Finds the page that this master or its predecessor created. */
static ngx_int_t
ngx_tg_shm_page_find(ngx_log_t *log)
{
    ngx_tg_shm_page_t *page;
    int fd, wake;
    const char *value;
    char end;

    value = getenv(NGX_TG_SHM_PAGE_ENV_VAR);

    if (value == NULL || sscanf(value, "%d;%d%c", &fd, &wake, &end) != 2) {
        return NGX_DECLINED;
    }

    page = ngx_tg_shm_page_map(fd, log);

    if (page == NULL) {
        return NGX_DECLINED;
    }

    ngx_tg_shm_page_unmap(page);
    ngx_tg_shm_page_fd = fd;
    ngx_tg_shm_page_wake_fd = wake;

    return NGX_OK;
}

static ngx_int_t
ngx_tg_shm_page_init_memory(int fd, ngx_log_t *log)
{
    ngx_tg_shm_page_t *page;
    ngx_int_t rc;

    page = ngx_tg_shm_page_map(fd, log);

    if (page == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_tg_shm_mutex_init(&page->lock);
    ngx_tg_shm_page_unmap(page);

    return rc;
}

static ngx_int_t
ngx_tg_shm_page_create(ngx_log_t *log)
{
    int fd, wake;

    fd = ngx_tg_shm_create("toolgate-clients", sizeof(ngx_tg_shm_page_t),
                           NGX_TG_SHM_PAGE_MAGIC, log);
    wake = fd != -1 ? eventfd(0, EFD_NONBLOCK) : -1;

    if (wake != -1 && ngx_tg_shm_page_init_memory(fd, log) == NGX_OK) {
        ngx_tg_shm_page_fd = fd;
        ngx_tg_shm_page_wake_fd = wake;
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_ERR, log, ngx_errno,
                  "workers cannot notify each other's clients");

    if (wake != -1) {
        (void) close(wake);
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return NGX_ERROR;
}

void
ngx_tg_shm_page_init(ngx_cycle_t *cycle)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_srv_conf_t **servers;
    ngx_uint_t i, is_needed;
    u_char value[2 * NGX_INT_T_LEN + 2];

    mcf = ngx_tg_cycle_get_main_conf(cycle);
    is_needed = 0;

    if (mcf != NULL) {
        servers = mcf->servers.elts;

        for (i = 0; i < mcf->servers.nelts; i++) {
            is_needed |= servers[i]->needs_shm;
        }
    }

    if (ngx_tg_shm_page_find(cycle->log) != NGX_OK
        && (!is_needed || ngx_tg_shm_page_create(cycle->log) != NGX_OK))
    {
        return;
    }

    (void) ngx_sprintf(value, "%d;%d%Z", ngx_tg_shm_page_fd,
                       ngx_tg_shm_page_wake_fd);

    if (ngx_tg_export_to_new_binary(cycle, NGX_TG_SHM_PAGE_ENV_VAR,
                                    (char *) value)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0, TG_TEXT_NO_MEMORY);
    }
}

/* --- worker --- */

static void
ngx_tg_shm_page_on_event(ngx_event_t *ev)
{
    ngx_tg_shm_page_on_wake();
}

static void
ngx_tg_shm_page_on_poll(ngx_event_t *ev)
{
    ngx_tg_shm_page_on_wake();
    ngx_add_timer(ev, NGX_TG_SHM_PAGE_POLL_INTERVAL);
}

static ngx_int_t
ngx_tg_shm_page_watch(void)
{
    ngx_connection_t *c;

    if (!(ngx_event_flags & NGX_USE_CLEAR_EVENT)) {
        ngx_tg_shm_page_poll_event.handler = ngx_tg_shm_page_on_poll;
        ngx_tg_shm_page_poll_event.data = &ngx_tg_dummy_connection;
        ngx_tg_shm_page_poll_event.log = ngx_cycle->log;
        ngx_tg_shm_page_poll_event.cancelable = 1;
        ngx_add_timer(&ngx_tg_shm_page_poll_event,
                      NGX_TG_SHM_PAGE_POLL_INTERVAL);
        return NGX_OK;
    }

    c = ngx_get_connection(ngx_tg_shm_page_wake_fd, ngx_cycle->log);

    if (c == NULL) {
        return NGX_ERROR;
    }

    c->log = ngx_cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_tg_shm_page_on_event;
    c->read->channel = 1; /* not reported as an open socket left at exit */

    if (ngx_add_event(c->read, NGX_READ_EVENT, NGX_CLEAR_EVENT) != NGX_OK) {
        ngx_free_connection(c);
        c->fd = (ngx_socket_t) -1;
        return NGX_ERROR;
    }

    ngx_tg_shm_page_wake_connection = c;

    return NGX_OK;
}

static ngx_int_t
ngx_tg_server_init_addresses(ngx_cycle_t *cycle,
                             ngx_connection_handler_pt listener_handler,
                             ngx_tg_srv_conf_t *scf)
{
    ngx_listening_t *ls;
    uint64_t *hash;
    ngx_uint_t i, n;

    ls = cycle->listening.elts;
    hash = ngx_palloc(cycle->pool, cycle->listening.nelts * sizeof(uint64_t));

    if (hash == NULL) {
        return NGX_ERROR;
    }

    for (i = 0, n = 0; i < cycle->listening.nelts; i++) {
        hash[n] = ls[i].handler == listener_handler
                      ? ngx_tg_listener_get_address_hash(&ls[i], scf)
                      : 0;
        n += hash[n] != 0;
    }

    scf->addresses.hash = hash;
    scf->addresses.n = n;

    return NGX_OK;
}

static ngx_int_t
ngx_tg_shm_page_join(ngx_cycle_t *cycle)
{
    ngx_tg_shm_page_t *page;
    ngx_int_t slot;

    page = ngx_tg_shm_page_map(ngx_tg_shm_page_fd, cycle->log);
    slot = page != NULL ? ngx_tg_shm_worker_slot_lock(ngx_tg_shm_page_fd,
                                                      NGX_TG_WORKERS_MAX)
                        : -1;

    if (slot == -1) {
        return NGX_ERROR;
    }

    ngx_tg_shm_page_worker_slot = (ngx_uint_t) slot;
    ngx_tg_shm_page = page;

    ngx_tg_shm_page_lock();

    if (page->nreaders <= ngx_tg_shm_page_worker_slot) {
        page->nreaders = (uint32_t) ngx_tg_shm_page_worker_slot + 1;
    }

    /* Free what the slot's previous owner left, before this worker uses it. */
    page->readers[slot].pid = 0;
    ngx_tg_shm_page_sweep();
    page->readers[slot].read = page->head;
    page->readers[slot].since = ngx_current_msec;
    page->readers[slot].pid = (int32_t) ngx_pid;
    ngx_tg_shm_page_unlock();

    return NGX_OK;
}

void
ngx_tg_shm_page_start_worker(ngx_cycle_t *cycle,
                             ngx_connection_handler_pt listener_handler,
                             void (*wake)(void))
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_srv_conf_t **servers;
    ngx_uint_t i;
    ngx_int_t rc;

    /* Child processes of this worker must not inherit the variable. */
    (void) unsetenv(NGX_TG_SHM_PAGE_ENV_VAR);

    if (ngx_tg_shm_page_fd == -1) {
        return;
    }

    (void) fcntl(ngx_tg_shm_page_fd, F_SETFD, FD_CLOEXEC);
    (void) fcntl(ngx_tg_shm_page_wake_fd, F_SETFD, FD_CLOEXEC);
    ngx_tg_shm_page_on_wake = wake;
    mcf = ngx_tg_cycle_get_main_conf(cycle);
    servers = mcf->servers.elts;
    rc = NGX_OK;

    for (i = 0; i < mcf->servers.nelts && rc == NGX_OK; i++) {
        rc = ngx_tg_server_init_addresses(cycle, listener_handler, servers[i]);
    }

    if (rc != NGX_OK || ngx_tg_shm_page_watch() != NGX_OK
        || ngx_tg_shm_page_join(cycle) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0,
                      "clients of this worker receive no notifications from "
                      "other workers");
    }
}

void
ngx_tg_shm_page_exit_worker(void)
{
    if (ngx_tg_shm_page != NULL) {
        ngx_tg_shm_page_get_reader()->read = NGX_TG_BROADCAST_READER_IDLE;
    }

    if (ngx_tg_shm_page_wake_connection != NULL) {
        ngx_free_connection(ngx_tg_shm_page_wake_connection);
        ngx_tg_shm_page_wake_connection->fd = (ngx_socket_t) -1;
        ngx_tg_shm_page_wake_connection = NULL;
    }
}

ngx_tg_broadcast_reader_t *
ngx_tg_shm_page_get_reader(void)
{
    return &ngx_tg_shm_page->readers[ngx_tg_shm_page_worker_slot];
}

ngx_uint_t
ngx_tg_shm_page_get_worker_slot(void)
{
    return ngx_tg_shm_page_worker_slot;
}

ngx_uint_t
ngx_tg_shm_page_is_worker_alive(ngx_uint_t slot)
{
    if (slot == ngx_tg_shm_page_worker_slot) {
        return ngx_tg_shm_page_get_reader()->pid == (int32_t) ngx_pid;
    }

    return ngx_tg_shm_worker_slot_is_locked(ngx_tg_shm_page_fd, slot);
}

void
ngx_tg_shm_page_lock(void)
{
    ngx_tg_shm_mutex_lock(&ngx_tg_shm_page->lock);
}

void
ngx_tg_shm_page_unlock(void)
{
    ngx_tg_shm_mutex_unlock(&ngx_tg_shm_page->lock);
}

void
ngx_tg_shm_page_wake_workers(void)
{
    static const uint64_t one = 1;

    (void) !write(ngx_tg_shm_page_wake_fd, &one, sizeof(one));
}

void
ngx_tg_shm_page_sweep(void)
{
    ngx_tg_shm_page_t *page;
    ngx_tg_client_row_t *row;
    uint8_t alive[NGX_TG_WORKERS_MAX]; /* state plus 1; 0: not checked yet */
    ngx_uint_t i;

    page = ngx_tg_shm_page;
    ngx_memzero(alive, page->nreaders);

    for (i = 0; i < page->nrows; i++) {
        row = &page->rows[i];

        if (row->state == NGX_TG_CLIENT_ROW_MOVING) {
            if (ngx_tg_shm_page_get_age(row->moved_at)
                > NGX_TG_CLIENT_MOVE_TIMEOUT) {
                row->state = NGX_TG_CLIENT_ROW_FREE;
            }

            continue;
        }

        if (row->state == NGX_TG_CLIENT_ROW_FREE) {
            continue;
        }

        if (alive[row->worker] == 0) {
            alive[row->worker] = 1
                                 + (uint8_t) ngx_tg_shm_page_is_worker_alive(
                                     row->worker);
        }

        if (alive[row->worker] == 1) {
            row->state = NGX_TG_CLIENT_ROW_FREE;
        }
    }
}
