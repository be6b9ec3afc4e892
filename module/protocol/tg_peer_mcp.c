/* MCP in both eras (docs/protocols.md "MCP"): a request's era, the methods. */
#include "protocol/tg_peer_fast_path.h"
#include "protocol/tg_peer_impl.h"

static unsigned
tg_server_info_get_capabilities(const tg_server_info_t *info)
{
    return (info->has_prompts ? TG_CAPABILITY_PROMPTS : 0U)
           | (info->has_resources ? TG_CAPABILITY_RESOURCES : 0U)
           | (info->has_subscribe ? TG_CAPABILITY_SUBSCRIBE : 0U)
           | (info->has_completions ? TG_CAPABILITY_COMPLETIONS : 0U)
           | (info->has_logging ? TG_CAPABILITY_LOGGING : 0U)
           | (info->has_skills ? TG_CAPABILITY_SKILLS : 0U);
}

unsigned
tg_peer_get_capabilities(const tg_peer_t *peer)
{
    return tg_server_info_get_capabilities(peer->priv->info)
           | peer->priv->declared;
}

static void
tg_mcp_write_capabilities(tg_peer_t *peer, tg_buf_t *out, int is_modern)
{
    const tg_server_info_t *info;
    const char *changes;

    if (peer->priv->info->proxied_capabilities.data != NULL) {
        tg_buf_append_cstr(out, "\"capabilities\":");
        tg_buf_append_str(out, peer->priv->info->proxied_capabilities);
        return;
    }

    info = peer->priv->info;
    peer->priv->declared = tg_server_info_get_capabilities(info)
                           & TG_CAPABILITIES_ALL;
    changes = info->has_list_changed ? "\"listChanged\":true" : "";
    tg_buf_printf(out, "\"capabilities\":{\"tools\":{%s}", changes);

    if (info->has_prompts) {
        tg_buf_printf(out, ",\"prompts\":{%s}", changes);
    }

    if (info->has_resources) {
        tg_buf_printf(out, ",\"resources\":{%s%s%s}",
                      info->has_subscribe ? "\"subscribe\":true" : "",
                      info->has_subscribe && info->has_list_changed ? "," : "",
                      changes);
    }

    if (info->has_completions) {
        tg_buf_append_cstr(out, ",\"completions\":{}");
    }

    if (info->has_logging) {
        tg_buf_append_cstr(out, ",\"logging\":{}");
    }

    if (is_modern) {
        tg_server_info_write_extensions(info, out);
    }

    tg_json_add_compact(out, "experimental", info->experimental);
    tg_buf_append_char(out, '}');
}

static void
tg_mcp_write_instructions(tg_peer_t *peer, tg_buf_t *out)
{
    if (peer->priv->info->instructions.len != 0) {
        tg_json_add_string(out, "instructions", peer->priv->info->instructions);
    }
}

static const char *const tg_mcp_legacy_versions[] = { TG_MCP_VERSION_LEGACY,
                                                      "2025-06-18",
                                                      TG_MCP_VERSION_BATCHES,
                                                      "2024-11-05", NULL };

const char *
tg_mcp_find_legacy_version(tg_str_t version)
{
    const char *const *known;

    known = tg_mcp_legacy_versions;

    while (*known != NULL && !tg_str_eq(version, tg_str_from_cstr(*known))) {
        known++;
    }

    return *known;
}

/* Returns the newest legacy version if the requested one is not supported. */
static const char *
tg_mcp_negotiate_version(tg_str_t asked)
{
    int i;

    i = tg_json_string_find(asked, tg_mcp_legacy_versions);

    return tg_mcp_legacy_versions[i >= 0 ? i : 0];
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
                          tg_reply_t *reply)
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
    tg_mcp_write_capabilities(peer, out, 0);
    tg_json_begin_member(out, "serverInfo");
    tg_reply_write_server_info(peer, out, 1);
    tg_mcp_write_instructions(peer, out);
    tg_buf_append_char(out, '}');
    tg_reply_close(peer, reply, start);
}

