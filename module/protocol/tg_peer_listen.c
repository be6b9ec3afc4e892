/* subscriptions/listen of the modern era. */
#include "protocol/tg_peer_impl.h"

/*
 * Subscribes to those resources of a raw array whose changes can be reported.
 * TG_LIMIT: too many resources, or too many elements.
 */
static int
tg_subscription_add_resources(tg_peer_t *peer, tg_subscription_t *sub,
                              tg_str_t array)
{
    tg_json_cursor_t json;
    tg_str_t element, uri;
    char room[TG_URI_MAX];
    unsigned n;
    int rc;

    if (!peer->priv->info->has_subscribe
        || tg_json_type(array) != TG_JSON_ARRAY) {
        return TG_OK;
    }

    rc = TG_OK;
    tg_json_iter_init(&json, array);

    for (n = 0; rc == TG_OK && tg_json_iter_next(&json, &element); n++) {
        if (n == TG_RESOURCE_SUBSCRIPTIONS_MAX) {
            return TG_LIMIT;
        }

        uri = tg_uri_decode(element, room);

        if (uri.data != NULL && tg_peer_can_subscribe(peer, uri)) {
            rc = tg_resource_subscription_add(peer, sub, uri);
        }
    }

    return rc;
}

static void
tg_subscription_write_resources(const tg_peer_t *peer,
                                const tg_subscription_t *sub, tg_buf_t *out)
{
    const tg_resource_subscription_t *resource;
    int n;

    tg_buf_append_cstr(out, "\"resourceSubscriptions\":[");
    n = 0;

    for (resource = peer->priv->resources; resource != NULL;
         resource = resource->next)
    {
        if (resource->sub == sub) {
            tg_buf_append_cstr(out, n++ != 0 ? "," : "");
            tg_json_write_string(out, resource->uri);
        }
    }

    tg_buf_append_char(out, ']');
}

static void
tg_subscription_send_acknowledged(tg_peer_t *peer, const tg_subscription_t *sub,
                                  int has_resources)
{
    static const struct {
        unsigned filter;
        const char *name;
    } rows[] = {
        { TG_FILTER_TOOLS, "toolsListChanged" },
        { TG_FILTER_PROMPTS, "promptsListChanged" },
        { TG_FILTER_RESOURCES, "resourcesListChanged" },
        { TG_FILTER_BROADCASTS, TG_MCP_FILTER_BROADCASTS },
    };
    tg_buf_t *out;
    size_t i, n;

    out = &peer->out;
    tg_buf_append_cstr(out,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                       "subscriptions/acknowledged\",\"params\":{\"_meta\":{"
                       "\"io.modelcontextprotocol/subscriptionId\":");
    tg_buf_append_str(out, sub->id);
    tg_buf_append_cstr(out, "},\"notifications\":{");

    for (i = 0, n = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (sub->filter & rows[i].filter) {
            tg_buf_printf(out, "%s\"%s\":true", n++ != 0 ? "," : "",
                          rows[i].name);
        }
    }

    if (has_resources) {
        tg_buf_append_cstr(out, n != 0 ? "," : "");
        tg_subscription_write_resources(peer, sub, out);
    }

    tg_buf_append_cstr(out, "}}}\n");
}

static unsigned
tg_subscription_read_filter(const tg_peer_t *peer, const tg_message_t *message)
{
    const struct {
        unsigned filter;
        tg_str_t value;
    } rows[] = {
        { TG_FILTER_TOOLS, message->p.tools_list_changed },
        { TG_FILTER_PROMPTS, message->p.prompts_list_changed },
        { TG_FILTER_RESOURCES, message->p.resources_list_changed },
        { TG_FILTER_BROADCASTS, message->p.broadcasts },
    };
    unsigned filter;
    size_t i;

    filter = 0;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (tg_json_type(rows[i].value) == TG_JSON_TRUE) {
            filter |= rows[i].filter;
        }
    }

    return filter & tg_peer_get_filter(peer);
}

/* Returns NULL, or why a new subscription is rejected. */
static const char *
tg_subscription_begin(tg_peer_t *peer, const tg_message_t *message,
                      const tg_reply_t *reply)
{
    tg_subscription_t *sub;
    int rc;

    if (peer->priv->nsubscriptions == TG_SUBSCRIPTIONS_MAX) {
        return "This connection has 64 subscriptions; cancel one first.";
    }

    if (tg_subscription_add(peer, &peer->priv->subscriptions, reply->id)
        != TG_OK) {
        peer->out.failed = 1;
        return NULL;
    }

    sub = peer->priv->subscriptions;
    sub->filter = tg_subscription_read_filter(peer, message);
    rc = tg_subscription_add_resources(peer, sub,
                                       message->p.resource_subscriptions);

    if (rc == TG_LIMIT) {
        tg_subscription_remove(peer, &peer->priv->subscriptions);
        return "This connection may subscribe to 1024 resources; cancel a "
               "subscription first.";
    }

    peer->out.failed |= rc != TG_OK;
    tg_subscription_send_acknowledged(
        peer, sub,
        peer->priv->info->has_subscribe
            && tg_json_type(message->p.resource_subscriptions)
                   == TG_JSON_ARRAY);

    return NULL;
}

static void
tg_subscription_accept(tg_peer_t *peer, const tg_message_t *message,
                       const tg_reply_t *reply)
{
    const char *why;

    why = tg_subscription_begin(peer, message, reply);

    if (why != NULL) {
        tg_reply_reject_request(peer, reply, TG_RPC_INTERNAL_ERROR, why);
    }
}

void
tg_mcp_on_listen(tg_peer_t *peer, const tg_message_t *message,
                 tg_reply_t *reply)
{
    tg_request_t request;

    if (reply->batch != NULL
        || tg_json_type(message->p.notifications) != TG_JSON_OBJECT)
    {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "params.notifications must be an object, such as "
            "{\"toolsListChanged\":true}.");
        return;
    }

    if (peer->priv->ops->listen != NULL) {
        tg_request_init(&request, message, reply, TG_ENTRY_METHOD);
        request.name = tg_json_string_body(message->method);
        request.arguments = message->params;

        if (peer->priv->ops->listen(peer->host, peer, &request) != TG_END) {
            return;
        }
    }

    tg_subscription_accept(peer, message, reply);
}

void
tg_call_respond_listen(tg_call_t *call, tg_str_t notifications)
{
    static const char *const names[] = {
        "toolsListChanged",
        "promptsListChanged",
        "resourcesListChanged",
        TG_MCP_FILTER_BROADCASTS,
        "resourceSubscriptions",
        NULL
    };
    tg_message_t message;
    tg_str_t values[5];

    memset(&message, 0, sizeof(message));
    (void) tg_json_get_members(notifications, names, values);
    message.p.tools_list_changed = values[0];
    message.p.prompts_list_changed = values[1];
    message.p.resources_list_changed = values[2];
    message.p.broadcasts = values[3];
    message.p.resource_subscriptions = values[4];
    tg_subscription_accept(call->peer, &message, &call->reply);
    tg_call_forget(call);
}
