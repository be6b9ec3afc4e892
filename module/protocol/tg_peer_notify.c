/* Notifications of a peer: progress, list changes, subscriptions, shutdown. */
#include "base/tg_number.h"
#include "protocol/tg_peer_impl.h"

/* Returns 0 if the dialect has no notifications or the peer is closing. */
static int
tg_peer_begin_notification(tg_peer_t *peer, tg_str_t method, size_t *start)
{
    const char *opening;

    opening = peer->row->notification;

    if (opening == NULL || peer->is_closing) {
        return 0;
    }

    *start = tg_frame_open(peer->frame.kind, &peer->out);
    tg_buf_append_cstr(&peer->out, opening);
    tg_buf_append_cstr(&peer->out, "\"method\":");
    tg_json_write_string(&peer->out, method);

    return 1;
}

static void
tg_peer_end_notification(tg_peer_t *peer, size_t start)
{
    tg_buf_append_char(&peer->out, '}');

    if (tg_frame_close(peer->frame.kind, &peer->out, start,
                       tg_peer_max_message_size(peer))
        == TG_LIMIT)
    {
        tg_buf_truncate(&peer->out, start);
        tg_peer_log(peer, "notification larger than the maximum message "
                          "dropped");
    }
}

void
tg_peer_notify(tg_peer_t *peer, tg_str_t method, tg_str_t params)
{
    size_t start;

    if (!tg_peer_begin_notification(peer, method, &start)) {
        return;
    }

    tg_json_add_compact(&peer->out, "params", params);
    tg_peer_end_notification(peer, start);
}

/* Returns 1 and stores the progress if it is larger than the last value. */
static int
tg_call_update_progress(tg_call_t *call, tg_str_t progress)
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
tg_call_notify_progress(tg_call_t *call, tg_str_t progress, tg_str_t total,
                        tg_str_t message)
{
    tg_buf_t *out;
    size_t start;

    /* A client that does not read gets fewer progress notifications. */
    if (call->progress_token.data == NULL || call->peer->is_closing
        || call->peer->out.len > TG_PEER_OUTPUT_MAX
        || !tg_call_update_progress(call, progress)
        || !tg_peer_begin_notification(
            call->peer, TG_STR("notifications/progress"), &start))
    {
        return;
    }

    out = &call->peer->out;
    tg_buf_append_cstr(out, ",\"params\":{");
    tg_json_add_compact(out, "progressToken", call->progress_token);
    tg_json_add_compact(out, "progress", progress);
    tg_json_add_compact(out, "total", total);
    tg_json_add_compact(out, "message", message);
    tg_buf_append_char(out, '}');
    tg_peer_end_notification(call->peer, start);
}

/* Each message of a subscription has its id (MCP 2026-07-28). */
static void
tg_subscription_write_id(tg_buf_t *out, const tg_subscription_t *sub)
{
    tg_buf_append_cstr(out, "\"io.modelcontextprotocol/subscriptionId\":");
    tg_buf_append_str(out, sub->id);
}

void
tg_subscription_write_head(tg_buf_t *out, const tg_peer_t *peer,
                           const tg_subscription_t *sub, tg_str_t method)
{
    tg_buf_append_cstr(out, peer->row->notification);
    tg_buf_append_cstr(out, "\"method\":");
    tg_json_write_string(out, method);
    tg_buf_append_cstr(out, ",\"params\":{\"_meta\":{");
    tg_subscription_write_id(out, sub);
}

void
tg_subscription_write_tail(tg_buf_t *out, tg_str_t params)
{
    static const char *const ours[] = {
        "io.modelcontextprotocol/subscriptionId", NULL
    };
    static const char *const known[] = { "_meta", NULL };
    tg_str_t meta;

    if (tg_json_has_member(params, TG_STR("_meta"), TG_JSON_OBJECT, &meta)) {
        (void) tg_json_write_members_except(out, meta, ours, 1);
    }

    tg_buf_append_char(out, '}');

    if (params.data != NULL) {
        (void) tg_json_write_members_except(out, params, known, 1);
    }

    tg_buf_append_char(out, '}');
}

void
tg_subscription_notify(tg_peer_t *peer, const tg_subscription_t *sub,
                       tg_str_t method, tg_str_t params)
{
    size_t start;

    if (peer->is_closing || peer->row->notification == NULL) {
        return;
    }

    start = tg_frame_open(peer->frame.kind, &peer->out);
    tg_subscription_write_head(&peer->out, peer, sub, method);
    tg_subscription_write_tail(&peer->out, params);
    tg_peer_end_notification(peer, start);
}

