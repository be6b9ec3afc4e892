/*
 * Keeps clients from starving each other: time slices, memory, connections.
 *
 * Time slices: see sched/ngx_tg_sched.h. A client's unit of work is a message.
 * A single call is not divided; its schema's budget limits it.
 *
 * Memory: incomplete frames, responses that wait, and calls. Each client has a
 * limit, but a thousand clients at that limit would use gigabytes. Above the
 * worker's limit, the worker closes a connection: of the user with the most
 * memory, there of the process with the most, and there the one with the most.
 * Among processes, memory counts in full only after some time, so that a large
 * frame does not close its connection while others have used memory for longer.
 *
 * Connections: without connections or descriptors a worker cannot reach its
 * runner and log. A client that would take one of the last ones replaces the
 * oldest connection that has not sent a request, or is closed if there is none.
 * This is decided at accept, so a connection in a TLS handshake or before its
 * PROXY header counts as silent.
 */
#include "nginx/session/ngx_tg_session_impl.h"
#include "nginx/call/ngx_tg_call_checks.h"

#include <sys/resource.h>

/* --- time slices --- */

#define NGX_TG_BYTES_PER_SCHEMA_STEP 13

void
ngx_tg_session_run_time_slice(tg_sched_source_t *source)
{
    ngx_tg_session_t *session;

    session = ngx_tg_session_of(source, source);
    session->priv->has_slice = 1;
    ngx_tg_session_base_wake(&session->base);
}

void
ngx_tg_time_slice_begin(ngx_tg_session_t *session)
{
    tg_sched_begin_slice(&ngx_tg_sched);
    session->priv->charged_steps = session->base.steps;
    session->priv->charged_output = session->base.peer.out.len;
}

ngx_uint_t
ngx_tg_time_slice_is_over_after(ngx_tg_session_t *session, size_t bytes)
{
    size_t steps, out;

    /* A session that leaves this worker runs without interruption. */
    if (session->state != NGX_TG_SESSION_SERVING) {
        return 0;
    }

    if (session->priv->source.is_queued) {
        return 1;
    }

    out = session->base.peer.out.len;
    steps = bytes
            + (out >= session->priv->charged_output
                   ? out - session->priv->charged_output
                   : out)
            + (size_t) (session->base.steps - session->priv->charged_steps)
                  * NGX_TG_BYTES_PER_SCHEMA_STEP;
    session->priv->charged_output = out;
    session->priv->charged_steps = session->base.steps;

    return (ngx_uint_t) tg_sched_is_slice_over(&ngx_tg_sched,
                                               &session->priv->source, steps);
}

int
ngx_tg_time_slice_is_over(void *host)
{
    ngx_tg_session_t *session = host;

    return (int) ngx_tg_time_slice_is_over_after(session,
                                                 session->base.peer.frame_size);
}

/* --- memory --- */

#define NGX_TG_SESSION_MEMORY_MIN 4096
/* Time after which memory counts in full, in ms. */
#define NGX_TG_MEMORY_WEIGHT_PERIOD 250
/* Number of sums of owners, found by a keyed hash that clients cannot guess. */
#define NGX_TG_MEMORY_OWNERS_MAX 4096

static void ngx_tg_memory_on_exceeded(ngx_event_t *ev);

static ngx_queue_t ngx_tg_memory_sessions = { &ngx_tg_memory_sessions,
                                              &ngx_tg_memory_sessions };
/* Memory of clients between two workers. */
static tg_sched_source_t ngx_tg_moving_memory;
static ngx_event_t ngx_tg_memory_exceeded_event;
/* Memory of users and weight of processes, during a search. */
static uint64_t ngx_tg_memory_owners[NGX_TG_MEMORY_OWNERS_MAX];