/* Begins the result of server/discover, up to a comma. */
static tg_buf_t *
tg_mcp_open_discover(tg_peer_t *peer, const tg_reply_t *reply, size_t *start)
{
    tg_buf_t *out;

    out = tg_reply_open(peer, reply, TG_REPLY_MEMBER_RESULT, start);
    tg_buf_append_cstr(out, "{\"resultType\":\"complete\",\"_meta\":{"
                            "\"io.modelcontextprotocol/serverInfo\":");
    tg_reply_write_server_info(peer, out, 1);
    tg_buf_append_cstr(out, "},");

    return out;
}

static void
tg_mcp_respond_discover(tg_peer_t *peer, const tg_reply_t *reply)
{
    tg_buf_t *out;
    size_t start;

    out = tg_mcp_open_discover(peer, reply, &start);
    tg_buf_append_cstr(out, "\"supportedVersions\":[\"" TG_MCP_VERSION_MODERN
                            "\"],");
    tg_mcp_write_capabilities(peer, out, 1);
    tg_mcp_write_instructions(peer, out);
    tg_buf_append_char(out, ',');
    tg_reply_write_cache_hint(out, 0, 0);
    tg_buf_append_char(out, '}');
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

    out = tg_mcp_open_discover(call->peer, &call->reply, &start);
    (void) tg_json_write_members_except(out, result, ours, 0);
    tg_buf_append_char(out, '}');
    tg_reply_close(call->peer, &call->reply, start);
    tg_call_forget(call);
}

static void
tg_mcp_on_discover(tg_peer_t *peer, const tg_message_t *message,
                   tg_reply_t *reply)
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
tg_mcp_respond_ping(tg_peer_t *peer, const tg_message_t *message,
                    tg_reply_t *reply)
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

void
tg_request_init(tg_request_t *request, const tg_message_t *message,
                const tg_reply_t *reply, tg_catalog_entry_type_t kind)
{
    tg_memzero(request, sizeof(*request));
    request->reply = *reply;
    request->reply.kind = kind;
    request->size = message->text.len;
    request->text = message->text;

    if (tg_json_type(message->p.meta) == TG_JSON_OBJECT) {
        request->meta = message->p.meta;
    }

    if (reply->is_modern) {
        request->input_responses = message->p.input_responses;
        request->request_state = message->p.request_state;
    }

    request->progress_token = message->meta.progress_token;
    request->traceparent = message->meta.traceparent;
    request->tracestate = message->meta.tracestate;
}

const char *
tg_mcp_check_call(const tg_message_t *message, const tg_reply_t *reply)
{
    if (reply->is_modern && message->p.input_responses.data != NULL
        && tg_json_type(message->p.input_responses) != TG_JSON_OBJECT)
    {
        return "params.inputResponses must be an object.";
    }

    if (message->meta.progress_token.len > TG_PROGRESS_TOKEN_MAX) {
        return "params._meta.progressToken is longer than 1024 bytes.";
    }

    return NULL;
}

const char *
tg_peer_on_call(tg_peer_t *peer, const tg_message_t *message,
                const tg_reply_t *reply, tg_catalog_entry_type_t kind)
{
    tg_request_t request;
    int has_arguments;
    const char *why;

    if (tg_json_type(message->p.name) != TG_JSON_STRING) {
        return kind == TG_ENTRY_TOOL
                   ? "params.name must be the name of a tool."
                   : "params.name must be the name of a prompt.";
    }

    has_arguments = tg_json_type(message->p.arguments) == TG_JSON_OBJECT;

    if (!has_arguments && message->p.arguments.data != NULL
        && !tg_message_is_empty_array(message->p.arguments))
    {
        return "params.arguments must be an object.";
    }

    why = tg_mcp_check_call(message, reply);

    if (why != NULL) {
        return why;
    }

    tg_request_init(&request, message, reply, kind);
    request.name = tg_json_string_body(message->p.name);
    request.notes = &message->notes;

    if (has_arguments) {
        request.arguments = message->p.arguments;
    }

    if (kind == TG_ENTRY_TOOL) {
        tg_peer_cache_fast_path(peer, message, &request);
    }

    tg_peer_dispatch_request(peer, &request);

    return NULL;
}

