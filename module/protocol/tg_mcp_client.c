/* State machine of an MCP client: handshake, changes of lists, timers. */
#include "protocol/tg_mcp_client_impl.h"

#define TG_MCP_META_PREFIX "io.modelcontextprotocol/"

void
tg_mcp_client_init(tg_mcp_client_t *client, const tg_alloc_t *alloc,
                   tg_caller_t *caller, tg_mcp_handshake_t handshake,
                   tg_str_t info)
{
    size_t i;

    memset(client, 0, sizeof(*client));
    client->alloc = alloc;
    client->caller = caller;
    client->handshake = handshake;
    client->info = info;
    client->handshake_timeout = TG_MCP_HANDSHAKE_TIMEOUT;
    client->kinds = TG_MCP_KIND_BIT(TG_MCP_TOOLS);
    tg_mcp_list_init(&client->list, alloc, TG_MCP_PAGES_MAX);

    for (i = 0; i < TG_MCP_KINDS; i++) {
        tg_buf_init(&client->items[i].text, alloc);
    }
}

/* Frees a list that is only partly read. */
static void
tg_mcp_client_discard_list(tg_mcp_client_t *client)
{
    tg_tool_list_repair_end(client->repair);
    client->repair = NULL;
    tg_tool_list_read_stop(&client->reader);
}

void
tg_mcp_client_deinit(tg_mcp_client_t *client)
{
    size_t i;

    for (i = 0; i < TG_MCP_KINDS; i++) {
        tg_buf_deinit(&client->items[i].text);
    }

    tg_mcp_client_discard_list(client);
    tg_mcp_list_deinit(&client->list);
    tg_catalog_unref(client->tools);
}

void
tg_mcp_client_on_disconnect(tg_mcp_client_t *client)
{
    client->state = TG_MCP_DISCONNECTED;
    client->is_modern = 0;
    client->is_listing = 0;
    client->pending = 0;
    client->due = 0;
    client->listen_id = 0;
    tg_mcp_client_discard_list(client);
    tg_mcp_list_reset(&client->list);
}

static int
tg_mcp_client_send_initialize(tg_mcp_client_t *client, uint64_t now)
{
    tg_buf_t members;
    int rc;

    client->state = TG_MCP_INITIALIZING;
    client->is_modern = 0;
    client->due = now + client->handshake_timeout;
    tg_buf_init(&members, client->alloc);
    tg_buf_append_cstr(&members, "\"protocolVersion\":\"");
    tg_buf_append_cstr(&members, client->version);
    tg_buf_append_cstr(&members, "\",\"capabilities\":");
    tg_client_caps_write_json(&members, client->client_caps);
    tg_json_add_raw(&members, "clientInfo", client->info);
    rc = tg_buf_has_failed(&members)
             ? TG_NOMEM
             : tg_mcp_client_send_request(client, TG_MCP_TAG_INITIALIZE,
                                          "initialize", tg_buf_view(&members),
                                          NULL);
    tg_buf_deinit(&members);

    return rc;
}

int
tg_mcp_client_start(tg_mcp_client_t *client, uint64_t now)
{
    strcpy(client->version, TG_MCP_VERSION_LEGACY);

    if (client->handshake == TG_MCP_NO_HANDSHAKE) {
        client->state = TG_MCP_OPEN;
        return TG_OK;
    }

    if (client->handshake == TG_MCP_INITIALIZE_FIRST) {
        return tg_mcp_client_send_initialize(client, now);
    }

    client->state = TG_MCP_PROBING;
    client->is_modern = 1;
    client->due = now + TG_MCP_PROBE_TIMEOUT;

    return tg_mcp_client_send_request(client, TG_MCP_TAG_DISCOVER,
                                      "server/discover", TG_STR(""), NULL);
}

/* Returns a member of this type, a string without quotes, or absent. */
static tg_str_t
tg_mcp_get_member(tg_str_t object, const char *key, tg_json_type_t type)
{
    tg_str_t value;

    if (!tg_json_has_member(object, tg_str_from_cstr(key), type, &value)) {
        return TG_STR_NONE;
    }

    return type == TG_JSON_STRING ? tg_json_string_body(value) : value;
}

