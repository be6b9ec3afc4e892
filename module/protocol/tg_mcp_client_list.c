/* The kinds of lists, and combining all pages of a list into one. */
#include "protocol/tg_mcp_client.h"

#define TG_MCP_KIND_ROW(m, result, items, caps)                                \
    {                                                                          \
        .method = m, .member = result, .noun = items, .capability = caps,      \
        .empty = "{\"" result "\":[]}"                                         \
    }

const tg_mcp_kind_row_t tg_mcp_kinds[TG_MCP_KINDS] = {
    [TG_MCP_TOOLS] = TG_MCP_KIND_ROW("tools/list", "tools", "tools", "tools"),
    [TG_MCP_PROMPTS] = TG_MCP_KIND_ROW("prompts/list", "prompts", "prompts",
                                       "prompts"),
    [TG_MCP_RESOURCES] = TG_MCP_KIND_ROW("resources/list", "resources",
                                         "resources", "resources"),
    [TG_MCP_TEMPLATES] = TG_MCP_KIND_ROW("resources/templates/list",
                                         "resourceTemplates",
                                         "resource templates", "resources"),
};

void
tg_mcp_list_init(tg_mcp_list_t *list, const tg_alloc_t *alloc,
                 unsigned max_pages)
{
    memset(list, 0, sizeof(*list));
    tg_buf_init(&list->text, alloc);
    tg_buf_init(&list->params, alloc);
    tg_buf_init(&list->absent_servers, alloc);
    tg_buf_init(&list->seen_hashes, alloc);
    list->max_pages = max_pages;
}

void
tg_mcp_list_deinit(tg_mcp_list_t *list)
{
    tg_buf_deinit(&list->text);
    tg_buf_deinit(&list->params);
    tg_buf_deinit(&list->absent_servers);
    tg_buf_deinit(&list->seen_hashes);
}

void
tg_mcp_list_reset(tg_mcp_list_t *list)
{
    tg_buf_reset(&list->text, 0);
    tg_buf_reset(&list->params, 0);
    tg_buf_reset(&list->absent_servers, 0);
    tg_buf_reset(&list->seen_hashes, 0);
    list->is_circular = 0;
    list->npages = 0;
    list->nrestarts = 0;
    list->nitems = 0;
    list->nleft_out = 0;
}

/* Sets an error with the message BEFORE ITEMS AFTER. */
static int
tg_mcp_list_set_error(tg_mcp_list_t *list, tg_response_t *whole, int rc,
                      const char *before, const char *after)
{
    tg_buf_t text;

    text = tg_buf_make_fixed(list->why, sizeof(list->why));
    tg_buf_append_cstr(&text, before);
    tg_buf_append_cstr(&text, tg_mcp_kinds[list->kind].noun);
    tg_buf_append_cstr(&text, after);
    memset(whole, 0, sizeof(*whole));
    whole->kind = TG_RESPONSE_ERROR;
    whole->code = TG_RPC_INTERNAL_ERROR;
    whole->message = tg_buf_view(&text);

    return rc;
}

void
tg_mcp_list_reject(tg_mcp_list_t *list, tg_response_t *whole)
{
    (void) tg_mcp_list_set_error(list, whole, TG_INVALID,
                                 "The server's list of ", " is invalid.");
}

/* Records a hash. Returns 1 if it occurred before: the list then ends. */
static int
tg_mcp_list_is_seen(tg_mcp_list_t *list, uint64_t hash)
{
    uint64_t other;
    size_t i;

    for (i = 0; i < list->seen_hashes.len; i += sizeof(other)) {
        memcpy(&other, list->seen_hashes.data + i, sizeof(other));

        if (other == hash) {
            list->is_circular = 1;
            return 1;
        }
    }

    tg_buf_append(&list->seen_hashes, (const char *) &hash, sizeof(hash));

    return 0;
}

/* Adds an array of items, or null: Go writes an empty list as null. */
static int
tg_mcp_list_add_items(tg_mcp_list_t *list, tg_str_t items)
{
    tg_json_cursor_t json;
    tg_str_t item;

    if (items.data == NULL) {
        return TG_INVALID;
    }

    if (tg_json_type(items) == TG_JSON_NULL) {
        items = TG_STR("[]");
    } else if (tg_json_type(items) != TG_JSON_ARRAY) {
        return TG_INVALID;
    }

    if (list->text.len == 0) {
        tg_buf_printf(&list->text, "{\"%s\":[",
                      tg_mcp_kinds[list->kind].member);
    }

    /* Empty pages may be identical and do not count as repeated. */
    tg_json_iter_init(&json, items);

    if (tg_json_iter_next(&json, NULL)
        && tg_mcp_list_is_seen(list, tg_hash_fast(TG_HASH_INIT, items)))
    {
        return TG_OK;
    }

    for (tg_json_iter_init(&json, items); tg_json_iter_next(&json, &item);) {
        if (tg_json_type(item) != TG_JSON_OBJECT) {
            list->nleft_out++;
            continue;
        }

        tg_buf_append_cstr(&list->text, list->nitems++ != 0 ? "," : "");
        tg_buf_append_str(&list->text, item);
    }

    return TG_OK;
}

