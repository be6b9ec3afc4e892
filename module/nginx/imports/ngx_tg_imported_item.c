/*
 * A prompt, resource or resource template of an MCP server. Its listing is the
 * server's, without members that clients would refuse.
 */
#include "nginx/imports/ngx_tg_imports.h"

/* Pool space of an item beyond its texts. */
#define NGX_TG_IMPORTED_ITEM_POOL_EXTRA 256
/* Maximum size of an item's pool block. */
#define NGX_TG_IMPORTED_ITEM_POOL_MAX 8192

const tg_catalog_entry_type_t ngx_tg_imported_entry_kinds[TG_MCP_KINDS] = {
    [TG_MCP_TOOLS] = TG_ENTRY_TOOL,
    [TG_MCP_PROMPTS] = TG_ENTRY_PROMPT,
    [TG_MCP_RESOURCES] = TG_ENTRY_RESOURCE,
    [TG_MCP_TEMPLATES] = TG_ENTRY_TEMPLATE,
};

/* --- listing --- */

/* Optional members with their types; another type is omitted. */
static const struct {
    const char *name;
    tg_json_type_t type;
} ngx_tg_item_members[] = {
    { "title", TG_JSON_STRING },       { "description", TG_JSON_STRING },
    { "mimeType", TG_JSON_STRING },    { "size", TG_JSON_NUMBER },
    { "icons", TG_JSON_ARRAY },        { "arguments", TG_JSON_ARRAY },
    { "annotations", TG_JSON_OBJECT }, { "_meta", TG_JSON_OBJECT },
};

static ngx_uint_t
ngx_tg_item_member_is_valid(tg_str_t key, tg_str_t value)
{
    size_t i;

    for (i = 0;
         i < sizeof(ngx_tg_item_members) / sizeof(ngx_tg_item_members[0]); i++)
    {
        if (tg_json_body_eq_text(key,
                                 tg_str_from_cstr(ngx_tg_item_members[i].name)))
        {
            return tg_json_type(value) == ngx_tg_item_members[i].type;
        }
    }

    return 1;
}

/* Appends the element with another name or URI. */
static void
ngx_tg_imported_item_write_listing(tg_mcp_kind_t kind, tg_str_t raw,
                                   tg_str_t name, tg_str_t client_name,
                                   tg_buf_t *out)
{
    static const char *const keys[TG_MCP_KINDS] = { "name", "name", "uri",
                                                    "uriTemplate" };
    tg_str_t key, value;
    tg_json_cursor_t json;
    ngx_uint_t has_name;

    has_name = kind == TG_MCP_PROMPTS;
    tg_buf_append_char(out, '{');
    tg_json_add_string(out, keys[kind], client_name);
    tg_json_iter_init_members(&json, raw);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        if (tg_json_body_eq_text(key, tg_str_from_cstr(keys[kind]))
            || !ngx_tg_item_member_is_valid(key, value))
        {
            continue;
        }

        if (tg_json_body_eq_text(key, TG_STR("name"))) {
            if (has_name || tg_json_type(value) != TG_JSON_STRING) {
                continue;
            }

            has_name = 1;
        }

        tg_buf_append_cstr(out, ",\"");
        tg_buf_append_str(out, key);
        tg_buf_append_cstr(out, "\":");
        tg_json_write_compact(out, value);
    }

    /* MCP demands a name of resources and templates, too. */
    if (!has_name) {
        tg_json_add_string(out, "name", name);
    }

    tg_buf_append_char(out, '}');
}

static ngx_int_t
ngx_tg_imported_item_copy_listing(ngx_tg_imported_tool_t *listed,
                                  tg_mcp_kind_t kind, tg_str_t raw,
                                  tg_str_t name, tg_str_t client_name,
                                  tg_str_t *copy)
{
    tg_buf_t listing;
    ngx_int_t rc;

    tg_buf_init(&listing, tg_alloc_libc());
    ngx_tg_imported_item_write_listing(kind, raw, name, client_name, &listing);
    rc = tg_buf_has_failed(&listing)
             ? NGX_ERROR
             : ngx_tg_imported_tool_copy_text(listed->tool.pool,
                                              tg_buf_view(&listing), 0, copy);
    tg_buf_deinit(&listing);

    return rc;
}

/* --- templates --- */

static void
ngx_tg_imported_item_free_template(void *data)
{
    tg_uri_template_free(data);
}

