/*
 * The page in master and worker: made, found, locked, and how workers wake
 * each other.
 *
 * The descriptor that wakes them is never read: to add to it is an event for
 * each worker that watches it, once.
 */
#include "nginx/share/ngx_toolgate_page.h"

#include <sys/eventfd.h>
#include <sys/mman.h>

/* "page;wake": descriptors. */
#define NGX_TOOLGATE_SHARE_VAR "TOOLGATE_SHARE"

/* Where NGINX's events cannot say that something changed. */
#define NGX_TOOLGATE_SHARE_LOOK 10

ngx_toolgate_page_t *ngx_toolgate_page;

static int ngx_toolgate_page_fd = -1;
static int ngx_toolgate_wake_fd = -1;

/* of a worker */
static ngx_uint_t ngx_toolgate_own;
static ngx_connection_t *ngx_toolgate_waking;
static ngx_event_t ngx_toolgate_looking;
static void (*ngx_toolgate_woken)(void);

/* --- in a master --- */

static ngx_toolgate_page_t *
ngx_toolgate_page_map(int fd, ngx_log_t *log)
{
    return ngx_toolgate_memory_map(fd, sizeof(ngx_toolgate_page_t),
                                   NGX_TOOLGATE_PAGE_MAGIC, log);
}

static void
ngx_toolgate_page_unmap(ngx_toolgate_page_t *page)
{
    (void) munmap(page, sizeof(ngx_toolgate_page_t));
}

/* What this master, or the one that it follows, made. */
static ngx_int_t
ngx_toolgate_page_find(ngx_log_t *log)
{
    ngx_toolgate_page_t *page;
    int fd, wake;
    const char *value;
    char end;

    value = getenv(NGX_TOOLGATE_SHARE_VAR);

    if (value == NULL || sscanf(value, "%d;%d%c", &fd, &wake, &end) != 2) {
        return NGX_DECLINED;
    }

    page = ngx_toolgate_page_map(fd, log);

    if (page == NULL) {
        return NGX_DECLINED;
    }

    ngx_toolgate_page_unmap(page);
    ngx_toolgate_page_fd = fd;
    ngx_toolgate_wake_fd = wake;

    return NGX_OK;
}

static ngx_int_t
ngx_toolgate_page_init(int fd, ngx_log_t *log)
{
    ngx_toolgate_page_t *page;
    ngx_int_t rc;

    page = ngx_toolgate_page_map(fd, log);

    if (page == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_toolgate_lock_init(&page->lock);
    ngx_toolgate_page_unmap(page);

    return rc;
}

static ngx_int_t
ngx_toolgate_page_create(ngx_log_t *log)
{
    int fd, wake;

    fd = ngx_toolgate_memory_create("toolgate-clients",
                                    sizeof(ngx_toolgate_page_t),
                                    NGX_TOOLGATE_PAGE_MAGIC, log);
    wake = fd != -1 ? eventfd(0, EFD_NONBLOCK) : -1;

    if (wake != -1 && ngx_toolgate_page_init(fd, log) == NGX_OK) {
        ngx_toolgate_page_fd = fd;
        ngx_toolgate_wake_fd = wake;
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_ERR, log, ngx_errno,
                  "workers cannot tell each other's clients anything");

    if (wake != -1) {
        (void) close(wake);
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return NGX_ERROR;
}

void
ngx_toolgate_share_init(ngx_cycle_t *cycle)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_srv_conf_t **servers;
    ngx_uint_t i, is_needed;
    u_char value[2 * NGX_INT_T_LEN + 2];

    mcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                ngx_stream_toolgate_module);
    is_needed = 0;

    if (mcf != NULL) {
        servers = mcf->servers.elts;

        for (i = 0; i < mcf->servers.nelts; i++) {
            is_needed |= servers[i]->needs_share;
        }
    }

    if (ngx_toolgate_page_find(cycle->log) != NGX_OK
        && (!is_needed || ngx_toolgate_page_create(cycle->log) != NGX_OK))
    {
        return;
    }

    (void) ngx_sprintf(value, "%d;%d%Z", ngx_toolgate_page_fd,
                       ngx_toolgate_wake_fd);

    if (ngx_toolgate_hand_down(cycle, NGX_TOOLGATE_SHARE_VAR, (char *) value)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0, TG_NO_MEMORY);
    }
}

/* --- in a worker --- */

static void
ngx_toolgate_page_event(ngx_event_t *ev)
{
    (void) ev;
    ngx_toolgate_woken();
}

static void
ngx_toolgate_page_look(ngx_event_t *ev)
{
    ngx_toolgate_woken();
    ngx_add_timer(ev, NGX_TOOLGATE_SHARE_LOOK);
}

static ngx_int_t
ngx_toolgate_page_watch(void)
{
    ngx_connection_t *c;

    if (!(ngx_event_flags & NGX_USE_CLEAR_EVENT)) {
        ngx_toolgate_looking.handler = ngx_toolgate_page_look;
        ngx_toolgate_looking.data = &ngx_toolgate_no_connection;
        ngx_toolgate_looking.log = ngx_cycle->log;
        ngx_toolgate_looking.cancelable = 1;
        ngx_add_timer(&ngx_toolgate_looking, NGX_TOOLGATE_SHARE_LOOK);
        return NGX_OK;
    }

    c = ngx_get_connection(ngx_toolgate_wake_fd, ngx_cycle->log);

    if (c == NULL) {
        return NGX_ERROR;
    }

    c->log = ngx_cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_toolgate_page_event;
    c->read->channel = 1; /* none that is left open by mistake */

    if (ngx_add_event(c->read, NGX_READ_EVENT, NGX_CLEAR_EVENT) != NGX_OK) {
        ngx_free_connection(c);
        c->fd = (ngx_socket_t) -1;
        return NGX_ERROR;
    }

    ngx_toolgate_waking = c;

    return NGX_OK;
}

