/*
 * Keeps clients from starving each other: time slices, memory, room.
 *
 * Time slices: sched/ngx_toolgate_sched.h.  A client's step is a message; only
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
#include "nginx/stream/ngx_toolgate_session.h"

#include <sys/resource.h>

/* --- time slices --- */

/* A step of a schema takes as long as this many bytes that are read. */
#define NGX_TOOLGATE_SCHEMA_STEP 13

void
ngx_toolgate_turn_run(tg_source_t *source)
{
    ngx_toolgate_session_t *session;

    session = TG_OWNER(source, ngx_toolgate_session_t, source);
    session->has_slice = 1;
    ngx_toolgate_wake(&session->front);
}

void
ngx_toolgate_turn_begin(ngx_toolgate_session_t *session)
{
    tg_slice_begin(&ngx_toolgate_sched);
    session->counted_steps = session->front.steps;
    session->counted_out = session->front.peer.out.len;
}

ngx_uint_t
ngx_toolgate_turn_is_over_after(ngx_toolgate_session_t *session, size_t bytes)
{
    size_t steps, out;

    /* The work of a session that leaves this worker is not divided. */
    if (session->state != NGX_TOOLGATE_SERVING) {
        return 0;
    }

    if (session->source.is_waiting) {
        return 1;
    }

    out = session->front.peer.out.len;
    steps = bytes
            + (out >= session->counted_out ? out - session->counted_out : out)
            + (size_t) (session->front.steps - session->counted_steps)
                  * NGX_TOOLGATE_SCHEMA_STEP;
    session->counted_out = out;
    session->counted_steps = session->front.steps;

    return (ngx_uint_t) tg_slice_is_over(&ngx_toolgate_sched, &session->source,
                                         steps);
}

int
ngx_toolgate_turn_is_over(void *host)
{
    ngx_toolgate_session_t *session = host;

    return (int) ngx_toolgate_turn_is_over_after(session,
                                                 session->front.peer.serving);
}

/* --- memory --- */

/* What is less is not worth a look. */
#define NGX_TOOLGATE_MEMORY_MIN 4096
/* Milliseconds after which it counts in full; a large frame takes fewer. */
#define NGX_TOOLGATE_MEMORY_TIME 250
/* Sums of users and processes; nobody can choose with whom to share one. */
#define NGX_TOOLGATE_PARTIES 4096

static void ngx_toolgate_memory_relieve(ngx_event_t *ev);

static ngx_queue_t ngx_toolgate_memory_queue = { &ngx_toolgate_memory_queue,
                                                 &ngx_toolgate_memory_queue };
/* Clients on their way to other workers. */
static tg_source_t ngx_toolgate_memory_moving;
static ngx_event_t ngx_toolgate_memory_event;
/* What users keep and processes weigh, while somebody has to go. */
static uint64_t ngx_toolgate_parties[NGX_TOOLGATE_PARTIES];

/* Over TCP there is one user, and an address is a process. */
static void
ngx_toolgate_memory_party(ngx_toolgate_session_t *session)
{
    static uint32_t secret;

    ngx_toolgate_client_t client;
    ngx_connection_t *c;
    uint32_t key[3];

    if (secret == 0) {
        secret = (uint32_t) ngx_random() | 1;
    }

    c = session->front.connection;
    key[0] = secret;

    if (ngx_toolgate_who(c, &client) == NGX_OK) {
        key[1] = client.uid;
        key[2] = (uint32_t) client.pid;
    } else {
        key[1] = (uint32_t) -1;
        key[2] = ngx_crc32_short(c->addr_text.data, c->addr_text.len);
    }

    session->user = ngx_murmur_hash2((u_char *) key, 2 * sizeof(key[0]))
                    % NGX_TOOLGATE_PARTIES;
    session->process = ngx_murmur_hash2((u_char *) key, sizeof(key))
                       % NGX_TOOLGATE_PARTIES;
    session->has_party = 1;
}

/* Brings its weight up to now: what it kept, on average of late. */
static void
ngx_toolgate_memory_weigh(ngx_toolgate_session_t *session)
{
    uint64_t time;

    time = ngx_min(ngx_current_msec - session->weighed,
                   NGX_TOOLGATE_MEMORY_TIME);
    session->weight = (session->weight * (NGX_TOOLGATE_MEMORY_TIME - time)
                       + session->source.memory * time)
                      / NGX_TOOLGATE_MEMORY_TIME;
    session->weighed = ngx_current_msec;
}

void
ngx_toolgate_memory_drop(ngx_toolgate_session_t *session)
{
    if (session->source.memory != 0) {
        ngx_toolgate_memory_weigh(session);
        ngx_toolgate_hold_client(&session->source, 0);
        ngx_queue_remove(&session->memory);
    }
}

