/*
 * Schemas of imported tools. A worker compiles them in time slices, or earlier
 * at a call. A schema beyond the bounds is passed on but not checked.
 */
#include "nginx/imports/ngx_tg_imports.h"

/* Maximum number of unchecked tools in the status. */
#define NGX_TG_IMPORTED_UNCHECKED_MAX 100
/* Scheduler steps charged per step of a compilation. */
#define NGX_TG_SCHEMA_STEPS_PER_SLICE_STEP 16

/* Returns the next tool with an unchecked schema, from *at on, or NULL. */
static const ngx_tg_tool_t *
ngx_tg_imported_list_next_unchecked(const ngx_tg_imported_list_t *list,
                                    ngx_uint_t *at)
{
    const ngx_tg_tool_t *tool;

    while (list != NULL && *at < list->tools.nelts) {
        tool = &ngx_tg_imported_list_get_tool(list, (*at)++)->tool;

        if (tool->unchecked.len != 0) {
            return tool;
        }
    }

    return NULL;
}

/* Logs the unchecked schemas of the list in a line, unless it is unchanged. */
static void
ngx_tg_imported_list_log_unchecked(ngx_tg_mcp_server_t *mcp)
{
    const ngx_tg_tool_t *tool, *first;
    ngx_uint_t i, n;
    uint64_t hash;

    first = NULL;
    hash = TG_HASH_INIT;

    for (i = 0, n = 0;
         (tool = ngx_tg_imported_list_next_unchecked(mcp->list, &i)) != NULL;
         n++)
    {
        first = first != NULL ? first : tool;
        hash = tg_hash_fnv1a(tg_hash_fnv1a(hash, tool->entry.name),
                             tool->unchecked);
    }

    if (first != NULL && hash != mcp->unchecked) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "%ui %s of mcp_server \"%V\" %s listed, but their calls "
                      "are not checked: %*s: %*s%s",
                      n, tg_pick_plural(n, "tool", "tools"), &mcp->name,
                      tg_pick_plural(n, "is", "are"), first->entry.name.len,
                      first->entry.name.data, first->unchecked.len,
                      first->unchecked.data,
                      n > 1 ? "; toolgate status names the others" : "");
    }

    mcp->unchecked = hash;
}

static void
ngx_tg_imported_list_compile_some(tg_sched_source_t *source)
{
    ngx_tg_mcp_server_t *mcp;
    uint64_t steps;

    mcp = ngx_queue_data(source, ngx_tg_mcp_server_t, source);

    if (ngx_tg_worker_is_exiting() || ngx_terminate || mcp->list == NULL) {
        return;
    }

    tg_sched_begin_slice(&ngx_tg_sched);

    while (mcp->ncompiled < mcp->list->tools.nelts) {
        steps = ngx_tg_tool_compile_imported(
            &ngx_tg_imported_list_get_tool(mcp->list, mcp->ncompiled++)->tool);

        if (tg_sched_is_slice_over(
                &ngx_tg_sched, source,
                (size_t) (1 + steps * NGX_TG_SCHEMA_STEPS_PER_SLICE_STEP)))
        {
            return;
        }
    }

    if (ngx_worker == 0) {
        ngx_tg_imported_list_log_unchecked(mcp);
    }
}

void
ngx_tg_imported_list_compile_schemas(ngx_tg_mcp_server_t *mcp)
{
    mcp->ncompiled = 0;
    mcp->source.run = ngx_tg_imported_list_compile_some;
    tg_sched_enqueue(&ngx_tg_sched, &mcp->source);
}

void
ngx_tg_imported_list_write_unchecked(const ngx_tg_mcp_server_t *mcp,
                                     tg_buf_t *json)
{
    const ngx_tg_tool_t *tool;
    ngx_uint_t i, n;

    for (i = 0, n = 0;
         n < NGX_TG_IMPORTED_UNCHECKED_MAX
         && (tool = ngx_tg_imported_list_next_unchecked(mcp->list, &i)) != NULL;
         n++)
    {
        tg_buf_append_cstr(json, n == 0 ? ",\"unchecked\":[{" : ",{");
        tg_json_add_string(json, "name", tool->entry.name);
        tg_json_add_string(json, "why", tool->unchecked);
        tg_buf_append_char(json, '}');
    }

    if (n != 0) {
        tg_buf_append_char(json, ']');
    }
}
