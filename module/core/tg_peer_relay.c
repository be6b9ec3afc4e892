/*
 * The `relay` dialect (seed 003): lenient on what it reads.
 */
#include "core/tg_peer_impl.h"

static void
tg_relay_request(tg_peer_t *peer, const tg_message_t *message)
{
    tg_reply_t reply;
    tg_json_type_t id;

    id = tg_json_type(message->id);

    /* Without an id nobody could match an answer. */
    if ((id != TG_JSON_NUMBER && id != TG_JSON_STRING)
        || message->id.len > TG_ID_MAX || message->has_duplicate)
    {
        tg_peer_log(peer, "relay request without a usable id dropped");
        return;
    }

    memset(&reply, 0, sizeof(reply));
    reply.id = message->id;
    reply.kind = TG_ENTRY_TOOL;
    reply.is_mcp = 1;

    if (tg_json_is_text(message->method, TG_STR("tools/list"))) {
        tg_peer_tools_list(peer, message, &reply);

    } else if (tg_json_is_text(message->method, TG_STR("tools/call"))) {
        tg_peer_tools_call(peer, message, &reply);

    } else {
        tg_reply_error(peer, &reply, TG_RPC_METHOD,
                       TG_STR("Method not found; there are tools/list and "
                              "tools/call."),
                       TG_STR_NONE);
    }
}

int
tg_peer_relay(tg_peer_t *peer, tg_message_t *message, int rc)
{
    if (rc != TG_OK || message->type != TG_JSON_OBJECT) {
        tg_peer_log(peer, "malformed relay frame dropped");
        return TG_OK;
    }

    if (tg_json_is_text(message->kind, TG_STR("mcp_request"))) {
        tg_relay_request(peer, message);
        return TG_OK;
    }

    /* Seed 003: both sides close after either. */
    if (tg_json_is_text(message->kind, TG_STR("shutdown"))) {
        return TG_CLOSED;
    }

    if (tg_json_is_text(message->kind, TG_STR("error"))) {
        tg_peer_log(peer, "relay client reported an error");
        return TG_CLOSED;
    }

    tg_peer_log(peer, "relay frame of another kind dropped");

    return TG_OK;
}
