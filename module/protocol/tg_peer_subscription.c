/* Subscriptions: to kinds of notifications, and to resources. */
#include "protocol/tg_peer_impl.h"

tg_subscription_t **
tg_subscription_find(tg_peer_t *peer, tg_str_t id)
{
    tg_subscription_t **at;

    at = &peer->priv->subscriptions;

    while (*at != NULL && !tg_request_id_is_equal((*at)->id, id)) {
        at = &(*at)->next;
    }

    return at;
}

int
tg_subscription_add(tg_peer_t *peer, tg_subscription_t **at, tg_str_t id)
{
    tg_subscription_t *sub;

    sub = tg_alloc(peer->priv->alloc, sizeof(*sub) + id.len);

    if (sub == NULL) {
        return TG_NOMEM;
    }

    memcpy(sub + 1, id.data, id.len);
    sub->id = tg_str((const char *) (sub + 1), id.len);
    sub->filter = 0;
    sub->next = *at;
    *at = sub;
    peer->priv->nsubscriptions++;
    peer->priv->memory_bytes += sizeof(*sub) + id.len;

    return TG_OK;
}

void
tg_subscription_remove(tg_peer_t *peer, tg_subscription_t **at)
{
    tg_subscription_t *sub;

    sub = *at;
    tg_peer_drop_resources(peer, sub);
    *at = sub->next;
    peer->priv->nsubscriptions--;
    peer->priv->memory_bytes -= sizeof(*sub) + sub->id.len;
    tg_free(peer->priv->alloc, sub);
}

/* --- resources --- */

static uint64_t
tg_uri_hash(tg_str_t uri)
{
    return tg_hash_fast(TG_HASH_INIT, uri);
}

/* Compares hashes first: the list may be long and its URIs alike. */
static int
tg_resource_subscription_has_uri(const tg_resource_subscription_t *resource,
                                 tg_str_t uri, uint64_t hash)
{
    return resource->hash == hash && tg_str_eq(resource->uri, uri);
}

static const tg_resource_subscription_t *
tg_peer_find_resource(const tg_peer_t *peer, tg_str_t uri)
{
    const tg_resource_subscription_t *resource;
    uint64_t hash;

    resource = peer->priv->resources;
    hash = tg_uri_hash(uri);

    while (resource != NULL
           && !tg_resource_subscription_has_uri(resource, uri, hash))
    {
        resource = resource->next;
    }

    return resource;
}

int
tg_peer_is_subscribed(const tg_peer_t *peer, tg_str_t uri)
{
    return tg_peer_find_resource(peer, uri) != NULL;
}

uint64_t
tg_peer_get_resource_version(const tg_peer_t *peer, tg_str_t uri)
{
    const tg_resource_subscription_t *resource;

    resource = tg_peer_find_resource(peer, uri);

    return resource != NULL ? resource->version : 0;
}

void
tg_peer_set_resource_version(tg_peer_t *peer, tg_str_t uri, uint64_t version)
{
    tg_resource_subscription_t *resource;

    for (resource = peer->priv->resources; resource != NULL;
         resource = resource->next)
    {
        if (tg_str_eq(resource->uri, uri)) {
            resource->version = version;
        }
    }
}

static tg_resource_subscription_t **
tg_resource_subscription_find(tg_peer_t *peer, const tg_subscription_t *sub,
                              tg_str_t uri)
{
    tg_resource_subscription_t **at;
    uint64_t hash;

    at = &peer->priv->resources;
    hash = tg_uri_hash(uri);

    while (*at != NULL
           && ((*at)->sub != sub
               || !tg_resource_subscription_has_uri(*at, uri, hash)))
    {
        at = &(*at)->next;
    }

    return at;
}

