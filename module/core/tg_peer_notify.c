/*
 * What a peer sends unasked.
 */
#include "base/tg_number.h"
#include "core/tg_peer_impl.h"

/* Opens a notification up to its params' value; FALSE where there is none. */
static int
tg_notify_open(tg_peer_t *peer, tg_str_t method)
{
    if (peer->dialect == TG_DIALECT_IPC || peer->is_closing) {
        return 0;
    }

    tg_buf_text(&peer->out, peer->dialect == TG_DIALECT_RELAY
                                ? "{\"kind\":\"mcp_notification\",\"method\":"
                                : "{\"jsonrpc\":\"2.0\",\"method\":");
    tg_json_put_string(&peer->out, method);

    return 1;
}

void
tg_peer_notify(tg_peer_t *peer, tg_str_t method, tg_str_t params)
{
    size_t start;

    start = peer->out.len;

    if (!tg_notify_open(peer, method)) {
        return;
    }

    if (params.data != NULL) {
        tg_buf_text(&peer->out, ",\"params\":");
        tg_json_put_compact(&peer->out, params);
    }

    tg_buf_put(&peer->out, "}\n", 2);

    if (peer->dialect == TG_DIALECT_RELAY && !tg_buf_failed(&peer->out)
        && peer->out.len - start > TG_FRAME_RELAY_MAX)
    {
        tg_buf_truncate(&peer->out, start);
        tg_peer_log(peer, "notification beyond 1 MiB dropped");
    }
}

static void
tg_notify_member(tg_buf_t *out, const char *key, tg_str_t raw)
{
    if (raw.data != NULL) {
        tg_buf_text(out, key);
        tg_json_put_compact(out, raw);
    }
}

/* Is it more than what was told before?  Then it is remembered. */
static int
tg_progress_rises(tg_call_t *call, tg_str_t progress)
{
    tg_number_t now, before;

    if (tg_json_type(progress) != TG_JSON_NUMBER
        || progress.len > sizeof(call->progress)
        || tg_number_parse(progress, &now) != TG_OK)
    {
        return 0;
    }

    if (call->progress_len != 0
        && tg_number_parse(tg_str(call->progress, call->progress_len), &before)
               == TG_OK
        && tg_number_compare(&now, &before) <= 0)
    {
        return 0;
    }

    memcpy(call->progress, progress.data, progress.len);
    call->progress_len = progress.len;

    return 1;
}

void
tg_call_progress(tg_call_t *call, tg_str_t progress, tg_str_t total,
                 tg_str_t message)
{
    tg_buf_t *out;

    if (call->progress_token.data == NULL || call->peer->is_closing
        || !tg_progress_rises(call, progress)
        || !tg_notify_open(call->peer, TG_STR("notifications/progress")))
    {
        return;
    }

    out = &call->peer->out;
    tg_notify_member(out,
                     ",\"params\":{\"progressToken\":", call->progress_token);
    tg_notify_member(out, ",\"progress\":", progress);
    tg_notify_member(out, ",\"total\":", total);
    tg_notify_member(out, ",\"message\":", message);
    tg_buf_put(out, "}}\n", 3);
}

/* MCP 2026-07-28 "subscriptions": each message names its subscription. */
static void
tg_subscription_meta(tg_buf_t *out, const tg_subscription_t *sub)
{
    tg_buf_text(out, "\"io.modelcontextprotocol/subscriptionId\":");
    tg_buf_str(out, sub->id);
}

void
tg_peer_list_changed(tg_peer_t *peer)
{
    static const char method[] = "notifications/tools/list_changed";
    const tg_subscription_t *sub;

    if (!peer->info->has_list_changed) {
        return;
    }

    if (peer->dialect == TG_DIALECT_RELAY || peer->is_legacy) {
        tg_peer_notify(peer, TG_STR(method), TG_STR_NONE);
    }

    for (sub = peer->subscriptions; sub != NULL; sub = sub->next) {
        if (!sub->has_tools || !tg_notify_open(peer, TG_STR(method))) {
            continue;
        }

        tg_buf_text(&peer->out, ",\"params\":{\"_meta\":{");
        tg_subscription_meta(&peer->out, sub);
        tg_buf_put(&peer->out, "}}}\n", 4);
    }
}

static void
tg_subscription_end(tg_peer_t *peer, const tg_subscription_t *sub)
{
    tg_reply_t reply;
    size_t start;

    memset(&reply, 0, sizeof(reply));
    reply.id = sub->id;
    start = tg_reply_open(peer, &reply, "result");
    tg_buf_text(&peer->out, "{\"resultType\":\"complete\",\"_meta\":{");
    tg_subscription_meta(&peer->out, sub);
    tg_buf_text(&peer->out, ",\"io.modelcontextprotocol/serverInfo\":");
    tg_reply_server_info(peer, &peer->out);
    tg_buf_text(&peer->out, "}}");
    tg_reply_close(peer, &reply, start);
}

void
tg_peer_farewell(tg_peer_t *peer, tg_str_t reason)
{
    tg_subscription_t *sub;

    if (peer->is_closing) {
        return;
    }

    while ((sub = peer->subscriptions) != NULL) {
        tg_subscription_end(peer, sub);
        peer->subscriptions = sub->next;
        tg_free(peer->alloc, sub);
    }

    peer->nsubscriptions = 0;

    if (peer->dialect == TG_DIALECT_RELAY) {
        tg_buf_text(&peer->out, "{\"kind\":\"shutdown\",\"reason\":");
        tg_json_put_string(&peer->out, reason);
        tg_buf_put(&peer->out, "}\n", 2);

    } else if (peer->is_toolgate) {
        tg_buf_text(&peer->out, "{\"jsonrpc\":\"2.0\",\"method\":\"" TG_CLOSING
                                "\",\"params\":{\"reason\":");
        tg_json_put_string(&peer->out, reason);
        tg_buf_put(&peer->out, "}}\n", 3);
    }

    peer->is_closing = 1;
}