/* Reads the capabilities, and discards lists of undeclared kinds. */
static void
tg_mcp_client_read_capabilities(tg_mcp_client_t *client, tg_str_t caps)
{
    tg_mcp_server_info_t *server_info;
    tg_str_t value;
    unsigned kind;

    server_info = &client->server_info;
    server_info->capabilities = caps;
    server_info->experimental = tg_mcp_get_member(caps, "experimental",
                                                  TG_JSON_OBJECT);
    server_info->kinds = 0;
    server_info->changes = 0;
    server_info->has_subscribe = 0;
    server_info->has_logging =
        tg_mcp_get_member(caps, "logging", TG_JSON_OBJECT).data != NULL;
    client->log_level = TG_MCP_LOG_NONE;

    for (kind = 0; kind < TG_MCP_KINDS; kind++) {
        value = tg_mcp_get_member(caps, tg_mcp_kinds[kind].capability,
                                  TG_JSON_OBJECT);

        if (value.data == NULL) {
            tg_buf_reset(&client->items[kind].text, 0);
            continue;
        }

        server_info->kinds |= TG_MCP_KIND_BIT(kind);

        if (tg_mcp_get_member(value, "listChanged", TG_JSON_TRUE).data != NULL)
        {
            server_info->changes |= TG_MCP_KIND_BIT(kind);
        }

        server_info->has_subscribe |=
            kind == TG_MCP_RESOURCES
            && tg_mcp_get_member(value, "subscribe", TG_JSON_TRUE).data != NULL;
    }
}

static void
tg_mcp_client_read_server_info(tg_mcp_client_t *client, tg_str_t result)
{
    tg_mcp_server_info_t *server_info;
    tg_str_t server;

    server_info = &client->server_info;
    server = client->is_modern
                 ? tg_mcp_get_member(
                     tg_mcp_get_member(result, "_meta", TG_JSON_OBJECT),
                     TG_MCP_META_PREFIX "serverInfo", TG_JSON_OBJECT)
                 : tg_mcp_get_member(result, "serverInfo", TG_JSON_OBJECT);
    server_info->info = server;
    server_info->name = tg_mcp_get_member(server, "name", TG_JSON_STRING);
    server_info->version = tg_mcp_get_member(server, "version", TG_JSON_STRING);
    server_info->instructions = tg_mcp_get_member(result, "instructions",
                                                  TG_JSON_STRING);
    tg_mcp_client_read_capabilities(
        client, tg_mcp_get_member(result, "capabilities", TG_JSON_OBJECT));
}

/* Appends what to subscribe to, or nothing. */
static void
tg_mcp_client_write_filter(const tg_mcp_client_t *client, tg_buf_t *out)
{
    static const char *const members[] = { "\"toolsListChanged\":true",
                                           "\"promptsListChanged\":true",
                                           "\"resourcesListChanged\":true" };
    unsigned kind, changes;

    changes = client->server_info.changes & client->kinds;

    /* Templates have no notification of their own. */
    for (kind = 0; kind < TG_MCP_TEMPLATES; kind++) {
        if ((changes & TG_MCP_KIND_BIT(kind)) != 0) {
            tg_buf_append_cstr(out, out->len != 0 ? "," : "");
            tg_buf_append_cstr(out, members[kind]);
        }
    }

    if (client->uris.len != 0 && client->server_info.has_subscribe) {
        tg_buf_append_cstr(out, out->len != 0 ? "," : "");
        tg_buf_append_cstr(out, "\"resourceSubscriptions\":[");
        tg_buf_append_str(out, client->uris);
        tg_buf_append_char(out, ']');
    }
}

int
tg_mcp_client_listen(tg_mcp_client_t *client)
{
    tg_buf_t filter, members;
    uint64_t former;
    int rc;

    if (!client->is_modern || client->state != TG_MCP_OPEN) {
        return TG_OK;
    }

    former = client->listen_id;
    client->listen_id = 0;
    tg_buf_init(&filter, client->alloc);
    tg_buf_init(&members, client->alloc);
    tg_mcp_client_write_filter(client, &filter);
    rc = tg_buf_has_failed(&filter) ? TG_NOMEM : TG_OK;

    if (rc == TG_OK && filter.len != 0) {
        tg_buf_append_cstr(&members, "\"notifications\":{");
        tg_buf_append_str(&members, tg_buf_view(&filter));
        tg_buf_append_char(&members, '}');
        rc = tg_buf_has_failed(&members)
                 ? TG_NOMEM
                 : tg_mcp_client_send_request(client, TG_MCP_TAG_LISTEN,
                                              "subscriptions/listen",
                                              tg_buf_view(&members),
                                              &client->listen_id);
    }

    tg_buf_deinit(&filter);
    tg_buf_deinit(&members);

    /* The new subscription begins first, so that no change is missed. */
    if (rc == TG_OK && former != 0
        && tg_caller_find_tag(client->caller, former)
               == &client->tags[TG_MCP_TAG_LISTEN])
    {
        rc = tg_caller_cancel_request(client->caller, former, 1);
    }

    return rc == TG_NOMEM ? TG_NOMEM : TG_OK;
}