void
tg_mcp_reject_version(tg_peer_t *peer, const tg_reply_t *reply,
                      tg_str_t version)
{
    tg_outcome_t why;
    tg_buf_t data;

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
}

/* Checks version and capabilities. Returns 0 after answering with an error. */
static int
tg_mcp_check_modern_meta(tg_peer_t *peer, const tg_message_t *message,
                         const tg_reply_t *reply)
{
    tg_str_t version;

    version = message->meta.protocol_version;

    if (tg_json_type(version) != TG_JSON_STRING) {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "_meta[\"io.modelcontextprotocol/protocolVersion\"] must "
            "be a string.");
        return 0;
    }

    if (!tg_json_string_eq(version, TG_STR(TG_MCP_VERSION_MODERN))) {
        tg_mcp_reject_version(peer, reply, version);
        return 0;
    }

    if (tg_json_type(message->meta.client_capabilities) != TG_JSON_OBJECT) {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "_meta[\"io.modelcontextprotocol/clientCapabilities\"] "
            "must be an object.");
        return 0;
    }

    if (message->meta.log_level.data != NULL
        && tg_mcp_log_level_parse(message->meta.log_level) == TG_MCP_LOG_NONE)
    {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "_meta[\"io.modelcontextprotocol/logLevel\"] must be a level, such "
            "as \"info\".");
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

static void
tg_mcp_on_call(tg_peer_t *peer, const tg_message_t *message, tg_reply_t *reply)
{
    const char *why;

    why = tg_peer_on_call(peer, message, reply, reply->kind);

    if (why != NULL) {
        tg_reply_reject_request(peer, reply, TG_RPC_INVALID_PARAMS, why);
    }
}

static void
tg_mcp_on_list(tg_peer_t *peer, const tg_message_t *message, tg_reply_t *reply)
{
    tg_peer_on_list(peer, message, reply, reply->kind);
}

static const tg_mcp_method_t tg_mcp_methods[] = {
    { "tools/call", 0, 0, tg_mcp_on_call, TG_ENTRY_TOOL },
    { "tools/list", 0, 0, tg_mcp_on_list, TG_ENTRY_TOOL },
    { "ping", TG_METHOD_IS_LEGACY | TG_METHOD_IS_PING, 0, tg_mcp_respond_ping,
      TG_ENTRY_METHOD },
    { "initialize", TG_METHOD_IS_LEGACY | TG_METHOD_IS_INITIALIZE, 0,
      tg_mcp_respond_initialize, TG_ENTRY_METHOD },
    { "server/discover", TG_METHOD_IS_MODERN | TG_METHOD_IS_DISCOVER, 0,
      tg_mcp_on_discover, TG_ENTRY_METHOD },
    { "subscriptions/listen", TG_METHOD_IS_MODERN, 0, tg_mcp_on_listen,
      TG_ENTRY_METHOD },
    { "prompts/list", 0, TG_CAPABILITY_PROMPTS, tg_mcp_on_list,
      TG_ENTRY_PROMPT },
    { "prompts/get", 0, TG_CAPABILITY_PROMPTS, tg_mcp_on_call,
      TG_ENTRY_PROMPT },
    { "resources/list", 0, TG_CAPABILITY_RESOURCES, tg_mcp_on_list,
      TG_ENTRY_RESOURCE },
    { "resources/templates/list", 0, TG_CAPABILITY_RESOURCES, tg_mcp_on_list,
      TG_ENTRY_TEMPLATE },
    { "resources/read", 0, TG_CAPABILITY_RESOURCES, tg_mcp_on_resource_read,
      TG_ENTRY_RESOURCE },
    { "resources/subscribe", TG_METHOD_IS_LEGACY, TG_CAPABILITY_SUBSCRIBE,
      tg_mcp_on_subscribe, TG_ENTRY_RESOURCE },
    { "resources/unsubscribe", TG_METHOD_IS_LEGACY, TG_CAPABILITY_SUBSCRIBE,
      tg_mcp_on_unsubscribe, TG_ENTRY_RESOURCE },
    { "skills/list", TG_METHOD_IS_MODERN, TG_CAPABILITY_SKILLS,
      tg_mcp_on_skills_list, TG_ENTRY_TEMPLATE },
    { "skills/get", TG_METHOD_IS_MODERN, TG_CAPABILITY_SKILLS,
      tg_mcp_on_skills_get, TG_ENTRY_TEMPLATE },
    { "resources/directory/read", TG_METHOD_IS_MODERN, TG_CAPABILITY_SKILLS,
      tg_mcp_on_directory_read, TG_ENTRY_TEMPLATE },
    { "completion/complete", 0, TG_CAPABILITY_COMPLETIONS, tg_mcp_on_complete,
      TG_ENTRY_METHOD },
    { "logging/setLevel", TG_METHOD_IS_LEGACY, TG_CAPABILITY_LOGGING,
      tg_mcp_on_set_level, TG_ENTRY_METHOD },
};

