/* MCP in both eras (docs/protocols.md "MCP"): a request's era, the methods. */
#include "protocol/tg_peer_fast_path.h"
#include "protocol/tg_peer_impl.h"

tg_mcp_method_t
tg_mcp_method_parse(tg_str_t method)
{
    static const struct {
        tg_mcp_method_t method;
        const char *name;
    } names[] = {
        { TG_METHOD_LIST, "tools/list" },
        { TG_METHOD_PING, "ping" },
        { TG_METHOD_INITIALIZE, "initialize" },
        { TG_METHOD_DISCOVER, "server/discover" },
        { TG_METHOD_LISTEN, "subscriptions/listen" },
    };
    size_t i;

    if (tg_json_string_eq(method, TG_STR("tools/call"))) {
        return TG_METHOD_CALL;
    }

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (tg_json_string_eq(method, tg_str_from_cstr(names[i].name))) {
            return names[i].method;
        }
    }

    return TG_METHOD_OTHER;
}

static void
tg_mcp_write_capabilities(tg_peer_t *peer, tg_buf_t *out)
{
    if (peer->priv->info->proxied_capabilities.data != NULL) {
        tg_buf_append_cstr(out, "\"capabilities\":");
        tg_buf_append_str(out, peer->priv->info->proxied_capabilities);
        return;
    }

    tg_buf_append_cstr(
        out, peer->priv->info->has_list_changed
                 ? "\"capabilities\":{\"tools\":{\"listChanged\":true}"
                 : "\"capabilities\":{\"tools\":{}");

    tg_json_add_compact(out, "experimental", peer->priv->info->experimental);
    tg_buf_append_char(out, '}');
}

static void
tg_mcp_write_instructions(tg_peer_t *peer, tg_buf_t *out)
{
    if (peer->priv->info->instructions.len != 0) {
        tg_json_add_string(out, "instructions", peer->priv->info->instructions);
    }
}

/* Returns the newest legacy version if the requested one is not supported. */
static const char *
tg_mcp_negotiate_version(tg_str_t asked)
{
    static const char *const legacy[] = { TG_MCP_VERSION_LEGACY, "2025-06-18",
                                          TG_MCP_VERSION_BATCHES, "2024-11-05",
                                          NULL };
    int i;

    i = tg_json_string_find(asked, legacy);

    return legacy[i >= 0 ? i : 0];
}

/* Decodes a member. Returns absent if it is missing or too long. */
static tg_str_t
tg_mcp_decode_string(tg_str_t object, const char *key, char *room, size_t size)
{
    tg_str_t value;
    tg_buf_t text;

    if (!tg_json_has_member(object, tg_str_from_cstr(key), TG_JSON_STRING,
                            &value)) {
        return TG_STR_NONE;
    }

    text = tg_buf_make_fixed(room, size);
    tg_json_append_unescaped(&text, tg_json_string_body(value));

    return tg_buf_has_failed(&text) ? TG_STR_NONE : tg_buf_view(&text);
}

/* Reads the raw clientInfo, which may be absent. */
static void
tg_peer_parse_client_info(tg_peer_t *peer, tg_str_t info, tg_str_t via)
{
    char names[TG_CLIENT_NAME_MAX], versions[TG_CLIENT_VERSION_MAX];
    tg_str_t name;

    name = tg_mcp_decode_string(info, "name", names, sizeof(names));

    if (name.len != 0) {
        tg_peer_set_client_info(peer, name,
                                tg_mcp_decode_string(info, "version", versions,
                                                     sizeof(versions)),
                                via);
    }
}

void
tg_peer_read_hello(tg_peer_t *peer, const tg_message_t *message)
{
    char room[TG_CLIENT_VIA_MAX];

    tg_peer_parse_client_info(peer, message->p.client_info,
                              tg_mcp_decode_string(message->params, "via", room,
                                                   sizeof(room)));
}

void
tg_peer_read_meta_client_info(tg_peer_t *peer, const tg_message_t *message)
{
    tg_peer_parse_client_info(peer, message->meta.client_info, TG_STR_NONE);
}

