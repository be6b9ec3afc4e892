/*
 * That no client can keep others from being served: turns, memory, room.
 *
 * Turns: a client is served until there is nothing left of it, or its turn is
 * over.  Clients that were not done by then wait, and each round of the event
 * loop serves the first of them, after all that others have brought.  So a
 * light client waits for one turn at most, however many flood the worker.
 * Only a single call is never divided; how long one may take is the business of
 * its schema's budget.
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

/* --- turns --- */

/* One turn, in microseconds: some fifty usual calls. */
#define NGX_TOOLGATE_TURN 50
/* Steps of schemas that take so long by themselves. */
#define NGX_TOOLGATE_TURN_STEPS 5000

/*
 * So many messages in a row, none larger, with answers that are not larger
 * together, take so little of a turn that nobody looks at the clock.
 */
#define NGX_TOOLGATE_TURN_FEW 8
#define NGX_TOOLGATE_TURN_SMALL 4096

static void ngx_toolgate_turn_next(ngx_event_t *ev);

static ngx_queue_t ngx_toolgate_turn_queue = { &ngx_toolgate_turn_queue,
                                               &ngx_toolgate_turn_queue };
static ngx_event_t ngx_toolgate_turn_event;

/* When this turn ends, in microseconds; 0: the clock was not asked yet. */
static uint64_t ngx_toolgate_turn_end;

/* The session's steps when it began; messages since the clock was asked. */
static uint64_t ngx_toolgate_turn_steps;
static ngx_uint_t ngx_toolgate_turn_messages;

static uint64_t
ngx_toolgate_microseconds(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

void
ngx_toolgate_turn_begin(const ngx_toolgate_session_t *session)
{
    /* Most clients are done before anybody asks. */
    ngx_toolgate_turn_end = 0;
    ngx_toolgate_turn_steps = session->front.steps;
    ngx_toolgate_turn_messages = 0;
}

static ngx_uint_t
ngx_toolgate_turn_is_young(const ngx_toolgate_session_t *session)
{
    const tg_peer_t *peer;

    peer = &session->front.peer;

    return ++ngx_toolgate_turn_messages % NGX_TOOLGATE_TURN_FEW != 0
           && peer->serving <= NGX_TOOLGATE_TURN_SMALL
           && peer->out.len <= NGX_TOOLGATE_TURN_SMALL
           && session->front.steps - ngx_toolgate_turn_steps
                  < NGX_TOOLGATE_TURN_STEPS / NGX_TOOLGATE_TURN_FEW;
}

static ngx_uint_t
ngx_toolgate_turn_has_time(const ngx_toolgate_session_t *session)
{
    uint64_t now;

    now = ngx_toolgate_microseconds();

    if (ngx_toolgate_turn_end == 0) {
        ngx_toolgate_turn_end = now + NGX_TOOLGATE_TURN;
    }

    return now < ngx_toolgate_turn_end
           && session->front.steps - ngx_toolgate_turn_steps
                  < NGX_TOOLGATE_TURN_STEPS;
}

int
ngx_toolgate_turn_is_over(void *host)
{
    ngx_toolgate_session_t *session = host;

    ngx_event_t *ev;

    if (session->is_waiting) {
        return 1;
    }

    /* Who leaves is done with at once. */
    if (session->state != NGX_TOOLGATE_SERVING) {
        return 0;
    }

    if (ngx_toolgate_turn_is_young(session)
        || ngx_toolgate_turn_has_time(session)) {
        return 0;
    }

    session->is_waiting = 1;
    ngx_queue_insert_tail(&ngx_toolgate_turn_queue, &session->turn);

    ev = &ngx_toolgate_turn_event;
    ev->handler = ngx_toolgate_turn_next;
    ev->log = ngx_cycle->log;
    ngx_post_event(ev, &ngx_posted_next_events);

    return 1;
}

void
ngx_toolgate_turn_leave(ngx_toolgate_session_t *session)
{
    if (session->is_waiting) {
        session->is_waiting = 0;
        ngx_queue_remove(&session->turn);
    }
}

static void
ngx_toolgate_turn_next(ngx_event_t *ev)
{
    ngx_toolgate_session_t *session;
    ngx_queue_t *q;

    if (ngx_queue_empty(&ngx_toolgate_turn_queue)) {
        return;
    }

    q = ngx_queue_head(&ngx_toolgate_turn_queue);
    session = ngx_queue_data(q, ngx_toolgate_session_t, turn);
    ngx_toolgate_turn_leave(session);
    ngx_toolgate_wake(&session->front);

    if (!ngx_queue_empty(&ngx_toolgate_turn_queue)) {
        ngx_post_event(ev, &ngx_posted_next_events);
    }
}

/* --- memory --- */

/* Far above what honest clients have half-way at the same moment. */
#define NGX_TOOLGATE_MEMORY 268435456
/* What is less is not worth a look. */
#define NGX_TOOLGATE_MEMORY_MIN 4096
/* Milliseconds after which it counts in full; a large frame takes fewer. */
#define NGX_TOOLGATE_MEMORY_TIME 250
/* Sums of users and processes; nobody can choose with whom to share one. */
#define NGX_TOOLGATE_PARTIES 4096

static void ngx_toolgate_memory_relieve(ngx_event_t *ev);

static ngx_queue_t ngx_toolgate_memory_queue = { &ngx_toolgate_memory_queue,
                                                 &ngx_toolgate_memory_queue };
static size_t ngx_toolgate_kept;
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
                       + session->kept * time)
                      / NGX_TOOLGATE_MEMORY_TIME;
    session->weighed = ngx_current_msec;
}

