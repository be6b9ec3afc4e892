/*
 * What clients of all workers are told, and who they are: a session's part of
 * the page that all workers share.
 *
 * News are given to sessions in pieces, with room for their sockets between
 * them: what a client does not take is bounded, and a client that takes none
 * is closed.  Nobody else waits for it.
 */
#include "nginx/stream/ngx_toolgate_session.h"

/* What a client was told and has not taken. */
#define NGX_TOOLGATE_TOLD_MAX 4194304
/* Bytes of news in a row; then what they made is sent. */
#define NGX_TOOLGATE_TOLD_TURN 262144
/* ms until a worker without memory tries again. */
#define NGX_TOOLGATE_TOLD_PAUSE 100

static void ngx_toolgate_told_next(ngx_event_t *ev);

static ngx_queue_t ngx_toolgate_shared = { &ngx_toolgate_shared,
                                           &ngx_toolgate_shared };
static ngx_event_t ngx_toolgate_told_event = {
    .handler = ngx_toolgate_told_next
};

/* --- one session --- */

static void
ngx_toolgate_told_about(const ngx_toolgate_session_t *session,
                        ngx_toolgate_about_t *about)
{
    const tg_peer_t *peer;

    peer = &session->front.peer;
    about->calls = peer->ncalls;
    about->dialect = peer->dialect;
    about->is_told = session->shared->may_hear && tg_peer_is_told(peer);
}

static void
ngx_toolgate_told_identify(ngx_toolgate_session_t *session)
{
    const tg_peer_t *peer;

    peer = &session->front.peer;

    if (session->shared->nmet != peer->nmet) {
        session->shared->nmet = peer->nmet;
        ngx_toolgate_seat_identify(&session->shared->seat, peer);
    }
}

void
ngx_toolgate_told_update(ngx_toolgate_session_t *session)
{
    ngx_toolgate_about_t about;

    ngx_toolgate_told_about(session, &about);
    ngx_toolgate_seat_update(&session->shared->seat, &about);
    ngx_toolgate_told_identify(session);
}

/* A new line for it: as ngx_toolgate_seat_take(). */
static ngx_int_t
ngx_toolgate_told_seat(ngx_toolgate_session_t *session)
{
    ngx_toolgate_client_t client;
    ngx_toolgate_about_t about;
    ngx_stream_session_t *s;
    ngx_int_t rc;

    s = session->front.stream;
    ngx_memzero(&client, sizeof(client));
    (void) ngx_toolgate_who(session->front.connection, &client);
    ngx_toolgate_told_about(session, &about);
    about.since = (uint64_t) s->start_sec * 1000 + s->start_msec;
    about.pid = client.pid;
    about.uid = client.uid;
    rc = ngx_toolgate_seat_take(&session->shared->seat,
                                session->shared->address, &about);
    ngx_toolgate_told_identify(session);

    if (rc == NGX_BUSY) {
        ngx_log_error(NGX_LOG_ERR, session->front.connection->log, 0,
                      "client closed: there are %d clients that may be told "
                      "something, which is all that are kept account of",
                      NGX_TOOLGATE_CLIENTS_MAX);
    }

    return rc;
}

/* It may be one whom other workers know: NGX_OK or NGX_ERROR. */
static ngx_int_t
ngx_toolgate_told_prepare(ngx_toolgate_session_t *session)
{
    const ngx_toolgate_client_t *client;
    ngx_toolgate_shared_t *shared;
    ngx_toolgate_front_t *front;

    front = &session->front;
    shared = ngx_pcalloc(front->connection->pool,
                         sizeof(ngx_toolgate_shared_t));

    if (shared == NULL) {
        return NGX_ERROR;
    }

    shared->session = session;
    shared->may_hear = ngx_toolgate_may_hear(front);
    shared->sees_all = ngx_toolgate_sees_all(front);
    client = shared->sees_all ? NULL : ngx_toolgate_client(front);
    shared->who = client != NULL ? client->uid : NGX_TOOLGATE_TO_NOBODY;
    shared->address = ngx_toolgate_address(front->connection->listening,
                                           front->conf);
    ngx_queue_insert_tail(&ngx_toolgate_shared, &shared->queue);
    session->shared = shared;

    return NGX_OK;
}

static void
ngx_toolgate_told_forget(ngx_toolgate_session_t *session)
{
    ngx_queue_remove(&session->shared->queue);
    session->shared = NULL;
}

/* A new client, of all that there are: as ngx_toolgate_told_join(). */
static ngx_int_t
ngx_toolgate_told_begin(ngx_toolgate_session_t *session)
{
    ngx_int_t rc;

    rc = ngx_toolgate_told_seat(session);

    if (rc != NGX_OK) {
        ngx_toolgate_told_forget(session);
    }

    return rc == NGX_BUSY ? NGX_ERROR : NGX_OK;
}

