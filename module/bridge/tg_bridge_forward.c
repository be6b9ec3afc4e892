/*
 * Messages of the agent that the bridge forwards as they are, and what it
 * remembers of them for the next connection to the parent.
 */
#include "bridge/tg_bridge.h"

/* Methods that the bridge knows more about than that they are requests. */
typedef enum {
    TG_BRIDGE_PROMPTS_LIST,
    TG_BRIDGE_RESOURCES_LIST,
    TG_BRIDGE_TEMPLATES_LIST,
    TG_BRIDGE_READ,
    TG_BRIDGE_GET_PROMPT,
    TG_BRIDGE_COMPLETE,
    TG_BRIDGE_SUBSCRIBE,
    TG_BRIDGE_UNSUBSCRIBE,
    TG_BRIDGE_SET_LEVEL,
    TG_BRIDGE_METHOD_COUNT
} tg_bridge_method_t;

#define TG_BRIDGE_EMPTY_LIST(name)                                             \
    {                                                                          \
        "{\"" name "\":[]}", "{\"resultType\":\"complete\",\"" name            \
                             "\":[],\"ttlMs\":0,\"cacheScope\":\"private\"}"   \
    }

static const struct {
    const char *name;
    const char *empty[2]; /* result without content: legacy, modern */
} tg_bridge_methods[TG_BRIDGE_METHOD_COUNT] = {
    { "prompts/list", TG_BRIDGE_EMPTY_LIST("prompts") },
    { "resources/list", TG_BRIDGE_EMPTY_LIST("resources") },
    { "resources/templates/list", TG_BRIDGE_EMPTY_LIST("resourceTemplates") },
    { "resources/read", { NULL, NULL } },
    { "prompts/get", { NULL, NULL } },
    { "completion/complete",
      { "{\"completion\":{\"values\":[]}}",
        "{\"resultType\":\"complete\",\"completion\":{\"values\":[]}}" } },
    { "resources/subscribe", { NULL, NULL } },
    { "resources/unsubscribe", { NULL, NULL } },
    { "logging/setLevel", { NULL, NULL } },
};

/* Returns the method of an escaped body, or TG_BRIDGE_METHOD_COUNT. */
static tg_bridge_method_t
tg_bridge_method_find(tg_str_t name)
{
    int i;

    for (i = 0; i < TG_BRIDGE_METHOD_COUNT; i++) {
        if (tg_json_body_eq_text(name,
                                 tg_str_from_cstr(tg_bridge_methods[i].name))) {
            break;
        }
    }

    return (tg_bridge_method_t) i;
}

/*
 * Decodes params.uri into room, which has TG_URI_MAX bytes. Returns absent if
 * there is none or it is longer, as no resource of Toolgate is.
 */
static tg_str_t
tg_bridge_params_get_uri(tg_str_t params, char *room)
{
    tg_str_t uri;
    tg_buf_t text;

    if (params.data == NULL
        || !tg_json_has_member(params, TG_STR("uri"), TG_JSON_STRING, &uri))
    {
        return TG_STR_NONE;
    }

    text = tg_buf_make_fixed(room, TG_URI_MAX);
    tg_json_append_unescaped(&text, tg_json_string_body(uri));

    return tg_buf_has_failed(&text) ? TG_STR_NONE : tg_buf_view(&text);
}

/* Returns the level that params name, or TG_MCP_LOG_NONE. */
static tg_mcp_log_level_t
tg_bridge_params_get_log_level(tg_str_t params)
{
    tg_str_t level;

    return params.data != NULL
                   && tg_json_has_member(params, TG_STR("level"),
                                         TG_JSON_STRING, &level)
               ? tg_mcp_log_level_parse(level)
               : TG_MCP_LOG_NONE;
}

/* Checks for a subscription beyond the limit. */
static int
tg_bridge_is_too_many(tg_bridge_t *bridge, const tg_request_t *request)
{
    char room[TG_URI_MAX];
    tg_str_t uri;

    if (bridge->nsubscriptions < TG_RESOURCE_SUBSCRIPTIONS_MAX
        || tg_bridge_method_find(request->name) != TG_BRIDGE_SUBSCRIBE)
    {
        return 0;
    }

    uri = tg_bridge_params_get_uri(request->arguments, room);

    return uri.data != NULL && !tg_bridge_subscription_is_known(bridge, uri);
}

