/* The slot of a session's client in shared memory. */
#include "nginx/session/ngx_tg_session_impl.h"
#include "nginx/call/ngx_tg_call_checks.h"

/* --- one session --- */

static void
ngx_tg_session_get_client_info(const ngx_tg_session_t *session,
                               ngx_tg_client_info_t *info)
{
    const tg_peer_t *peer;

    peer = &session->base.peer;
    info->calls = peer->ncalls;
    info->dialect = peer->dialect;
    info->receives_broadcasts = session->priv->shared_client->can_receive
                                && tg_peer_has_broadcasts(peer);
}

static void
ngx_tg_session_update_identity(ngx_tg_session_t *session)
{
    const tg_peer_t *peer;

    peer = &session->base.peer;

    if (session->priv->shared_client->nclient_changes != peer->nclient_changes)
    {
        session->priv->shared_client->nclient_changes = peer->nclient_changes;
        ngx_tg_client_slot_set_identity(
            &session->priv->shared_client->client_slot, peer);
    }
}

void
ngx_tg_session_update_client_slot(ngx_tg_session_t *session)
{
    ngx_tg_client_info_t info;

    ngx_tg_session_get_client_info(session, &info);
    ngx_tg_client_slot_update(&session->priv->shared_client->client_slot,
                              &info);
    ngx_tg_session_update_identity(session);
}

/* Allocates a slot. NGX_BUSY: too many (logged); NGX_DECLINED: no page. */
static ngx_int_t
ngx_tg_session_allocate_client_slot(ngx_tg_session_t *session)
{
    ngx_tg_peer_cred_t client;
    ngx_tg_client_info_t info;
    ngx_stream_session_t *s;
    ngx_int_t rc;

    s = session->base.stream;
    ngx_memzero(&client, sizeof(client));
    (void) ngx_tg_connection_get_peer_cred(session->base.connection, &client);
    ngx_tg_session_get_client_info(session, &info);
    info.since = (uint64_t) s->start_sec * 1000 + s->start_msec;
    info.pid = client.pid;
    info.uid = client.uid;
    rc = ngx_tg_client_slot_allocate(&session->priv->shared_client->client_slot,
                                     session->priv->shared_client->address,
                                     &info);
    ngx_tg_session_update_identity(session);

    if (rc == NGX_BUSY) {
        ngx_log_error(NGX_LOG_ERR, session->base.connection->log, 0,
                      "client closed: the limit of %d clients that receive "
                      "notifications is reached",
                      NGX_TG_CLIENTS_MAX);
    }

    return rc;
}

/* Creates the state of a client that other workers see. */
static ngx_int_t
ngx_tg_session_create_shared_client(ngx_tg_session_t *session)
{
    char room[NGX_TG_OWNER_SIZE];
    ngx_tg_shared_client_t *shared_client;
    ngx_tg_session_base_t *base;

    base = &session->base;
    shared_client = ngx_pcalloc(base->connection->pool,
                                sizeof(ngx_tg_shared_client_t));

    if (shared_client == NULL) {
        return NGX_ERROR;
    }

    shared_client->session = session;
    shared_client->can_receive = ngx_tg_session_base_can_be_notified(base);
    shared_client->sees_all = ngx_tg_session_base_can_see_all(base);
    shared_client->audience =
        ngx_tg_owner_get_audience(ngx_tg_session_base_get_owner(base, room));
    shared_client->address = ngx_tg_listener_get_address_hash(
        base->connection->listening, base->conf);
    ngx_tg_broadcast_add_listener(shared_client);
    session->priv->shared_client = shared_client;

    return NGX_OK;
}

static void
ngx_tg_session_free_shared_client(ngx_tg_session_t *session)
{
    ngx_tg_broadcast_remove_listener(session->priv->shared_client);
    session->priv->shared_client = NULL;
}

/* Registers a new client. NGX_ERROR, after logging: there are too many. */
static ngx_int_t
ngx_tg_session_register_new_client(ngx_tg_session_t *session)
{
    ngx_int_t rc;

    rc = ngx_tg_session_allocate_client_slot(session);

    if (rc != NGX_OK) {
        ngx_tg_session_free_shared_client(session);

    } else if (tg_peer_is_pre_request_listener(&session->base.peer)) {
        session->priv->shared_client->connected = ngx_current_msec;
        session->priv->shared_client->is_catching_up = 1;
        ngx_tg_session_set_timer(session, NGX_TG_FIRST_BYTE_TIMEOUT);
    }

    return rc == NGX_BUSY ? NGX_ERROR : NGX_OK;
}