/* Counts all TCP clients as one user, and each address as a process. */
static void
ngx_tg_session_set_memory_owner(ngx_tg_session_t *session)
{
    static uint32_t secret;

    ngx_tg_peer_cred_t client;
    ngx_connection_t *c;
    uint32_t key[3];

    if (secret == 0) {
        secret = (uint32_t) ngx_random() | 1;
    }

    c = session->base.connection;
    key[0] = secret;

    if (ngx_tg_connection_get_peer_cred(c, &client) == NGX_OK) {
        key[1] = client.uid;
        key[2] = (uint32_t) client.pid;
    } else {
        key[1] = (uint32_t) -1;
        key[2] = ngx_crc32_short(c->addr_text.data, c->addr_text.len);
    }

    session->priv->user = ngx_murmur_hash2((u_char *) key, 2 * sizeof(key[0]))
                          % NGX_TG_MEMORY_OWNERS_MAX;
    session->priv->process = ngx_murmur_hash2((u_char *) key, sizeof(key))
                             % NGX_TG_MEMORY_OWNERS_MAX;
    session->priv->has_memory_owner = 1;
}

/* Updates the weight, the recent average of the memory. */
static void
ngx_tg_session_weigh_memory(ngx_tg_session_t *session)
{
    uint64_t time;

    time = ngx_min(ngx_current_msec - session->priv->weighed_at,
                   NGX_TG_MEMORY_WEIGHT_PERIOD);
    session->priv->weight = (session->priv->weight
                                 * (NGX_TG_MEMORY_WEIGHT_PERIOD - time)
                             + session->priv->source.memory * time)
                            / NGX_TG_MEMORY_WEIGHT_PERIOD;
    session->priv->weighed_at = ngx_current_msec;
}

void
ngx_tg_session_clear_memory(ngx_tg_session_t *session)
{
    if (session->priv->source.memory != 0) {
        ngx_tg_session_weigh_memory(session);
        ngx_tg_sched_hold_client(&session->priv->source, 0);
        ngx_queue_remove(&session->priv->memory);
    }
}

void
ngx_tg_session_update_memory(ngx_tg_session_t *session)
{
    ngx_event_t *ev;
    size_t kept;

    kept = session->in.cap + tg_peer_memory_size(&session->base.peer)
           + session->priv->texts.memory;

    if (kept < NGX_TG_SESSION_MEMORY_MIN) {
        ngx_tg_session_clear_memory(session);
        return;
    }

    if (!session->priv->has_memory_owner) {
        ngx_tg_session_set_memory_owner(session);
    }

    ngx_tg_session_weigh_memory(session);

    if (session->priv->source.memory == 0) {
        ngx_queue_insert_tail(&ngx_tg_memory_sessions, &session->priv->memory);
    }

    ngx_tg_sched_hold_client(&session->priv->source, kept);

    if (ngx_tg_sched_is_over_client_memory()) {
        ev = &ngx_tg_memory_exceeded_event;
        ev->handler = ngx_tg_memory_on_exceeded;
        ev->log = ngx_cycle->log;
        ngx_post_event(ev, &ngx_posted_events);
    }
}

void
ngx_tg_moving_memory_add(ssize_t bytes)
{
    ngx_tg_sched_hold_client(&ngx_tg_moving_memory,
                             ngx_tg_moving_memory.memory + (size_t) bytes);
}

/* Sums memory of users, and weights of processes, which users can create. */
static void
ngx_tg_memory_sum_owners(void)
{
    ngx_tg_session_t *session;
    ngx_queue_t *q;

    ngx_memzero(ngx_tg_memory_owners, sizeof(ngx_tg_memory_owners));

    for (q = ngx_queue_head(&ngx_tg_memory_sessions);
         q != ngx_queue_sentinel(&ngx_tg_memory_sessions);
         q = ngx_queue_next(q))
    {
        session = ngx_tg_session_of(q, memory);
        ngx_tg_session_weigh_memory(session);
        ngx_tg_memory_owners[session->priv->user] +=
            session->priv->source.memory;
        ngx_tg_memory_owners[session->priv->process] += session->priv->weight;
    }
}

static ngx_uint_t
ngx_tg_session_uses_more_memory(const ngx_tg_session_t *a,
                                const ngx_tg_session_t *b)
{
    const uint64_t *parties;

    parties = ngx_tg_memory_owners;

    if (parties[a->priv->user] != parties[b->priv->user]) {
        return parties[a->priv->user] > parties[b->priv->user];
    }

    if (parties[a->priv->process] != parties[b->priv->process]) {
        return parties[a->priv->process] > parties[b->priv->process];
    }

    return a->priv->weight != b->priv->weight
               ? a->priv->weight > b->priv->weight
               : a->priv->source.memory > b->priv->source.memory;
}

