/* Requests to an MCP server: params and _meta, also of forwarded calls. */
#include "protocol/tg_mcp_client_impl.h"

#define TG_MCP_META_PREFIX "io.modelcontextprotocol/"

/* Members that describe the request itself are written for each connection. */
static int
tg_mcp_key_is_per_request(tg_str_t key)
{
    return tg_json_body_eq_text(key, TG_STR("progressToken"))
           || tg_json_body_eq_text(key,
                                   TG_STR(TG_MCP_META_PREFIX "protocolVersion"))
           || tg_json_body_eq_text(key, TG_STR(TG_MCP_META_PREFIX
                                               "clientCapabilities"))
           || tg_json_body_eq_text(key,
                                   TG_STR(TG_MCP_META_PREFIX "clientInfo"));
}

static int
tg_mcp_key_is_reserved(tg_str_t key)
{
    static const size_t len = sizeof(TG_MCP_META_PREFIX) - 1;

    return key.len >= len && memcmp(key.data, TG_MCP_META_PREFIX, len) == 0;
}

/* Checks for "extensions", most of which are for the next server only. */
static int
tg_mcp_key_is_extensions(tg_str_t key)
{
    return tg_json_body_eq_text(key, TG_STR("extensions"));
}

static int
tg_mcp_key_is_omitted_legacy(tg_str_t key)
{
    return tg_mcp_key_is_per_request(key) || tg_mcp_key_is_reserved(key);
}

/* Checks for an omitted key; clientInfo stays if there is no handshake. */
static int
tg_mcp_key_is_omitted_no_handshake(tg_str_t key)
{
    return tg_mcp_key_is_omitted_legacy(key)
           && !tg_json_body_eq_text(key,
                                    TG_STR(TG_MCP_META_PREFIX "clientInfo"));
}

static int
tg_mcp_key_is_never_omitted(tg_str_t key)
{
    return 0;
}

static void
tg_mcp_write_members(tg_buf_t *out, tg_str_t object, int is_first,
                     int (*is_left_out)(tg_str_t key))
{
    tg_str_t key, value;
    tg_json_cursor_t json;

    tg_json_init(&json, object);

    if (tg_json_enter_object(&json) != TG_OK) {
        return;
    }

    while (tg_json_iter_next_member(&json, &key, &value)) {
        if (!is_left_out(key)) {
            tg_buf_append_cstr(out, is_first ? "\"" : ",\"");
            tg_buf_append_str(out, key);
            tg_buf_append_cstr(out, "\":");
            tg_json_write_compact(out, value);
            is_first = 0;
        }
    }
}

/* Writes the client's extensions that a server farther behind may use, too. */
static void
tg_mcp_write_passed_extensions(tg_str_t client_caps, tg_buf_t *out)
{
    tg_str_t extensions, apps;

    if (tg_json_has_member(client_caps, TG_STR("extensions"), TG_JSON_OBJECT,
                           &extensions)
        && tg_json_has_member(extensions, TG_STR(TG_MCP_EXTENSION_APPS),
                              TG_JSON_OBJECT, &apps))
    {
        tg_json_begin_member(out, "extensions");
        tg_json_begin_object(out);
        tg_json_add_compact(out, TG_MCP_EXTENSION_APPS, apps);
        tg_buf_append_char(out, '}');
    }
}

void
tg_mcp_client_write_meta(const tg_mcp_client_t *client, tg_str_t meta,
                         tg_buf_t *out)
{
    tg_str_t client_caps, info;

    if (!tg_json_has_member(meta,
                            TG_STR(TG_MCP_META_PREFIX "clientCapabilities"),
                            TG_JSON_OBJECT, &client_caps))
    {
        client_caps = TG_STR("{}");
    }

    if (!tg_json_has_member(meta, TG_STR(TG_MCP_META_PREFIX "clientInfo"),
                            TG_JSON_OBJECT, &info))
    {
        info = client->info;
    }

    tg_buf_append_cstr(out, "\"" TG_MCP_META_PREFIX
                            "protocolVersion\":\"" TG_MCP_VERSION_MODERN "\"");
    tg_buf_append_cstr(out, ",\"" TG_MCP_META_PREFIX "clientCapabilities\":{");
    tg_mcp_write_members(out, client_caps, 1,
                         client->has_extensions ? tg_mcp_key_is_never_omitted
                                                : tg_mcp_key_is_extensions);

    if (!client->has_extensions) {
        tg_mcp_write_passed_extensions(client_caps, out);
    }

    tg_buf_append_char(out, '}');
    tg_json_add_compact(out, TG_MCP_META_PREFIX "clientInfo", info);
}

/* Writes the level of a client whose _meta does not name it: a legacy one. */
static void
tg_mcp_call_write_log_level(const tg_mcp_call_t *call, tg_buf_t *out)
{
    tg_str_t value;

    if (call->log_level != TG_MCP_LOG_NONE
        && !tg_json_has_member(call->meta,
                               TG_STR(TG_MCP_META_PREFIX "logLevel"),
                               TG_JSON_STRING, &value))
    {
        tg_json_add_cstr(out, TG_MCP_META_PREFIX "logLevel",
                         tg_mcp_log_level_get_name(call->log_level));
    }
}

