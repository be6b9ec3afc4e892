/*
 * Requests of the parent to the agent, for user input, sampling or roots in
 * MCP's legacy versions, and the agent's responses.
 */
#include "bridge/tg_bridge.h"

struct tg_bridge_server_request_s {
    tg_bridge_server_request_t *next;
    uint64_t tag;
    size_t id_len;
    char id[]; /* raw id of the parent's request */
};

static tg_bridge_server_request_t **
tg_bridge_server_request_find(tg_bridge_t *bridge, uint64_t tag, tg_str_t id)
{
    tg_bridge_server_request_t **at;

    for (at = &bridge->server_requests; *at != NULL; at = &(*at)->next) {
        if ((*at)->tag == tag
            || (id.data != NULL
                && tg_str_eq(tg_str((*at)->id, (*at)->id_len), id)))
        {
            break;
        }
    }

    return at;
}

static void
tg_bridge_server_request_remove(tg_bridge_server_request_t **at)
{
    tg_bridge_server_request_t *server_request;

    server_request = *at;
    *at = server_request->next;
    tg_free(tg_alloc_libc(), server_request);
}

static tg_bridge_server_request_t *
tg_bridge_server_request_new(tg_bridge_t *bridge, tg_str_t id)
{
    tg_bridge_server_request_t *server_request;

    server_request = tg_alloc(tg_alloc_libc(),
                              sizeof(*server_request) + id.len);

    if (server_request != NULL) {
        server_request->next = bridge->server_requests;
        server_request->tag = ++bridge->seq;
        server_request->id_len = id.len;
        memcpy(server_request->id, id.data, id.len);
        bridge->server_requests = server_request;
    }

    return server_request;
}

/* Forwards a request. TG_MISSING: the agent does not support it. */
static int
tg_bridge_server_request_forward(tg_bridge_t *bridge,
                                 const tg_message_t *message)
{
    char room[TG_NAME_MAX];
    tg_bridge_server_request_t *server_request;
    tg_buf_t method;
    int rc;

    method = tg_buf_make_fixed(room, sizeof(room));
    tg_json_append_unescaped(&method, tg_json_string_body(message->method));

    if (tg_buf_has_failed(&method)) {
        return TG_MISSING;
    }

    server_request = tg_bridge_server_request_new(bridge, message->id);

    if (server_request == NULL) {
        return TG_NOMEM;
    }

    rc = tg_peer_send_server_request(&bridge->peer, tg_buf_view(&method),
                                     message->params, server_request->tag);

    if (rc != TG_OK) {
        tg_bridge_server_request_remove(&bridge->server_requests);
    }

    return rc;
}

void
tg_bridge_on_server_request(void *host, const tg_message_t *message)
{
    tg_bridge_t *bridge;
    int rc;

    bridge = host;
    rc = tg_bridge_server_request_forward(bridge, message);

    if (rc == TG_NOMEM) {
        tg_bridge_quit_nomem(bridge);

    } else if (rc != TG_OK) {
        (void) tg_caller_respond_error(
            &bridge->parent.caller, message->id,
            rc == TG_MISSING ? TG_RPC_METHOD_NOT_FOUND : TG_RPC_INTERNAL_ERROR,
            rc == TG_MISSING ? "The agent does not support this request."
                             : "Too many requests to the agent at once.");
    }
}

void
tg_bridge_cancel_server_request(tg_bridge_t *bridge, tg_str_t id)
{
    tg_bridge_server_request_t **at;
    uint64_t tag;

    at = tg_bridge_server_request_find(bridge, 0, id);

    if (*at != NULL) {
        tag = (*at)->tag;
        tg_bridge_server_request_remove(at);
        tg_peer_cancel_server_request(&bridge->peer, tag);
    }
}

void
tg_bridge_cancel_server_requests(tg_bridge_t *bridge)
{
    uint64_t tag;

    while (bridge->server_requests != NULL) {
        tag = bridge->server_requests->tag;
        tg_bridge_server_request_remove(&bridge->server_requests);

        if (!bridge->is_quitting) {
            tg_peer_cancel_server_request(&bridge->peer, tag);
        }
    }
}

void
tg_bridge_on_agent_response(void *host, uint64_t tag,
                            const tg_message_t *message)
{
    tg_bridge_server_request_t **at;
    tg_bridge_t *bridge;

    bridge = host;
    at = tg_bridge_server_request_find(bridge, tag, TG_STR_NONE);

    if (*at == NULL) {
        return;
    }

    if (tg_caller_respond(&bridge->parent.caller,
                          tg_str((*at)->id, (*at)->id_len), message->result,
                          message->error)
        == TG_NOMEM)
    {
        tg_bridge_quit_nomem(bridge);
    }

    tg_bridge_server_request_remove(at);
}

int
tg_bridge_send_hello(tg_bridge_t *bridge, unsigned client_caps)
{
    const tg_peer_t *peer;
    tg_buf_t info;
    int rc;

    peer = &bridge->peer;
    bridge->client_caps = client_caps;
    bridge->sent_nmet = peer->nclient_changes;

    if (peer->client.len == 0) {
        return tg_caller_send_hello(&bridge->parent.caller, client_caps);
    }

    tg_buf_init(&info, tg_alloc_libc());
    tg_buf_append_char(&info, '{');
    tg_json_add_string(&info, "name", peer->client);
    tg_json_add_string(&info, "version", peer->client_version);
    tg_buf_append_char(&info, '}');
    rc = tg_buf_has_failed(&info)
             ? TG_NOMEM
             : tg_caller_send_client_info(
                 &bridge->parent.caller, client_caps, tg_buf_view(&info),
                 TG_STR("toolgate-bridge/" TG_VERSION));
    tg_buf_deinit(&info);

    return rc;
}

void
tg_bridge_update_hello(tg_bridge_t *bridge)
{
    const tg_peer_t *peer;

    peer = &bridge->peer;

    if (tg_bridge_parent_is_open(bridge)
        && bridge->parent.caller.dialect->has_handshake
        && (peer->client_caps != bridge->client_caps
            || peer->nclient_changes != bridge->sent_nmet)
        && tg_bridge_send_hello(bridge, peer->client_caps) != TG_OK)
    {
        tg_bridge_quit_nomem(bridge);
    }
}
