#include "core/tg_mcp_call.h"

#define TG_MCP_KEY "io.modelcontextprotocol/"

enum {
    TG_MCP_TAG_PROBE,
    TG_MCP_TAG_GREETING,
    TG_MCP_TAG_LIST,
    TG_MCP_TAG_LISTEN /* answered when the server ends it */
};

void
tg_mcp_client_init(tg_mcp_client_t *client, const tg_alloc_t *alloc,
                   tg_caller_t *caller, tg_mcp_era_t era, tg_str_t info)
{
    memset(client, 0, sizeof(*client));
    client->alloc = alloc;
    client->caller = caller;
    client->era = era;
    client->info = info;
    client->patience = TG_MCP_HANDSHAKE;
    tg_mcp_list_init(&client->list, alloc, TG_MCP_PAGES_MAX);
}

/* Forgets a list that is not read to its end. */
static void
tg_mcp_stop(tg_mcp_client_t *client)
{
    tg_tools_repair_end(client->repair);
    client->repair = NULL;
    tg_tools_stop(&client->reader);
}

void
tg_mcp_client_deinit(tg_mcp_client_t *client)
{
    tg_mcp_stop(client);
    tg_mcp_list_deinit(&client->list);
    tg_catalogue_release(client->tools);
}

void
tg_mcp_client_lose(tg_mcp_client_t *client)
{
    client->state = TG_MCP_AWAY;
    client->is_modern = 0;
    client->is_listing = 0;
    client->due = 0;
    tg_mcp_stop(client);
    tg_mcp_list_reset(&client->list);
}

static tg_mcp_event_t
tg_mcp_event(int rc, tg_mcp_event_t event)
{
    return rc == TG_OK ? event : TG_MCP_FAILED;
}

/* --- requests --- */

/*
 * Sends a request of its own; members are those of its params, without the
 * braces.  TG_CLOSED is as good as sent: the connection ends.
 */
static int
tg_mcp_ask(tg_mcp_client_t *client, int tag, const char *method,
           tg_str_t members)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, client->alloc);
    tg_buf_char(&params, '{');

    if (client->is_modern) {
        tg_buf_text(&params, "\"_meta\":{");
        tg_mcp_put_whose(client, TG_STR_NONE, &params);
        tg_buf_text(&params, members.len != 0 ? "}," : "}");
    }

    tg_buf_str(&params, members);
    tg_buf_char(&params, '}');
    rc = TG_NOMEM;

    if (!tg_buf_failed(&params)) {
        rc = tg_caller_request(client->caller, tg_str_c(method),
                               tg_buf_view(&params), &client->tags[tag], NULL);
    }

    tg_buf_deinit(&params);

    return rc == TG_NOMEM ? TG_NOMEM : TG_OK;
}

/* --- the handshake --- */

static int
tg_mcp_initialize(tg_mcp_client_t *client, uint64_t now)
{
    tg_buf_t members;
    int rc;

    client->state = TG_MCP_GREETING;
    client->is_modern = 0;
    client->due = now + client->patience;
    tg_buf_init(&members, client->alloc);
    tg_buf_text(&members, "\"protocolVersion\":\"");
    tg_buf_text(&members, client->version);
    tg_buf_text(&members, "\",\"capabilities\":");
    tg_can_put(&members, client->can);
    tg_buf_text(&members, ",\"clientInfo\":");
    tg_buf_str(&members, client->info);
    rc = tg_buf_failed(&members)
             ? TG_NOMEM
             : tg_mcp_ask(client, TG_MCP_TAG_GREETING, "initialize",
                          tg_buf_view(&members));
    tg_buf_deinit(&members);

    return rc;
}

int
tg_mcp_client_start(tg_mcp_client_t *client, uint64_t now)
{
    strcpy(client->version, TG_MCP_LEGACY);

    if (client->era == TG_MCP_BARE) {
        client->state = TG_MCP_OPEN;
        return TG_OK;
    }

    if (client->era == TG_MCP_GREETS) {
        return tg_mcp_initialize(client, now);
    }

    client->state = TG_MCP_PROBING;
    client->is_modern = 1;
    client->due = now + TG_MCP_PROBE;

    return tg_mcp_ask(client, TG_MCP_TAG_PROBE, "server/discover", TG_STR(""));
}

/* A member of this type, or nothing; object may be nothing, too. */
static tg_str_t
tg_mcp_member(tg_str_t object, const char *key, tg_json_type_t type)
{
    tg_str_t value;

    if (!tg_json_has(object, tg_str_c(key), type, &value)) {
        return TG_STR_NONE;
    }

    return type == TG_JSON_STRING ? tg_json_body(value) : value;
}