static void
tg_mcp_respond_initialize(tg_peer_t *peer, const tg_message_t *message,
                          const tg_reply_t *reply)
{
    tg_buf_t *out;
    size_t start;

    strcpy(peer->priv->version,
           tg_mcp_negotiate_version(message->p.protocol_version));
    peer->is_legacy = 1;
    tg_peer_read_client_caps(peer, message->params);

    /* A bridge has already named its agent; this clientInfo is the bridge's. */
    if (peer->client_via.len == 0) {
        tg_peer_parse_client_info(peer, message->p.client_info, TG_STR_NONE);
    }

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_RESULT, &start);
    tg_buf_append_cstr(out, "{\"protocolVersion\":\"");
    tg_buf_append_cstr(out, peer->priv->version);
    tg_buf_append_cstr(out, "\",");
    tg_mcp_write_capabilities(peer, out);
    tg_json_begin_member(out, "serverInfo");
    tg_reply_write_server_info(peer, out);
    tg_mcp_write_instructions(peer, out);
    tg_buf_append_char(out, '}');
    tg_reply_close(peer, reply, start);
}

static void
tg_mcp_respond_discover(tg_peer_t *peer, const tg_reply_t *reply)
{
    tg_buf_t *out;
    size_t start;

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_RESULT, &start);
    tg_buf_append_char(out, '{');
    tg_reply_write_modern(peer, out);
    tg_buf_append_cstr(out, "\"supportedVersions\":[\"" TG_MCP_VERSION_MODERN
                            "\"],");
    tg_mcp_write_capabilities(peer, out);
    tg_mcp_write_instructions(peer, out);
    tg_buf_append_cstr(out, ",\"ttlMs\":0,\"cacheScope\":\"private\"}");
    tg_reply_close(peer, reply, start);
}

void
tg_call_respond_discover(tg_call_t *call, tg_str_t result)
{
    static const char *const ours[] = { "resultType", "_meta", NULL };
    tg_str_t versions;
    tg_buf_t *out;
    size_t start;

    if (result.data == NULL
        || !tg_json_has_member(result, TG_STR("supportedVersions"),
                               TG_JSON_ARRAY, &versions))
    {
        tg_mcp_respond_discover(call->peer, &call->reply);
        tg_call_forget(call);
        return;
    }

    out = tg_reply_open(call->peer, &call->reply, TG_REPLY_MEMBER_RESULT,
                        &start);
    tg_buf_append_char(out, '{');
    tg_reply_write_modern(call->peer, out);
    (void) tg_json_write_members_except(out, result, ours, 0);
    tg_buf_append_char(out, '}');
    tg_reply_close(call->peer, &call->reply, start);
    tg_call_forget(call);
}

static void
tg_mcp_on_discover(tg_peer_t *peer, const tg_message_t *message,
                   const tg_reply_t *reply)
{
    tg_request_t request;

    if (peer->priv->ops->discover != NULL) {
        memset(&request, 0, sizeof(request));
        request.name = tg_json_string_body(message->method);
        request.arguments = message->params;
        request.reply = *reply;
        request.reply.kind = TG_ENTRY_METHOD;

        if (peer->priv->ops->discover(peer->host, peer, &request) != TG_END) {
            return;
        }
    }

    tg_mcp_respond_discover(peer, reply);
}

static void
tg_mcp_respond_ping(tg_peer_t *peer, const tg_reply_t *reply)
{
    tg_buf_t *out;
    size_t start;

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_RESULT, &start);

    if (peer->is_mcp) {
        tg_buf_append_cstr(out, "{}");
    } else {
        tg_buf_append_cstr(out, "{\"pong\":true,\"timestamp\":\"");
        tg_buf_append_time(out, peer->now_ms);
        tg_buf_append_cstr(out, "\"}");
    }

    tg_reply_close(peer, reply, start);
}