ngx_int_t
ngx_tg_session_register_client(ngx_tg_session_t *session)
{
    const char *why;
    tg_peer_t *peer;

    if (!session->base.conf->needs_shm) {
        return NGX_OK;
    }

    if (ngx_tg_session_create_shared_client(session) != NGX_OK
        || ngx_tg_session_register_new_client(session) != NGX_OK)
    {
        return NGX_ERROR;
    }

    peer = &session->base.peer;
    why = peer->dialect != TG_DIALECT_AUTO
              ? ngx_tg_session_check_bridge_policy(session, peer)
              : NULL;

    if (why != NULL) {
        tg_peer_refuse_client(peer, tg_str_from_cstr(why));
        session->state = NGX_TG_SESSION_CLOSING;
    }

    return NGX_OK;
}

void
ngx_tg_session_unregister_client(ngx_tg_session_t *session)
{
    if (session->priv->shared_client != NULL) {
        ngx_tg_client_slot_free(&session->priv->shared_client->client_slot);
        ngx_tg_session_free_shared_client(session);
    }
}

void
ngx_tg_session_detach_client_slot(ngx_tg_session_t *session,
                                  ngx_tg_client_slot_t *client_slot,
                                  uint64_t *backlog_bytes)
{
    ngx_tg_shared_client_t *shared_client;
    uint64_t read_position;

    shared_client = session->priv->shared_client;

    if (shared_client != NULL) {
        /* During a handoff, the broadcast log keeps records from here on. */
        read_position = shared_client->client_slot.read_position;

        if (session->priv->texts.first != NULL) {
            shared_client->client_slot.read_position =
                session->priv->texts.first->text->at;
        }

        ngx_tg_client_slot_detach(&shared_client->client_slot);
        shared_client->client_slot.read_position =
            ngx_tg_unsent_texts_copy_to_output(session, read_position);
        *client_slot = shared_client->client_slot;
        *backlog_bytes = shared_client->backlog_bytes;
        ngx_tg_session_free_shared_client(session);
    }
}

/* --- bridges --- */

const char *
ngx_tg_session_check_bridge_policy(void *host, tg_peer_t *peer)
{
    ngx_tg_session_t *session = host;

    const ngx_tg_srv_conf_t *scf;

    if (session->priv->shared_client == NULL) {
        return NULL;
    }

    /* The first message may have the client's identity. */
    ngx_tg_session_update_client_slot(session);

    if (!peer->row->is_bridge) {
        return NULL;
    }

    scf = session->base.conf;

    if (ngx_tg_client_slot_register_bridge(
            &session->priv->shared_client->client_slot, &scf->addresses,
            (ngx_tg_bridge_policy_t) scf->bridges)
        == NGX_OK)
    {
        return NULL;
    }

    ngx_log_error(NGX_LOG_INFO, session->base.connection->log, 0,
                  "bridge rejected: another one is connected "
                  "(tool_relay_bridges)");

    return "another bridge is connected, and only one is allowed "
           "(tool_relay_bridges reject); stop that bridge first";
}

/* --- sessions after a handoff --- */

ngx_int_t
ngx_tg_session_attach_client_slot(ngx_tg_session_t *session,
                                  const ngx_tg_client_slot_t *came,
                                  uint64_t backlog_bytes)
{
    const ngx_tg_srv_conf_t *scf;
    ngx_tg_shared_client_t *shared_client;
    ngx_tg_client_slot_t client_slot;

    scf = session->base.conf;
    client_slot = *came;

    if (!scf->needs_shm) {
        ngx_tg_client_slot_free(&client_slot);
        return NGX_OK;
    }

    if (ngx_tg_session_create_shared_client(session) != NGX_OK) {
        return NGX_ERROR;
    }

    shared_client = session->priv->shared_client;
    shared_client->client_slot = client_slot;
    shared_client->backlog_bytes = (size_t) backlog_bytes;

    if (ngx_tg_client_slot_attach(&shared_client->client_slot,
                                  shared_client->address)
        != NGX_OK)
    {
        shared_client->client_slot.row = 0;

        if (ngx_tg_session_register_new_client(session) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (session->priv->shared_client == NULL) {
        return NGX_OK;
    }

    /* A bridge keeps its connection, even if the policy rejects new ones. */
    if (session->base.peer.row->is_bridge) {
        (void) ngx_tg_client_slot_register_bridge(&shared_client->client_slot,
                                                  &scf->addresses,
                                                  NGX_TG_BRIDGE_POLICY_SHARED);
    }

    shared_client->is_catching_up = 1;

    if (ngx_tg_client_slot_is_displaced(&shared_client->client_slot)) {
        ngx_tg_session_displace_bridge(session);
    }

    return NGX_OK;
}