void
tg_mcp_client_write_call_params(const tg_mcp_client_t *client,
                                const tg_mcp_call_t *call, uint64_t token,
                                tg_buf_t *out)
{
    size_t before, start;
    int is_modern;

    is_modern = client->is_modern || call->is_modern;

    /* The text continues an object that another function writes. */
    if (call->input_responses.data != NULL || call->request_state.data != NULL)
    {
        tg_buf_append_char(out, ',');
    }

    tg_json_add_compact(out, "inputResponses", call->input_responses);
    tg_json_add_compact(out, "requestState", call->request_state);
    before = out->len;
    tg_buf_append_cstr(out, ",\"_meta\":{");
    start = out->len;

    if (is_modern) {
        tg_mcp_client_write_meta(client, call->meta, out);
        tg_mcp_call_write_log_level(call, out);
    }

    if (token != 0) {
        tg_buf_append_cstr(out, is_modern ? "," : "");
        tg_json_add_uint(out, "progressToken", token);
    }

    tg_mcp_write_members(out, call->meta, out->len == start,
                         is_modern ? tg_mcp_key_is_per_request
                         : client->caller->dialect->has_handshake
                             ? tg_mcp_key_is_omitted_legacy
                             : tg_mcp_key_is_omitted_no_handshake);

    if (out->len != start) {
        tg_buf_append_char(out, '}');
    } else if (!tg_buf_has_failed(out)) {
        tg_buf_truncate(out, before);
    }
}

int
tg_mcp_client_call_tool(tg_mcp_client_t *client, const tg_mcp_call_t *call,
                        uint64_t token, void *tag, uint64_t *id)
{
    tg_buf_t more;
    int rc;

    tg_buf_init(&more, client->alloc);
    tg_mcp_client_write_call_params(client, call, token, &more);
    rc = TG_NOMEM;

    if (!tg_buf_has_failed(&more)) {
        rc = tg_caller_call_tool(client->caller, call->name,
                                 call->arguments.data != NULL ? call->arguments
                                                              : TG_STR("{}"),
                                 tg_buf_view(&more), tag, id);
    }

    tg_buf_deinit(&more);

    return rc;
}

void
tg_mcp_client_write_request_params(const tg_mcp_client_t *client,
                                   const tg_mcp_call_t *call, uint64_t token,
                                   tg_buf_t *out)
{
    static const char *const ours[] = { "_meta", "inputResponses",
                                        "requestState", NULL };
    tg_buf_t more;
    tg_str_t rest;
    size_t n;

    n = 0;
    tg_buf_append_char(out, '{');

    if (call->arguments.data != NULL) {
        n = tg_json_write_members_except(out, call->arguments, ours, 0);
    }

    tg_buf_init(&more, out->alloc);
    tg_mcp_client_write_call_params(client, call, token, &more);
    rest = tg_buf_view(&more);

    /* The first member of an object has no comma. */
    if (n == 0 && rest.len != 0) {
        rest = tg_str(rest.data + 1, rest.len - 1);
    }

    tg_buf_append_str(out, rest);
    out->failed |= tg_buf_has_failed(&more);
    tg_buf_deinit(&more);
    tg_buf_append_char(out, '}');
}

int
tg_mcp_client_call_method(tg_mcp_client_t *client, const tg_mcp_call_t *call,
                          uint64_t token, void *tag, uint64_t *id)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, client->alloc);
    tg_mcp_client_write_request_params(client, call, token, &params);
    rc = tg_buf_has_failed(&params)
             ? TG_NOMEM
             : tg_caller_send_request(client->caller, call->method,
                                      tg_buf_view(&params), tag, id);
    tg_buf_deinit(&params);

    return rc;
}

tg_mcp_event_t
tg_mcp_event_check_rc(int rc, tg_mcp_event_t event)
{
    return rc == TG_OK ? event : TG_MCP_EVENT_NO_MEMORY;
}

int
tg_mcp_client_send_request(tg_mcp_client_t *client, int tag, const char *method,
                           tg_str_t members, uint64_t *id)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, client->alloc);
    tg_buf_append_char(&params, '{');

    if (client->is_modern) {
        tg_buf_append_cstr(&params, "\"_meta\":{");
        tg_mcp_client_write_meta(client, TG_STR_NONE, &params);
        tg_buf_append_cstr(&params, members.len != 0 ? "}," : "}");
    }

    tg_buf_append_str(&params, members);
    tg_buf_append_char(&params, '}');
    rc = TG_NOMEM;

    if (!tg_buf_has_failed(&params)) {
        rc = tg_caller_send_request(client->caller, tg_str_from_cstr(method),
                                    tg_buf_view(&params), &client->tags[tag],
                                    id);
    }

    tg_buf_deinit(&params);

    return rc == TG_NOMEM ? TG_NOMEM : TG_OK;
}