static void
tg_mcp_learn(tg_mcp_client_t *client, tg_str_t result)
{
    tg_mcp_about_t *about;
    tg_str_t server, can;

    about = &client->about;
    server = client->is_modern
                 ? tg_mcp_member(tg_mcp_member(result, "_meta", TG_JSON_OBJECT),
                                 TG_MCP_KEY "serverInfo", TG_JSON_OBJECT)
                 : tg_mcp_member(result, "serverInfo", TG_JSON_OBJECT);
    can = tg_mcp_member(result, "capabilities", TG_JSON_OBJECT);
    about->name = tg_mcp_member(server, "name", TG_JSON_STRING);
    about->version = tg_mcp_member(server, "version", TG_JSON_STRING);
    about->instructions = tg_mcp_member(result, "instructions", TG_JSON_STRING);
    about->experimental = tg_mcp_member(can, "experimental", TG_JSON_OBJECT);
    about->has_list_changed = tg_mcp_member(tg_mcp_member(can, "tools",
                                                          TG_JSON_OBJECT),
                                            "listChanged", TG_JSON_TRUE)
                                  .data
                              != NULL;
}

int
tg_mcp_client_listen(tg_mcp_client_t *client)
{
    if (!client->is_modern || client->state != TG_MCP_OPEN
        || !client->about.has_list_changed || client->is_unlisted)
    {
        return TG_OK;
    }

    return tg_mcp_ask(client, TG_MCP_TAG_LISTEN, "subscriptions/listen",
                      TG_STR("\"notifications\":{\"toolsListChanged\":true}"));
}

static tg_mcp_event_t
tg_mcp_greeted(tg_mcp_client_t *client, tg_str_t result, uint64_t now)
{
    int rc;

    client->state = TG_MCP_OPEN;
    client->due = 0;
    tg_mcp_learn(client, result);
    rc = client->is_modern
             ? tg_mcp_client_listen(client)
             : tg_caller_notify(client->caller,
                                TG_STR("notifications/initialized"),
                                TG_STR_NONE);

    if (rc == TG_OK && !client->is_unlisted) {
        rc = tg_mcp_client_list(client, now);
    }

    return tg_mcp_event(rc, TG_MCP_GREETED);
}

/* Does it serve the revision that needs no handshake? */
static int
tg_mcp_is_modern(tg_str_t result)
{
    tg_json_t json;
    tg_str_t versions, version;

    if (!tg_json_has(result, TG_STR("supportedVersions"), TG_JSON_ARRAY,
                     &versions)) {
        return 0;
    }

    for (tg_json_each(&json, versions); tg_json_item(&json, &version);) {
        if (tg_json_is_text(version, TG_STR(TG_MCP_MODERN))) {
            return 1;
        }
    }

    return 0;
}

static tg_mcp_event_t
tg_mcp_probed(tg_mcp_client_t *client, const tg_answer_t *answer, uint64_t now)
{
    /* One that starts slowly may know it after all. */
    if ((client->state == TG_MCP_PROBING || client->state == TG_MCP_GREETING)
        && answer->kind == TG_ANSWER_RESULT && tg_mcp_is_modern(answer->result))
    {
        client->is_modern = 1;
        return tg_mcp_greeted(client, answer->result, now);
    }

    /* It took too long, and the other was begun. */
    if (client->state != TG_MCP_PROBING) {
        return TG_MCP_NOTHING;
    }

    return tg_mcp_event(tg_mcp_initialize(client, now), TG_MCP_NOTHING);
}

/*
 * A server should answer with a version that it has; some refuse another one,
 * and say which they have.  Returns whether it can be asked for one of those,
 * which is done once.
 */
static int
tg_mcp_is_too_new(tg_mcp_client_t *client, const tg_answer_t *answer)
{
    tg_str_t version;

    version = TG_STR_NONE;

    if (answer->kind == TG_ANSWER_ERROR
        && strcmp(client->version, TG_MCP_LEGACY) == 0)
    {
        version = tg_mcp_older_version(answer);
    }

    if (version.data != NULL) {
        memcpy(client->version, version.data, version.len);
    }

    return version.data != NULL;
}

