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
    unsigned is_asked:1;     /* a subscriptions/listen waits for the answer */
    unsigned is_accepted:1;  /* the parent's answer was a result */
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

    if (!sub->is_requested && !sub->is_listened && !sub->is_asked
        && !sub->is_sent)
    {
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
    tg_buf_append_cstr(&params,
                       sub->is_asked
                           ? ",\"_meta\":{\"" TG_META_FOR_LISTEN "\":true}}"
                           : "}");
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
        sub->is_accepted &= is_on != 0;

    } else {
        sub->is_listened = is_on != 0;
        sub->is_due |= is_on && !sub->is_requested && !sub->is_accepted;
    }

    if (!sub->is_requested && !sub->is_listened && !sub->is_asked) {
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

/* --- subscriptions/listen of the agent --- */

/* Decodes a raw URI into room of TG_URI_MAX bytes, or returns absent. */
static tg_str_t
tg_bridge_uri_decode(tg_str_t raw, char *room)
{
    tg_buf_t text;

    if (tg_json_type(raw) != TG_JSON_STRING) {
        return TG_STR_NONE;
    }

    text = tg_buf_make_fixed(room, TG_URI_MAX);
    tg_json_append_unescaped(&text, tg_json_string_body(raw));

    return tg_buf_has_failed(&text) ? TG_STR_NONE : tg_buf_view(&text);
}

/* Returns the array of resources in the params, or absent; sets the filter. */
static tg_str_t
tg_bridge_listen_get_uris(tg_str_t params, tg_str_t *notifications)
{
    tg_str_t uris;

    return tg_json_has_member(params, TG_STR("notifications"), TG_JSON_OBJECT,
                              notifications)
                   && tg_json_has_member(*notifications,
                                         TG_STR("resourceSubscriptions"),
                                         TG_JSON_ARRAY, &uris)
               ? uris
               : TG_STR_NONE;
}

/* Appends the notifications of a listen that are honoured, as a raw object. */
static void
tg_bridge_listen_write_honoured(tg_bridge_t *bridge, tg_str_t params,
                                tg_buf_t *out)
{
    static const char *const ours[] = { "resourceSubscriptions", NULL };
    const tg_bridge_subscription_t *sub;
    tg_str_t notifications, element, uri;
    tg_json_cursor_t json;
    char room[TG_URI_MAX];
    int n;

    tg_json_iter_init(&json, tg_bridge_listen_get_uris(params, &notifications));
    tg_buf_append_cstr(out, "{\"resourceSubscriptions\":[");

    for (n = 0; tg_json_iter_next(&json, &element);) {
        uri = tg_bridge_uri_decode(element, room);
        sub = uri.data != NULL ? *tg_bridge_subscription_find(bridge, uri)
                               : NULL;

        if (sub != NULL && (sub->is_accepted || sub->is_listened)) {
            tg_buf_append_cstr(out, n++ != 0 ? "," : "");
            tg_buf_append_str(out, element);
        }
    }

    tg_buf_append_char(out, ']');
    (void) tg_json_write_members_except(out, notifications, ours, 1);
    tg_buf_append_char(out, '}');
}

void
tg_bridge_listens_respond(tg_bridge_t *bridge)
{
    tg_bridge_request_t *request;
    tg_call_t *call, *next;
    tg_buf_t honoured;

    for (call = bridge->peer.calls; call != NULL; call = next) {
        next = call->next;
        request = call->host;

        if (request->kind != TG_BRIDGE_LISTEN) {
            continue;
        }

        tg_buf_init(&honoured, tg_alloc_libc());
        tg_bridge_listen_write_honoured(bridge, request->call_params.arguments,
                                        &honoured);

        if (tg_buf_has_failed(&honoured)) {
            tg_bridge_quit_nomem(bridge);
        } else {
            tg_bridge_request_free(request);
            tg_call_respond_listen(call, tg_buf_view(&honoured));
        }

        tg_buf_deinit(&honoured);
    }
}

/*
 * Answers the waiting subscriptions/listen when the parent has answered all
 * requests about resources, and drops the resources that none has got.
 */
static void
tg_bridge_listens_settle(tg_bridge_t *bridge)
{
    tg_bridge_subscription_t **at, *sub;

    for (sub = bridge->subscriptions; sub != NULL && !sub->is_due;
         sub = sub->next)
    { /* void */
    }

    if (sub != NULL || bridge->nsubscribing != 0) {
        return;
    }

    tg_bridge_listens_respond(bridge);

    for (at = &bridge->subscriptions; *at != NULL;) {
        sub = *at;

        sub->is_asked = 0;

        if (sub->is_accepted && !sub->is_requested && !sub->is_listened
            && tg_bridge_parent_is_open(bridge))
        {
            (void) tg_bridge_subscription_send(bridge, "resources/unsubscribe",
                                               sub, &bridge->own_tag);
        }

        tg_bridge_subscription_free_unused(bridge, at);
        at = *at == sub ? &sub->next : at;
    }
}

/* Asks for the resources of an array. TG_LIMIT: there are too many. */
static int
tg_bridge_listen_ask(tg_bridge_t *bridge, tg_str_t uris)
{
    tg_bridge_subscription_t **at, *sub;
    tg_json_cursor_t json;
    char room[TG_URI_MAX];
    tg_str_t element, uri;

    tg_json_iter_init(&json, uris);

    while (tg_json_iter_next(&json, &element)) {
        uri = tg_bridge_uri_decode(element, room);

        if (uri.data == NULL) {
            continue;
        }

        at = tg_bridge_subscription_find(bridge, uri);

        if (*at == NULL
            && bridge->nsubscriptions >= TG_RESOURCE_SUBSCRIPTIONS_MAX) {
            return TG_LIMIT;
        }

        sub = tg_bridge_subscription_get(bridge, at, uri);

        if (sub == NULL) {
            return TG_NOMEM;
        }

        if (!sub->is_listened && !sub->is_asked) {
            sub->is_asked = 1;
            sub->is_due = 1;
        }
    }

    return TG_OK;
}

int
tg_bridge_listen(tg_bridge_t *bridge, const tg_request_t *request)
{
    tg_str_t uris, notifications;
    tg_outcome_t outcome;

    uris = tg_bridge_listen_get_uris(request->arguments, &notifications);

    if (!bridge->info.has_subscribe || uris.data == NULL
        || !bridge->parent.caller.dialect->has_handshake)
    {
        return TG_END;
    }

    if (tg_bridge_listen_ask(bridge, uris) == TG_LIMIT) {
        outcome = tg_outcome_make_failure(
            TG_FAILURE_BUSY, "This connection may subscribe to 1024 resources; "
                             "cancel a subscription first.");
        tg_peer_respond(&bridge->peer, &request->reply, &outcome);
    } else {
        tg_bridge_request_accept(bridge, request, TG_BRIDGE_LISTEN, 0);
    }

    tg_bridge_subscriptions_send_due(bridge);
    tg_bridge_listens_settle(bridge);

    return TG_OK;
}

void
tg_bridge_subscriptions_notify(tg_bridge_t *bridge, tg_str_t uri)
{
    const tg_bridge_subscription_t *sub;
    tg_str_t whole;

    /* Toolgate reports each resource that contains it. */
    if (tg_bridge_subscription_is_known(bridge, uri)) {
        tg_peer_notify_resource_updated(&bridge->peer, uri);
        return;
    }

    for (sub = bridge->subscriptions; sub != NULL; sub = sub->next) {
        whole = tg_bridge_subscription_get_uri(sub);

        if (sub->is_listened && tg_uri_is_within(uri, whole)) {
            tg_peer_notify_resource_updated(&bridge->peer, whole);
        }
    }
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

    for (sub = bridge->subscriptions; sub != NULL; sub = sub->next) {
        sub->is_due = bridge->info.has_subscribe != 0;
        sub->is_restored = sub->is_requested || sub->is_listened;
        sub->is_accepted = 0;
    }

    tg_bridge_subscriptions_send_due(bridge);
    tg_bridge_listens_settle(bridge);
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
        sub->is_accepted = answer->kind == TG_RESPONSE_RESULT;

        if (!sub->is_requested && !sub->is_listened && !sub->is_asked) {
            (void) tg_bridge_subscription_send(bridge, "resources/unsubscribe",
                                               sub, &bridge->own_tag);

        } else if (sub->is_restored) {
            sub->is_restored = 0;
            tg_bridge_forward_resource_updated(
                bridge, tg_bridge_subscription_get_uri(sub));
        }

    } else {
        sub->is_due |= sub->is_asked;
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
            tg_bridge_listens_settle(bridge);
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
