/*
 * Resources that the agent is subscribed to, by resources/subscribe or by
 * subscriptions/listen. The parent's session ends with its connection, so the
 * bridge subscribes again on the next one.
 */
#include "bridge/tg_bridge.h"

struct tg_bridge_subscription_s {
    tg_bridge_subscription_t *next;
    unsigned is_requested:1; /* by the agent's resources/subscribe */
    unsigned is_listened:1;  /* by a subscriptions/listen of the agent */
    unsigned is_due:1;       /* the bridge has to subscribe */
    unsigned is_sent:1;      /* a request of the bridge is in flight */
    unsigned is_restored:1;  /* changes may have been missed */
    size_t uri_len;
    char uri[]; /* plain text */
};

static tg_str_t
tg_bridge_subscription_get_uri(const tg_bridge_subscription_t *sub)
{
    return tg_str(sub->uri, sub->uri_len);
}

static tg_bridge_subscription_t **
tg_bridge_subscription_find(tg_bridge_t *bridge, tg_str_t uri)
{
    tg_bridge_subscription_t **at;

    at = &bridge->subscriptions;

    while (*at != NULL && !tg_str_eq(tg_bridge_subscription_get_uri(*at), uri))
    {
        at = &(*at)->next;
    }

    return at;
}

/* Frees a subscription that nobody wants, unless a request is in flight. */
static void
tg_bridge_subscription_free_unused(tg_bridge_t *bridge,
                                   tg_bridge_subscription_t **at)
{
    tg_bridge_subscription_t *sub;

    sub = *at;

    if (!sub->is_requested && !sub->is_listened && !sub->is_sent) {
        *at = sub->next;
        bridge->nsubscriptions--;
        tg_free(tg_alloc_libc(), sub);
    }
}

/* Sends a request of the bridge about a resource. TG_OK if it was sent. */
static int
tg_bridge_subscription_send(tg_bridge_t *bridge, const char *method,
                            const tg_bridge_subscription_t *sub, void *tag)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_string(&params, "uri", tg_bridge_subscription_get_uri(sub));
    tg_buf_append_char(&params, '}');
    rc = tg_buf_has_failed(&params)
             ? TG_NOMEM
             : tg_caller_send_request(&bridge->parent.caller,
                                      tg_str_from_cstr(method),
                                      tg_buf_view(&params), tag, NULL);
    tg_buf_deinit(&params);

    if (rc == TG_NOMEM) {
        tg_bridge_quit_nomem(bridge);
    }

    return rc;
}

/* Subscribes to what is due, with a limit of requests at once. */
static void
tg_bridge_subscriptions_send_due(tg_bridge_t *bridge)
{
    tg_bridge_subscription_t *sub;

    if (!tg_bridge_parent_is_open(bridge)) {
        return;
    }

    for (sub = bridge->subscriptions;
         sub != NULL && bridge->nsubscribing < TG_BRIDGE_RESUBSCRIBE_MAX;
         sub = sub->next)
    {
        if (!sub->is_due || sub->is_sent) {
            continue;
        }

        /* The connection is closing: the next one restores everything. */
        if (tg_bridge_subscription_send(bridge, "resources/subscribe", sub, sub)
            != TG_OK)
        {
            return;
        }

        sub->is_due = 0;
        sub->is_sent = 1;
        bridge->nsubscribing++;
    }
}

/* Returns the subscription, which is new if *at is NULL. */
static tg_bridge_subscription_t *
tg_bridge_subscription_get(tg_bridge_t *bridge, tg_bridge_subscription_t **at,
                           tg_str_t uri)
{
    tg_bridge_subscription_t *sub;

    if (*at != NULL) {
        return *at;
    }

    sub = tg_calloc(tg_alloc_libc(), sizeof(*sub) + uri.len);

    if (sub == NULL) {
        tg_bridge_quit_nomem(bridge);
        return NULL;
    }

    memcpy(sub->uri, uri.data, uri.len);
    sub->uri_len = uri.len;
    *at = sub;
    bridge->nsubscriptions++;

    return sub;
}