static tg_mcp_event_t
tg_mcp_initialized(tg_mcp_client_t *client, const tg_answer_t *answer,
                   uint64_t now)
{
    /* The probe was answered late, but before this. */
    if (client->state != TG_MCP_GREETING) {
        return TG_MCP_NOTHING;
    }

    if (answer->kind == TG_ANSWER_RESULT
        && tg_json_type(answer->result) == TG_JSON_OBJECT)
    {
        return tg_mcp_greeted(client, answer->result, now);
    }

    if (tg_mcp_is_too_new(client, answer)) {
        return tg_mcp_event(tg_mcp_initialize(client, now), TG_MCP_NOTHING);
    }

    client->error = *answer;

    if (answer->kind == TG_ANSWER_RESULT) {
        client->error.kind = TG_ANSWER_ERROR;
        client->error.code = TG_RPC_INTERNAL;
        client->error.message = TG_STR("its answer to initialize is no object");
    }

    return TG_MCP_REFUSED;
}

/* --- the list --- */

static int
tg_mcp_ask_page(tg_mcp_client_t *client)
{
    tg_str_t cursor;

    cursor = tg_buf_view(&client->list.params);

    if (cursor.len != 0) {
        cursor = tg_str(cursor.data + 1, cursor.len - 2);
    }

    client->is_listing = 1;

    return tg_mcp_ask(client, TG_MCP_TAG_LIST, "tools/list", cursor);
}

int
tg_mcp_client_list(tg_mcp_client_t *client, uint64_t now)
{
    if (client->is_listing) {
        client->is_dirty = 1;
        return TG_OK;
    }

    if (client->state != TG_MCP_OPEN) {
        return TG_OK;
    }

    client->is_dirty = 0;
    client->due = 0;
    client->round++;
    client->started = now;

    return tg_mcp_ask_page(client);
}

uint64_t
tg_mcp_client_round(const tg_mcp_client_t *client)
{
    return client->is_listing && !client->is_dirty ? client->round
                                                   : client->round + 1;
}

/* A server may say so as often as it likes; it is asked at its pace. */
static int
tg_mcp_list_soon(tg_mcp_client_t *client, uint64_t now)
{
    if (client->started + TG_MCP_RELIST > now) {
        client->due = client->started + TG_MCP_RELIST;
        return TG_OK;
    }

    return tg_mcp_client_list(client, now);
}

/* Begins to read a whole list, repaired where the host wants that. */
static int
tg_mcp_begin(tg_mcp_client_t *client)
{
    tg_str_t array;

    array = tg_mcp_list_array(&client->list);

    if (client->check == NULL) {
        return tg_tools_begin(&client->reader, client->alloc, client->seed,
                              array);
    }

    client->repair = tg_tools_repair_begin(client->alloc, array, client->check);

    return client->repair != NULL ? TG_OK : TG_NOMEM;
}

/* Repairs some of the list: TG_AGAIN, or it is read from now on. */
static int
tg_mcp_repair(tg_mcp_client_t *client, size_t bytes)
{
    tg_buf_t *text;
    int rc;

    text = &client->list.text;
    rc = tg_tools_repair_step(client->repair, bytes, text);

    if (rc == TG_AGAIN) {
        return TG_AGAIN;
    }

    tg_tools_repair_end(client->repair);
    client->repair = NULL;

    return rc == TG_OK ? tg_tools_begin(&client->reader, client->alloc,
                                        client->seed, tg_buf_view(text))
                       : rc;
}

/* Keeps the snapshot that is there when nothing changed. */
static void
tg_mcp_take(tg_mcp_client_t *client, tg_catalogue_t *tools)
{
    client->nleft_out += client->list.nleft_out;

    if (client->tools != NULL
        && tg_catalogue_digest(tools) == tg_catalogue_digest(client->tools))
    {
        tg_catalogue_release(tools);
    } else {
        tg_catalogue_release(client->tools);
        client->tools = tools;
    }
}

/* A fetch is over. */
static tg_mcp_event_t
tg_mcp_list_end(tg_mcp_client_t *client, int rc, uint64_t now)
{
    client->is_listing = 0;
    client->is_circular = client->list.is_circular;
    tg_mcp_list_reset(&client->list);

    if (rc == TG_OK && client->is_dirty && client->era != TG_MCP_BARE) {
        rc = tg_mcp_list_soon(client, now);
    }

    return rc == TG_BAD ? TG_MCP_UNLISTED : tg_mcp_event(rc, TG_MCP_LISTED);
}

