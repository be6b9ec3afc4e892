/*
 * What an MCP server lists, as tools of ours: chosen, named, and told about as
 * its block says.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include "core/tg_foreign.h"
#include "core/tg_listing.h"

/* No model can be told of more. */
#define NGX_TOOLGATE_MCP_TOOLS 4096

/* --- which --- */

static ngx_uint_t
ngx_toolgate_mcp_fits(const ngx_array_t *patterns, tg_str_t name, tg_str_t here)
{
    const ngx_str_t *pattern;
    ngx_uint_t i;

    for (i = 0; patterns != NULL && i < patterns->nelts; i++) {
        pattern = patterns->elts;

        if (tg_glob(ngx_toolgate_str(&pattern[i]), name)
            || tg_glob(ngx_toolgate_str(&pattern[i]), here))
        {
            return 1;
        }
    }

    return 0;
}

ngx_uint_t
ngx_toolgate_mcp_is_chosen(const ngx_toolgate_mcp_t *mcp, tg_str_t name,
                           tg_str_t here)
{
    return (mcp->shown == NULL || ngx_toolgate_mcp_fits(mcp->shown, name, here))
           && !ngx_toolgate_mcp_fits(mcp->hidden, name, here);
}

tg_str_t
ngx_toolgate_mcp_names(const ngx_toolgate_mcp_t *mcp, tg_str_t *name,
                       char *room)
{
    tg_str_t prefix;

    prefix = ngx_toolgate_str(&mcp->prefix);

    if (name->len > prefix.len
        && ngx_memcmp(name->data, prefix.data, prefix.len) == 0)
    {
        *name = tg_str(name->data + prefix.len, name->len - prefix.len);
    }

    return tg_foreign_name(prefix, *name, room);
}

/* The block about a tool, by either of its names; or the one around it. */
static ngx_toolgate_tool_t *
ngx_toolgate_mcp_block_of(const ngx_toolgate_mcp_t *mcp, tg_str_t name,
                          tg_str_t here)
{
    ngx_toolgate_tool_t **tool;
    ngx_uint_t i;

    for (i = 0; mcp->tools != NULL && i < mcp->tools->nelts; i++) {
        tool = mcp->tools->elts;

        if (tg_str_eq(tool[i]->entry.name, name)
            || tg_str_eq(tool[i]->entry.name, here))
        {
            return tool[i];
        }
    }

    return mcp->block;
}

/* --- a tool --- */

/* A copy of a text in the list's pool; decoded, where it is a raw string. */
static ngx_int_t
ngx_toolgate_mcp_copy(ngx_toolgate_mcp_list_t *list, tg_str_t text,
                      ngx_uint_t is_raw, tg_str_t *copy)
{
    char *p;

    p = ngx_pnalloc(list->pool, text.len + 1);

    if (p == NULL) {
        return NGX_ERROR;
    }

    if (is_raw) {
        copy->len = tg_json_decode(p, tg_json_body(text));
    } else {
        ngx_memcpy(p, text.data, text.len);
        copy->len = text.len;
    }

    copy->data = p;

    return NGX_OK;
}

/* What clients are told, and what a schema file says. */
static ngx_int_t
ngx_toolgate_mcp_describe(ngx_toolgate_mcp_list_t *list,
                          ngx_toolgate_tool_t *tool, tg_str_t raw)
{
    tg_entry_t *entry, instead;
    tg_str_t description;
    tg_buf_t listing, shown;
    ngx_int_t rc;

    entry = &tool->entry;
    instead = tool->block->entry;
    instead.name = entry->name;
    tg_buf_init(&listing, tg_alloc_libc());
    tg_buf_init(&shown, tg_alloc_libc());

    /* Where large results are stored, a preview does not match any schema. */
    if (tool->spills) {
        tg_listing_put_legacy(&shown, raw);
    }

    tg_foreign_put(&listing, tool->spills ? tg_buf_view(&shown) : raw,
                   &instead);
    rc = tg_buf_failed(&listing) || tg_buf_failed(&shown)
             ? NGX_ERROR
             : ngx_toolgate_mcp_copy(list, tg_buf_view(&listing), 0,
                                     &entry->listing);
    tg_buf_deinit(&listing);
    tg_buf_deinit(&shown);

    entry->title = instead.title;
    entry->description = instead.description;
    entry->annotations = instead.annotations;

    if (rc == NGX_OK && entry->description.data == NULL
        && tg_json_get(raw, TG_STR("description"), &description) == TG_OK)
    {
        rc = ngx_toolgate_mcp_copy(list, description, 1, &entry->description);
    }

    return rc;
}

