/*
 * Clients that workers know of each other: a session's part of the page that
 * all workers share.
 */
#include "nginx/stream/ngx_toolgate_session.h"

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
    ngx_toolgate_telling_join(shared);
    session->shared = shared;

    return NGX_OK;
}

static void
ngx_toolgate_told_forget(ngx_toolgate_session_t *session)
{
    ngx_toolgate_telling_leave(session->shared);
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

    } else if (tg_peer_is_silent_listener(&session->front.peer)) {
        session->shared->connected = ngx_current_msec;
        session->shared->is_late = 1;
        ngx_toolgate_session_wait(session, NGX_TOOLGATE_FIRST_BYTE);
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
    ngx_toolgate_shared_t *shared;
    uint64_t heard;

    shared = session->shared;

    if (shared != NULL) {
        /* What is in the log when it is on its way stays there. */
        heard = shared->seat.heard;

        if (session->texts.first != NULL) {
            shared->seat.heard = session->texts.first->text->at;
        }

        ngx_toolgate_seat_send(&shared->seat);
        shared->seat.heard = ngx_toolgate_text_leave(session, heard);
        *seat = shared->seat;
        *told = shared->told;
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

/* --- arrivals --- */

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

    shared->is_late = 1;

    if (ngx_toolgate_seat_is_displaced(&shared->seat)) {
        ngx_toolgate_told_displace(session);
    }

    return NGX_OK;
}