int
tg_mcp_client_subscribe(tg_mcp_client_t *client, tg_str_t uri, int is_on)
{
    tg_buf_t members;
    int rc;

    if (client->is_modern || client->state != TG_MCP_OPEN
        || !client->server_info.has_subscribe)
    {
        return TG_OK;
    }

    tg_buf_init(&members, client->alloc);
    tg_buf_append_cstr(&members, "\"uri\":");
    tg_buf_append_str(&members, uri);
    rc = tg_buf_has_failed(&members)
             ? TG_NOMEM
             : tg_mcp_client_send_request(client, TG_MCP_TAG_SUBSCRIBE,
                                          is_on ? "resources/subscribe"
                                                : "resources/unsubscribe",
                                          tg_buf_view(&members), NULL);
    tg_buf_deinit(&members);

    return rc;
}

int
tg_mcp_client_set_log_level(tg_mcp_client_t *client, tg_mcp_log_level_t level)
{
    char room[64];
    tg_buf_t members;

    if (client->is_modern || client->state != TG_MCP_OPEN
        || !client->server_info.has_logging || client->log_level == level)
    {
        return TG_OK;
    }

    client->log_level = level;
    members = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&members, "\"level\":\"%s\"",
                  tg_mcp_log_level_get_name(level));

    return tg_mcp_client_send_request(client, TG_MCP_TAG_SET_LEVEL,
                                      "logging/setLevel", tg_buf_view(&members),
                                      NULL);
}

static tg_mcp_event_t
tg_mcp_client_on_open(tg_mcp_client_t *client, tg_str_t result, uint64_t now)
{
    int rc;

    client->state = TG_MCP_OPEN;
    client->due = 0;
    tg_mcp_client_read_server_info(client, result);
    rc = client->is_modern
             ? tg_mcp_client_listen(client)
             : tg_caller_send_notification(client->caller,
                                           TG_STR("notifications/initialized"),
                                           TG_STR_NONE);

    if (rc == TG_OK) {
        rc = tg_mcp_client_fetch_list(client, now);
    }

    return tg_mcp_event_check_rc(rc, TG_MCP_EVENT_OPEN);
}

/* Checks for a server that supports the revision without a handshake. */
static int
tg_mcp_has_modern_version(tg_str_t result)
{
    tg_json_cursor_t json;
    tg_str_t versions, version;

    if (!tg_json_has_member(result, TG_STR("supportedVersions"), TG_JSON_ARRAY,
                            &versions))
    {
        return 0;
    }

    for (tg_json_iter_init(&json, versions);
         tg_json_iter_next(&json, &version);) {
        if (tg_json_string_eq(version, TG_STR(TG_MCP_VERSION_MODERN))) {
            return 1;
        }
    }

    return 0;
}

static tg_mcp_event_t
tg_mcp_client_on_discover(tg_mcp_client_t *client, const tg_response_t *answer,
                          uint64_t now)
{
    /* A server that starts slowly may answer the probe after its timeout. */
    if ((client->state == TG_MCP_PROBING
         || client->state == TG_MCP_INITIALIZING)
        && answer->kind == TG_RESPONSE_RESULT
        && tg_mcp_has_modern_version(answer->result))
    {
        client->is_modern = 1;
        return tg_mcp_client_on_open(client, answer->result, now);
    }

    /* The probe timed out before, and `initialize` was already sent. */
    if (client->state != TG_MCP_PROBING) {
        return TG_MCP_EVENT_NONE;
    }

    return tg_mcp_event_check_rc(tg_mcp_client_send_initialize(client, now),
                                 TG_MCP_EVENT_NONE);
}

/*
 * A server should answer `initialize` with a version that it supports, but some
 * return an error that lists their versions. Then sets client->version to an
 * older one, at most once.
 */
static int
tg_mcp_client_can_downgrade(tg_mcp_client_t *client,
                            const tg_response_t *answer)
{
    tg_str_t version;

    version = TG_STR_NONE;

    if (answer->kind == TG_RESPONSE_ERROR
        && strcmp(client->version, TG_MCP_VERSION_LEGACY) == 0)
    {
        version = tg_mcp_find_older_version(answer);
    }

    if (version.data != NULL) {
        memcpy(client->version, version.data, version.len);
    }

    return version.data != NULL;
}

