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

int
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

/* --- resources/subscribe (legacy) --- */

/* Checks for a bridge that asks for the answer of subscriptions/listen. */
static int
tg_mcp_is_for_listen(const tg_message_t *message)
{
    tg_str_t meta, value;

    return tg_json_has_member(message->params, TG_STR("_meta"), TG_JSON_OBJECT,
                              &meta)
           && tg_json_has_member(meta, TG_STR(TG_META_FOR_LISTEN), TG_JSON_TRUE,
                                 &value);
}

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

    if (tg_mcp_is_for_listen(message) && !tg_peer_can_report(peer, entry, uri))
    {
        tg_reply_reject_request(peer, reply, TG_RPC_INVALID_PARAMS,
                                "Changes of this resource are never reported.");
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