void
tg_bridge_forward(tg_bridge_t *bridge, const tg_request_t *request)
{
    tg_outcome_t outcome;

    if (request->reply.is_silent) {
        return;
    }

    if (!bridge->parent.caller.dialect->has_handshake) {
        tg_peer_respond_unknown(&bridge->peer, request);

    } else if (tg_bridge_is_too_many(bridge, request)) {
        outcome = tg_outcome_make_failure(
            TG_FAILURE_BUSY, "This connection is subscribed to 1024 resources; "
                             "unsubscribe from one first.");
        tg_peer_respond(&bridge->peer, &request->reply, &outcome);

    } else {
        tg_bridge_request_accept(bridge, request, TG_BRIDGE_METHOD, 0);
    }
}

int
tg_bridge_forward_discover(tg_bridge_t *bridge, const tg_request_t *request)
{
    if (!bridge->parent.caller.dialect->has_handshake
        || !tg_bridge_parent_is_open(bridge))
    {
        return TG_END;
    }

    tg_bridge_request_accept(bridge, request, TG_BRIDGE_DISCOVER, 0);
    tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_DISCOVER,
                          TG_BRIDGE_DISCOVER_TIMEOUT);

    return TG_OK;
}

void
tg_bridge_forward_on_response(const tg_bridge_request_t *request,
                              const tg_response_t *answer)
{
    tg_bridge_method_t method;
    char room[TG_URI_MAX];
    tg_bridge_t *bridge;
    tg_str_t params, uri;
    int is_done;

    bridge = request->bridge;
    params = request->call_params.arguments;
    method = tg_bridge_method_find(request->call_params.name);
    is_done = answer->kind == TG_RESPONSE_RESULT;

    switch (method) {
    case TG_BRIDGE_PROMPTS_LIST:
        bridge->has_listed_prompts = 1;
        break;
    case TG_BRIDGE_RESOURCES_LIST:
    case TG_BRIDGE_TEMPLATES_LIST:
        bridge->has_listed_resources = 1;
        break;
    case TG_BRIDGE_SUBSCRIBE:
    case TG_BRIDGE_UNSUBSCRIBE:
        uri = tg_bridge_params_get_uri(params, room);

        if (is_done && uri.data != NULL) {
            tg_bridge_subscription_set(bridge, uri, 1,
                                       method == TG_BRIDGE_SUBSCRIBE);
        }

        break;
    case TG_BRIDGE_SET_LEVEL:
        if (is_done) {
            bridge->log_level = tg_bridge_params_get_log_level(params);
        }

        break;
    default:
        break;
    }
}

void
tg_bridge_forward_complete_result(const tg_bridge_request_t *request,
                                  tg_str_t result, tg_buf_t *text)
{
    static const char *const none[] = { NULL };
    tg_bridge_method_t method;
    tg_str_t member;

    method = tg_bridge_method_find(request->call_params.name);

    if (!request->call_params.is_modern || method > TG_BRIDGE_COMPLETE
        || tg_json_type(result) != TG_JSON_OBJECT
        || tg_json_get_member(result, TG_STR("resultType"), &member) == TG_OK)
    {
        return;
    }

    tg_buf_append_cstr(text, "{\"resultType\":\"complete\"");

    if (method <= TG_BRIDGE_READ) {
        tg_buf_append_cstr(text, ",\"ttlMs\":0,\"cacheScope\":\"private\"");
    }

    (void) tg_json_write_members_except(text, result, none, 1);
    tg_buf_append_char(text, '}');
}

tg_str_t
tg_bridge_forward_get_empty_result(const tg_bridge_request_t *request)
{
    tg_bridge_method_t method;
    const char *empty;

    method = tg_bridge_method_find(request->call_params.name);
    empty =
        method != TG_BRIDGE_METHOD_COUNT && request->bridge->has_assumed_caps
            ? tg_bridge_methods[method].empty[request->call_params.is_modern]
            : NULL;

    return empty != NULL ? tg_str_from_cstr(empty) : TG_STR_NONE;
}

void
tg_bridge_forward_progress(tg_bridge_t *bridge, const tg_message_t *message)
{
    const tg_bridge_request_t *request;
    tg_call_t *call;
    uint64_t token;

    if (tg_caller_parse_id(message->p.progress_token, &token) != TG_OK) {
        return;
    }

    for (call = bridge->peer.calls; call != NULL; call = call->next) {
        request = call->host;

        if (request->uv_request.is_sent && request->seq == token) {
            tg_call_notify_progress(call, message->p.progress, message->p.total,
                                    message->p.message);
            return;
        }
    }
}

/*
 * Returns the lowest level of the log messages that the agent wants: that of
 * its session (legacy) or of its requests that the parent has (modern). A
 * message does not say which request it is about.
 */