const char *
tg_peer_on_tools_call(tg_peer_t *peer, const tg_message_t *message,
                      const tg_reply_t *reply)
{
    tg_request_t request;
    int has_arguments;

    if (tg_json_type(message->p.name) != TG_JSON_STRING) {
        return "params.name must be the name of a tool.";
    }

    has_arguments = tg_json_type(message->p.arguments) == TG_JSON_OBJECT;

    if (!has_arguments && message->p.arguments.data != NULL
        && !tg_message_is_empty_array(message->p.arguments))
    {
        return "params.arguments must be an object.";
    }

    if (reply->is_modern && message->p.input_responses.data != NULL
        && tg_json_type(message->p.input_responses) != TG_JSON_OBJECT)
    {
        return "params.inputResponses must be an object.";
    }

    if (message->meta.progress_token.len > TG_PROGRESS_TOKEN_MAX) {
        return "params._meta.progressToken is longer than 1024 bytes.";
    }

    tg_memzero(&request, sizeof(request));
    request.reply = *reply;
    request.reply.kind = TG_ENTRY_TOOL;
    request.name = tg_json_string_body(message->p.name);
    request.size = message->text.len;
    request.text = message->text;
    request.notes = &message->notes;

    if (has_arguments) {
        request.arguments = message->p.arguments;
    }

    if (tg_json_type(message->p.meta) == TG_JSON_OBJECT) {
        request.meta = message->p.meta;
    }

    if (reply->is_modern) {
        request.input_responses = message->p.input_responses;
        request.request_state = message->p.request_state;
    }

    request.progress_token = message->meta.progress_token;
    request.traceparent = message->meta.traceparent;
    request.tracestate = message->meta.tracestate;
    tg_peer_cache_fast_path(peer, message, &request);
    tg_peer_dispatch_request(peer, &request);

    return NULL;
}

static void
tg_subscription_send_acknowledged(tg_peer_t *peer, const tg_subscription_t *sub)
{
    tg_buf_t *out;

    out = &peer->out;
    tg_buf_append_cstr(out,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                       "subscriptions/acknowledged\",\"params\":{\"_meta\":{"
                       "\"io.modelcontextprotocol/subscriptionId\":");
    tg_buf_append_str(out, sub->id);
    tg_buf_append_cstr(out, "},\"notifications\":{");
    tg_buf_append_cstr(out, sub->has_tools ? "\"toolsListChanged\":true" : "");
    tg_buf_append_cstr(out, sub->has_tools && sub->has_broadcasts ? "," : "");
    tg_buf_append_cstr(out, sub->has_broadcasts ? "\"" TG_MCP_FILTER_BROADCASTS
                                                  "\":true"
                                                : "");
    tg_buf_append_cstr(out, "}}}\n");
}

/*
 * Handles MCP 2026-07-28 "subscriptions/listen": acknowledges now, and sends
 * the result when the subscription ends.
 */
static void
tg_mcp_on_listen(tg_peer_t *peer, const tg_message_t *message,
                 const tg_reply_t *reply)
{
    tg_subscription_t *sub;

    if (reply->batch != NULL
        || tg_json_type(message->p.notifications) != TG_JSON_OBJECT)
    {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "params.notifications must be an object, such as "
            "{\"toolsListChanged\":true}.");
        return;
    }

    if (peer->priv->nsubscriptions == TG_SUBSCRIPTIONS_MAX) {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INTERNAL_ERROR,
            "This connection has 64 subscriptions; cancel one first.");
        return;
    }

    if (tg_subscription_add(peer, &peer->priv->subscriptions, reply->id)
        != TG_OK) {
        peer->out.failed = 1;
        return;
    }

    sub = peer->priv->subscriptions;
    sub->has_tools = peer->priv->info->has_list_changed
                     && tg_json_type(message->p.tools_list_changed)
                            == TG_JSON_TRUE;
    sub->has_broadcasts = peer->priv->info->has_broadcasts
                          && tg_json_type(message->p.broadcasts)
                                 == TG_JSON_TRUE;
    tg_subscription_send_acknowledged(peer, sub);
}

