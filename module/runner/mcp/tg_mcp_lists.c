/* The lists of an MCP server as one value. */
#include "runner/mcp/tg_mcp_lists.h"

#include "base/tg_utf8.h"

void
tg_mcp_lists_init(tg_mcp_lists_t *lists)
{
    lists->tools = NULL;
    tg_buf_init(&lists->others, tg_alloc_libc());
}

void
tg_mcp_lists_deinit(tg_mcp_lists_t *lists)
{
    tg_catalog_unref(lists->tools);
    lists->tools = NULL;
    tg_buf_deinit(&lists->others);
}

int
tg_mcp_lists_set(tg_mcp_lists_t *lists, const tg_mcp_client_t *client,
                 tg_str_t capabilities)
{
    const tg_buf_t *text;
    unsigned kind;

    tg_catalog_unref(lists->tools);
    lists->tools = tg_catalog_ref(client->tools);
    tg_buf_truncate(&lists->others, 0);

    for (kind = 0; kind < TG_MCP_KINDS; kind++) {
        text = &client->items[kind].text;

        /* The text is an object with one member. */
        if (text->len > 2) {
            tg_buf_append_char(&lists->others, ',');
            tg_buf_append(&lists->others, text->data + 1, text->len - 2);
        }
    }

    if (capabilities.len != 0) {
        tg_buf_append_cstr(&lists->others, ",\"capabilities\":");
        tg_buf_append_str(&lists->others, capabilities);
    }

    return tg_buf_has_failed(&lists->others) ? TG_NOMEM : TG_OK;
}

int
tg_mcp_lists_parse(tg_mcp_lists_t *lists, tg_str_t text, uint64_t seed)
{
    static const char *const names[] = { "tools",        "prompts",
                                         "resources",    "resourceTemplates",
                                         "capabilities", NULL };
    tg_str_t values[5];
    size_t nleft_out, i;

    if (!tg_utf8_is_valid(text)
        || tg_json_get_members(text, names, values) != TG_OK
        || tg_tool_list_parse(tg_alloc_libc(), seed, values[0], &lists->tools,
                              &nleft_out)
               != TG_OK)
    {
        return TG_INVALID;
    }

    for (i = 1; i < 5; i++) {
        if (values[i].data != NULL
            && tg_json_type(values[i])
                   == (i < 4 ? TG_JSON_ARRAY : TG_JSON_OBJECT))
        {
            tg_buf_printf(&lists->others, ",\"%s\":", names[i]);
            tg_buf_append_str(&lists->others, values[i]);
        }
    }

    if (tg_buf_has_failed(&lists->others)) {
        tg_mcp_lists_deinit(lists);
        return TG_INVALID;
    }

    return TG_OK;
}

void
tg_mcp_lists_write(const tg_mcp_lists_t *lists, tg_buf_t *json)
{
    tg_catalog_write_whole_list(lists->tools, NULL, NULL, json);
    tg_buf_append_str(json, tg_buf_view(&lists->others));
}

uint64_t
tg_mcp_lists_digest(const tg_mcp_lists_t *lists)
{
    return tg_hash_fast(tg_catalog_digest(lists->tools, TG_ENTRY_TOOL),
                        tg_buf_view(&lists->others));
}

size_t
tg_mcp_lists_size(const tg_mcp_lists_t *lists)
{
    return tg_catalog_list_size(lists->tools) + lists->others.len;
}