tg_mcp_event_t
tg_mcp_client_read(tg_mcp_client_t *client, size_t bytes, uint64_t now)
{
    tg_catalogue_t *tools;
    int rc, is_repaired;

    is_repaired = client->repair == NULL;

    if (is_repaired && client->reader.tools == NULL) {
        return TG_MCP_NOTHING;
    }

    rc = is_repaired ? TG_OK : tg_mcp_repair(client, bytes);

    if (rc == TG_OK && (is_repaired || bytes == SIZE_MAX)) {
        rc = tg_tools_read(&client->reader, bytes, &tools, &client->nleft_out);
    } else if (rc == TG_OK) {
        rc = TG_AGAIN;
    }

    if (rc == TG_AGAIN) {
        return TG_MCP_READS;
    }

    if (rc == TG_OK) {
        tg_mcp_take(client, tools);
    }

    return tg_mcp_list_end(client, rc, now);
}

static tg_mcp_event_t
tg_mcp_listed(tg_mcp_client_t *client, const tg_answer_t *answer, uint64_t now)
{
    tg_answer_t none;
    int rc;

    /* A server without tools does not know the method. */
    if (answer->kind == TG_ANSWER_ERROR && answer->code == TG_RPC_METHOD
        && client->era != TG_MCP_BARE)
    {
        memset(&none, 0, sizeof(none));
        none.kind = TG_ANSWER_RESULT;
        none.result = TG_STR("{\"tools\":[]}");
        answer = &none;
    }

    rc = tg_mcp_list_page(&client->list, answer, &client->error);

    if (rc == TG_AGAIN) {
        return tg_mcp_event(tg_mcp_ask_page(client), TG_MCP_NOTHING);
    }

    if (rc == TG_OK) {
        rc = tg_mcp_begin(client);
    }

    if (rc != TG_OK) {
        return tg_mcp_list_end(client, rc, now);
    }

    return client->has_slices ? TG_MCP_READS
                              : tg_mcp_client_read(client, SIZE_MAX, now);
}

/* --- events --- */

int
tg_mcp_client_is_own(const tg_mcp_client_t *client, const void *tag)
{
    size_t i;

    for (i = 0; i < sizeof(client->tags) && tag != &client->tags[i]; i++) {
        /* void */
    }

    return i < sizeof(client->tags);
}

tg_mcp_event_t
tg_mcp_client_answer(tg_mcp_client_t *client, const void *tag,
                     const tg_answer_t *answer, uint64_t now)
{
    int i;

    for (i = TG_MCP_TAG_LISTEN; i >= 0 && tag != &client->tags[i]; i--) {
        /* void */
    }

    if (i < 0) {
        return TG_MCP_OTHER;
    }

    /* The connection ends, which is said by itself. */
    if (answer->kind != TG_ANSWER_RESULT && answer->kind != TG_ANSWER_ERROR) {
        return TG_MCP_NOTHING;
    }

    switch (i) {
    case TG_MCP_TAG_PROBE:
        return tg_mcp_probed(client, answer, now);
    case TG_MCP_TAG_GREETING:
        return tg_mcp_initialized(client, answer, now);
    case TG_MCP_TAG_LIST:
        return tg_mcp_listed(client, answer, now);
    default:
        return TG_MCP_NOTHING;
    }
}

tg_mcp_event_t
tg_mcp_client_notification(tg_mcp_client_t *client, tg_str_t method,
                           uint64_t now)
{
    if (client->is_modern
        && tg_json_body_is(method, TG_STR("notifications/subscriptions/"
                                          "acknowledged")))
    {
        return TG_MCP_NOTHING;
    }

    if (!tg_json_body_is(method, TG_STR("notifications/tools/list_changed"))) {
        return TG_MCP_OTHER;
    }

    client->is_dirty = 1;

    if (client->is_listing || client->era == TG_MCP_BARE || client->is_unlisted
        || client->state != TG_MCP_OPEN)
    {
        return TG_MCP_CHANGED;
    }

    return tg_mcp_event(tg_mcp_list_soon(client, now), TG_MCP_CHANGED);
}

tg_mcp_event_t
tg_mcp_client_tick(tg_mcp_client_t *client, uint64_t now)
{
    if (client->due == 0 || client->due > now) {
        return TG_MCP_NOTHING;
    }

    client->due = 0;

    if (client->state == TG_MCP_GREETING) {
        return TG_MCP_SILENT;
    }

    return tg_mcp_event(client->state == TG_MCP_PROBING
                            ? tg_mcp_initialize(client, now)
                            : tg_mcp_client_list(client, now),
                        TG_MCP_NOTHING);
}