/* Checks version and capabilities. Returns 0 after answering with an error. */
static int
tg_mcp_check_modern_meta(tg_peer_t *peer, const tg_message_t *message,
                         const tg_reply_t *reply)
{
    tg_outcome_t why;
    tg_str_t version;
    tg_buf_t data;

    version = message->meta.protocol_version;

    if (tg_json_type(version) != TG_JSON_STRING) {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "_meta[\"io.modelcontextprotocol/protocolVersion\"] must "
            "be a string.");
        return 0;
    }

    if (!tg_json_string_eq(version, TG_STR(TG_MCP_VERSION_MODERN))) {
        tg_buf_init(&data, peer->priv->alloc);
        tg_buf_append_cstr(&data, "{\"supported\":[\"" TG_MCP_VERSION_MODERN
                                  "\"],\"requested\":");
        tg_buf_append_str(&data, version);
        tg_buf_append_char(&data, '}');

        if (tg_buf_has_failed(&data)) {
            peer->out.failed = 1;
        } else {
            why = tg_outcome_make_text(TG_STR("Unsupported protocol version"));
            tg_reply_write_error(peer, reply, TG_RPC_UNSUPPORTED_VERSION, &why,
                                 tg_buf_view(&data));
        }

        tg_buf_deinit(&data);
        return 0;
    }

    if (tg_json_type(message->meta.client_capabilities) != TG_JSON_OBJECT) {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "_meta[\"io.modelcontextprotocol/clientCapabilities\"] "
            "must be an object.");
        return 0;
    }

    return 1;
}

/* Records that the client has sent a valid modern request. */
static void
tg_peer_set_modern(tg_peer_t *peer, const tg_message_t *message)
{
    peer->is_modern = 1;

    /* Without a session, each request names its client. */
    if (!peer->is_legacy || peer->client.len == 0) {
        tg_peer_parse_client_info(peer, message->meta.client_info,
                                  peer->client_via);
    }
}

static int
tg_mcp_era_has_method(tg_mcp_method_t method, int is_modern)
{
    switch (method) {
    case TG_METHOD_PING:
    case TG_METHOD_INITIALIZE:
        return !is_modern;
    case TG_METHOD_DISCOVER:
    case TG_METHOD_LISTEN:
        return is_modern;
    default:
        return 1;
    }
}

int
tg_peer_on_mcp_request(tg_peer_t *peer, tg_mcp_method_t method,
                       tg_message_t *message, tg_reply_t *reply)
{
    tg_request_t request;
    const char *why;

    reply->is_modern = message->meta.protocol_version.data != NULL;

    if (reply->is_modern && !tg_mcp_check_modern_meta(peer, message, reply)) {
        return TG_OK;
    }

    if (reply->is_modern) {
        tg_peer_set_modern(peer, message);
    }

    /* Without a session, this method belongs to the modern era. */
    if (method == TG_METHOD_DISCOVER && !reply->is_modern && !peer->is_legacy) {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "server/discover needs params._meta with "
            "\"io.modelcontextprotocol/protocolVersion\" and "
            "\"io.modelcontextprotocol/clientCapabilities\".");
        return TG_OK;
    }

    if (!tg_mcp_era_has_method(method, reply->is_modern)) {
        memset(&request, 0, sizeof(request));
        request.name = tg_json_string_body(message->method);
        request.reply = *reply;
        request.reply.kind = TG_ENTRY_METHOD;
        tg_peer_respond_unknown(peer, &request);
        return TG_OK;
    }

    switch (method) {
    case TG_METHOD_PING:
        tg_mcp_respond_ping(peer, reply);
        break;
    case TG_METHOD_INITIALIZE:
        tg_mcp_respond_initialize(peer, message, reply);
        break;
    case TG_METHOD_DISCOVER:
        tg_mcp_on_discover(peer, message, reply);
        break;
    case TG_METHOD_LIST:
        tg_peer_on_tools_list(peer, message, reply);
        break;
    case TG_METHOD_CALL:
        why = tg_peer_on_tools_call(peer, message, reply);

        if (why != NULL) {
            tg_reply_reject_request(peer, reply, TG_RPC_INVALID_PARAMS, why);
        }

        break;
    case TG_METHOD_LISTEN:
        tg_mcp_on_listen(peer, message, reply);
        break;
    default:
        return TG_MISSING;
    }

    return TG_OK;
}