void
tg_peer_notify_list_changed(tg_peer_t *peer, tg_catalog_entry_type_t kind)
{
    static const struct {
        const char *method;
        unsigned filter;
    } rows[TG_ENTRY_KINDS] = {
        [TG_ENTRY_TOOL] = { "notifications/tools/list_changed",
                            TG_FILTER_TOOLS },
        [TG_ENTRY_PROMPT] = { "notifications/prompts/list_changed",
                              TG_FILTER_PROMPTS },
        [TG_ENTRY_RESOURCE] = { "notifications/resources/list_changed",
                                TG_FILTER_RESOURCES },
        [TG_ENTRY_TEMPLATE] = { "notifications/resources/list_changed",
                                TG_FILTER_RESOURCES },
    };
    const tg_subscription_t *sub;
    tg_str_t method;

    method = tg_str_from_cstr(rows[kind].method);

    if ((tg_peer_get_filter(peer) & rows[kind].filter)
        && (peer->is_legacy
            || (kind == TG_ENTRY_TOOL && peer->row->has_implicit_list_changed)))
    {
        tg_peer_notify(peer, method, TG_STR_NONE);
    }

    for (sub = peer->priv->subscriptions; sub != NULL; sub = sub->next) {
        if (sub->filter & rows[kind].filter) {
            tg_subscription_notify(peer, sub, method, TG_STR_NONE);
        }
    }
}

int
tg_peer_listens_to_resources(const tg_peer_t *peer)
{
    const tg_subscription_t *sub;

    if (!(tg_peer_get_filter(peer) & TG_FILTER_RESOURCES)) {
        return 0;
    }

    sub = peer->priv->subscriptions;

    while (sub != NULL && !(sub->filter & TG_FILTER_RESOURCES)) {
        sub = sub->next;
    }

    return peer->is_legacy || sub != NULL;
}

void
tg_peer_notify_list_changes(tg_peer_t *peer, unsigned changes)
{
    if (changes & 1U << TG_ENTRY_TOOL) {
        tg_peer_notify_list_changed(peer, TG_ENTRY_TOOL);
    }

    if (changes & 1U << TG_ENTRY_PROMPT) {
        tg_peer_notify_list_changed(peer, TG_ENTRY_PROMPT);
    }

    if (changes & (1U << TG_ENTRY_RESOURCE | 1U << TG_ENTRY_TEMPLATE)) {
        tg_peer_notify_list_changed(peer, TG_ENTRY_RESOURCE);
    }
}

static void
tg_subscription_send_result(tg_peer_t *peer, const tg_subscription_t *sub)
{
    tg_reply_t reply;
    size_t start;

    memset(&reply, 0, sizeof(reply));
    reply.id = sub->id;
    (void) tg_reply_open(peer, &reply, TG_REPLY_MEMBER_RESULT, &start);
    tg_buf_append_cstr(&peer->out, "{\"resultType\":\"complete\",\"_meta\":{");
    tg_subscription_write_id(&peer->out, sub);
    tg_buf_append_cstr(&peer->out, ",\"io.modelcontextprotocol/serverInfo\":");
    tg_reply_write_server_info(peer, &peer->out, 0);
    tg_buf_append_cstr(&peer->out, "}}");
    tg_reply_close(peer, &reply, start);
}

static void
tg_subscription_send_cancelled(tg_peer_t *peer, const tg_subscription_t *sub,
                               tg_str_t reason)
{
    tg_buf_t params;

    tg_buf_init(&params, peer->priv->alloc);
    tg_buf_append_char(&params, '{');
    tg_json_add_raw(&params, "requestId", sub->id);
    tg_json_add_string(&params, "reason", reason);
    tg_buf_append_char(&params, '}');
    tg_peer_notify(peer, TG_STR("notifications/cancelled"),
                   tg_buf_view(&params));
    peer->out.failed |= tg_buf_has_failed(&params);
    tg_buf_deinit(&params);
}

/*
 * MCP asks for a result and, where all subscriptions share one stream, for
 * notifications/cancelled. The result comes first, because clients take the
 * first one as the reason, and a cancellation as a failure.
 */
void
tg_peer_end_subscriptions(tg_peer_t *peer, tg_str_t reason)
{
    tg_subscription_t **at;

    at = &peer->priv->subscriptions;

    while (*at != NULL) {
        tg_subscription_send_result(peer, *at);

        if (!peer->is_http) {
            tg_subscription_send_cancelled(peer, *at, reason);
        }

        tg_subscription_remove(peer, at);
    }
}

void
tg_peer_send_shutdown_notice(tg_peer_t *peer, tg_str_t reason)
{
    if (peer->is_closing) {
        return;
    }

    /* Send the replies of a partly served batch: those calls were executed. */
    tg_peer_end_batch(peer);

    tg_peer_end_subscriptions(peer, reason);

    if (peer->row->send_shutdown_notice != NULL) {
        peer->row->send_shutdown_notice(peer, reason);
    }

    peer->is_closing = 1;
}

void
tg_peer_refuse_client(tg_peer_t *peer, tg_str_t why)
{
    if (peer->row->send_refusal != NULL) {
        peer->row->send_refusal(peer, why);
    }

    peer->is_closing = 1;
}