void
ngx_toolgate_memory_count(ngx_toolgate_session_t *session)
{
    ngx_event_t *ev;
    size_t kept;

    kept = session->in.cap + tg_peer_kept(&session->front.peer)
           + session->texts.memory;

    if (kept < NGX_TOOLGATE_MEMORY_MIN) {
        ngx_toolgate_memory_drop(session);
        return;
    }

    if (!session->has_party) {
        ngx_toolgate_memory_party(session);
    }

    ngx_toolgate_memory_weigh(session);

    if (session->source.memory == 0) {
        ngx_queue_insert_tail(&ngx_toolgate_memory_queue, &session->memory);
    }

    ngx_toolgate_hold_client(&session->source, kept);

    if (ngx_toolgate_clients_hold_too_much()) {
        ev = &ngx_toolgate_memory_event;
        ev->handler = ngx_toolgate_memory_relieve;
        ev->log = ngx_cycle->log;
        ngx_post_event(ev, &ngx_posted_events);
    }
}

void
ngx_toolgate_memory_add(ssize_t bytes)
{
    ngx_toolgate_hold_client(&ngx_toolgate_memory_moving,
                             ngx_toolgate_memory_moving.memory
                                 + (size_t) bytes);
}

/* Users cannot be made up, processes can: for those time counts, too. */
static void
ngx_toolgate_memory_sum(void)
{
    ngx_toolgate_session_t *session;
    ngx_queue_t *q;

    ngx_memzero(ngx_toolgate_parties, sizeof(ngx_toolgate_parties));

    for (q = ngx_queue_head(&ngx_toolgate_memory_queue);
         q != ngx_queue_sentinel(&ngx_toolgate_memory_queue);
         q = ngx_queue_next(q))
    {
        session = ngx_queue_data(q, ngx_toolgate_session_t, memory);
        ngx_toolgate_memory_weigh(session);
        ngx_toolgate_parties[session->user] += session->source.memory;
        ngx_toolgate_parties[session->process] += session->weight;
    }
}

static ngx_uint_t
ngx_toolgate_memory_is_worse(const ngx_toolgate_session_t *a,
                             const ngx_toolgate_session_t *b)
{
    const uint64_t *parties;

    parties = ngx_toolgate_parties;

    if (parties[a->user] != parties[b->user]) {
        return parties[a->user] > parties[b->user];
    }

    if (parties[a->process] != parties[b->process]) {
        return parties[a->process] > parties[b->process];
    }

    return a->weight != b->weight ? a->weight > b->weight
                                  : a->source.memory > b->source.memory;
}

static ngx_toolgate_session_t *
ngx_toolgate_memory_worst(void)
{
    ngx_toolgate_session_t *session, *worst;
    ngx_queue_t *q;

    worst = NULL;

    for (q = ngx_queue_head(&ngx_toolgate_memory_queue);
         q != ngx_queue_sentinel(&ngx_toolgate_memory_queue);
         q = ngx_queue_next(q))
    {
        session = ngx_queue_data(q, ngx_toolgate_session_t, memory);

        if (worst == NULL || ngx_toolgate_memory_is_worse(session, worst)) {
            worst = session;
        }
    }

    return worst;
}

static void
ngx_toolgate_memory_relieve(ngx_event_t *ev)
{
    ngx_toolgate_session_t *session;

    (void) ev;

    ngx_toolgate_memory_sum();

    while (ngx_toolgate_clients_hold_too_much()) {
        session = ngx_toolgate_memory_worst();

        if (session == NULL) {
            return;
        }

        ngx_log_error(NGX_LOG_WARN, session->front.connection->log, 0,
                      "client closed: the worker keeps more than %d MiB of "
                      "unfinished frames, calls and unread answers, %uz bytes "
                      "of them this client's",
                      NGX_TOOLGATE_MEMORY / 1048576, session->source.memory);
        ngx_toolgate_parties[session->user] -= session->source.memory;
        ngx_toolgate_parties[session->process] -= session->weight;
        ngx_toolgate_memory_drop(session);
        session->is_broken = 1;
        ngx_toolgate_wake(&session->front);
    }
}

/* --- room --- */

/* One for each runner, and some for what else a worker opens at times. */
#define NGX_TOOLGATE_RESERVE 16
/* Where there are few connections, it is this part of them. */
#define NGX_TOOLGATE_RESERVE_PART 8
/* Seconds between two lines of the log about it. */
#define NGX_TOOLGATE_RESERVE_LOG 10

/* 0: not asked yet. */
static rlim_t ngx_toolgate_reserve_files;
static time_t ngx_toolgate_reserve_logged;
static ngx_uint_t ngx_toolgate_reserve_closed;
/* Connections that have not spoken, as they came. */
static ngx_queue_t ngx_toolgate_silent = { &ngx_toolgate_silent,
                                           &ngx_toolgate_silent };

