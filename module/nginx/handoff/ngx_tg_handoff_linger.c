/*
 * Lingering of a worker that must exit while new workers still load libraries,
 * which may take seconds: it serves its sessions and those in the channel, and
 * accepts clients.
 */
#include "nginx/handoff/ngx_tg_handoff.h"
#include "nginx/sched/ngx_tg_sched.h"

/* Copy of a listening socket, which NGINX closes when a worker must exit. */
typedef struct {
    ngx_listening_t *listening;
    ngx_socket_t fd;              /* the copy; -1: closed */
    ngx_connection_t *connection; /* NULL: this worker does not linger */
} ngx_tg_listener_copy_t;

static ngx_tg_listener_copy_t
    ngx_tg_listener_copies[NGX_TG_HANDOFF_LISTENERS_MAX];
static ngx_uint_t ngx_tg_nlistener_copies;

/* Time since when this worker must exit, in ms. */
static ngx_msec_t ngx_tg_linger_since;
static ngx_uint_t ngx_tg_linger_is_exit_ordered;

void
ngx_tg_linger_copy_listener(ngx_listening_t *ls)
{
    ngx_tg_listener_copy_t *copy;
    ngx_socket_t fd;

    /* With "reuseport" each worker has a socket of its own. */
    if (ls->connection == NULL
        || ngx_tg_nlistener_copies == NGX_TG_HANDOFF_LISTENERS_MAX)
    {
        return;
    }

    fd = fcntl(ls->fd, F_DUPFD_CLOEXEC, 0);

    if (fd == (ngx_socket_t) -1) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, ngx_errno,
                      "fcntl(F_DUPFD_CLOEXEC) failed; after a reload new "
                      "clients of %V will wait until new workers have started",
                      &ls->addr_text);
        return;
    }

    copy = &ngx_tg_listener_copies[ngx_tg_nlistener_copies++];
    copy->listening = ls;
    copy->fd = fd;
    copy->connection = NULL;
}

static void
ngx_tg_listener_copy_close(ngx_tg_listener_copy_t *copy)
{
    ngx_connection_t *c;

    c = copy->connection;

    /* Others have this socket, too: close() would not remove it from epoll. */
    if (c != NULL) {
        (void) ngx_del_event(c->read, NGX_READ_EVENT, 0);
        ngx_close_connection(c);

    } else if (copy->fd != (ngx_socket_t) -1) {
        (void) close(copy->fd);
    }

    copy->connection = NULL;
    copy->fd = (ngx_socket_t) -1;
}

void
ngx_tg_linger_close_listeners(void)
{
    ngx_uint_t i;

    for (i = 0; i < ngx_tg_nlistener_copies; i++) {
        ngx_tg_listener_copy_close(&ngx_tg_listener_copies[i]);
    }

    ngx_tg_nlistener_copies = 0;
}

static void
ngx_tg_linger_on_accept(ngx_event_t *rev)
{
    /* Without room this worker would close the client; a new one has room. */
    if (!ngx_tg_has_connection_room(((ngx_connection_t *) rev->data)->fd)) {
        ngx_tg_linger_close_listeners();
        return;
    }

    ngx_event_accept(rev);

    /* NGINX retries if descriptors are short; leave that to new workers. */
    if (rev->timer_set) {
        ngx_tg_linger_close_listeners();
    }
}

/* Listens on a copy, like NGINX at the start of a worker. */
static ngx_int_t
ngx_tg_listener_copy_listen(ngx_tg_listener_copy_t *copy)
{
    ngx_connection_t *c;

    c = ngx_get_connection(copy->fd, ngx_cycle->log);

    if (c == NULL) {
        return NGX_ERROR;
    }

    c->type = copy->listening->type;
    c->log = &copy->listening->log;
    c->listening = copy->listening;
    c->read->log = c->log;
    c->read->accept = 1;
    c->read->handler = ngx_tg_linger_on_accept;
    copy->listening->connection = c;
    copy->connection = c;

    return ngx_add_event(c->read, NGX_READ_EVENT, NGX_LEVEL_EVENT);
}

/* Checks whether new workers of this listener are expected; 0: of any. */
static ngx_uint_t
ngx_tg_is_starting(uint64_t listener)
{
    ngx_tg_receiver_state_t state;

    state = ngx_tg_handoff_get_receiver_state(listener);

    return state == NGX_TG_RECEIVER_STARTING
           || state == NGX_TG_RECEIVER_UNKNOWN;
}