void
tg_bridge_subscription_set(tg_bridge_t *bridge, tg_str_t uri, int has_request,
                           int is_on)
{
    tg_bridge_subscription_t **at, *sub;

    at = tg_bridge_subscription_find(bridge, uri);
    sub = *at != NULL || is_on ? tg_bridge_subscription_get(bridge, at, uri)
                               : NULL;

    if (sub == NULL) {
        return;
    }

    if (has_request) {
        sub->is_requested = is_on != 0;
        /* The agent's own request has ended the other subscription, too. */
        sub->is_due |= !is_on && sub->is_listened;

    } else {
        sub->is_listened = is_on != 0;
        sub->is_due |= is_on && !sub->is_requested;
    }

    if (!sub->is_requested && !sub->is_listened) {
        if (!has_request && !sub->is_due && !sub->is_sent
            && tg_bridge_parent_is_open(bridge))
        {
            (void) tg_bridge_subscription_send(bridge, "resources/unsubscribe",
                                               sub, &bridge->own_tag);
        }

        sub->is_due = 0;
    }

    tg_bridge_subscription_free_unused(bridge, at);
    tg_bridge_subscriptions_send_due(bridge);
}

int
tg_bridge_subscription_is_known(tg_bridge_t *bridge, tg_str_t uri)
{
    return *tg_bridge_subscription_find(bridge, uri) != NULL;
}

int
tg_bridge_subscription_is_only_listened(tg_bridge_t *bridge, tg_str_t uri)
{
    const tg_bridge_subscription_t *sub;

    sub = *tg_bridge_subscription_find(bridge, uri);

    return sub != NULL && !sub->is_requested;
}

void
tg_bridge_subscriptions_restore(tg_bridge_t *bridge)
{
    tg_bridge_subscription_t *sub;

    if (!bridge->info.has_subscribe) {
        return;
    }

    for (sub = bridge->subscriptions; sub != NULL; sub = sub->next) {
        sub->is_due = 1;
        sub->is_restored = 1;
    }

    tg_bridge_subscriptions_send_due(bridge);
}

/* The parent's answer to a request that subscribes again. */
static void
tg_bridge_subscription_on_response(tg_bridge_t *bridge,
                                   tg_bridge_subscription_t **at,
                                   const tg_response_t *answer)
{
    tg_bridge_subscription_t *sub;

    sub = *at;
    sub->is_sent = 0;
    bridge->nsubscribing--;

    if (answer->kind == TG_RESPONSE_RESULT || answer->kind == TG_RESPONSE_ERROR)
    {
        if (!sub->is_requested && !sub->is_listened) {
            (void) tg_bridge_subscription_send(bridge, "resources/unsubscribe",
                                               sub, &bridge->own_tag);

        } else if (sub->is_restored) {
            sub->is_restored = 0;
            tg_bridge_forward_resource_updated(
                bridge, tg_bridge_subscription_get_uri(sub));
        }
    }

    tg_bridge_subscription_free_unused(bridge, at);
}

int
tg_bridge_subscriptions_on_response(tg_bridge_t *bridge, const void *tag,
                                    const tg_response_t *answer)
{
    tg_bridge_subscription_t **at;

    if (tag == &bridge->own_tag) {
        return 1;
    }

    for (at = &bridge->subscriptions; bridge->nsubscribing != 0 && *at != NULL;
         at = &(*at)->next)
    {
        if (*at == tag) {
            tg_bridge_subscription_on_response(bridge, at, answer);
            tg_bridge_subscriptions_send_due(bridge);
            return 1;
        }
    }

    return 0;
}

void
tg_bridge_subscriptions_free(tg_bridge_t *bridge)
{
    tg_bridge_subscription_t *sub;

    while (bridge->subscriptions != NULL) {
        sub = bridge->subscriptions;
        bridge->subscriptions = sub->next;
        tg_free(tg_alloc_libc(), sub);
    }
}