/* The lowest free number is taken: a high one means that few are left. */
static ngx_uint_t
ngx_toolgate_reserve_is_last_file(ngx_socket_t fd)
{
    struct rlimit limit;
    rlim_t room;

    if (ngx_toolgate_reserve_files == 0) {
        ngx_toolgate_reserve_files = getrlimit(RLIMIT_NOFILE, &limit) == 0
                                         ? limit.rlim_cur
                                         : RLIM_INFINITY;
    }

    if (ngx_toolgate_reserve_files == RLIM_INFINITY) {
        return 0;
    }

    room = ngx_min(NGX_TOOLGATE_RESERVE,
                   ngx_toolgate_reserve_files / NGX_TOOLGATE_RESERVE_PART);

    return (rlim_t) fd + room >= ngx_toolgate_reserve_files;
}

/*
 * What a connection with this descriptor is one of the last of, when nfree are
 * left; NULL: there are enough.
 */
static const char *
ngx_toolgate_shortage(ngx_socket_t fd, ngx_uint_t nfree)
{
    ngx_uint_t room;

    room = ngx_min(NGX_TOOLGATE_RESERVE,
                   ngx_cycle->connection_n / NGX_TOOLGATE_RESERVE_PART);

    if (nfree < room) {
        return "connections (worker_connections)";
    }

    return ngx_toolgate_reserve_is_last_file(fd)
               ? "descriptors (worker_rlimit_nofile)"
               : NULL;
}

ngx_uint_t
ngx_toolgate_has_room(ngx_socket_t listening)
{
    ngx_socket_t fd;

    fd = fcntl(listening, F_DUPFD_CLOEXEC, 0);

    if (fd == (ngx_socket_t) -1) {
        return 0;
    }

    (void) close(fd);

    return ngx_cycle->free_connection_n != 0
           && ngx_toolgate_shortage(fd, ngx_cycle->free_connection_n - 1)
                  == NULL;
}

/* Not a line for each, or the log were the next thing to run full. */
static void
ngx_toolgate_reserve_log(ngx_log_t *log, const char *what)
{
    ngx_toolgate_reserve_closed++;

    if (ngx_time() - ngx_toolgate_reserve_logged < NGX_TOOLGATE_RESERVE_LOG) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "client closed: the worker needs its last %s for itself; "
                  "%ui closed since this was said last",
                  what, ngx_toolgate_reserve_closed);
    ngx_toolgate_reserve_logged = ngx_time();
    ngx_toolgate_reserve_closed = 0;
}

/* The place of one that is silent; 0: there is none such. */
static ngx_uint_t
ngx_toolgate_take_place(ngx_connection_t *c, const char *what)
{
    ngx_toolgate_silent_t *silent;
    ngx_stream_session_t *s;
    ngx_connection_t *old;
    ngx_socket_t fd;

    if (ngx_queue_empty(&ngx_toolgate_silent)) {
        return 0;
    }

    silent = ngx_queue_data(ngx_queue_head(&ngx_toolgate_silent),
                            ngx_toolgate_silent_t, queue);
    old = silent->connection;
    s = old->data;
    ngx_toolgate_silent_leave(silent);

    /* Another module's preread may have hidden that HTTP has it by now. */
    if (s->signature != NGX_STREAM_MODULE) {
        return 1;
    }

    ngx_toolgate_reserve_log(old->log, what);
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
ngx_toolgate_silent_cleanup(void *data)
{
    ngx_toolgate_silent_leave(data);
}

/* Until NGINX has made a session of it, which it may never do. */
static void
ngx_toolgate_silent_begin(ngx_connection_t *c)
{
    ngx_pool_cleanup_t *cln;

    cln = ngx_pool_cleanup_add(c->pool, sizeof(ngx_toolgate_silent_t));

    /* Without memory it has its place until its handshake times out. */
    if (cln != NULL) {
        cln->handler = ngx_toolgate_silent_cleanup;
        ngx_toolgate_silent_join(cln->data, c);
    }
}

ngx_int_t
ngx_toolgate_silent_preread(ngx_stream_session_t *s)
{
    ngx_pool_cleanup_t *cln;

    for (cln = s->connection->pool->cleanup; cln != NULL; cln = cln->next) {
        if (cln->handler == ngx_toolgate_silent_cleanup) {
            ngx_toolgate_silent_leave(cln->data);
        }
    }

    return NGX_DECLINED;
}

void
ngx_toolgate_init_connection(ngx_connection_t *c)
{
    const char *what;
    ngx_pool_t *pool;

    do {
        what = ngx_toolgate_shortage(c->fd, ngx_cycle->free_connection_n);

        if (what == NULL) {
            ngx_toolgate_silent_begin(c);
            ngx_stream_init_connection(c);
            return;
        }
    } while (ngx_toolgate_take_place(c, what));

    ngx_toolgate_reserve_log(c->log, what);
#if (NGX_STAT_STUB)
    (void) ngx_atomic_fetch_add(ngx_stat_active, -1);
#endif
    pool = c->pool;
    ngx_close_connection(c);
    ngx_destroy_pool(pool);
}

void
ngx_toolgate_silent_join(ngx_toolgate_silent_t *silent, ngx_connection_t *c)
{
    silent->connection = c;
    ngx_queue_insert_tail(&ngx_toolgate_silent, &silent->queue);
}