/* Toolgate lists the unavailable MCP servers on the first page. */
static void
tg_mcp_list_set_absent_servers(tg_mcp_list_t *list, tg_str_t meta)
{
    tg_str_t servers;

    if (meta.data != NULL && tg_json_type(meta) == TG_JSON_OBJECT
        && tg_json_has_member(meta, TG_STR("toolgate/servers"), TG_JSON_ARRAY,
                              &servers)
        && servers.len <= TG_MCP_ABSENT_SERVERS_MAX)
    {
        tg_buf_truncate(&list->absent_servers, 0);
        tg_buf_append_str(&list->absent_servers, servers);
    }
}

/* Checks for a rejected cursor: the list changed and is fetched again. */
static int
tg_mcp_list_is_stale(const tg_mcp_list_t *list, const tg_response_t *answer)
{
    return answer->kind == TG_RESPONSE_ERROR
           && answer->code == TG_RPC_INVALID_PARAMS && list->params.len != 0
           && list->nrestarts < TG_MCP_LIST_RESTARTS_MAX;
}

int
tg_mcp_list_add_page(tg_mcp_list_t *list, const tg_response_t *answer,
                     tg_response_t *whole)
{
    const char *names[] = { tg_mcp_kinds[list->kind].member, "_meta",
                            "nextCursor", NULL };
    tg_str_t members[3], cursor;
    unsigned nrestarts;

    if (tg_mcp_list_is_stale(list, answer)) {
        nrestarts = list->nrestarts + 1;
        tg_mcp_list_reset(list);
        list->nrestarts = nrestarts;
        return TG_AGAIN;
    }

    *whole = *answer;

    if (answer->kind != TG_RESPONSE_RESULT) {
        return TG_INVALID;
    }

    if (tg_json_get_members(answer->result, names, members) != TG_OK
        || tg_mcp_list_add_items(list, members[0]) != TG_OK)
    {
        tg_mcp_list_reject(list, whole);
        return TG_INVALID;
    }

    tg_mcp_list_set_absent_servers(list, members[1]);
    cursor = members[2];
    tg_buf_truncate(&list->params, 0);

    /* All known clients treat an empty cursor as the end. */
    if (list->is_circular || cursor.data == NULL
        || tg_json_type(cursor) != TG_JSON_STRING || cursor.len == 2
        || tg_mcp_list_is_seen(list, tg_hash_fast(~TG_HASH_INIT, cursor)))
    {
        cursor = TG_STR_NONE;
        tg_buf_append_cstr(&list->text, "]}");
    }

    if (list->nitems > TG_TOOL_LIST_TOOLS_MAX
        || list->text.len > TG_TOOL_LIST_BYTES_MAX
        || cursor.len > TG_MCP_CURSOR_MAX
        || (cursor.len != 0 && ++list->npages == list->max_pages))
    {
        return tg_mcp_list_set_error(list, whole, TG_INVALID,
                                     "The server's list of ", " does not end.");
    }

    if (cursor.len != 0) {
        tg_buf_append_char(&list->params, '{');
        tg_json_add_raw(&list->params, "cursor", cursor);
        tg_buf_append_char(&list->params, '}');
    }

    if (tg_buf_has_failed(&list->text) || tg_buf_has_failed(&list->params)
        || tg_buf_has_failed(&list->absent_servers)
        || tg_buf_has_failed(&list->seen_hashes))
    {
        return tg_mcp_list_set_error(list, whole, TG_NOMEM,
                                     "No memory for the list of ", ".");
    }

    whole->result = tg_buf_view(&list->text);

    return cursor.len != 0 ? TG_AGAIN : TG_OK;
}

tg_str_t
tg_mcp_list_get_array(const tg_mcp_list_t *list)
{
    const size_t head = strlen(tg_mcp_kinds[list->kind].member)
                        + sizeof("{\"\":") - 1;

    return tg_str(list->text.data + head, list->text.len - head - 1);
}
