/*
 * What the parent asks of the agent, on its way there and back: requests of
 * MCP's legacy versions, for a user, a model or folders.
 */
#include "bridge/tg_bridge.h"

/* A request of the parent's that the agent has. */
struct tg_bridge_ask_s {
    tg_bridge_ask_t *next;
    uint64_t tag;
    size_t id_len;
    char id[]; /* raw, the parent's */
};

static tg_bridge_ask_t **
tg_bridge_ask_find(tg_bridge_t *bridge, uint64_t tag, tg_str_t id)
{
    tg_bridge_ask_t **at;

    for (at = &bridge->asks; *at != NULL; at = &(*at)->next) {
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
tg_bridge_ask_remove(tg_bridge_ask_t **at)
{
    tg_bridge_ask_t *ask;

    ask = *at;
    *at = ask->next;
    tg_free(tg_alloc_libc(), ask);
}

/* NULL: no memory. */
static tg_bridge_ask_t *
tg_bridge_ask_new(tg_bridge_t *bridge, tg_str_t id)
{
    tg_bridge_ask_t *ask;

    ask = tg_alloc(tg_alloc_libc(), sizeof(*ask) + id.len);

    if (ask != NULL) {
        ask->next = bridge->asks;
        ask->tag = ++bridge->seq;
        ask->id_len = id.len;
        memcpy(ask->id, id.data, id.len);
        bridge->asks = ask;
    }

    return ask;
}

/* --- the parent asks --- */

/* TG_OK, or why the agent was not asked. */
static int
tg_bridge_ask_agent(tg_bridge_t *bridge, const tg_message_t *message)
{
    char room[TG_NAME_MAX];
    tg_bridge_ask_t *ask;
    tg_buf_t method;
    int rc;

    method = tg_buf_fixed(room, sizeof(room));
    tg_json_put_decoded(&method, tg_json_body(message->method));

    if (tg_buf_failed(&method)) {
        return TG_MISSING;
    }

    ask = tg_bridge_ask_new(bridge, message->id);

    if (ask == NULL) {
        return TG_NOMEM;
    }

    rc = tg_peer_ask(&bridge->peer, tg_buf_view(&method), message->params,
                     ask->tag);

    if (rc != TG_OK) {
        tg_bridge_ask_remove(&bridge->asks);
    }

    return rc;
}

void
tg_bridge_asked(void *host, const tg_message_t *message)
{
    tg_bridge_t *bridge;
    int rc;

    bridge = host;
    rc = tg_bridge_ask_agent(bridge, message);

    if (rc == TG_NOMEM) {
        tg_bridge_no_memory(bridge);

    } else if (rc != TG_OK) {
        (void) tg_caller_refuse(&bridge->parent.caller, message->id,
                                rc == TG_MISSING ? TG_RPC_METHOD
                                                 : TG_RPC_INTERNAL,
                                rc == TG_MISSING
                                    ? "The agent has not said that it can be "
                                      "asked this."
                                    : "Too much was asked of the agent at "
                                      "once.");
    }
}

void
tg_bridge_unasked(tg_bridge_t *bridge, tg_str_t id)
{
    tg_bridge_ask_t **at;
    uint64_t tag;

    at = tg_bridge_ask_find(bridge, 0, id);

    if (*at != NULL) {
        tag = (*at)->tag;
        tg_bridge_ask_remove(at);
        tg_peer_unask(&bridge->peer, tag);
    }
}

void
tg_bridge_unask_all(tg_bridge_t *bridge)
{
    uint64_t tag;

    while (bridge->asks != NULL) {
        tag = bridge->asks->tag;
        tg_bridge_ask_remove(&bridge->asks);

        if (!bridge->is_quitting) {
            tg_peer_unask(&bridge->peer, tag);
        }
    }
}

/* --- the agent answers --- */

void
tg_bridge_told(void *host, uint64_t tag, const tg_message_t *message)
{
    tg_bridge_ask_t **at;
    tg_bridge_t *bridge;

    bridge = host;
    at = tg_bridge_ask_find(bridge, tag, TG_STR_NONE);

    if (*at == NULL) {
        return;
    }

    if (tg_caller_reply(&bridge->parent.caller,
                        tg_str((*at)->id, (*at)->id_len), message->result,
                        message->error)
        == TG_NOMEM)
    {
        tg_bridge_no_memory(bridge);
    }

    tg_bridge_ask_remove(at);
}

int
tg_bridge_hello(tg_bridge_t *bridge, unsigned can)
{
    const tg_peer_t *peer;
    tg_buf_t info;
    int rc;

    peer = &bridge->peer;
    bridge->can = can;
    bridge->met = peer->nmet;

    if (peer->client.len == 0) {
        return tg_caller_hello(&bridge->parent.caller, can);
    }

    tg_buf_init(&info, tg_alloc_libc());
    tg_buf_text(&info, "{\"name\":");
    tg_json_put_string(&info, peer->client);
    tg_buf_text(&info, ",\"version\":");
    tg_json_put_string(&info, peer->client_version);
    tg_buf_char(&info, '}');
    rc = tg_buf_failed(&info)
             ? TG_NOMEM
             : tg_caller_introduce(&bridge->parent.caller, can,
                                   tg_buf_view(&info),
                                   TG_STR("toolgate-bridge/" TG_VERSION));
    tg_buf_deinit(&info);

    return rc;
}

void
tg_bridge_introduce(tg_bridge_t *bridge)
{
    const tg_peer_t *peer;

    peer = &bridge->peer;

    if (tg_parent_is_open(bridge)
        && bridge->parent.caller.dialect->has_handshake
        && (peer->can != bridge->can || peer->nmet != bridge->met)
        && tg_bridge_hello(bridge, peer->can) != TG_OK)
    {
        tg_bridge_no_memory(bridge);
    }
}
