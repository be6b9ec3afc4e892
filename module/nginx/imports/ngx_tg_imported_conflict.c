/* Items of MCP servers whose names are taken, in the log and in the status. */
#include "nginx/imports/ngx_tg_imports.h"

const ngx_tg_mcp_server_t *
ngx_tg_entry_get_mcp_server(const tg_catalog_entry_t *entry,
                            const ngx_tg_imported_tool_t *listed)
{
    const ngx_tg_tool_t *tool;

    tool = entry->host;

    return tool->handler == listed->tool.handler
               ? ((ngx_tg_imported_tool_t *) tool->conf)->server
               : NULL;
}

const char *
ngx_tg_entry_get_noun(const tg_catalog_entry_t *entry)
{
    return entry->kind == TG_ENTRY_TOOL       ? "tool"
           : entry->kind == TG_ENTRY_PROMPT   ? "prompt"
           : entry->kind == TG_ENTRY_RESOURCE ? "resource"
                                              : "resource template";
}

void
ngx_tg_imported_item_log_renamed(const ngx_tg_name_conflict_log_t *clashes,
                                 const ngx_tg_imported_tool_t *listed,
                                 const tg_catalog_entry_t *first)
{
    const ngx_tg_mcp_server_t *other;

    if (clashes->is_quiet) {
        return;
    }

    other = ngx_tg_entry_get_mcp_server(first, listed);
    ngx_log_error(NGX_LOG_NOTICE, clashes->log, 0,
                  "%s %*s of mcp_server \"%V\" is named \"%*s\": %s%V%s has "
                  "that URI",
                  ngx_tg_entry_get_noun(&listed->tool.entry), listed->name.len,
                  listed->name.data, &listed->server->name, listed->renamed.len,
                  listed->renamed.data,
                  other != NULL ? "mcp_server \"" : "the config",
                  other != NULL ? &other->name : &(ngx_str_t) ngx_null_string,
                  other != NULL ? "\"" : "");
}

/* Returns the name of an entry's kind in `toolgate.status`. */
static const char *
ngx_tg_entry_get_plural(const tg_catalog_entry_t *entry)
{
    ngx_uint_t kind;

    for (kind = TG_MCP_TOOLS;
         kind < TG_MCP_KINDS - 1
         && ngx_tg_imported_entry_kinds[kind] != entry->kind;
         kind++)
    {
        /* void */
    }

    return tg_mcp_kinds[kind].noun;
}

/* Returns the entry that has the name of an omitted item, or NULL. */
static const tg_catalog_entry_t *
ngx_tg_imported_tool_find_conflict(const ngx_tg_mcp_server_t *mcp,
                                   const ngx_tg_imported_tool_t *listed)
{
    const tg_catalog_entry_t *first, *renamed;
    const tg_catalog_t *catalog;

    catalog = mcp->imports->scf->catalog;
    first = tg_catalog_find(catalog, listed->tool.entry.kind,
                            listed->tool.entry.name);
    renamed = listed->renamed.data != NULL
                  ? tg_catalog_find(catalog, listed->tool.entry.kind,
                                    listed->renamed)
                  : NULL;

    return first == NULL || first->host == &listed->tool
                   || (renamed != NULL && renamed->host == &listed->tool)
               ? NULL
               : first;
}

void
ngx_tg_imported_list_write_conflicts(const ngx_tg_mcp_server_t *mcp,
                                     tg_buf_t *json)
{
    const ngx_tg_imported_tool_t *listed;
    const ngx_tg_mcp_server_t *other;
    const tg_catalog_entry_t *first;
    ngx_uint_t i, n;

    for (i = 0, n = 0; mcp->list != NULL && i < mcp->list->tools.nelts; i++) {
        listed = ngx_tg_imported_list_get_tool(mcp->list, i);
        first = ngx_tg_imported_tool_find_conflict(mcp, listed);

        if (first == NULL) {
            continue;
        }

        tg_buf_append_cstr(json, n++ == 0 ? ",\"clashes\":[{" : ",{");
        tg_json_add_compact(json, "tool", listed->name);

        if (listed->tool.entry.kind != TG_ENTRY_TOOL) {
            tg_json_add_cstr(json, "kind",
                             ngx_tg_entry_get_plural(&listed->tool.entry));
        }

        tg_json_add_string(json, "name", listed->tool.entry.name);
        other = ngx_tg_entry_get_mcp_server(first, listed);

        if (other != NULL) {
            tg_json_add_string(json, "mcp_server",
                               ngx_tg_str_from_ngx(&other->name));
        }

        tg_buf_append_char(json, '}');
    }

    if (n != 0) {
        tg_buf_append_char(json, ']');
    }
}
