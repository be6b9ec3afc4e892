/*
 * Fetches the lists of an MCP server one after the other. The tools are read in
 * parts; the other lists stay as received.
 */
#include "protocol/tg_mcp_client_impl.h"

static int
tg_mcp_client_request_page(tg_mcp_client_t *client)
{
    tg_str_t cursor;

    cursor = tg_buf_view(&client->list.params);

    if (cursor.len != 0) {
        cursor = tg_str(cursor.data + 1, cursor.len - 2);
    }

    return tg_mcp_client_send_request(client, TG_MCP_TAG_LIST,
                                      tg_mcp_kinds[client->list.kind].method,
                                      cursor, NULL);
}

/* Requests the next pending list. TG_OK, TG_END if none is left, or TG_NOMEM */
static int
tg_mcp_client_fetch_next(tg_mcp_client_t *client)
{
    tg_mcp_kind_t kind;

    if (client->pending == 0) {
        client->is_listing = 0;
        return TG_END;
    }

    for (kind = TG_MCP_TOOLS; (client->pending & TG_MCP_KIND_BIT(kind)) == 0;
         kind++)
    {
        /* void */
    }

    client->pending &= ~TG_MCP_KIND_BIT(kind);
    client->list.kind = kind;
    client->is_listing = 1;

    return tg_mcp_client_request_page(client);
}

int
tg_mcp_client_fetch_changed(tg_mcp_client_t *client, uint64_t now)
{
    client->pending = client->dirty & client->kinds
                      & (client->server_info.kinds
                         | TG_MCP_KIND_BIT(TG_MCP_TOOLS));
    client->dirty = 0;
    client->due = 0;

    if (client->pending == 0) {
        return TG_OK;
    }

    client->fetch_number++;
    client->fetch_started = now;

    return tg_mcp_client_fetch_next(client);
}

int
tg_mcp_client_fetch_list(tg_mcp_client_t *client, uint64_t now)
{
    if (!client->is_listing && client->state != TG_MCP_OPEN) {
        return TG_OK;
    }

    client->dirty |= client->kinds;

    return client->is_listing ? TG_OK
                              : tg_mcp_client_fetch_changed(client, now);
}

uint64_t
tg_mcp_client_fresh_fetch_number(const tg_mcp_client_t *client)
{
    return client->is_listing && client->dirty == 0 ? client->fetch_number
                                                    : client->fetch_number + 1;
}

int
tg_mcp_client_schedule_fetch(tg_mcp_client_t *client, uint64_t now)
{
    if (client->fetch_started + TG_MCP_LIST_INTERVAL > now) {
        client->due = client->fetch_started + TG_MCP_LIST_INTERVAL;
        return TG_OK;
    }

    return tg_mcp_client_fetch_changed(client, now);
}

/* Begins to read a list; repairs it first if client->check is set. */
static int
tg_mcp_client_begin_list(tg_mcp_client_t *client)
{
    tg_str_t array;

    array = tg_mcp_list_get_array(&client->list);

    if (client->check == NULL) {
        return tg_tool_list_read_begin(&client->reader, client->alloc,
                                       client->seed, array);
    }

    client->repair = tg_tool_list_repair_begin(client->alloc, array,
                                               client->check);

    return client->repair != NULL ? TG_OK : TG_NOMEM;
}

/* Repairs a part of the list. TG_AGAIN: more is left. */
static int
tg_mcp_client_repair_list(tg_mcp_client_t *client, size_t bytes)
{
    tg_buf_t *text;
    int rc;

    text = &client->list.text;
    rc = tg_tool_list_repair_step(client->repair, bytes, text);

    if (rc == TG_AGAIN) {
        return TG_AGAIN;
    }

    tg_tool_list_repair_end(client->repair);
    client->repair = NULL;

    return rc == TG_OK
               ? tg_tool_list_read_begin(&client->reader, client->alloc,
                                         client->seed, tg_buf_view(text))
               : rc;
}

