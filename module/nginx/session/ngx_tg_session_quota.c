/*
 * Keeps clients from starving each other: time slices, memory, room.
 *
 * Time slices: sched/ngx_tg_sched.h.  A client's step is a message; only
 * a single call is never divided, and the budget of its schema bounds it.
 *
 * Memory: the beginnings of frames, answers that nobody reads or that wait
 * for their batch, and calls.  Each client's share has its own bound; a
 * thousand clients that all fill theirs would still be gigabytes.  Over the
 * worker's bound, the user who keeps the most has to give, of theirs the
 * process that does, and of that the connection.  Within a user's, what is kept
 * counts in full after a while only: no large frame on its way is closed where
 * many others have been there for longer.
 *
 * Room: a worker whose clients have taken all connections or descriptors could
 * not talk to its runner and its log.  So a client that would take of the last
 * ones has to have the place of one that has not said a word yet, the longest
 * silent first; where all have spoken, it is closed itself.  That is settled
 * when it is accepted: TLS and the PROXY protocol take as long as a client
 * likes, and who is not through with them is silent, too.
 */
#include "nginx/session/ngx_tg_session.h"

#include <sys/resource.h>

/* --- time slices --- */

/* A step of a schema takes as long as this many bytes that are read. */
#define NGX_TG_BYTES_PER_SCHEMA_STEP 13

void
ngx_tg_session_run_time_slice(tg_sched_source_t *source)
{
    ngx_tg_session_t *session;

    session = TG_CONTAINER_OF(source, ngx_tg_session_t, source);
    session->has_slice = 1;
    ngx_tg_session_base_wake(&session->base);
}

void
ngx_tg_time_slice_begin(ngx_tg_session_t *session)
{
    tg_sched_begin_slice(&ngx_tg_sched);
    session->charged_steps = session->base.steps;
    session->charged_output = session->base.peer.out.len;
}

ngx_uint_t
ngx_tg_time_slice_is_over_after(ngx_tg_session_t *session, size_t bytes)
{
    size_t steps, out;

    /* The work of a session that leaves this worker is not divided. */
    if (session->state != NGX_TG_SESSION_SERVING) {
        return 0;
    }

    if (session->source.is_queued) {
        return 1;
    }

    out = session->base.peer.out.len;
    steps = bytes
            + (out >= session->charged_output ? out - session->charged_output
                                              : out)
            + (size_t) (session->base.steps - session->charged_steps)
                  * NGX_TG_BYTES_PER_SCHEMA_STEP;
    session->charged_output = out;
    session->charged_steps = session->base.steps;

    return (ngx_uint_t) tg_sched_is_slice_over(&ngx_tg_sched, &session->source,
                                               steps);
}

int
ngx_tg_time_slice_is_over(void *host)
{
    ngx_tg_session_t *session = host;

    return (int) ngx_tg_time_slice_is_over_after(session,
                                                 session->base.peer.frame_size);
}

/* --- memory --- */

/* What is less is not worth a look. */
#define NGX_TG_SESSION_MEMORY_MIN 4096
/* Milliseconds after which it counts in full; a large frame takes fewer. */
#define NGX_TG_MEMORY_WEIGHT_PERIOD 250
/* Sums of users and processes; nobody can choose with whom to share one. */
#define NGX_TG_MEMORY_OWNERS_MAX 4096

static void ngx_tg_memory_on_relief(ngx_event_t *ev);

static ngx_queue_t ngx_tg_memory_sessions = { &ngx_tg_memory_sessions,
                                              &ngx_tg_memory_sessions };
/* Clients on their way to other workers. */
static tg_sched_source_t ngx_tg_moving_memory;
static ngx_event_t ngx_tg_memory_relief_event;
/* What users keep and processes weigh, while somebody has to go. */
static uint64_t ngx_tg_memory_owners[NGX_TG_MEMORY_OWNERS_MAX];

/* Over TCP there is one user, and an address is a process. */
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

    session->user = ngx_murmur_hash2((u_char *) key, 2 * sizeof(key[0]))
                    % NGX_TG_MEMORY_OWNERS_MAX;
    session->process = ngx_murmur_hash2((u_char *) key, sizeof(key))
                       % NGX_TG_MEMORY_OWNERS_MAX;
    session->has_memory_owner = 1;
}

/* Brings its weight up to now: what it kept, on average of late. */
static void
ngx_tg_session_weigh_memory(ngx_tg_session_t *session)
{
    uint64_t time;

    time = ngx_min(ngx_current_msec - session->weighed_at,
                   NGX_TG_MEMORY_WEIGHT_PERIOD);
    session->weight = (session->weight * (NGX_TG_MEMORY_WEIGHT_PERIOD - time)
                       + session->source.memory * time)
                      / NGX_TG_MEMORY_WEIGHT_PERIOD;
    session->weighed_at = ngx_current_msec;
}

void
ngx_tg_session_clear_memory(ngx_tg_session_t *session)
{
    if (session->source.memory != 0) {
        ngx_tg_session_weigh_memory(session);
        ngx_tg_sched_hold_client(&session->source, 0);
        ngx_queue_remove(&session->memory);
    }
}