/* Creates a template for all URIs that begin with a text. */
static tg_uri_template_t *
ngx_tg_imported_item_create_loose_template(ngx_pool_t *pool, tg_str_t text)
{
    tg_uri_template_t *tmpl;

    tmpl = ngx_pcalloc(pool, sizeof(*tmpl));

    if (tmpl != NULL) {
        tmpl->variables[0].name = TG_STR("uri");
        tmpl->variables[0].is_multiple = 1;
        tmpl->nvariables = 1;
        tmpl->npath = 1;
        tmpl->literals[0] = text;
        tmpl->literals[1] = TG_STR("");
    }

    return tmpl;
}

/*
 * Parses a template, in order to find the server of a URI. One with operators
 * that Toolgate does not know matches all URIs with the same beginning: only
 * the server decides. text must live as long as the pool. NULL: no memory.
 */
static tg_uri_template_t *
ngx_tg_imported_item_parse_template(ngx_pool_t *pool, tg_str_t text)
{
    ngx_pool_cleanup_t *cln;
    tg_uri_template_t *tmpl;
    const char *why;

    cln = ngx_pool_cleanup_add(pool, 0);

    if (cln == NULL) {
        return NULL;
    }

    switch (tg_uri_template_parse(tg_alloc_libc(), text, &tmpl, &why)) {
    case TG_OK:
        cln->handler = ngx_tg_imported_item_free_template;
        cln->data = tmpl;
        return tmpl;
    case TG_INVALID:
        text.len = tg_str_find_char(text, "{");
        return ngx_tg_imported_item_create_loose_template(pool, text);
    default:
        return NULL;
    }
}

/* --- creation --- */