/* Of a raw tool that is one; its names are known. */
static ngx_int_t
ngx_toolgate_mcp_fill(ngx_toolgate_mcp_list_t *list,
                      ngx_toolgate_mcp_tool_t *listed, tg_str_t raw,
                      const ngx_toolgate_tool_t *block)
{
    ngx_toolgate_tool_t *tool;

    tool = &listed->tool;
    tool->entry.kind = TG_ENTRY_TOOL;
    tool->entry.output = TG_OUTPUT_RESULT;
    tool->entry.host = tool;
    tool->handler = block->handler;
    tool->conf = listed;
    tool->block = block;
    tool->validate = block->validate;
    tool->output = TG_OUTPUT_RESULT;
    tool->timeout = block->timeout;
    tool->max_timeout = block->max_timeout;
    tool->max_output = block->max_output;
    tool->spills = block->spills;
    tool->preview = block->preview;

    /* A preview does not match it, so clients do not get to know it. */
    if (!block->spills) {
        (void) tg_json_get(raw, TG_STR("outputSchema"),
                           &tool->entry.output_schema);
    }

    tool->pool = list->pool;
    tool->is_uncompiled = tool->validate != NGX_TOOLGATE_OFF;

    if (block->entry.input_schema.data != NULL) {
        tool->entry.input_schema = block->entry.input_schema;
        tool->input = block->input;
    } else {
        (void) tg_json_get(raw, TG_STR("inputSchema"),
                           &tool->entry.input_schema);
    }

    return ngx_toolgate_mcp_describe(list, tool, raw);
}

/* Has a tool be one that clients can read, or says in repair why it is none. */
static ngx_int_t
ngx_toolgate_mcp_repair(ngx_toolgate_mcp_list_t *list, tg_tool_repair_t *repair,
                        tg_str_t *raw)
{
    tg_buf_t text;
    ngx_int_t rc;

    tg_buf_init(&text, tg_alloc_libc());
    (void) tg_tool_repair(repair, *raw, &text);
    rc = tg_buf_failed(&text) ? NGX_ERROR
         : text.len != 0
             ? ngx_toolgate_mcp_copy(list, tg_buf_view(&text), 0, raw)
             : NGX_OK;
    tg_buf_deinit(&text);

    return rc;
}

/*
 * Adds a tool by its name, a raw string.  NGX_OK, and repair says what is
 * remarkable about it; NGX_DECLINED: it is not chosen; NGX_ERROR: no memory.
 */
static ngx_int_t
ngx_toolgate_mcp_add(ngx_toolgate_mcp_t *mcp, ngx_toolgate_mcp_list_t *list,
                     tg_str_t raw, tg_str_t raw_name, tg_tool_repair_t *repair)
{
    ngx_toolgate_mcp_tool_t *listed;
    const ngx_toolgate_tool_t *block;
    char room[TG_NAME_AGENT_MAX];
    tg_str_t name, here;

    listed = &list->tools[list->ntools];
    listed->name = raw_name;

    if (ngx_toolgate_mcp_copy(list, raw_name, 1, &name) != NGX_OK) {
        return NGX_ERROR;
    }

    here = tg_foreign_name(ngx_toolgate_str(&mcp->prefix), name, room);

    if (!ngx_toolgate_mcp_is_chosen(mcp, name, here)) {
        return NGX_DECLINED;
    }

    block = ngx_toolgate_mcp_block_of(mcp, name, here);
    repair->has_input = block->entry.input_schema.data != NULL;

    if (ngx_toolgate_mcp_repair(list, repair, &raw) != NGX_OK) {
        return NGX_ERROR;
    }

    if (repair->why != NULL) {
        return NGX_OK;
    }

    listed->server = mcp;
    listed->tool.entry.is_modern = repair->is_modern;

    if (ngx_toolgate_mcp_copy(list, here, 0, &listed->tool.entry.name) != NGX_OK
        || ngx_toolgate_mcp_fill(list, listed, raw, block) != NGX_OK)
    {
        return NGX_ERROR;
    }

    list->ntools++;

    return NGX_OK;
}