static ngx_tg_session_t *
ngx_tg_memory_find_largest_session(void)
{
    ngx_tg_session_t *session, *worst;
    ngx_queue_t *q;

    worst = NULL;

    for (q = ngx_queue_head(&ngx_tg_memory_sessions);
         q != ngx_queue_sentinel(&ngx_tg_memory_sessions);
         q = ngx_queue_next(q))
    {
        session = ngx_tg_session_of(q, memory);

        if (worst == NULL || ngx_tg_session_uses_more_memory(session, worst)) {
            worst = session;
        }
    }

    return worst;
}

static void
ngx_tg_memory_on_exceeded(ngx_event_t *ev)
{
    ngx_tg_session_t *session;

    ngx_tg_memory_sum_owners();

    while (ngx_tg_sched_is_over_client_memory()) {
        session = ngx_tg_memory_find_largest_session();

        if (session == NULL) {
            return;
        }

        ngx_log_error(NGX_LOG_WARN, session->base.connection->log, 0,
                      "client closed: the clients of this worker use more than "
                      "%d MiB for unfinished frames, calls and unread "
                      "responses; this client uses %uz bytes",
                      NGX_TG_SCHED_MEMORY_MAX / 1048576,
                      session->priv->source.memory);
        ngx_tg_memory_owners[session->priv->user] -=
            session->priv->source.memory;
        ngx_tg_memory_owners[session->priv->process] -= session->priv->weight;
        ngx_tg_session_clear_memory(session);
        session->base.is_broken = 1;
        ngx_tg_session_base_wake(&session->base);
    }
}

/* --- connections --- */

/* Connections for the worker itself: one per runner, and others. */
#define NGX_TG_RESERVED_CONNECTIONS 16
/* Reserved part of the connections, if there are few: 1/8. */
#define NGX_TG_RESERVED_CONNECTIONS_PART 8
/* Minimum interval between two log lines, in seconds. */
#define NGX_TG_RESERVE_LOG_INTERVAL 10

/* 0: not determined yet */
static rlim_t ngx_tg_reserve_files_max;
static time_t ngx_tg_reserve_logged;
static ngx_uint_t ngx_tg_reserve_nclosed;
/* Connections that have not sent a request, oldest first. */
static ngx_queue_t ngx_tg_pre_request_queue = { &ngx_tg_pre_request_queue,
                                                &ngx_tg_pre_request_queue };

/* Checks for a high descriptor: the kernel assigns the lowest free number. */
static ngx_uint_t
ngx_tg_reserve_is_last_file(ngx_socket_t fd)
{
    struct rlimit limit;
    rlim_t room;

    if (ngx_tg_reserve_files_max == 0) {
        ngx_tg_reserve_files_max = getrlimit(RLIMIT_NOFILE, &limit) == 0
                                       ? limit.rlim_cur
                                       : RLIM_INFINITY;
    }

    if (ngx_tg_reserve_files_max == RLIM_INFINITY) {
        return 0;
    }

    room = ngx_min(NGX_TG_RESERVED_CONNECTIONS,
                   ngx_tg_reserve_files_max / NGX_TG_RESERVED_CONNECTIONS_PART);

    return (rlim_t) fd + room >= ngx_tg_reserve_files_max;
}

/*
 * Returns the resource of which a new connection would use one of the last
 * units, or NULL; nfree is the number of free connections.
 */
static const char *
ngx_tg_reserve_get_shortage(ngx_socket_t fd, ngx_uint_t nfree)
{
    ngx_uint_t room;

    room = ngx_min(NGX_TG_RESERVED_CONNECTIONS,
                   ngx_cycle->connection_n / NGX_TG_RESERVED_CONNECTIONS_PART);

    if (nfree < room) {
        return "connections (worker_connections)";
    }

    return ngx_tg_reserve_is_last_file(fd)
               ? "descriptors (worker_rlimit_nofile)"
               : NULL;
}

