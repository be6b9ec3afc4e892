/* Log messages of calls for the client (MCP "Logging"). */
#include "protocol/tg_peer_impl.h"

void
tg_mcp_on_set_level(tg_peer_t *peer, const tg_message_t *message,
                    tg_reply_t *reply)
{
    tg_mcp_log_level_t level;

    level = tg_mcp_log_level_parse(message->p.level);

    if (level == TG_MCP_LOG_NONE) {
        tg_reply_reject_request(peer, reply, TG_RPC_INVALID_PARAMS,
                                "params.level must be debug, info, notice, "
                                "warning, error, critical, alert or "
                                "emergency.");
        return;
    }

    peer->priv->log_level = level;
    tg_reply_write_empty_result(peer, reply);
}

tg_mcp_log_level_t
tg_peer_get_log_level(const tg_peer_t *peer, const tg_reply_t *reply)
{
    if (reply->is_modern) {
        return (tg_mcp_log_level_t) reply->log_level;
    }

    if (peer->priv->log_level != TG_MCP_LOG_NONE) {
        return (tg_mcp_log_level_t) peer->priv->log_level;
    }

    /* MCP leaves it to the server what a session gets before setLevel. */
    return peer->is_legacy
                   && (tg_peer_get_capabilities(peer) & TG_CAPABILITY_LOGGING)
               ? TG_MCP_LOG_INFO
               : TG_MCP_LOG_NONE;
}

void
tg_call_notify_message(tg_call_t *call, tg_mcp_log_level_t level,
                       tg_str_t logger, tg_str_t data)
{
    tg_mcp_log_level_t wanted;
    tg_peer_t *peer;
    tg_buf_t params;

    peer = call->peer;
    wanted = tg_peer_get_log_level(peer, &call->reply);

    /* A client that does not read gets fewer messages. */
    if (wanted == TG_MCP_LOG_NONE || level < wanted
        || peer->out.len > TG_PEER_OUTPUT_MAX)
    {
        return;
    }

    tg_buf_init(&params, peer->priv->alloc);
    tg_buf_printf(&params, "{\"level\":\"%s\"",
                  tg_mcp_log_level_get_name(level));
    tg_json_add_compact(&params, "logger", logger);
    tg_json_add_compact(&params, "data", data);
    tg_buf_append_char(&params, '}');

    if (tg_buf_has_failed(&params)) {
        peer->out.failed = 1;
    } else {
        tg_peer_notify(peer, TG_STR("notifications/message"),
                       tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}