/* Creates an empty item in a pool of its own. Returns NULL without memory. */
static ngx_tg_imported_tool_t *
ngx_tg_imported_item_alloc(ngx_tg_mcp_server_t *mcp, tg_mcp_kind_t kind,
                           size_t size, ngx_log_t *log)
{
    ngx_tg_imported_tool_t *listed;
    const ngx_tg_tool_t *block;
    ngx_pool_t *pool;
    ngx_tg_tool_t *tool;

    pool = ngx_create_pool(ngx_min(sizeof(ngx_pool_t) + sizeof(*listed) + size
                                       + NGX_TG_IMPORTED_ITEM_POOL_EXTRA,
                                   NGX_TG_IMPORTED_ITEM_POOL_MAX),
                           log);

    if (pool == NULL) {
        return NULL;
    }

    listed = ngx_pcalloc(pool, sizeof(*listed));

    if (listed == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    block = mcp->block;
    listed->server = mcp;
    listed->nrefs = 1;
    tool = &listed->tool;
    tool->pool = pool;
    tool->entry.kind = ngx_tg_imported_entry_kinds[kind];
    tool->entry.output = TG_OUTPUT_RESULT;
    tool->entry.has_completions = 1;
    tool->entry.host = tool;
    tool->handler = block->handler;
    tool->conf = listed;
    tool->block = block;
    tool->validate = NGX_TG_VALIDATE_OFF;
    tool->output = TG_OUTPUT_RESULT;
    tool->job_spec = block->job_spec;
    tool->output_spec = block->output_spec;
    /* Only results of tools have a form for stored output. */
    tool->output_spec.is_stored = 0;

    return listed;
}

static ngx_int_t
ngx_tg_imported_item_init(ngx_tg_imported_tool_t *listed,
                          const ngx_tg_imported_list_item_t *element)
{
    tg_catalog_entry_t *entry;
    ngx_pool_t *pool;
    tg_str_t value;

    entry = &listed->tool.entry;
    pool = listed->tool.pool;
    listed->digest = ngx_tg_imported_tool_hash(element->raw);

    if (ngx_tg_imported_tool_copy_text(pool, element->raw_name, 0,
                                       &listed->name)
            != NGX_OK
        || ngx_tg_imported_tool_copy_text(pool, element->client_name, 0,
                                          &entry->name)
               != NGX_OK
        || ngx_tg_imported_item_copy_listing(listed, element->kind,
                                             element->raw, element->name,
                                             entry->name, &entry->listing)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    tg_catalog_entry_set_digest(entry);

    if (tg_json_has_member(entry->listing, TG_STR("arguments"), TG_JSON_ARRAY,
                           &value))
    {
        entry->arguments = value;
    }

    if (element->kind != TG_MCP_TEMPLATES) {
        return NGX_OK;
    }

    entry->uri_template = ngx_tg_imported_item_parse_template(pool,
                                                              entry->name);

    return entry->uri_template != NULL ? NGX_OK : NGX_ERROR;
}

ngx_int_t
ngx_tg_imported_item_create(ngx_tg_mcp_server_t *mcp,
                            const ngx_tg_imported_list_item_t *element,
                            ngx_log_t *log, const char **why,
                            ngx_tg_imported_tool_t **made)
{
    ngx_tg_imported_tool_t *listed;

    *why = NULL;

    if (element->kind >= TG_MCP_RESOURCES && element->name.len > TG_URI_MAX) {
        *why = "its URI has more than 2048 bytes";
        return NGX_DECLINED;
    }

    /* It would match the URIs of other servers. */
    if (element->kind == TG_MCP_TEMPLATES
        && tg_str_find_char(element->name, ":")
               >= tg_str_find_char(element->name, "{"))
    {
        *why = "its template does not begin with a scheme";
        return NGX_DECLINED;
    }

    listed = ngx_tg_imported_item_alloc(mcp, element->kind,
                                        2 * element->raw.len, log);

    if (listed == NULL) {
        return NGX_ERROR;
    }

    if (ngx_tg_imported_item_init(listed, element) != NGX_OK) {
        ngx_destroy_pool(listed->tool.pool);
        return NGX_ERROR;
    }

    *made = listed;

    return NGX_OK;
}

/* --- other URIs --- */

/* Copies NAME+text. Returns NGX_OK or NGX_ERROR. */
static ngx_int_t
ngx_tg_imported_item_add_name(const ngx_tg_imported_tool_t *listed,
                              tg_str_t text, tg_str_t *copy)
{
    const ngx_str_t *name;
    char *at;

    name = &listed->server->name;
    at = ngx_pnalloc(listed->tool.pool, name->len + 1 + text.len);

    if (at == NULL) {
        return NGX_ERROR;
    }

    copy->data = at;
    copy->len = name->len + 1 + text.len;
    ngx_memcpy(at, name->data, name->len);
    at[name->len] = '+';
    ngx_memcpy(at + name->len + 1, text.data, text.len);

    return NGX_OK;
}

/* Makes the template that matches NAME+URI. */
static ngx_int_t
ngx_tg_imported_item_rename_template(ngx_tg_imported_tool_t *listed)
{
    tg_uri_template_t *tmpl;

    tmpl = ngx_palloc(listed->tool.pool, sizeof(*tmpl));

    if (tmpl == NULL) {
        return NGX_ERROR;
    }

    *tmpl = *listed->tool.entry.uri_template;
    listed->renamed_template = tmpl;

    return ngx_tg_imported_item_add_name(listed, tmpl->literals[0],
                                         &tmpl->literals[0]);
}

ngx_tg_imported_tool_t *
ngx_tg_imported_item_create_catch_all(ngx_tg_mcp_server_t *mcp, ngx_log_t *log)
{
    ngx_tg_imported_tool_t *listed;
    tg_catalog_entry_t *entry;

    listed = ngx_tg_imported_item_alloc(mcp, TG_MCP_TEMPLATES, 0, log);

    if (listed == NULL) {
        return NULL;
    }

    entry = &listed->tool.entry;
    entry->is_unlisted = 1;
    entry->name = TG_STR("{+uri}");
    entry->listing = TG_STR("{}");
    tg_catalog_entry_set_digest(entry);
    listed->is_catch_all = 1;

    entry->uri_template = ngx_tg_imported_item_create_loose_template(
        listed->tool.pool, TG_STR(""));

    if (entry->uri_template == NULL
        || ngx_tg_imported_item_add_name(listed, entry->name, &listed->renamed)
               != NGX_OK
        || ngx_tg_imported_item_rename_template(listed) != NGX_OK)
    {
        ngx_destroy_pool(listed->tool.pool);
        return NULL;
    }

    listed->renamed_listing = entry->listing;

    return listed;
}

ngx_int_t
ngx_tg_imported_item_rename(ngx_tg_imported_tool_t *listed)
{
    tg_catalog_entry_t *entry;
    tg_mcp_kind_t kind;
    tg_str_t renamed;

    entry = &listed->tool.entry;

    if (listed->renamed.data != NULL) {
        return NGX_OK;
    }

    kind = entry->kind == TG_ENTRY_RESOURCE ? TG_MCP_RESOURCES
                                            : TG_MCP_TEMPLATES;

    if (ngx_tg_imported_item_add_name(listed, entry->name, &renamed) != NGX_OK
        || ngx_tg_imported_item_copy_listing(listed, kind, entry->listing,
                                             entry->name, renamed,
                                             &listed->renamed_listing)
               != NGX_OK
        || (kind == TG_MCP_TEMPLATES
            && ngx_tg_imported_item_rename_template(listed) != NGX_OK))
    {
        return NGX_ERROR;
    }

    listed->renamed = renamed;

    return NGX_OK;
}
