/*
 * The list of an MCP server: which of its tools are chosen, and under which
 * names.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include "core/tg_foreign.h"

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

/* --- patterns --- */

/* Patterns of a block: `tools`, then `hide`, then the blocks of tools in it. */
static ngx_uint_t
ngx_toolgate_mcp_npatterns(const ngx_toolgate_mcp_t *mcp)
{
    return (mcp->shown != NULL ? mcp->shown->nelts : 0)
           + (mcp->hidden != NULL ? mcp->hidden->nelts : 0)
           + (mcp->tools != NULL ? mcp->tools->nelts : 0);
}

/* The i-th of them; returns the directive that it is from. */
static const char *
ngx_toolgate_mcp_pattern(const ngx_toolgate_mcp_t *mcp, ngx_uint_t i,
                         ngx_str_t *pattern)
{
    const ngx_array_t *patterns[] = { mcp->shown, mcp->hidden };
    static const char *const names[] = { "tools", "hide" };
    ngx_toolgate_tool_t **tool;
    ngx_uint_t k, n;

    for (k = 0; k < 2; k++) {
        n = patterns[k] != NULL ? patterns[k]->nelts : 0;

        if (i < n) {
            *pattern = ((ngx_str_t *) patterns[k]->elts)[i];
            return names[k];
        }

        i -= n;
    }

    tool = mcp->tools->elts;
    pattern->data = (u_char *) tool[i]->entry.name.data;
    pattern->len = tool[i]->entry.name.len;

    return "tool";
}

/* Notes which patterns a tool fits. */
static void
ngx_toolgate_mcp_use(const ngx_toolgate_mcp_t *mcp,
                     ngx_toolgate_mcp_list_t *list,
                     const ngx_toolgate_mcp_element_t *element)
{
    ngx_str_t pattern;
    ngx_array_t one;
    ngx_uint_t i, n;

    ngx_memzero(&one, sizeof(ngx_array_t));
    one.elts = &pattern;
    one.nelts = 1;
    n = list->used != NULL ? ngx_toolgate_mcp_npatterns(mcp) : 0;

    for (i = 0; i < n; i++) {
        if (!list->used[i]) {
            (void) ngx_toolgate_mcp_pattern(mcp, i, &pattern);
            list->used[i] = (u_char) ngx_toolgate_mcp_fits(&one, element->name,
                                                           element->here);
        }
    }
}

/* What the block says that fits nothing: most likely a mistake in it. */
static void
ngx_toolgate_mcp_tell_unused(ngx_toolgate_mcp_t *mcp,
                             const ngx_toolgate_mcp_list_t *list,
                             ngx_log_t *log)
{
    const char *directive;
    ngx_str_t pattern;
    ngx_uint_t i, n;

    n = list->used != NULL ? ngx_toolgate_mcp_npatterns(mcp) : 0;

    for (i = 0; i < n; i++) {
        if (!list->used[i]
            && ngx_toolgate_may_log(&mcp->pace, NGX_LOG_WARN, log)) {
            directive = ngx_toolgate_mcp_pattern(mcp, i, &pattern);
            ngx_log_error(NGX_LOG_WARN, log, 0,
                          "\"%s %V\" of mcp_server \"%V\" fits none of its "
                          "tools",
                          directive, &pattern, &mcp->name);
        }
    }
}

/* --- a list --- */

/* Adds a tool, or notes why it is left out; log may be NULL. */
static ngx_int_t
ngx_toolgate_mcp_add(ngx_toolgate_mcp_t *mcp, ngx_toolgate_mcp_list_t *list,
                     const ngx_toolgate_mcp_element_t *element,
                     tg_tool_repair_t *repair, ngx_log_t *log)
{
    ngx_toolgate_mcp_tool_t **slot, *listed;
    ngx_toolgate_mcp_remark_t remark;
    ngx_int_t rc;

    slot = ngx_array_push(&list->tools);

    if (slot == NULL) {
        return NGX_ERROR;
    }

    listed = ngx_toolgate_mcp_tool_known(mcp, element);
    rc = NGX_OK;

    if (listed != NULL) {
        /* The log has its remarks already. */
        log = NULL;
    } else {
        rc = ngx_toolgate_mcp_tool_new(mcp, element, repair, list->pool->log,
                                       &listed);
    }

    if (rc != NGX_OK) {
        list->tools.nelts--;

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        listed = NULL;
    } else {
        *slot = listed;
    }

    ngx_memzero(&remark, sizeof(remark));
    remark.at = list->nread;
    remark.name = element->raw_name;
    remark.why = listed == NULL ? repair->why : NULL;
    remark.repairs = listed != NULL ? listed->repairs : 0;

    if (remark.why != NULL || remark.repairs != 0) {
        ngx_toolgate_mcp_remark(mcp, list, &remark, log);
    }

    if (remark.why == NULL && log != NULL && repair->root_word.len != 0) {
        ngx_toolgate_mcp_log_union(mcp, remark.name, repair->root_word, log);
    }

    return NGX_OK;
}