int
tg_resource_subscription_add(tg_peer_t *peer, tg_subscription_t *sub,
                             tg_str_t uri)
{
    tg_resource_subscription_t *resource;
    int is_first;

    if (*tg_resource_subscription_find(peer, sub, uri) != NULL) {
        return TG_OK;
    }

    if (peer->priv->nresources == TG_RESOURCE_SUBSCRIPTIONS_MAX) {
        return TG_LIMIT;
    }

    resource = tg_alloc(peer->priv->alloc, sizeof(*resource) + uri.len);

    if (resource == NULL) {
        return TG_NOMEM;
    }

    is_first = !tg_peer_is_subscribed(peer, uri);
    resource->version = tg_peer_get_resource_version(peer, uri);
    memcpy(resource + 1, uri.data, uri.len);
    resource->uri = tg_str((const char *) (resource + 1), uri.len);
    resource->hash = tg_uri_hash(uri);
    resource->sub = sub;
    resource->next = peer->priv->resources;
    peer->priv->resources = resource;
    peer->priv->nresources++;
    peer->priv->memory_bytes += sizeof(*resource) + uri.len;

    if (is_first && peer->priv->ops->on_subscribe != NULL) {
        peer->priv->ops->on_subscribe(peer->host, resource->uri, 1);
    }

    return TG_OK;
}

static void
tg_resource_subscription_remove(tg_peer_t *peer,
                                tg_resource_subscription_t **at)
{
    tg_resource_subscription_t *resource;

    resource = *at;
    *at = resource->next;
    peer->priv->nresources--;
    peer->priv->memory_bytes -= sizeof(*resource) + resource->uri.len;

    if (peer->priv->ops->on_subscribe != NULL
        && !tg_peer_is_subscribed(peer, resource->uri))
    {
        peer->priv->ops->on_subscribe(peer->host, resource->uri, 0);
    }

    tg_free(peer->priv->alloc, resource);
}

void
tg_peer_drop_resources(tg_peer_t *peer, const tg_subscription_t *sub)
{
    tg_resource_subscription_t **at;

    for (at = &peer->priv->resources; *at != NULL; /* void */) {
        if ((*at)->sub == sub) {
            tg_resource_subscription_remove(peer, at);
        } else {
            at = &(*at)->next;
        }
    }
}

void
tg_peer_foreach_subscribed(const tg_peer_t *peer,
                           void (*visit)(void *data, tg_str_t uri), void *data)
{
    const tg_resource_subscription_t *resource, *later;

    for (resource = peer->priv->resources; resource != NULL;
         resource = resource->next)
    {
        later = resource->next;

        while (later != NULL
               && !tg_resource_subscription_has_uri(later, resource->uri,
                                                    resource->hash))
        {
            later = later->next;
        }

        if (later == NULL) {
            visit(data, resource->uri);
        }
    }
}

/* Returns what a URI reads if the client may see it, or NULL. */
static const tg_catalog_entry_t *
tg_peer_find_subscribable(tg_peer_t *peer, tg_str_t uri)
{
    const tg_catalog_entry_t *entry;
    tg_buf_t arguments;

    tg_buf_init(&arguments, peer->priv->alloc);
    entry = tg_peer_find_visible_uri(peer, uri, &arguments);
    peer->out.failed |= tg_buf_has_failed(&arguments);
    tg_buf_deinit(&arguments);

    return entry;
}

/* Checks whether changes of an entry's resource can be reported. */
static int
tg_peer_can_report(const tg_peer_t *peer, const tg_catalog_entry_t *entry,
                   tg_str_t uri)
{
    return peer->priv->ops->can_report == NULL
           || peer->priv->ops->can_report(peer->host, entry, uri);
}

/*
 * Checks whether the client can be notified of changes of a resource. The
 * server behind a proxy decides that for the proxy.
 */
static int
tg_peer_can_subscribe(tg_peer_t *peer, tg_str_t uri)
{
    const tg_catalog_entry_t *entry;

    if (peer->priv->ops->is_proxy) {
        return 1;
    }

    entry = tg_peer_find_subscribable(peer, uri);

    return entry != NULL && tg_peer_can_report(peer, entry, uri);
}

/* --- notifications --- */

