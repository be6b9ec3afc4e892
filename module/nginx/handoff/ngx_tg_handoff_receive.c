/*
 * Receiving of sessions in the new worker: a snapshot becomes an NGINX
 * connection as if accepted, so that phases and limits of the new config apply.
 */
#include "nginx/handoff/ngx_tg_handoff.h"
#include "nginx/shm/ngx_tg_counters.h"
#include "nginx/shm/ngx_tg_state_key.h"
#include "nginx/sched/ngx_tg_sched.h"

/* Connections that are kept free for other uses than received sessions. */
#define NGX_TG_RECEIVE_SPARE_CONNECTIONS 4
/* Pause of a worker without room, in ms; other workers may have room. */
#define NGX_TG_RECEIVE_FULL_PAUSE 50
/* Time for which a session is left to workers with less load, in ms. */
#define NGX_TG_RECEIVE_YIELD_TIME 1

/* Time since when a session waits for room, in ms; 0: there is room. */
static ngx_msec_t ngx_tg_receive_full_since;
static ngx_uint_t ngx_tg_receive_is_full;
/* Number of listeners; NGINX resets its own when the worker must exit. */
static ngx_uint_t ngx_tg_receive_nlistening;
static ngx_uint_t ngx_tg_receive_is_closing;

/* --- listeners --- */

/* Excludes listeners with TLS or PROXY protocol: such sessions cannot move. */
static ngx_uint_t
ngx_tg_listener_can_receive_sessions(const ngx_listening_t *ls)
{
    ngx_stream_addr_conf_t *addr;
    ngx_uint_t i;

    if (ls->handler != ngx_tg_init_client_connection) {
        return 0;
    }

    for (i = 0; i < ((ngx_stream_port_t *) ls->servers)->naddrs; i++) {
        addr = ngx_tg_listener_get_addr_conf(ls, i);

        if (addr->ssl || addr->proxy_protocol
            || ngx_tg_addr_conf_get_server(addr) == NULL)
        {
            return 0;
        }
    }

    return 1;
}

static ngx_uint_t
ngx_tg_cycle_has_tool_listeners(ngx_cycle_t *cycle)
{
    ngx_listening_t *ls;
    ngx_uint_t i;

    ls = cycle->listening.elts;

    for (i = 0; i < cycle->listening.nelts; i++) {
        if (ls[i].handler == ngx_tg_init_client_connection) {
            return 1;
        }
    }

    return 0;
}

/*
 * Adds the stream listeners of all modules whose sessions cannot move: old
 * workers accept their clients until new workers have started.
 */
static ngx_uint_t
ngx_tg_handoff_add_fixed_listeners(ngx_cycle_t *cycle, uint64_t *listeners,
                                   ngx_uint_t n)
{
    ngx_listening_t *ls;
    ngx_uint_t i;

    ls = cycle->listening.elts;

    for (i = 0; i < cycle->listening.nelts && n < NGX_TG_HANDOFF_LISTENERS_MAX;
         i++) {
        if (ls[i].type == SOCK_STREAM
            && !ngx_tg_listener_can_receive_sessions(&ls[i])) {
            listeners[n++] = ngx_tg_sockaddr_hash_fixed(ls[i].sockaddr,
                                                        ls[i].socklen);
        }
    }

    return n;
}

void
ngx_tg_handoff_publish_listeners(ngx_cycle_t *cycle)
{
    uint64_t listeners[NGX_TG_HANDOFF_LISTENERS_MAX];
    ngx_listening_t *ls;
    ngx_uint_t i, n;

    ls = cycle->listening.elts;

    for (i = 0, n = 0; i < cycle->listening.nelts; i++) {
        if (!ngx_tg_listener_can_receive_sessions(&ls[i])) {
            continue;
        }

        if (n < NGX_TG_HANDOFF_LISTENERS_MAX) {
            listeners[n] = ngx_tg_sockaddr_hash(ls[i].sockaddr, ls[i].socklen);
        }

        n++;
    }

    if (ngx_tg_cycle_has_tool_listeners(cycle)) {
        n = ngx_tg_handoff_add_fixed_listeners(cycle, listeners, n);
    }

    ngx_tg_handoff_channel_init(cycle, listeners, n);
    ngx_tg_shm_page_init(cycle);
    ngx_tg_counters_init(cycle);
    ngx_tg_state_key_init(cycle);
}

