/* The parent as an MCP server: its info, its tools, its notifications. */
#include "bridge/tg_bridge.h"

/* Appends a decoded body and returns its place in buf, which does not move. */
static tg_str_t
tg_bridge_append_decoded(tg_buf_t *buf, tg_str_t body)
{
    size_t start;

    if (body.data == NULL) {
        return TG_STR_NONE;
    }

    start = buf->len;
    tg_json_append_unescaped(buf, body);

    return tg_str(buf->data + start, buf->len - start);
}

/* Appends a member, decoded if a string, as tg_bridge_append_decoded(). */
static tg_str_t
tg_bridge_append_member(tg_buf_t *buf, tg_str_t object, const char *key,
                        tg_json_type_t type)
{
    tg_str_t value;
    size_t start;

    if (!tg_json_has_member(object, tg_str_from_cstr(key), type, &value)) {
        return TG_STR_NONE;
    }

    if (type == TG_JSON_STRING) {
        return tg_bridge_append_decoded(buf, tg_json_string_body(value));
    }

    start = buf->len;
    tg_json_write_compact(buf, value);

    return tg_str(buf->data + start, buf->len - start);
}

/*
 * Appends the parent's capabilities, as tg_bridge_append_decoded(). The tools
 * are a list of the bridge, which changes with a new connection, too. The
 * bridge does not forward the tasks of MCP 2025-11-25, as they are members of
 * tools/call.
 */
static tg_str_t
tg_bridge_append_capabilities(tg_buf_t *buf, tg_str_t capabilities)
{
    static const char *const ours[] = { "tools", "tasks", NULL };
    size_t start;

    start = buf->len;
    tg_buf_append_cstr(buf, "{\"tools\":{\"listChanged\":true}");

    if (capabilities.data != NULL) {
        (void) tg_json_write_members_except(buf, capabilities, ours, 1);
    }

    tg_buf_append_char(buf, '}');

    return tg_str(buf->data + start, buf->len - start);
}

void
tg_bridge_parent_read_capabilities(tg_bridge_t *bridge, tg_str_t capabilities)
{
    tg_server_info_t *info;
    tg_str_t value;

    info = &bridge->info;
    info->has_prompts = tg_json_has_member(capabilities, TG_STR("prompts"),
                                           TG_JSON_OBJECT, &value);
    info->has_resources = tg_json_has_member(capabilities, TG_STR("resources"),
                                             TG_JSON_OBJECT, &value);
    info->has_subscribe = info->has_resources
                          && tg_json_has_member(value, TG_STR("subscribe"),
                                                TG_JSON_TRUE, &value);
}

/* Copies the parent's info, without its name if --name is set. */
static void
tg_bridge_parent_copy_info(tg_bridge_t *bridge)
{
    const tg_mcp_server_info_t *server_info;
    tg_server_info_t *info;
    tg_str_t name, version;
    tg_buf_t buf;

    server_info = &bridge->mcp.server_info;
    info = &bridge->info;
    tg_buf_init(&buf, tg_alloc_libc());

    /* Decoding never makes a string longer, so that buf does not move. */
    if (tg_buf_reserve(&buf,
                       server_info->info.len + server_info->instructions.len
                           + server_info->capabilities.len
                           + sizeof("{\"tools\":{\"listChanged\":true},}"))
        != TG_OK)
    {
        tg_bridge_quit_nomem(bridge);
        return;
    }

    name = tg_bridge_append_decoded(&buf, server_info->name);
    version = tg_bridge_append_decoded(&buf, server_info->version);

    if (bridge->options->name == NULL) {
        info->name = name.data != NULL ? name : TG_STR("?");
    }

    info->version = version.data != NULL ? version : TG_STR("?");
    info->title = tg_bridge_append_member(&buf, server_info->info, "title",
                                          TG_JSON_STRING);
    info->description = tg_bridge_append_member(&buf, server_info->info,
                                                "description", TG_JSON_STRING);
    info->website = tg_bridge_append_member(&buf, server_info->info,
                                            "websiteUrl", TG_JSON_STRING);
    info->icons = tg_bridge_append_member(&buf, server_info->info, "icons",
                                          TG_JSON_ARRAY);
    info->instructions = tg_bridge_append_decoded(&buf,
                                                  server_info->instructions);
    info->proxied_capabilities = tg_bridge_append_capabilities(
        &buf, server_info->capabilities);
    tg_bridge_parent_read_capabilities(bridge, server_info->capabilities);
    bridge->has_parent_info = 1;
    tg_buf_deinit(&bridge->info_text);
    bridge->info_text = buf;
}