ngx_int_t
ngx_toolgate_told_join(ngx_toolgate_session_t *session)
{
    const char *why;
    tg_peer_t *peer;

    if (!session->front.conf->needs_share) {
        return NGX_OK;
    }

    if (ngx_toolgate_told_prepare(session) != NGX_OK
        || ngx_toolgate_told_begin(session) != NGX_OK)
    {
        return NGX_ERROR;
    }

    peer = &session->front.peer;
    why = peer->dialect != TG_DIALECT_AUTO
              ? ngx_toolgate_told_refusal(session, peer)
              : NULL;

    if (why != NULL) {
        tg_peer_turn_away(peer, tg_str_c(why));
        session->state = NGX_TOOLGATE_ENDING;
    }

    return NGX_OK;
}

void
ngx_toolgate_told_leave(ngx_toolgate_session_t *session)
{
    if (session->shared != NULL) {
        ngx_toolgate_seat_leave(&session->shared->seat);
        ngx_toolgate_told_forget(session);
    }
}

void
ngx_toolgate_told_send(ngx_toolgate_session_t *session,
                       ngx_toolgate_seat_t *seat, uint64_t *told)
{
    if (session->shared != NULL) {
        ngx_toolgate_seat_send(&session->shared->seat);
        *seat = session->shared->seat;
        *told = session->shared->told;
        ngx_toolgate_told_forget(session);
    }
}

/* --- bridges --- */

const char *
ngx_toolgate_told_refusal(void *host, tg_peer_t *peer)
{
    ngx_toolgate_session_t *session = host;

    const ngx_toolgate_srv_conf_t *scf;

    if (session->shared == NULL) {
        return NULL;
    }

    /* What it says first may be about itself. */
    ngx_toolgate_told_update(session);

    if (!peer->row->is_bridge) {
        return NULL;
    }

    scf = session->front.conf;

    if (ngx_toolgate_seat_bridge(&session->shared->seat, &scf->addresses,
                                 (ngx_toolgate_bridges_t) scf->bridges)
        == NGX_OK)
    {
        return NULL;
    }

    ngx_log_error(NGX_LOG_INFO, session->front.connection->log, 0,
                  "bridge rejected: another one is connected "
                  "(tool_relay_bridges)");

    return "another bridge is connected, and there may be one only "
           "(tool_relay_bridges reject); end that one first";
}

static void
ngx_toolgate_told_displace(ngx_toolgate_session_t *session)
{
    if (session->state == NGX_TOOLGATE_ENDING) {
        return;
    }

    ngx_log_error(NGX_LOG_INFO, session->front.connection->log, 0,
                  "bridge displaced by another one (tool_relay_bridges)");
    tg_peer_farewell(&session->front.peer,
                     TG_STR("another bridge has connected and displaced this "
                            "one (tool_relay_bridges displace)"));
    session->state = NGX_TOOLGATE_ENDING;
    ngx_toolgate_wake(&session->front);
}

/* --- news --- */

static void
ngx_toolgate_told_close(ngx_toolgate_session_t *session, const char *why)
{
    ngx_log_error(NGX_LOG_WARN, session->front.connection->log, 0,
                  "client closed: %s; %uz bytes of what it was told wait for "
                  "it",
                  why, session->shared->told);
    session->is_broken = 1;
    ngx_toolgate_wake(&session->front);
}

/* Is it for this client? */
static ngx_uint_t
ngx_toolgate_told_is_for(const ngx_toolgate_shared_t *shared,
                         const ngx_toolgate_news_t *news)
{
    return shared->may_hear
           && (news->whom == NGX_TOOLGATE_TO_ALL || news->whom == shared->who
               || shared->sees_all)
           && ngx_toolgate_has_address(&news->addresses, shared->address);
}

static void
ngx_toolgate_told_tell(ngx_toolgate_session_t *session,
                       const ngx_toolgate_news_t *news)
{
    ngx_toolgate_shared_t *shared;
    tg_peer_t *peer;
    size_t before;

    peer = &session->front.peer;
    shared = session->shared;

    if (news->at < shared->seat.heard || session->is_broken
        || session->state == NGX_TOOLGATE_ENDING
        || !ngx_toolgate_told_is_for(shared, news) || !tg_peer_is_told(peer))
    {
        return;
    }

    shared->seat.heard = news->next;

    if (shared->told + news->method.len + news->params.len
        > NGX_TOOLGATE_TOLD_MAX) {
        ngx_toolgate_told_close(session,
                                "it does not take what clients are told");
        return;
    }

    before = peer->out.len;
    tg_peer_broadcast(peer, news->method, news->params);
    shared->told += peer->out.len - before;
    ngx_toolgate_wake(&session->front);
}