/* --- a list --- */

/* The n-th element of a list, from 1 on; log may be NULL. */
static ngx_int_t
ngx_toolgate_mcp_read_tool(ngx_toolgate_mcp_t *mcp,
                           ngx_toolgate_mcp_list_t *list, ngx_uint_t n,
                           tg_str_t raw, tg_tool_repair_t *repair,
                           ngx_log_t *log)
{
    ngx_toolgate_mcp_remark_t remark;
    ngx_int_t rc;

    ngx_memzero(&remark, sizeof(remark));
    remark.at = n;

    if (!tg_json_has(raw, TG_STR("name"), TG_JSON_STRING, &remark.name)
        || remark.name.len == 2)
    {
        remark.name = TG_STR_NONE;
        remark.why = "it has no name";
        ngx_toolgate_mcp_remark(mcp, list, &remark, log);
        return NGX_OK;
    }

    rc = ngx_toolgate_mcp_add(mcp, list, raw, remark.name, repair);

    if (rc != NGX_OK) {
        return rc;
    }

    remark.why = repair->why;
    remark.repairs = repair->repairs;

    if (remark.why != NULL || remark.repairs != 0) {
        ngx_toolgate_mcp_remark(mcp, list, &remark, log);
    }

    if (remark.why == NULL && repair->root_word.len != 0 && log != NULL) {
        ngx_toolgate_mcp_log_union(mcp, remark.name, repair->root_word, log);
    }

    return NGX_OK;
}

/* Does the server have a tool that fits a pattern? */
static ngx_uint_t
ngx_toolgate_mcp_is_used(ngx_toolgate_mcp_t *mcp, ngx_toolgate_mcp_list_t *list,
                         ngx_str_t *pattern)
{
    char room[TG_NAME_AGENT_MAX];
    tg_str_t raw, name;
    ngx_array_t one;
    ngx_uint_t fits;
    tg_json_t json;
    tg_buf_t text;

    ngx_memzero(&one, sizeof(ngx_array_t));
    one.elts = pattern;
    one.nelts = 1;
    fits = 0;
    tg_buf_init(&text, tg_alloc_libc());

    for (tg_json_each(&json, list->raw); !fits && tg_json_item(&json, &raw);) {
        if (!tg_json_has(raw, TG_STR("name"), TG_JSON_STRING, &name)) {
            continue;
        }

        tg_buf_truncate(&text, 0);
        tg_json_put_decoded(&text, tg_json_body(name));
        name = tg_buf_view(&text);
        fits = ngx_toolgate_mcp_fits(
            &one, name,
            tg_foreign_name(ngx_toolgate_str(&mcp->prefix), name, room));
    }

    tg_buf_deinit(&text);

    return fits;
}

/* What the block says that fits nothing: most likely a mistake in it. */
static void
ngx_toolgate_mcp_tell_unused(ngx_toolgate_mcp_t *mcp,
                             ngx_toolgate_mcp_list_t *list, ngx_log_t *log)
{
    const ngx_array_t *patterns[] = { mcp->shown, mcp->hidden };
    static const char *const names[] = { "tools", "hide", "tool" };
    ngx_toolgate_tool_t **tool;
    ngx_str_t *pattern, name;
    ngx_uint_t i, k, n;

    for (k = 0; k < 3; k++) {
        n = k < 2 ? (patterns[k] != NULL ? patterns[k]->nelts : 0)
                  : (mcp->tools != NULL ? mcp->tools->nelts : 0);

        for (i = 0; i < n; i++) {
            if (k < 2) {
                pattern = patterns[k]->elts;
                name = pattern[i];
            } else {
                tool = mcp->tools->elts;
                name.data = (u_char *) tool[i]->entry.name.data;
                name.len = tool[i]->entry.name.len;
            }

            if (!ngx_toolgate_mcp_is_used(mcp, list, &name)) {
                ngx_log_error(NGX_LOG_WARN, log, 0,
                              "\"%s %V\" of mcp_server \"%V\" fits none of its "
                              "tools",
                              names[k], &name, &mcp->name);
            }
        }
    }
}