void
ngx_tg_session_update_memory(ngx_tg_session_t *session)
{
    ngx_event_t *ev;
    size_t kept;

    kept = session->in.cap + tg_peer_memory_size(&session->base.peer)
           + session->texts.memory;

    if (kept < NGX_TG_SESSION_MEMORY_MIN) {
        ngx_tg_session_clear_memory(session);
        return;
    }

    if (!session->has_memory_owner) {
        ngx_tg_session_set_memory_owner(session);
    }

    ngx_tg_session_weigh_memory(session);

    if (session->source.memory == 0) {
        ngx_queue_insert_tail(&ngx_tg_memory_sessions, &session->memory);
    }

    ngx_tg_sched_hold_client(&session->source, kept);

    if (ngx_tg_sched_is_over_client_memory()) {
        ev = &ngx_tg_memory_relief_event;
        ev->handler = ngx_tg_memory_on_relief;
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

/* Users cannot be made up, processes can: for those time counts, too. */
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
        session = ngx_queue_data(q, ngx_tg_session_t, memory);
        ngx_tg_session_weigh_memory(session);
        ngx_tg_memory_owners[session->user] += session->source.memory;
        ngx_tg_memory_owners[session->process] += session->weight;
    }
}

static ngx_uint_t
ngx_tg_session_uses_more_memory(const ngx_tg_session_t *a,
                                const ngx_tg_session_t *b)
{
    const uint64_t *parties;

    parties = ngx_tg_memory_owners;

    if (parties[a->user] != parties[b->user]) {
        return parties[a->user] > parties[b->user];
    }

    if (parties[a->process] != parties[b->process]) {
        return parties[a->process] > parties[b->process];
    }

    return a->weight != b->weight ? a->weight > b->weight
                                  : a->source.memory > b->source.memory;
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
        session = ngx_queue_data(q, ngx_tg_session_t, memory);

        if (worst == NULL || ngx_tg_session_uses_more_memory(session, worst)) {
            worst = session;
        }
    }

    return worst;
}

static void
ngx_tg_memory_on_relief(ngx_event_t *ev)
{
    ngx_tg_session_t *session;

    (void) ev;

    ngx_tg_memory_sum_owners();

    while (ngx_tg_sched_is_over_client_memory()) {
        session = ngx_tg_memory_find_largest_session();

        if (session == NULL) {
            return;
        }

        ngx_log_error(NGX_LOG_WARN, session->base.connection->log, 0,
                      "client closed: the worker keeps more than %d MiB of "
                      "unfinished frames, calls and unread answers, %uz bytes "
                      "of them this client's",
                      NGX_TG_SCHED_MEMORY_MAX / 1048576,
                      session->source.memory);
        ngx_tg_memory_owners[session->user] -= session->source.memory;
        ngx_tg_memory_owners[session->process] -= session->weight;
        ngx_tg_session_clear_memory(session);
        session->is_broken = 1;
        ngx_tg_session_base_wake(&session->base);
    }
}

/* --- room --- */

/* One for each runner, and some for what else a worker opens at times. */
#define NGX_TG_RESERVED_CONNECTIONS 16
/* Where there are few connections, it is this part of them. */
#define NGX_TG_RESERVED_CONNECTIONS_PART 8
/* Seconds between two lines of the log about it. */
#define NGX_TG_RESERVE_LOG_INTERVAL 10

/* 0: not asked yet. */
static rlim_t ngx_tg_reserve_files_max;
static time_t ngx_tg_reserve_logged;
static ngx_uint_t ngx_tg_reserve_nclosed;
/* Connections that have not spoken, as they came. */
static ngx_queue_t ngx_tg_pre_request_queue = { &ngx_tg_pre_request_queue,
                                                &ngx_tg_pre_request_queue };

/* The lowest free number is taken: a high one means that few are left. */
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
 * What a connection with this descriptor is one of the last of, when nfree are
 * left; NULL: there are enough.
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

/* Not a line for each, or the log were the next thing to run full. */
static void
ngx_tg_reserve_log_closed(ngx_log_t *log, const char *what)
{
    ngx_tg_reserve_nclosed++;

    if (ngx_time() - ngx_tg_reserve_logged < NGX_TG_RESERVE_LOG_INTERVAL) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "client closed: the worker needs its last %s for itself; "
                  "%ui closed since this was said last",
                  what, ngx_tg_reserve_nclosed);
    ngx_tg_reserve_logged = ngx_time();
    ngx_tg_reserve_nclosed = 0;
}

/* The place of one that is silent; 0: there is none such. */
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

    /* Another module's preread may have hidden that HTTP has it by now. */
    if (s->signature != NGX_STREAM_MODULE) {
        return 1;
    }

    ngx_tg_reserve_log_closed(old->log, what);
    /* TLS must not wait for the goodbye of one that says nothing. */
    old->timedout = 1;
    old->read->cancelable = 0;
    ngx_stream_finalize_session(s, NGX_STREAM_OK);

    /* The number that is free now; the event loop knows neither yet. */
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

/* Until NGINX has made a session of it, which it may never do. */
static void
ngx_tg_pre_request_begin(ngx_connection_t *c)
{
    ngx_pool_cleanup_t *cln;

    cln = ngx_pool_cleanup_add(c->pool, sizeof(ngx_tg_pre_request_t));

    /* Without memory it has its place until its handshake times out. */
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