/* Checks whether new workers for this address have not started yet. */
static ngx_uint_t
ngx_tg_listener_copy_is_needed(const ngx_tg_listener_copy_t *copy)
{
    ngx_listening_t *ls;

    ls = copy->listening;

    return ngx_tg_is_starting(ngx_tg_sockaddr_hash(ls->sockaddr, ls->socklen))
           || ngx_tg_is_starting(
               ngx_tg_sockaddr_hash_fixed(ls->sockaddr, ls->socklen));
}

/* Accepts clients on the listeners that the next workers will have. */
static void
ngx_tg_linger_listen(void)
{
    ngx_tg_listener_copy_t *copy;
    ngx_uint_t i;

    for (i = 0; i < ngx_tg_nlistener_copies; i++) {
        copy = &ngx_tg_listener_copies[i];

        if (!ngx_tg_listener_copy_is_needed(copy)
            || ngx_tg_listener_copy_listen(copy) != NGX_OK)
        {
            ngx_tg_listener_copy_close(copy);
        }
    }
}

/*
 * Checks whether new workers are not ready. Waits a moment for the others once
 * one is ready, because the first one would receive all sessions.
 */
static ngx_uint_t
ngx_tg_linger_is_needed(void)
{
    static ngx_msec_t ready_since;
    static ngx_uint_t is_ready;

    switch (ngx_tg_handoff_get_receiver_state(0)) {
    case NGX_TG_RECEIVER_STARTING:
    case NGX_TG_RECEIVER_UNKNOWN:
        is_ready = 0;
        return 1;

    case NGX_TG_RECEIVER_READY:
        if (!is_ready) {
            is_ready = 1;
            ready_since = ngx_current_msec;
        }

        return ngx_current_msec - ready_since < NGX_TG_LINGER_FOR_OTHER_WORKERS
               && ngx_tg_handoff_has_starting_worker();

    default:
        return 0;
    }
}

/* Checks the time limit, and that there are sessions or listeners. */
static ngx_uint_t
ngx_tg_linger_can_continue(void)
{
    const ngx_core_conf_t *ccf;
    ngx_msec_t most;

    ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                           ngx_core_module);
    most = ccf->shutdown_timeout != 0
               ? ngx_min(ccf->shutdown_timeout, NGX_TG_LINGER_TIMEOUT)
               : NGX_TG_LINGER_TIMEOUT;

    return ngx_current_msec - ngx_tg_linger_since < most
           && (ngx_tg_nlistener_copies != 0 || ngx_tg_has_sessions())
           && ngx_tg_linger_is_needed();
}

static void
ngx_tg_linger_on_timer(ngx_event_t *ev)
{
    if (ngx_tg_linger_can_continue()) {
        ngx_add_timer(ev, NGX_TG_LINGER_CHECK_INTERVAL);
        return;
    }

    ngx_tg_worker_is_lingering = 0;
    ngx_tg_linger_close_listeners();
    ngx_close_idle_connections((ngx_cycle_t *) ngx_cycle);
}

ngx_uint_t
ngx_tg_linger_start(void)
{
    static ngx_event_t ev;

    if (ngx_tg_worker_is_lingering) {
        return 1;
    }

    if (!ngx_tg_linger_is_exit_ordered) {
        ngx_tg_linger_is_exit_ordered = 1;
        ngx_tg_linger_since = ngx_current_msec;
    }

    if (!ngx_tg_linger_can_continue()) {
        return 0;
    }

    ngx_tg_worker_is_lingering = 1;
    ngx_tg_linger_listen();
    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  ngx_tg_is_starting(0)
                      ? "no new worker has started yet: this one continues to "
                        "serve until then"
                      : "not all new workers have started yet: this one "
                        "continues to serve until then");

    /* Not cancelable, so that the exiting worker waits for the timer. */
    ev.handler = ngx_tg_linger_on_timer;
    ev.data = &ngx_tg_dummy_connection;
    ev.log = ngx_cycle->log;
    ngx_add_timer(&ev, NGX_TG_LINGER_CHECK_INTERVAL);

    return 1;
}