const tg_mcp_method_t *
tg_mcp_method_find(tg_str_t method)
{
    size_t i;

    for (i = 0; i < sizeof(tg_mcp_methods) / sizeof(tg_mcp_methods[0]); i++) {
        if (tg_json_string_eq(method, tg_str_from_cstr(tg_mcp_methods[i].name)))
        {
            return &tg_mcp_methods[i];
        }
    }

    return NULL;
}

int
tg_mcp_is_offered(const tg_peer_t *peer, const tg_mcp_method_t *method,
                  int is_modern)
{
    if (method->flags & (is_modern ? TG_METHOD_IS_LEGACY : TG_METHOD_IS_MODERN))
    {
        return 0;
    }

    return method->capability == 0
           || (tg_peer_get_capabilities(peer) & method->capability) != 0;
}

int
tg_peer_on_mcp_request(tg_peer_t *peer, const tg_mcp_method_t *method,
                       tg_message_t *message, tg_reply_t *reply)
{
    tg_request_t request;

    reply->is_modern = message->meta.protocol_version.data != NULL;

    if (reply->is_modern && !tg_mcp_check_modern_meta(peer, message, reply)) {
        return TG_OK;
    }

    if (reply->is_modern) {
        tg_peer_set_modern(peer, message);
        reply->log_level = tg_mcp_log_level_parse(message->meta.log_level);
    }

    /* A proxy answers only what its own sessions and tools need. */
    if (method == NULL
        || (method->capability != 0 && peer->priv->ops->is_proxy)) {
        return TG_MISSING;
    }

    /* Without a session, this method belongs to the modern era. */
    if ((method->flags & TG_METHOD_IS_DISCOVER) && !reply->is_modern
        && !peer->is_legacy)
    {
        tg_reply_reject_request(
            peer, reply, TG_RPC_INVALID_PARAMS,
            "server/discover needs params._meta with "
            "\"io.modelcontextprotocol/protocolVersion\" and "
            "\"io.modelcontextprotocol/clientCapabilities\".");
        return TG_OK;
    }

    if (!tg_mcp_is_offered(peer, method, reply->is_modern)) {
        memset(&request, 0, sizeof(request));
        request.name = tg_json_string_body(message->method);
        request.reply = *reply;
        request.reply.kind = TG_ENTRY_METHOD;
        tg_peer_respond_unknown(peer, &request);
        return TG_OK;
    }

    reply->kind = method->kind;
    method->serve(peer, message, reply);

    return TG_OK;
}