int
tg_bridge_list_handle_request(tg_bridge_t *bridge, const tg_request_t *request)
{
    const tg_dialect_row_t *dialect;

    dialect = bridge->parent.caller.dialect;

    if (dialect->is_sequential
        || (dialect->has_unpaged_list && request->cursor.data != NULL))
    {
        return TG_END;
    }

    /* A runner builds its list again for each request. */
    if (dialect->has_unpaged_list) {
        tg_bridge_request_accept(bridge, request, TG_BRIDGE_LIST,
                                 tg_mcp_client_fresh_fetch_number(
                                     &bridge->mcp));

        if (bridge->has_list && !bridge->mcp.is_listing) {
            tg_bridge_parent_fetch_list(bridge);
        }

        return TG_OK;
    }

    bridge->has_agent_listed = 1;

    if (!bridge->has_list) {
        tg_bridge_request_accept(bridge, request, TG_BRIDGE_LIST, 0);
        return TG_OK;
    }

    if (request->cursor.data == NULL) {
        bridge->sent_list_digest = tg_catalog_digest(bridge->tools,
                                                     TG_ENTRY_TOOL);
    }

    return TG_END;
}

/* Calls in flight must not use entries of the old catalog. */
static void
tg_bridge_list_replace(tg_bridge_t *bridge)
{
    tg_call_t *call;

    if (bridge->mcp.is_circular) {
        tg_bridge_log("the list of tools repeats a page or a cursor; the "
                      "list ends there");
    }

    if (bridge->mcp.nleft_out != 0) {
        tg_bridge_log("%zu of the listed tools %s no name or a duplicate "
                      "name; %s omitted",
                      bridge->mcp.nleft_out,
                      tg_pick_plural(bridge->mcp.nleft_out, "has", "have"),
                      tg_pick_plural(bridge->mcp.nleft_out, "it is",
                                     "they are"));
    }

    for (call = bridge->peer.calls; call != NULL; call = call->next) {
        call->entry = NULL;
    }

    tg_peer_set_catalog(&bridge->peer, bridge->mcp.tools);
    tg_catalog_unref(bridge->tools);
    bridge->tools = tg_catalog_ref(bridge->mcp.tools);
}

/* Notifies an agent that has asked for a list before. */
static void
tg_bridge_list_notify_changed(tg_bridge_t *bridge)
{
    uint64_t digest;
    int has_changed;

    digest = tg_catalog_digest(bridge->tools, TG_ENTRY_TOOL);
    has_changed = bridge->sent_list_digest != digest
                  && (bridge->sent_list_digest != 0
                      || bridge->has_agent_listed);
    bridge->sent_list_digest = digest;

    if (has_changed) {
        tg_peer_notify_list_changed(&bridge->peer, TG_ENTRY_TOOL);
    }
}

static void
tg_bridge_list_on_fetched(tg_bridge_t *bridge)
{
    if (bridge->tools != bridge->mcp.tools) {
        tg_bridge_list_replace(bridge);
    }

    if (bridge->parent.caller.dialect->has_unpaged_list) {
        tg_bridge_requests_respond_lists(bridge, NULL);

        if (tg_bridge_requests_has_unsent(bridge, 1)) {
            tg_bridge_parent_fetch_list(bridge);
        }

        return;
    }

    tg_bridge_parent_on_list_ready(bridge);
    tg_bridge_requests_respond_lists(bridge, NULL);
    tg_bridge_list_notify_changed(bridge);
}

/* Handles a failed fetch; the agent keeps an earlier list. */
static void
tg_bridge_list_on_fetch_failed(tg_bridge_t *bridge)
{
    char text[256];

    tg_bridge_decode_visible(text, sizeof(text), bridge->mcp.error.message);
    tg_bridge_log("cannot list the tools of %s: %s",
                  tg_bridge_parent_get_name(bridge), text);

    if (bridge->parent.caller.dialect->has_unpaged_list) {
        tg_bridge_requests_respond_lists(bridge, &bridge->mcp.error);

    } else if (!bridge->has_list) {
        tg_bridge_parent_reject(bridge, text);
    }
}

static void tg_bridge_mcp_on_event(tg_bridge_t *bridge, tg_mcp_event_t event);

/* Parses a fetched list, for one time slice. */
static void
tg_bridge_list_read_slice(tg_sched_source_t *source)
{
    tg_mcp_event_t event;
    tg_bridge_t *bridge;

    bridge = TG_CONTAINER_OF(source, tg_bridge_t, reader);

    do {
        event = tg_mcp_client_read_list(&bridge->mcp, TG_BRIDGE_LIST_STEP_SIZE,
                                        uv_now(&bridge->loop));
    } while (event == TG_MCP_EVENT_LIST_PENDING
             && !tg_sched_is_slice_over(&bridge->sched.sched, source,
                                        TG_BRIDGE_LIST_STEP_SIZE));

    if (event != TG_MCP_EVENT_LIST_PENDING) {
        tg_bridge_mcp_on_event(bridge, event);
    }
}