static tg_mcp_log_level_t
tg_bridge_get_log_level(const tg_bridge_t *bridge)
{
    const tg_bridge_request_t *request;
    tg_mcp_log_level_t level, wanted;
    const tg_call_t *call;

    wanted = TG_MCP_LOG_NONE;

    if (bridge->peer.is_legacy) {
        wanted = bridge->log_level != TG_MCP_LOG_NONE ? bridge->log_level
                                                      : TG_MCP_LOG_INFO;
    }

    for (call = bridge->peer.calls; call != NULL; call = call->next) {
        request = call->host;
        level = (tg_mcp_log_level_t) call->reply.log_level;

        if (request->uv_request.is_sent && level != TG_MCP_LOG_NONE
            && (wanted == TG_MCP_LOG_NONE || level < wanted))
        {
            wanted = level;
        }
    }

    return wanted;
}

/* Passes a log message on if the agent wants messages of its level. */
static void
tg_bridge_forward_log_message(tg_bridge_t *bridge, tg_str_t params)
{
    tg_mcp_log_level_t level, wanted;

    level = tg_bridge_params_get_log_level(params);
    wanted = tg_bridge_get_log_level(bridge);

    if (wanted != TG_MCP_LOG_NONE && level >= wanted) {
        tg_peer_notify(&bridge->peer, TG_STR("notifications/message"), params);
    }
}

/* Sends the agent's logging/setLevel again. Returns TG_OK or TG_NOMEM. */
static int
tg_bridge_restore_log_level(tg_bridge_t *bridge)
{
    tg_buf_t params;
    int rc;

    if (bridge->log_level == TG_MCP_LOG_NONE) {
        return TG_OK;
    }

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_printf(&params, "{\"level\":\"%s\"}",
                  tg_mcp_log_level_get_name(bridge->log_level));
    rc = tg_buf_has_failed(&params)
             ? TG_NOMEM
             : tg_caller_send_request(
                 &bridge->parent.caller, TG_STR("logging/setLevel"),
                 tg_buf_view(&params), &bridge->own_tag, NULL);
    tg_buf_deinit(&params);

    return rc == TG_NOMEM ? TG_NOMEM : TG_OK;
}

/* Passes an update of a resource on: to the session, and to subscriptions. */
static void
tg_bridge_forward_update(tg_bridge_t *bridge, tg_str_t params)
{
    char room[TG_URI_MAX];
    tg_str_t uri;

    uri = tg_bridge_params_get_uri(params, room);

    if (bridge->peer.is_legacy
        && (uri.data == NULL
            || !tg_bridge_subscription_is_only_listened(bridge, uri)))
    {
        tg_peer_notify(&bridge->peer, TG_STR("notifications/resources/updated"),
                       params);
    }

    if (uri.data != NULL) {
        tg_bridge_subscriptions_notify(bridge, uri);
    }
}

void
tg_bridge_forward_notification(tg_bridge_t *bridge, tg_str_t method,
                               tg_str_t params)
{
    static const char *const known[] = {
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/message",
        NULL,
    };
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, method);

    if (tg_buf_has_failed(&text)) {
        tg_bridge_quit_nomem(bridge);
        return;
    }

    switch (tg_json_body_find(method, known)) {
    case 0:
        tg_peer_notify_list_changed(&bridge->peer, TG_ENTRY_PROMPT);
        break;
    case 1:
        tg_peer_notify_list_changed(&bridge->peer, TG_ENTRY_RESOURCE);
        break;
    case 2:
        tg_bridge_forward_update(bridge, params);
        break;
    case 3:
        tg_bridge_forward_log_message(bridge, params);
        break;
    default:
        tg_peer_send_broadcast(&bridge->peer, tg_buf_view(&text), params);
    }

    tg_buf_deinit(&text);
}

void
tg_bridge_forward_resource_updated(tg_bridge_t *bridge, tg_str_t uri)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_string(&params, "uri", uri);
    tg_buf_append_char(&params, '}');

    if (tg_buf_has_failed(&params)) {
        tg_bridge_quit_nomem(bridge);
    } else {
        tg_bridge_forward_update(bridge, tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}

void
tg_bridge_forward_on_open(tg_bridge_t *bridge)
{
    if (tg_bridge_restore_log_level(bridge) == TG_NOMEM) {
        tg_bridge_quit_nomem(bridge);
        return;
    }

    tg_bridge_subscriptions_restore(bridge);

    /* The lists may have changed while there was no connection. */
    if (bridge->has_listed_prompts) {
        tg_peer_notify_list_changed(&bridge->peer, TG_ENTRY_PROMPT);
    }

    if (bridge->has_listed_resources) {
        tg_peer_notify_list_changed(&bridge->peer, TG_ENTRY_RESOURCE);
    }
}