static ngx_listening_t *
ngx_tg_snapshot_find_listener(const ngx_tg_session_snapshot_head_t *head)
{
    ngx_listening_t *ls;
    ngx_uint_t i;

    ls = ngx_cycle->listening.elts;

    for (i = 0; i < ngx_tg_receive_nlistening; i++) {
        if (ngx_tg_sockaddr_hash(ls[i].sockaddr, ls[i].socklen)
                == ngx_tg_sockaddr_hash(
                    (struct sockaddr *) &head->listener.sockaddr,
                    head->listener_len)
            && ngx_tg_listener_can_receive_sessions(&ls[i]))
        {
            return &ls[i];
        }
    }

    return NULL;
}

/* --- snapshots that wait for their connection --- */

/* Closes a client that NGINX rejected or that there is no memory for. */
static void
ngx_tg_snapshot_cleanup(void *data)
{
    ngx_tg_session_snapshot_t *snapshot = data;

    if (snapshot->fd != (ngx_socket_t) -1) {
        ngx_tg_session_snapshot_close_client(snapshot);
    }

    ngx_tg_session_snapshot_deinit(snapshot);
}

void *
ngx_tg_connection_find_snapshot(ngx_connection_t *c)
{
    ngx_pool_cleanup_t *cln;

    for (cln = c->pool->cleanup; cln != NULL; cln = cln->next) {
        if (cln->handler == ngx_tg_snapshot_cleanup) {
            return cln->data;
        }
    }

    return NULL;
}

static ngx_tg_session_snapshot_t *
ngx_tg_snapshot_attach_to_pool(ngx_pool_t *pool,
                               ngx_tg_session_snapshot_t *snapshot)
{
    ngx_pool_cleanup_t *cln;

    cln = ngx_pool_cleanup_add(pool, sizeof(ngx_tg_session_snapshot_t));

    if (cln == NULL) {
        return NULL;
    }

    *(ngx_tg_session_snapshot_t *) cln->data = *snapshot;
    cln->handler = ngx_tg_snapshot_cleanup;

    return cln->data;
}

/* --- connections --- */

/* Sets the fields that ngx_event_accept() sets. */
static ngx_int_t
ngx_tg_snapshot_init_connection(ngx_connection_t *c, ngx_listening_t *ls,
                                ngx_tg_session_snapshot_head_t *head)
{
    ngx_log_t *log;

    c->sockaddr = ngx_palloc(c->pool, sizeof(ngx_sockaddr_t));
    log = ngx_palloc(c->pool, sizeof(ngx_log_t));

    if (c->sockaddr == NULL || log == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(c->sockaddr, &head->client, sizeof(ngx_sockaddr_t));
    *log = ls->log;
    log->data = NULL;
    log->handler = NULL;

    c->type = SOCK_STREAM;
    c->recv = ngx_recv;
    c->send = ngx_send;
    c->recv_chain = ngx_recv_chain;
    c->send_chain = ngx_send_chain;
    c->log = log;
    c->pool->log = log;
    c->socklen = head->client_len;
    c->listening = ls;
    c->local_sockaddr = ls->sockaddr;
    c->local_socklen = ls->socklen;

    if (c->sockaddr->sa_family == AF_UNIX) {
        c->tcp_nopush = NGX_TCP_NOPUSH_DISABLED;
        c->tcp_nodelay = NGX_TCP_NODELAY_DISABLED;
    }

    /* Input may be waiting already; only a read can show it. */
    c->read->ready = 1;
#if (NGX_HAVE_KQUEUE || NGX_HAVE_EPOLLRDHUP)
    c->read->available = -1; /* unknown */
#endif
    c->write->ready = 1;
    c->read->log = log;
    c->write->log = log;
    c->number = (ngx_atomic_uint_t) head->number;
    c->start_time = ngx_current_msec;

    if (ls->addr_ntop) {
        c->addr_text.data = ngx_pnalloc(c->pool, ls->addr_text_max_len);

        if (c->addr_text.data == NULL) {
            return NGX_ERROR;
        }

        c->addr_text.len = ngx_sock_ntop(c->sockaddr, c->socklen,
                                         c->addr_text.data,
                                         ls->addr_text_max_len, 0);
    }

    return NGX_OK;
}

static void
ngx_tg_snapshot_accept(ngx_listening_t *ls, ngx_tg_session_snapshot_t *snapshot)
{
    ngx_tg_session_snapshot_t *kept;
    ngx_connection_t *c;
    ngx_pool_t *pool;
    int fd;

    fd = fcntl(snapshot->fd, F_DUPFD_CLOEXEC, 0);
    pool = fd != -1 ? ngx_create_pool(ls->pool_size, ngx_cycle->log) : NULL;
    c = pool != NULL ? ngx_get_connection(fd, ngx_cycle->log) : NULL;
    kept = c != NULL ? ngx_tg_snapshot_attach_to_pool(pool, snapshot) : NULL;

    if (kept != NULL) {
        c->pool = pool;

        if (ngx_tg_snapshot_init_connection(c, ls, &kept->head) == NGX_OK) {
#if (NGX_STAT_STUB)
            (void) ngx_atomic_fetch_add(ngx_stat_active, 1);
#endif
            ngx_stream_init_connection(c);
            return;
        }
    } else {
        ngx_tg_session_snapshot_close_client(snapshot);
        ngx_tg_session_snapshot_deinit(snapshot);
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, ngx_errno,
                  "no room for a session from another worker");

    if (c != NULL) {
        ngx_close_connection(c);
    } else if (fd != -1) {
        (void) close(fd);
    }

    if (pool != NULL) {
        ngx_destroy_pool(pool);
    }
}

/* --- channel --- */

/* Accepts a received session, or closes its client. Frees the snapshot. */
static void
ngx_tg_snapshot_accept_or_close(ngx_tg_session_snapshot_t *snapshot,
                                ngx_uint_t has_room)
{
    ngx_listening_t *ls;

    ls = has_room ? ngx_tg_snapshot_find_listener(&snapshot->head) : NULL;

    if (ls != NULL) {
        ngx_tg_snapshot_accept(ls, snapshot);
        return;
    }

    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                  "client closed while it moved between workers: %s",
                  has_room ? "its listener is gone"
                           : "no worker has room for it, or all workers are "
                             "exiting");
    ngx_tg_session_snapshot_close_client(snapshot);
    ngx_tg_session_snapshot_deinit(snapshot);
}