/* What each server listens on. */
static ngx_int_t
ngx_toolgate_share_addresses(ngx_cycle_t *cycle, ngx_connection_handler_pt ours,
                             ngx_toolgate_srv_conf_t *scf)
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
        hash[n] = ls[i].handler == ours ? ngx_toolgate_address(&ls[i], scf) : 0;
        n += hash[n] != 0;
    }

    scf->addresses.hash = hash;
    scf->addresses.n = n;

    return NGX_OK;
}

static ngx_int_t
ngx_toolgate_page_join(ngx_cycle_t *cycle)
{
    ngx_toolgate_page_t *page;
    ngx_int_t place;

    page = ngx_toolgate_page_map(ngx_toolgate_page_fd, cycle->log);
    place = page != NULL ? ngx_toolgate_place_take(ngx_toolgate_page_fd,
                                                   NGX_TOOLGATE_WORKERS_MAX)
                         : -1;

    if (place == -1) {
        return NGX_ERROR;
    }

    ngx_toolgate_own = (ngx_uint_t) place;
    ngx_toolgate_page = page;

    ngx_toolgate_page_lock();

    if (page->nreaders <= ngx_toolgate_own) {
        page->nreaders = (uint32_t) ngx_toolgate_own + 1;
    }

    /* What is left of one whose place this was is nobody's. */
    page->readers[place].pid = 0;
    ngx_toolgate_page_sweep();
    page->readers[place].read = page->head;
    page->readers[place].since = ngx_current_msec;
    page->readers[place].pid = (int32_t) ngx_pid;
    ngx_toolgate_page_unlock();

    return NGX_OK;
}

void
ngx_toolgate_share_start(ngx_cycle_t *cycle, ngx_connection_handler_pt ours,
                         void (*wake)(void))
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_srv_conf_t **servers;
    ngx_uint_t i;
    ngx_int_t rc;

    /* Nothing that this worker starts is to know. */
    (void) unsetenv(NGX_TOOLGATE_SHARE_VAR);

    if (ngx_toolgate_page_fd == -1) {
        return;
    }

    (void) fcntl(ngx_toolgate_page_fd, F_SETFD, FD_CLOEXEC);
    (void) fcntl(ngx_toolgate_wake_fd, F_SETFD, FD_CLOEXEC);
    ngx_toolgate_woken = wake;
    mcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                ngx_stream_toolgate_module);
    servers = mcf->servers.elts;
    rc = NGX_OK;

    for (i = 0; i < mcf->servers.nelts && rc == NGX_OK; i++) {
        rc = ngx_toolgate_share_addresses(cycle, ours, servers[i]);
    }

    if (rc != NGX_OK || ngx_toolgate_page_watch() != NGX_OK
        || ngx_toolgate_page_join(cycle) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0,
                      "this worker's clients are told nothing of others");
    }
}

void
ngx_toolgate_share_exit(void)
{
    if (ngx_toolgate_page != NULL) {
        ngx_toolgate_page_reader()->read = NGX_TOOLGATE_NOTHING;
    }

    if (ngx_toolgate_waking != NULL) {
        ngx_free_connection(ngx_toolgate_waking);
        ngx_toolgate_waking->fd = (ngx_socket_t) -1;
        ngx_toolgate_waking = NULL;
    }
}

ngx_toolgate_reader_t *
ngx_toolgate_page_reader(void)
{
    return &ngx_toolgate_page->readers[ngx_toolgate_own];
}

ngx_uint_t
ngx_toolgate_page_place(void)
{
    return ngx_toolgate_own;
}

ngx_uint_t
ngx_toolgate_page_is_alive(ngx_uint_t place)
{
    if (place == ngx_toolgate_own) {
        return ngx_toolgate_page_reader()->pid == (int32_t) ngx_pid;
    }

    return ngx_toolgate_place_is_taken(ngx_toolgate_page_fd, place);
}

void
ngx_toolgate_page_lock(void)
{
    ngx_toolgate_lock(&ngx_toolgate_page->lock);
}

void
ngx_toolgate_page_unlock(void)
{
    ngx_toolgate_unlock(&ngx_toolgate_page->lock);
}

void
ngx_toolgate_page_wake(void)
{
    static const uint64_t one = 1;

    (void) !write(ngx_toolgate_wake_fd, &one, sizeof(one));
}

void
ngx_toolgate_page_sweep(void)
{
    ngx_toolgate_page_t *page;
    ngx_toolgate_client_line_t *line;
    uint8_t alive[NGX_TOOLGATE_WORKERS_MAX]; /* and 1; 0: not asked */
    ngx_uint_t i;

    page = ngx_toolgate_page;
    ngx_memzero(alive, page->nreaders);

    for (i = 0; i < page->nlines; i++) {
        line = &page->lines[i];

        if (line->state == NGX_TOOLGATE_CLIENT_LINE_MOVING) {
            if (ngx_toolgate_page_age(line->moved) > NGX_TOOLGATE_CLIENT_LOST) {
                line->state = NGX_TOOLGATE_CLIENT_LINE_FREE;
            }

            continue;
        }

        if (line->state == NGX_TOOLGATE_CLIENT_LINE_FREE) {
            continue;
        }

        if (alive[line->worker] == 0) {
            alive[line->worker] = 1
                                  + (uint8_t) ngx_toolgate_page_is_alive(
                                      line->worker);
        }

        if (alive[line->worker] == 1) {
            line->state = NGX_TOOLGATE_CLIENT_LINE_FREE;
        }
    }
}