static void
tg_bridge_mcp_on_event(tg_bridge_t *bridge, tg_mcp_event_t event)
{
    char text[256];

    switch (event) {
    case TG_MCP_EVENT_OPEN:
        tg_bridge_parent_copy_info(bridge);
        tg_uv_client_complete_handshake(&bridge->parent);
        break;
    case TG_MCP_EVENT_REFUSED:
        tg_bridge_decode_visible(text, sizeof(text), bridge->mcp.error.message);
        tg_bridge_parent_reject(bridge, text);
        break;
    case TG_MCP_EVENT_TIMEOUT:
        tg_bridge_parent_on_handshake_timeout(bridge);
        break;
    case TG_MCP_EVENT_LIST_CHANGED:
        /* A runner's agent fetches the list itself: notify it at once. */
        if (bridge->parent.caller.dialect->has_implicit_list_changed) {
            tg_peer_notify_list_changed(&bridge->peer, TG_ENTRY_TOOL);
        }

        break;
    case TG_MCP_EVENT_LIST_PENDING:
        bridge->reader.run = tg_bridge_list_read_slice;
        tg_sched_enqueue(&bridge->sched.sched, &bridge->reader);
        break;
    case TG_MCP_EVENT_LIST:
        tg_bridge_list_on_fetched(bridge);
        break;
    case TG_MCP_EVENT_LIST_FAILED:
        tg_bridge_list_on_fetch_failed(bridge);
        break;
    case TG_MCP_EVENT_NO_MEMORY:
        tg_bridge_quit_nomem(bridge);
        break;
    default:
        break;
    }
}

void
tg_bridge_mcp_on_timeout(tg_bridge_t *bridge)
{
    bridge->mcp_due = 0;
    tg_bridge_mcp_on_event(
        bridge, tg_mcp_client_on_timer(&bridge->mcp, uv_now(&bridge->loop)));
}

void
tg_bridge_mcp_update_timer(tg_bridge_t *bridge)
{
    uint64_t due, now;

    due = bridge->mcp.due;

    if (due == bridge->mcp_due || bridge->is_quitting) {
        return;
    }

    bridge->mcp_due = due;
    now = uv_now(&bridge->loop);

    if (due != 0) {
        tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_MCP,
                              due > now ? due - now : 0);
    } else {
        tg_bridge_timer_stop(bridge, TG_BRIDGE_TIMER_MCP);
    }
}

static int
tg_bridge_parent_on_response(void *host, void *tag, const tg_response_t *answer)
{
    tg_bridge_t *bridge;
    tg_mcp_event_t event;

    bridge = host;

    if (tg_bridge_subscriptions_on_response(bridge, tag, answer)) {
        return 1;
    }

    event = tg_mcp_client_on_response(&bridge->mcp, tag, answer,
                                      uv_now(&bridge->loop));

    if (event == TG_MCP_EVENT_NOT_OWN) {
        return 0;
    }

    tg_bridge_mcp_on_event(bridge, event);

    return 1;
}

static void
tg_bridge_parent_on_notification(void *host, tg_str_t method,
                                 const tg_message_t *message)
{
    tg_bridge_t *bridge;
    tg_mcp_event_t event;

    bridge = host;
    event = tg_mcp_client_on_notification(&bridge->mcp, method,
                                          uv_now(&bridge->loop));

    if (event != TG_MCP_EVENT_NOT_OWN) {
        tg_bridge_mcp_on_event(bridge, event);

    } else if (tg_json_body_eq_text(method, TG_STR("notifications/progress"))) {
        tg_bridge_forward_progress(bridge, message);

    } else if (tg_json_body_eq_text(method, TG_STR("notifications/cancelled")))
    {
        tg_bridge_cancel_server_request(bridge, message->p.request_id);

    } else {
        tg_bridge_forward_notification(bridge, method, message->params);
    }
}

static void
tg_bridge_parent_on_shutdown_notice(void *host, tg_str_t reason, int is_drained)
{
    tg_bridge_t *bridge;
    char *text;

    bridge = host;
    text = bridge->shutdown_reason;
    bridge->is_runner_shut_down = bridge->parent.caller.dialect->shutdown
                                  != NULL;
    tg_bridge_decode_visible(text, sizeof(bridge->shutdown_reason), reason);

    if (bridge->is_runner_shut_down || bridge->options->is_debug) {
        tg_bridge_log("%s shuts down%s%s", tg_bridge_parent_get_name(bridge),
                      text[0] != '\0' ? ": " : "", text);
    }

    if (!bridge->is_runner_shut_down) {
        text[0] = '\0';
    }
}

static void
tg_bridge_parent_on_log(void *host, const char *text)
{
    tg_bridge_log("%s: %s", tg_bridge_parent_get_name(host), text);
}

const tg_uv_client_ops_t tg_bridge_parent_ops = {
    .on_response = tg_bridge_request_on_response,
    .opened = tg_bridge_parent_on_open,
    .on_disconnect = tg_bridge_parent_on_disconnect,
    .on_conn_lost = tg_bridge_parent_on_conn_lost,
    .notification = tg_bridge_parent_on_notification,
    .start_handshake = tg_bridge_parent_start_handshake,
    .answer = tg_bridge_parent_on_response,
    .send_request = tg_bridge_request_send,
    .on_shutdown_notice = tg_bridge_parent_on_shutdown_notice,
    .log = tg_bridge_parent_on_log,
    .on_request = tg_bridge_on_server_request,
    .on_connect_attempt = tg_bridge_parent_on_connect_attempt,
    .can_read = tg_bridge_parent_can_read,
    .trace = tg_bridge_parent_on_trace,
};