/* Receives one session. NGX_AGAIN: none left; NGX_BUSY: resources are short. */
static ngx_int_t
ngx_tg_handoff_receive_one(ngx_uint_t has_room)
{
    ngx_tg_session_snapshot_t snapshot;
    ngx_int_t rc;

    rc = ngx_tg_session_snapshot_receive(&snapshot, ngx_cycle->log);

    if (rc == NGX_OK) {
        ngx_tg_snapshot_accept_or_close(&snapshot, has_room);
    }

    return rc == NGX_ERROR ? NGX_OK : rc;
}

static ngx_uint_t
ngx_tg_handoff_receive_has_room(void)
{
    return ngx_cycle->free_connection_n > NGX_TG_RECEIVE_SPARE_CONNECTIONS;
}

/*
 * Checks that the process is not ending yet: a received session lasts until its
 * last call ends.
 */
static ngx_uint_t
ngx_tg_handoff_can_receive_at_exit(void)
{
    return !ngx_tg_receive_is_closing && ngx_tg_handoff_receive_has_room();
}

void
ngx_tg_handoff_receive_drain(void)
{
    if (ngx_tg_handoff_get_receive_fd() == (ngx_socket_t) -1) {
        return;
    }

    while (ngx_tg_handoff_receive_one(ngx_tg_handoff_can_receive_at_exit())
           == NGX_OK)
    {
        /* void */
    }
}

void
ngx_tg_handoff_receive_back(ngx_tg_session_snapshot_t *snapshot)
{
    ngx_tg_snapshot_accept_or_close(
        snapshot, ngx_tg_session_snapshot_gather(snapshot) == NGX_OK
                      && ngx_tg_handoff_can_receive_at_exit());
}

/* Leaves a session, once, to workers with less load, which may wake later. */
static ngx_uint_t
ngx_tg_handoff_receive_must_yield(void)
{
    static ngx_uint_t has_yielded;

    has_yielded = !has_yielded
                  && ngx_tg_handoff_has_less_loaded_worker(
                      ngx_cycle->connection_n - ngx_cycle->free_connection_n);

    return has_yielded;
}

