/* Broadcasts: notifications that go to all listening clients. */
#include "protocol/tg_peer_impl.h"

int
tg_peer_is_pre_request_listener(const tg_peer_t *peer)
{
    return peer->priv->info->notifies_pre_request
           && peer->frame.kind == TG_FRAME_AUTO;
}

/* Checks for implicit broadcasts, which modern MCP clients do not get. */
static int
tg_peer_has_implicit_broadcasts(const tg_peer_t *peer)
{
    return peer->row->notification != NULL && !peer->is_closing
           && (peer->dialect != TG_DIALECT_AUTO
               || tg_peer_is_pre_request_listener(peer))
           && (!peer->is_modern || peer->is_legacy);
}

int
tg_peer_has_broadcasts(const tg_peer_t *peer)
{
    const tg_subscription_t *sub;

    for (sub = peer->priv->subscriptions; sub != NULL; sub = sub->next) {
        if ((sub->filter & TG_FILTER_BROADCASTS) && !peer->is_closing) {
            return 1;
        }
    }

    return tg_peer_has_implicit_broadcasts(peer);
}

void
tg_peer_send_broadcast(tg_peer_t *peer, tg_str_t method, tg_str_t params)
{
    const tg_subscription_t *sub;

    if (tg_peer_has_implicit_broadcasts(peer)) {
        tg_peer_notify(peer, method, params);
    }

    for (sub = peer->priv->subscriptions; sub != NULL; sub = sub->next) {
        if (sub->filter & TG_FILTER_BROADCASTS) {
            tg_subscription_notify(peer, sub, method, params);
        }
    }
}

int
tg_broadcast_write_json(tg_dialect_t form, tg_str_t method, tg_str_t params,
                        tg_buf_t *out)
{
    if (form == TG_DIALECT_AUTO) {
        tg_subscription_write_tail(out, params);
    } else {
        tg_buf_append_cstr(out, tg_dialect_get(form)->notification);
        tg_json_add_string(out, "method", method);
        tg_json_add_compact(out, "params", params);
    }

    tg_buf_append(out, "}\n", 2);

    return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
}

void
tg_peer_foreach_broadcast(tg_peer_t *peer, tg_str_t method,
                          void (*send)(void *data, tg_dialect_t form,
                                       tg_str_t head),
                          void *data)
{
    const tg_subscription_t *sub;
    tg_buf_t head;

    if (tg_peer_has_implicit_broadcasts(peer)) {
        /* A client that has sent nothing yet is treated as JSON-RPC. */
        send(data,
             peer->dialect == TG_DIALECT_AUTO ? TG_DIALECT_JSONRPC
                                              : peer->dialect,
             TG_STR_NONE);
    }

    for (sub = peer->priv->subscriptions; sub != NULL; sub = sub->next) {
        if (!(sub->filter & TG_FILTER_BROADCASTS) || peer->is_closing) {
            continue;
        }

        tg_buf_init(&head, peer->priv->alloc);
        tg_subscription_write_head(&head, peer, sub, method);

        if (!tg_buf_has_failed(&head)) {
            send(data, TG_DIALECT_AUTO, tg_buf_view(&head));
        }

        tg_buf_deinit(&head);
    }
}