ngx_uint_t
ngx_tg_has_connection_room(ngx_socket_t listening)
{
    ngx_socket_t fd;

    fd = fcntl(listening, F_DUPFD_CLOEXEC, 0);

    if (fd == (ngx_socket_t) -1) {
        return 0;
    }

    (void) close(fd);

    return ngx_cycle->free_connection_n != 0
           && ngx_tg_reserve_get_shortage(fd, ngx_cycle->free_connection_n - 1)
                  == NULL;
}

/* Logs the number of closed connections at intervals. */
static void
ngx_tg_reserve_log_closed(ngx_log_t *log, const char *what)
{
    ngx_tg_reserve_nclosed++;

    if (ngx_time() - ngx_tg_reserve_logged < NGX_TG_RESERVE_LOG_INTERVAL) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "client closed: the worker needs its last %s for itself; %ui "
                  "closed since the last message",
                  what, ngx_tg_reserve_nclosed);
    ngx_tg_reserve_logged = ngx_time();
    ngx_tg_reserve_nclosed = 0;
}

/* Makes room for c. Returns 0 if there is no connection to close. */
static ngx_uint_t
ngx_tg_reserve_close_pre_request(ngx_connection_t *c, const char *what)
{
    ngx_tg_pre_request_t *pre_request;
    ngx_stream_session_t *s;
    ngx_connection_t *old;
    ngx_socket_t fd;

    if (ngx_queue_empty(&ngx_tg_pre_request_queue)) {
        return 0;
    }

    pre_request = ngx_queue_data(ngx_queue_head(&ngx_tg_pre_request_queue),
                                 ngx_tg_pre_request_t, queue);
    old = pre_request->connection;
    s = old->data;
    ngx_tg_pre_request_remove(pre_request);

    /* Another module may have passed the connection to HTTP. */
    if (s->signature != NGX_STREAM_MODULE) {
        return 1;
    }

    ngx_tg_reserve_log_closed(old->log, what);
    /* The TLS shutdown must not wait for a silent client. */
    old->timedout = 1;
    old->read->cancelable = 0;
    ngx_stream_finalize_session(s, NGX_STREAM_OK);

    /* Move c to the free descriptor; the event loop does not know c yet. */
    fd = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);

    if (fd != (ngx_socket_t) -1) {
        (void) ngx_close_socket(c->fd);
        c->fd = fd;
    }

    return 1;
}

static void
ngx_tg_pre_request_cleanup(void *data)
{
    ngx_tg_pre_request_remove(data);
}

/* Queues a connection until NGINX has created its session, if ever. */
static void
ngx_tg_pre_request_begin(ngx_connection_t *c)
{
    ngx_pool_cleanup_t *cln;

    cln = ngx_pool_cleanup_add(c->pool, sizeof(ngx_tg_pre_request_t));

    /* Without memory, the connection only has its handshake timeout. */
    if (cln != NULL) {
        cln->handler = ngx_tg_pre_request_cleanup;
        ngx_tg_pre_request_add(cln->data, c);
    }
}

ngx_int_t
ngx_tg_pre_request_preread(ngx_stream_session_t *s)
{
    ngx_pool_cleanup_t *cln;

    for (cln = s->connection->pool->cleanup; cln != NULL; cln = cln->next) {
        if (cln->handler == ngx_tg_pre_request_cleanup) {
            ngx_tg_pre_request_remove(cln->data);
        }
    }

    return NGX_DECLINED;
}

void
ngx_tg_init_client_connection(ngx_connection_t *c)
{
    const char *what;
    ngx_pool_t *pool;

    do {
        what = ngx_tg_reserve_get_shortage(c->fd, ngx_cycle->free_connection_n);

        if (what == NULL) {
            ngx_tg_pre_request_begin(c);
            ngx_stream_init_connection(c);
            return;
        }
    } while (ngx_tg_reserve_close_pre_request(c, what));

    ngx_tg_reserve_log_closed(c->log, what);
#if (NGX_STAT_STUB)
    (void) ngx_atomic_fetch_add(ngx_stat_active, -1);
#endif
    pool = c->pool;
    ngx_close_connection(c);
    ngx_destroy_pool(pool);
}

void
ngx_tg_pre_request_add(ngx_tg_pre_request_t *pre_request, ngx_connection_t *c)
{
    pre_request->connection = c;
    ngx_queue_insert_tail(&ngx_tg_pre_request_queue, &pre_request->queue);
}