static tg_mcp_event_t
tg_mcp_client_on_initialize(tg_mcp_client_t *client,
                            const tg_response_t *answer, uint64_t now)
{
    /* A late response to the probe has already opened the client. */
    if (client->state != TG_MCP_INITIALIZING) {
        return TG_MCP_EVENT_NONE;
    }

    if (answer->kind == TG_RESPONSE_RESULT
        && tg_json_type(answer->result) == TG_JSON_OBJECT)
    {
        return tg_mcp_client_on_open(client, answer->result, now);
    }

    if (tg_mcp_client_can_downgrade(client, answer)) {
        return tg_mcp_event_check_rc(tg_mcp_client_send_initialize(client, now),
                                     TG_MCP_EVENT_NONE);
    }

    client->error = *answer;

    if (answer->kind == TG_RESPONSE_RESULT) {
        client->error.kind = TG_RESPONSE_ERROR;
        client->error.code = TG_RPC_INTERNAL_ERROR;
        client->error.message = TG_STR("its answer to initialize is not an "
                                       "object");
    }

    return TG_MCP_EVENT_REFUSED;
}

int
tg_mcp_client_is_own_tag(const tg_mcp_client_t *client, const void *tag)
{
    size_t i;

    for (i = 0; i < sizeof(client->tags) && tag != &client->tags[i]; i++) {
        /* void */
    }

    return i < sizeof(client->tags);
}

tg_mcp_event_t
tg_mcp_client_on_response(tg_mcp_client_t *client, const void *tag,
                          const tg_response_t *answer, uint64_t now)
{
    int i;

    for (i = TG_MCP_TAGS - 1; i >= 0 && tag != &client->tags[i]; i--) {
        /* void */
    }

    if (i < 0) {
        return TG_MCP_EVENT_NOT_OWN;
    }

    /* The connection is closing, which the host reports separately. */
    if (answer->kind != TG_RESPONSE_RESULT && answer->kind != TG_RESPONSE_ERROR)
    {
        return TG_MCP_EVENT_NONE;
    }

    switch (i) {
    case TG_MCP_TAG_DISCOVER:
        return tg_mcp_client_on_discover(client, answer, now);
    case TG_MCP_TAG_INITIALIZE:
        return tg_mcp_client_on_initialize(client, answer, now);
    case TG_MCP_TAG_LIST:
        return tg_mcp_client_on_list(client, answer, now);
    default:
        return TG_MCP_EVENT_NONE;
    }
}

/* Returns the lists of the client that a notification reports as changed. */
static unsigned
tg_mcp_client_find_changed(const tg_mcp_client_t *client, tg_str_t method)
{
    if (tg_json_body_eq_text(method,
                             TG_STR("notifications/tools/list_changed"))) {
        return TG_MCP_KIND_BIT(TG_MCP_TOOLS);
    }

    if (tg_json_body_eq_text(method,
                             TG_STR("notifications/prompts/list_changed"))) {
        return TG_MCP_KIND_BIT(TG_MCP_PROMPTS) & client->kinds;
    }

    if (tg_json_body_eq_text(method,
                             TG_STR("notifications/resources/list_changed")))
    {
        return (TG_MCP_KIND_BIT(TG_MCP_RESOURCES)
                | TG_MCP_KIND_BIT(TG_MCP_TEMPLATES))
               & client->kinds;
    }

    return 0;
}

tg_mcp_event_t
tg_mcp_client_on_notification(tg_mcp_client_t *client, tg_str_t method,
                              uint64_t now)
{
    unsigned changed;

    if (client->is_modern
        && tg_json_body_eq_text(method, TG_STR("notifications/subscriptions/"
                                               "acknowledged")))
    {
        return TG_MCP_EVENT_NONE;
    }

    changed = tg_mcp_client_find_changed(client, method);

    if (changed == 0) {
        return TG_MCP_EVENT_NOT_OWN;
    }

    client->dirty |= changed;

    if (client->is_listing || client->handshake == TG_MCP_NO_HANDSHAKE
        || (changed & client->kinds) == 0 || client->state != TG_MCP_OPEN)
    {
        return TG_MCP_EVENT_LIST_CHANGED;
    }

    return tg_mcp_event_check_rc(tg_mcp_client_schedule_fetch(client, now),
                                 TG_MCP_EVENT_LIST_CHANGED);
}

tg_mcp_event_t
tg_mcp_client_on_timer(tg_mcp_client_t *client, uint64_t now)
{
    if (client->due == 0 || client->due > now) {
        return TG_MCP_EVENT_NONE;
    }

    client->due = 0;

    if (client->state == TG_MCP_INITIALIZING) {
        return TG_MCP_EVENT_TIMEOUT;
    }

    return tg_mcp_event_check_rc(client->state == TG_MCP_PROBING
                                     ? tg_mcp_client_send_initialize(client,
                                                                     now)
                                     : tg_mcp_client_fetch_changed(client, now),
                                 TG_MCP_EVENT_NONE);
}