/* Reads the next element; log may be NULL. */
static ngx_int_t
ngx_toolgate_mcp_read_tool(ngx_toolgate_mcp_t *mcp,
                           ngx_toolgate_mcp_list_t *list, tg_str_t raw,
                           tg_tool_repair_t *repair, ngx_log_t *log)
{
    ngx_toolgate_mcp_element_t element;
    char room[TG_NAME_AGENT_MAX];
    ngx_int_t rc;
    tg_buf_t name;

    if (!tg_json_has(raw, TG_STR("name"), TG_JSON_STRING, &element.raw_name)
        || element.raw_name.len == 2)
    {
        ngx_toolgate_mcp_remark(mcp, list,
                                &(ngx_toolgate_mcp_remark_t){
                                    .at = list->nread,
                                    .why = "it has no name" },
                                log);
        return NGX_OK;
    }

    tg_buf_init(&name, tg_alloc_libc());
    tg_json_put_decoded(&name, tg_json_body(element.raw_name));
    element.raw = raw;
    element.name = tg_buf_view(&name);
    element.here = tg_foreign_name(ngx_toolgate_str(&mcp->prefix), element.name,
                                   room);
    rc = tg_buf_failed(&name) ? NGX_ERROR : NGX_OK;

    if (rc == NGX_OK) {
        ngx_toolgate_mcp_use(mcp, list, &element);

        if (ngx_toolgate_mcp_is_chosen(mcp, element.name, element.here)) {
            rc = ngx_toolgate_mcp_add(mcp, list, &element, repair, log);
        }
    }

    tg_buf_deinit(&name);

    return rc;
}

ngx_toolgate_mcp_list_t *
ngx_toolgate_mcp_list_begin(const ngx_toolgate_mcp_t *mcp, tg_str_t array,
                            ngx_uint_t is_quiet, ngx_log_t *log)
{
    ngx_toolgate_mcp_list_t *list;
    ngx_pool_t *pool;

    pool = ngx_create_pool(NGX_DEFAULT_POOL_SIZE, log);

    if (pool == NULL) {
        return NULL;
    }

    list = ngx_pcalloc(pool, sizeof(ngx_toolgate_mcp_list_t));

    if (list == NULL
        || ngx_array_init(&list->tools, pool, 64,
                          sizeof(ngx_toolgate_mcp_tool_t *))
               != NGX_OK)
    {
        ngx_destroy_pool(pool);
        return NULL;
    }

    list->nholders = 1;
    list->pool = pool;
    list->is_quiet = is_quiet;
    tg_buf_init(&list->raw, tg_alloc_libc());
    tg_buf_str(&list->raw, array);

    if (!is_quiet) {
        list->used = ngx_pcalloc(pool, ngx_toolgate_mcp_npatterns(mcp) + 1);
    }

    if (tg_buf_failed(&list->raw) || (!is_quiet && list->used == NULL)) {
        ngx_toolgate_mcp_list_release(list);
        return NULL;
    }

    tg_json_each(&list->rest, tg_buf_view(&list->raw));

    return list;
}

ngx_int_t
ngx_toolgate_mcp_list_read(ngx_toolgate_mcp_t *mcp,
                           ngx_toolgate_mcp_list_t *list, size_t bytes,
                           ngx_log_t *log)
{
    tg_tool_repair_t repair;
    tg_str_t raw;
    size_t done;

    log = list->is_quiet ? NULL : log;
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
                                    log);
            break;
        }

        if (ngx_toolgate_mcp_read_tool(mcp, list, raw, &repair, log)
            == NGX_ERROR) {
            return NGX_ERROR;
        }
    }

    if (done >= bytes) {
        return NGX_AGAIN;
    }

    if (log != NULL) {
        ngx_toolgate_mcp_tell_unused(mcp, list, log);
    }

    tg_buf_deinit(&list->raw);

    return NGX_OK;
}

ngx_uint_t
ngx_toolgate_mcp_list_is_same(const ngx_toolgate_mcp_list_t *list,
                              const ngx_toolgate_mcp_list_t *other)
{
    return list->tools.nelts == other->tools.nelts
           && list->nremarks + other->nremarks == 0
           && list->is_guess == other->is_guess
           && ngx_memcmp(list->tools.elts, other->tools.elts,
                         list->tools.nelts * sizeof(void *))
                  == 0;
}

void
ngx_toolgate_mcp_list_release(ngx_toolgate_mcp_list_t *list)
{
    ngx_uint_t i;

    if (list == NULL || --list->nholders != 0) {
        return;
    }

    for (i = 0; i < list->tools.nelts; i++) {
        ngx_toolgate_mcp_tool_release(ngx_toolgate_mcp_list_tool(list, i));
    }

    tg_buf_deinit(&list->raw);
    ngx_destroy_pool(list->pool);
}