unsigned
tg_peer_get_filter(const tg_peer_t *peer)
{
    const tg_server_info_t *info;
    unsigned filter, capabilities;

    info = peer->priv->info;
    filter = info->has_broadcasts ? TG_FILTER_BROADCASTS : 0;

    if (info->has_list_changed) {
        filter |= TG_FILTER_TOOLS;
        capabilities = tg_peer_get_capabilities(peer);
        filter |= capabilities & TG_CAPABILITY_PROMPTS ? TG_FILTER_PROMPTS : 0;
        filter |= capabilities & TG_CAPABILITY_RESOURCES ? TG_FILTER_RESOURCES
                                                         : 0;
    }

    return filter;
}

void
tg_peer_notify_resource_updated(tg_peer_t *peer, tg_str_t uri)
{
    const tg_resource_subscription_t *resource;
    const char *method = "notifications/resources/updated";
    tg_buf_t params;

    if (!tg_peer_is_subscribed(peer, uri)
        || (!peer->priv->ops->is_proxy
            && tg_peer_find_subscribable(peer, uri) == NULL))
    {
        return;
    }

    tg_buf_init(&params, peer->priv->alloc);
    tg_buf_append_char(&params, '{');
    tg_json_add_string(&params, "uri", uri);
    tg_buf_append_char(&params, '}');

    for (resource = peer->priv->resources; resource != NULL;
         resource = resource->next)
    {
        if (!tg_str_eq(resource->uri, uri)) {
            continue;
        }

        if (resource->sub == NULL) {
            tg_peer_notify(peer, tg_str_from_cstr(method),
                           tg_buf_view(&params));
        } else {
            tg_subscription_notify(peer, resource->sub,
                                   tg_str_from_cstr(method),
                                   tg_buf_view(&params));
        }
    }

    peer->out.failed |= tg_buf_has_failed(&params);
    tg_buf_deinit(&params);
}

/* --- subscriptions/listen --- */

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

void
tg_mcp_on_listen(tg_peer_t *peer, const tg_message_t *message,
                 tg_reply_t *reply)
{
    const char *why;

    if (reply->batch != NULL
        || tg_json_type(message->p.notifications) != TG_JSON_OBJECT)
    {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "params.notifications must be an object, such as "
            "{\"toolsListChanged\":true}.");
        return;
    }

    why = peer->priv->nsubscriptions == TG_SUBSCRIPTIONS_MAX
              ? "This connection has 64 subscriptions; cancel one first."
              : tg_subscription_begin(peer, message, reply);

    if (why != NULL) {
        tg_reply_reject_request(peer, reply, TG_RPC_INTERNAL_ERROR, why);
    }
}

/* --- resources/subscribe (legacy) --- */

void
tg_mcp_on_subscribe(tg_peer_t *peer, const tg_message_t *message,
                    tg_reply_t *reply)
{
    const tg_catalog_entry_t *entry;
    char room[TG_URI_MAX];
    tg_str_t uri;
    int rc;

    uri = tg_mcp_read_uri(peer, message, reply, room);

    if (uri.data == NULL) {
        return;
    }

    entry = tg_peer_find_subscribable(peer, uri);

    if (entry == NULL) {
        tg_mcp_respond_no_resource(peer, message, reply);
        return;
    }

    rc = tg_resource_subscription_add(peer, NULL, uri);

    if (rc == TG_LIMIT) {
        tg_reply_reject_request(peer, reply, TG_RPC_INTERNAL_ERROR,
                                "This connection may subscribe to 1024 "
                                "resources; unsubscribe from one first.");
        return;
    }

    peer->out.failed |= rc != TG_OK;
    tg_reply_write_empty_result(peer, reply);
}

void
tg_mcp_on_unsubscribe(tg_peer_t *peer, const tg_message_t *message,
                      tg_reply_t *reply)
{
    tg_resource_subscription_t **at;
    char room[TG_URI_MAX];
    tg_str_t uri;

    uri = tg_mcp_read_uri(peer, message, reply, room);

    if (uri.data == NULL) {
        return;
    }

    at = tg_resource_subscription_find(peer, NULL, uri);

    if (*at != NULL) {
        tg_resource_subscription_remove(peer, at);
    }

    tg_reply_write_empty_result(peer, reply);
}