static ngx_toolgate_session_t *
ngx_toolgate_told_of(ngx_queue_t *q)
{
    ngx_toolgate_shared_t *shared;

    shared = ngx_queue_data(q, ngx_toolgate_shared_t, queue);

    return shared->session;
}

/* All shared sessions: news for them, or NULL: some of those are lost. */
static void
ngx_toolgate_told_all(const ngx_toolgate_news_t *news)
{
    ngx_toolgate_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_toolgate_shared);
         q != ngx_queue_sentinel(&ngx_toolgate_shared); q = ngx_queue_next(q))
    {
        session = ngx_toolgate_told_of(q);

        if (news != NULL) {
            ngx_toolgate_told_tell(session, news);
        } else if (tg_peer_is_told(&session->front.peer)) {
            ngx_toolgate_told_close(session, "its worker was too late for what "
                                             "clients are told");
        }
    }
}

static void
ngx_toolgate_told_orders(void)
{
    ngx_toolgate_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_toolgate_shared);
         q != ngx_queue_sentinel(&ngx_toolgate_shared); q = ngx_queue_next(q))
    {
        session = ngx_toolgate_told_of(q);

        if (ngx_toolgate_seat_is_displaced(&session->shared->seat)) {
            ngx_toolgate_told_displace(session);
        }
    }
}

/* What changed on the page, as far as one turn goes. */
static void
ngx_toolgate_told_next(ngx_event_t *ev)
{
    ngx_toolgate_news_t news;
    size_t done;
    ngx_int_t rc;

    if (ngx_toolgate_clients_have_orders()) {
        ngx_toolgate_told_orders();
    }

    for (done = 0; done < NGX_TOOLGATE_TOLD_TURN; done += news.next - news.at) {
        rc = ngx_toolgate_news_next(&news);

        if (rc == NGX_AGAIN) {
            return;
        }

        if (rc == NGX_ERROR) {
            ngx_log_error(NGX_LOG_ERR, ev->log, 0, TG_NO_MEMORY);
            ngx_add_timer(ev, NGX_TOOLGATE_TOLD_PAUSE);
            return;
        }

        if (rc == NGX_ABORT) {
            ngx_toolgate_told_all(NULL);
            return;
        }

        ngx_toolgate_told_all(&news);
    }

    ngx_post_event(ev, &ngx_posted_next_events);
}

static void
ngx_toolgate_told_wake(void)
{
    ngx_toolgate_told_event.log = ngx_cycle->log;
    ngx_toolgate_told_event.cancelable = 1;
    ngx_post_event(&ngx_toolgate_told_event, &ngx_posted_events);
}

void
ngx_toolgate_told_start(ngx_cycle_t *cycle)
{
    ngx_toolgate_share_start(cycle, ngx_toolgate_init_connection,
                             ngx_toolgate_told_wake);
}

/* --- arrivals --- */

/* From where it came to, up to where this worker's other clients are. */
static void
ngx_toolgate_told_catch_up(ngx_toolgate_session_t *session)
{
    ngx_toolgate_news_t news;
    uint64_t at;
    ngx_int_t rc;

    for (at = session->shared->seat.heard;; at = news.next) {
        rc = ngx_toolgate_news_from(at, &news);

        if (rc == NGX_AGAIN) {
            return;
        }

        if (rc != NGX_OK) {
            ngx_toolgate_told_close(session,
                                    "it was too long on its way between "
                                    "workers for what clients are told");
            return;
        }

        ngx_toolgate_told_tell(session, &news);
    }
}

ngx_int_t
ngx_toolgate_told_arrive(ngx_toolgate_session_t *session,
                         const ngx_toolgate_seat_t *came, uint64_t told)
{
    const ngx_toolgate_srv_conf_t *scf;
    ngx_toolgate_shared_t *shared;
    ngx_toolgate_seat_t seat;

    scf = session->front.conf;
    seat = *came;

    if (!scf->needs_share) {
        ngx_toolgate_seat_leave(&seat);
        return NGX_OK;
    }

    if (ngx_toolgate_told_prepare(session) != NGX_OK) {
        return NGX_ERROR;
    }

    shared = session->shared;
    shared->seat = seat;
    shared->told = (size_t) told;

    if (ngx_toolgate_seat_arrive(&shared->seat, shared->address) != NGX_OK) {
        shared->seat.line = 0;

        if (ngx_toolgate_told_begin(session) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (session->shared == NULL) {
        return NGX_OK;
    }

    /* Who is there stays, whatever is said of those that come. */
    if (session->front.peer.row->is_bridge) {
        (void) ngx_toolgate_seat_bridge(&shared->seat, &scf->addresses,
                                        NGX_TOOLGATE_BRIDGES_SHARED);
    }

    ngx_toolgate_told_catch_up(session);

    if (ngx_toolgate_seat_is_displaced(&shared->seat)) {
        ngx_toolgate_told_displace(session);
    }

    return NGX_OK;
}