/* Replaces client->tools, unless nothing changed. */
static void
tg_mcp_client_set_tools(tg_mcp_client_t *client, tg_catalog_t *tools)
{
    client->nleft_out += client->list.nleft_out;

    if (client->tools != NULL
        && tg_catalog_digest(tools, TG_ENTRY_TOOL)
               == tg_catalog_digest(client->tools, TG_ENTRY_TOOL))
    {
        tg_catalog_unref(tools);
    } else {
        tg_catalog_unref(client->tools);
        client->tools = tools;
    }
}

/* Keeps a complete list other than the tools, as it was received. */
static void
tg_mcp_client_set_items(tg_mcp_client_t *client)
{
    tg_mcp_items_t *items;
    tg_buf_t text;

    items = &client->items[client->list.kind];
    client->nleft_out = client->list.nleft_out;
    text = items->text;
    items->text = client->list.text;
    client->list.text = text;
}

/*
 * Ends one list and requests the next. After the last one schedules another
 * fetch if a list changed meanwhile.
 */
static tg_mcp_event_t
tg_mcp_client_end_list(tg_mcp_client_t *client, int rc, uint64_t now)
{
    int next;

    client->listed = client->list.kind;
    client->is_circular = client->list.is_circular;
    tg_mcp_list_reset(&client->list);

    if (rc != TG_OK && rc != TG_INVALID) {
        client->is_listing = 0;
        return TG_MCP_EVENT_NO_MEMORY;
    }

    next = tg_mcp_client_fetch_next(client);
    client->is_complete = next == TG_END;

    if (next == TG_END) {
        next = client->dirty != 0 && client->handshake != TG_MCP_NO_HANDSHAKE
                   ? tg_mcp_client_schedule_fetch(client, now)
                   : TG_OK;
    }

    return tg_mcp_event_check_rc(next, rc == TG_OK ? TG_MCP_EVENT_LIST
                                                   : TG_MCP_EVENT_LIST_FAILED);
}

tg_mcp_event_t
tg_mcp_client_read_list(tg_mcp_client_t *client, size_t bytes, uint64_t now)
{
    tg_catalog_t *tools;
    int rc, is_repaired;

    is_repaired = client->repair == NULL;

    if (is_repaired && client->reader.tools == NULL) {
        return TG_MCP_EVENT_NONE;
    }

    rc = is_repaired ? TG_OK : tg_mcp_client_repair_list(client, bytes);

    if (rc == TG_OK && (is_repaired || bytes == SIZE_MAX)) {
        rc = tg_tool_list_read_step(&client->reader, bytes, &tools,
                                    &client->nleft_out);
    } else if (rc == TG_OK) {
        rc = TG_AGAIN;
    }

    if (rc == TG_AGAIN) {
        return TG_MCP_EVENT_LIST_PENDING;
    }

    if (rc == TG_OK) {
        tg_mcp_client_set_tools(client, tools);
    }

    return tg_mcp_client_end_list(client, rc, now);
}

tg_mcp_event_t
tg_mcp_client_on_list(tg_mcp_client_t *client, const tg_response_t *answer,
                      uint64_t now)
{
    tg_response_t none;
    int rc;

    /* A server without such a list does not know the method. */
    if (answer->kind == TG_RESPONSE_ERROR
        && answer->code == TG_RPC_METHOD_NOT_FOUND
        && client->handshake != TG_MCP_NO_HANDSHAKE)
    {
        memset(&none, 0, sizeof(none));
        none.kind = TG_RESPONSE_RESULT;
        none.result = tg_str_from_cstr(tg_mcp_kinds[client->list.kind].empty);
        answer = &none;
    }

    rc = tg_mcp_list_add_page(&client->list, answer, &client->error);

    if (rc == TG_AGAIN) {
        return tg_mcp_event_check_rc(tg_mcp_client_request_page(client),
                                     TG_MCP_EVENT_NONE);
    }

    if (rc == TG_OK && client->list.kind == TG_MCP_TOOLS) {
        rc = tg_mcp_client_begin_list(client);
    } else if (rc == TG_OK) {
        tg_mcp_client_set_items(client);
        return tg_mcp_client_end_list(client, TG_OK, now);
    }

    if (rc != TG_OK) {
        return tg_mcp_client_end_list(client, rc, now);
    }

    return client->has_slices ? TG_MCP_EVENT_LIST_PENDING
                              : tg_mcp_client_read_list(client, SIZE_MAX, now);
}