static void
ngx_tg_handoff_on_readable(ngx_event_t *rev)
{
    ngx_uint_t has_room;
    ngx_int_t rc;

    if (ngx_tg_worker_is_exiting()) {
        ngx_tg_handoff_receive_stop();
    }

    /* Workers of a newer config are ready, so this one will exit soon. */
    if (!ngx_exiting && ngx_tg_handoff_is_config_stale()
        && ngx_tg_handoff_get_receiver_state(0) == NGX_TG_RECEIVER_READY)
    {
        (void) ngx_tg_handoff_channel_stop();
        ngx_tg_linger_close_listeners();
    }

    /* The worker is exiting or no longer receives. */
    if (!rev->active) {
        return;
    }

    if (ngx_tg_handoff_receive_must_yield()) {
        ngx_tg_handoff_channel_pause(NGX_TG_RECEIVE_YIELD_TIME);
        return;
    }

    has_room = ngx_tg_handoff_receive_has_room();

    if (has_room) {
        ngx_tg_receive_is_full = 0;

    } else if (!ngx_tg_receive_is_full) {
        ngx_tg_receive_is_full = 1;
        ngx_tg_receive_full_since = ngx_current_msec;
    }

    rc = NGX_BUSY;

    /*
     * After a long time probably no worker has room: receive the session to
     * close its client with a notice.
     */
    if (has_room
        || ngx_current_msec - ngx_tg_receive_full_since
               >= NGX_TG_HANDOFF_TIMEOUT)
    {
        rc = ngx_tg_handoff_receive_one(has_room);
    }

    if (rc == NGX_BUSY) {
        ngx_tg_handoff_channel_pause(NGX_TG_RECEIVE_FULL_PAUSE);
    }
}

/* Starts receiving, unless this worker must exit already. */
static void
ngx_tg_handoff_on_worker_started(ngx_event_t *ev)
{
    ngx_listening_t *ls;
    ngx_uint_t i;

    if (ngx_quit || ngx_terminate || !ngx_tg_handoff_channel_announce()) {
        return;
    }

    ls = ngx_cycle->listening.elts;

    for (i = 0; i < ngx_tg_receive_nlistening; i++) {
        if (ls[i].type == SOCK_STREAM) {
            ngx_tg_linger_copy_listener(&ls[i]);
        }
    }
}

/* Waits for the first loop iteration, because libraries load before it. */
void
ngx_tg_handoff_receive_start(ngx_cycle_t *cycle)
{
    static ngx_event_t ev;

    ngx_tg_receive_nlistening = cycle->listening.nelts;
    ngx_tg_handoff_channel_start(cycle, ngx_tg_handoff_on_readable);
    ev.handler = ngx_tg_handoff_on_worker_started;
    ev.log = cycle->log;
    ngx_post_event(&ev, &ngx_posted_next_events);
}

static void
ngx_tg_event_ignore(ngx_event_t *ev)
{
}

/*
 * Wakes the event loop: NGINX notifies connections of the exit outside of it,
 * so that events posted then would wait for the next I/O event.
 */
static void
ngx_tg_event_loop_wake(void)
{
    static ngx_event_t ev;

    ev.handler = ngx_tg_event_ignore;
    ev.log = ngx_cycle->log;
    ngx_post_event(&ev, &ngx_posted_next_events);
}

/* Logs once that this worker no longer serves. */
static void
ngx_tg_handoff_log_stopped(void)
{
    static ngx_uint_t has_said;

    if (!has_said) {
        has_said = 1;
        ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                      "this worker no longer accepts or serves clients: they "
                      "move to other workers, or are closed");
    }
}

void
ngx_tg_handoff_receive_stop(void)
{
    ngx_tg_event_loop_wake();

    if (ngx_tg_handoff_set_leaving() && ngx_tg_linger_start()) {
        return;
    }

    ngx_tg_linger_close_listeners();
    ngx_tg_handoff_log_stopped();

    if (ngx_tg_handoff_channel_stop() && ngx_tg_handoff_is_last_receiver()) {
        ngx_tg_handoff_receive_drain();
    }
}

void
ngx_tg_handoff_receive_exit(void)
{
    ngx_tg_receive_is_closing = 1;
    (void) ngx_tg_handoff_set_leaving();
    (void) ngx_tg_handoff_channel_stop();

    if (ngx_tg_handoff_is_last_receiver()) {
        ngx_tg_handoff_receive_drain();
    }
}