void
ngx_toolgate_memory_drop(ngx_toolgate_session_t *session)
{
    if (session->kept != 0) {
        ngx_toolgate_memory_weigh(session);
        ngx_toolgate_kept -= session->kept;
        ngx_queue_remove(&session->memory);
        session->kept = 0;
    }
}

void
ngx_toolgate_memory_count(ngx_toolgate_session_t *session)
{
    ngx_event_t *ev;
    size_t kept;

    kept = session->in.cap + tg_peer_kept(&session->front.peer);

    if (kept < NGX_TOOLGATE_MEMORY_MIN) {
        ngx_toolgate_memory_drop(session);
        return;
    }

    if (!session->has_party) {
        ngx_toolgate_memory_party(session);
    }

    ngx_toolgate_memory_weigh(session);

    if (session->kept == 0) {
        ngx_queue_insert_tail(&ngx_toolgate_memory_queue, &session->memory);
    }

    ngx_toolgate_kept += kept - session->kept;
    session->kept = kept;

    if (ngx_toolgate_kept > NGX_TOOLGATE_MEMORY) {
        ev = &ngx_toolgate_memory_event;
        ev->handler = ngx_toolgate_memory_relieve;
        ev->log = ngx_cycle->log;
        ngx_post_event(ev, &ngx_posted_events);
    }
}

void
ngx_toolgate_memory_add(ssize_t bytes)
{
    ngx_toolgate_kept += (size_t) bytes;
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
        ngx_toolgate_parties[session->user] += session->kept;
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

    return a->weight != b->weight ? a->weight > b->weight : a->kept > b->kept;
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

    while (ngx_toolgate_kept > NGX_TOOLGATE_MEMORY) {
        session = ngx_toolgate_memory_worst();

        if (session == NULL) {
            return;
        }

        ngx_log_error(NGX_LOG_WARN, session->front.connection->log, 0,
                      "client closed: the worker keeps more than %d MiB of "
                      "unfinished frames, calls and unread answers, %uz bytes "
                      "of them this client's",
                      NGX_TOOLGATE_MEMORY / 1048576, session->kept);
        ngx_toolgate_parties[session->user] -= session->kept;
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

/* What this connection is one of the last of; NULL: there are enough. */
static const char *
ngx_toolgate_shortage(const ngx_connection_t *c)
{
    ngx_uint_t room;

    room = ngx_min(NGX_TOOLGATE_RESERVE,
                   ngx_cycle->connection_n / NGX_TOOLGATE_RESERVE_PART);

    if (ngx_cycle->free_connection_n < room) {
        return "connections (worker_connections)";
    }

    return ngx_toolgate_reserve_is_last_file(c->fd)
               ? "descriptors (worker_rlimit_nofile)"
               : NULL;
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
        what = ngx_toolgate_shortage(c);

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