/* With room for its tools.  NULL: no memory. */
static ngx_toolgate_mcp_list_t *
ngx_toolgate_mcp_list_alloc(ngx_pool_t *pool, tg_str_t array)
{
    ngx_toolgate_mcp_list_t *list;
    tg_json_t json;
    ngx_uint_t n;

    list = ngx_pcalloc(pool, sizeof(ngx_toolgate_mcp_list_t));

    if (list == NULL) {
        return NULL;
    }

    n = 0;

    for (tg_json_each(&json, array); tg_json_item(&json, NULL);) {
        n++;
    }

    list->nholders = 1;
    list->pool = pool;
    list->tools = ngx_pcalloc(pool, ngx_min(n, NGX_TOOLGATE_MCP_TOOLS)
                                        * sizeof(ngx_toolgate_mcp_tool_t));

    if (list->tools == NULL
        || ngx_toolgate_mcp_copy(list, array, 0, &list->raw) != NGX_OK)
    {
        return NULL;
    }

    tg_json_each(&list->rest, list->raw);

    return list;
}

ngx_toolgate_mcp_list_t *
ngx_toolgate_mcp_list_begin(tg_str_t array, ngx_log_t *log)
{
    ngx_toolgate_mcp_list_t *list;
    ngx_pool_t *pool;

    pool = ngx_create_pool(NGX_DEFAULT_POOL_SIZE, log);

    if (pool == NULL) {
        return NULL;
    }

    list = ngx_toolgate_mcp_list_alloc(pool, array);

    if (list == NULL) {
        ngx_destroy_pool(pool);
    }

    return list;
}

ngx_int_t
ngx_toolgate_mcp_list_read(ngx_toolgate_mcp_t *mcp,
                           ngx_toolgate_mcp_list_t *list, size_t bytes,
                           ngx_uint_t is_quiet, ngx_log_t *log)
{
    tg_tool_repair_t repair;
    tg_str_t raw;
    size_t done;

    ngx_toolgate_mcp_repair_init(&repair);

    for (done = 0; done < bytes; done += raw.len) {
        if (!tg_json_item(&list->rest, &raw)) {
            break;
        }

        if (++list->nread > NGX_TOOLGATE_MCP_TOOLS) {
            ngx_toolgate_mcp_remark(mcp, list,
                                    &(ngx_toolgate_mcp_remark_t){
                                        .at = list->nread,
                                        .why = "the list is too long" },
                                    is_quiet ? NULL : log);
            break;
        }

        if (ngx_toolgate_mcp_read_tool(mcp, list, list->nread, raw, &repair,
                                       is_quiet ? NULL : log)
            == NGX_ERROR)
        {
            return NGX_ERROR;
        }
    }

    if (done >= bytes) {
        return NGX_AGAIN;
    }

    if (!is_quiet) {
        ngx_toolgate_mcp_tell_unused(mcp, list, log);
    }

    return NGX_OK;
}

ngx_toolgate_mcp_list_t *
ngx_toolgate_mcp_list_new(ngx_toolgate_mcp_t *mcp, tg_str_t array,
                          ngx_uint_t is_quiet, ngx_log_t *log)
{
    ngx_toolgate_mcp_list_t *list;

    list = ngx_toolgate_mcp_list_begin(array, log);

    if (list != NULL
        && ngx_toolgate_mcp_list_read(mcp, list, NGX_MAX_SIZE_T_VALUE, is_quiet,
                                      log)
               != NGX_OK)
    {
        ngx_toolgate_mcp_list_release(list);
        return NULL;
    }

    return list;
}

void
ngx_toolgate_mcp_list_release(ngx_toolgate_mcp_list_t *list)
{
    if (list != NULL && --list->nholders == 0) {
        ngx_destroy_pool(list->pool);
    }
}
