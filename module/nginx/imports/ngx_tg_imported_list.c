/* The list of an MCP server: its selected tools and their names. */
#include "nginx/imports/ngx_tg_imports.h"

#include "catalog/tg_imported_tool.h"

/* Maximum number of tools; no model can use more. */
#define NGX_TG_IMPORTED_TOOLS_MAX 4096

/* --- selection --- */

static ngx_uint_t
ngx_tg_imported_tool_matches_any(const ngx_array_t *patterns, tg_str_t name,
                                 tg_str_t client_name)
{
    const ngx_str_t *pattern;
    ngx_uint_t i;

    for (i = 0; patterns != NULL && i < patterns->nelts; i++) {
        pattern = patterns->elts;

        if (tg_glob_match(ngx_tg_str_from_ngx(&pattern[i]), name)
            || tg_glob_match(ngx_tg_str_from_ngx(&pattern[i]), client_name))
        {
            return 1;
        }
    }

    return 0;
}

ngx_uint_t
ngx_tg_imported_tool_is_selected(const ngx_tg_mcp_server_t *mcp, tg_str_t name,
                                 tg_str_t client_name)
{
    return (mcp->include_patterns == NULL
            || ngx_tg_imported_tool_matches_any(mcp->include_patterns, name,
                                                client_name))
           && !ngx_tg_imported_tool_matches_any(mcp->exclude_patterns, name,
                                                client_name);
}

tg_str_t
ngx_tg_imported_tool_get_names(const ngx_tg_mcp_server_t *mcp, tg_str_t *name,
                               char *room)
{
    tg_str_t prefix;

    prefix = ngx_tg_str_from_ngx(&mcp->prefix);

    if (name->len > prefix.len
        && ngx_memcmp(name->data, prefix.data, prefix.len) == 0)
    {
        *name = tg_str(name->data + prefix.len, name->len - prefix.len);
    }

    return tg_imported_tool_make_name(prefix, *name, room);
}

/* --- patterns --- */

static ngx_uint_t
ngx_tg_mcp_server_count_patterns(const ngx_tg_mcp_server_t *mcp)
{
    return (mcp->include_patterns != NULL ? mcp->include_patterns->nelts : 0)
           + (mcp->exclude_patterns != NULL ? mcp->exclude_patterns->nelts : 0)
           + (mcp->tools != NULL ? mcp->tools->nelts : 0);
}

/* Sets pattern to the block's i-th pattern. Returns its directive's name. */
static const char *
ngx_tg_mcp_server_get_pattern(const ngx_tg_mcp_server_t *mcp, ngx_uint_t i,
                              ngx_str_t *pattern)
{
    const ngx_array_t *patterns[] = { mcp->include_patterns,
                                      mcp->exclude_patterns };
    static const char *const names[] = { "tools", "hide" };
    ngx_tg_tool_t **tool;
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

static void
ngx_tg_imported_list_mark_patterns(const ngx_tg_mcp_server_t *mcp,
                                   ngx_tg_imported_list_t *list,
                                   const ngx_tg_imported_list_item_t *element)
{
    ngx_str_t pattern;
    ngx_array_t one;
    ngx_uint_t i, n;

    ngx_memzero(&one, sizeof(ngx_array_t));
    one.elts = &pattern;
    one.nelts = 1;
    n = list->used_patterns != NULL ? ngx_tg_mcp_server_count_patterns(mcp) : 0;

    for (i = 0; i < n; i++) {
        if (!list->used_patterns[i]) {
            (void) ngx_tg_mcp_server_get_pattern(mcp, i, &pattern);
            list->used_patterns[i] = (u_char) ngx_tg_imported_tool_matches_any(
                &one, element->name, element->client_name);
        }
    }
}

/* Warns about patterns that match no tool. */
static void
ngx_tg_imported_list_warn_unused(ngx_tg_mcp_server_t *mcp,
                                 const ngx_tg_imported_list_t *list,
                                 ngx_log_t *log)
{
    const char *directive;
    ngx_str_t pattern;
    ngx_uint_t i, n;

    n = list->used_patterns != NULL ? ngx_tg_mcp_server_count_patterns(mcp) : 0;

    for (i = 0; i < n; i++) {
        if (!list->used_patterns[i]
            && ngx_tg_log_throttle_take(&mcp->pace, NGX_LOG_WARN, log))
        {
            directive = ngx_tg_mcp_server_get_pattern(mcp, i, &pattern);
            ngx_log_error(NGX_LOG_WARN, log, 0,
                          "\"%s %V\" of mcp_server \"%V\" matches none of its "
                          "tools",
                          directive, &pattern, &mcp->name);
        }
    }
}

/* --- lists --- */

/* Adds a tool, or an issue if it is omitted; log may be NULL. */
static ngx_int_t
ngx_tg_imported_list_add_tool(ngx_tg_mcp_server_t *mcp,
                              ngx_tg_imported_list_t *list,
                              const ngx_tg_imported_list_item_t *element,
                              tg_tool_repair_t *repair, ngx_log_t *log)
{
    ngx_tg_imported_tool_t **slot, *listed;
    ngx_tg_imported_list_issue_t issue;
    ngx_int_t rc;

    slot = ngx_array_push(&list->tools);

    if (slot == NULL) {
        return NGX_ERROR;
    }

    listed = ngx_tg_imported_tool_find_unchanged(mcp, element);
    rc = NGX_OK;

    if (listed != NULL) {
        /* The issues of an unchanged tool were logged before. */
        log = NULL;
    } else {
        rc = ngx_tg_imported_tool_create(mcp, element, repair, list->pool->log,
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

    ngx_memzero(&issue, sizeof(issue));
    issue.at = list->nread;
    issue.name = element->raw_name;
    issue.why = listed == NULL ? repair->why : NULL;
    issue.repairs = listed != NULL ? listed->repairs : 0;

    if (issue.why != NULL || issue.repairs != 0) {
        ngx_tg_imported_list_add_issue(mcp, list, &issue, log);
    }

    if (issue.why == NULL && log != NULL && repair->root_union.len != 0) {
        ngx_tg_imported_tool_warn_union(mcp, issue.name, repair->root_union,
                                        log);
    }

    return NGX_OK;
}

/* Reads the next element of the list; log may be NULL. */
static ngx_int_t
ngx_tg_imported_list_read_item(ngx_tg_mcp_server_t *mcp,
                               ngx_tg_imported_list_t *list, tg_str_t raw,
                               tg_tool_repair_t *repair, ngx_log_t *log)
{
    ngx_tg_imported_list_item_t element;
    char room[TG_NAME_AGENT_MAX];
    ngx_int_t rc;
    tg_buf_t name;

    if (!tg_json_has_member(raw, TG_STR("name"), TG_JSON_STRING,
                            &element.raw_name)
        || element.raw_name.len == 2)
    {
        ngx_tg_imported_list_add_issue(mcp, list,
                                       &(ngx_tg_imported_list_issue_t){
                                           .at = list->nread,
                                           .why = "it has no name" },
                                       log);
        return NGX_OK;
    }

    tg_buf_init(&name, tg_alloc_libc());
    tg_json_append_unescaped(&name, tg_json_string_body(element.raw_name));
    element.raw = raw;
    element.name = tg_buf_view(&name);
    element.client_name = tg_imported_tool_make_name(
        ngx_tg_str_from_ngx(&mcp->prefix), element.name, room);
    rc = tg_buf_has_failed(&name) ? NGX_ERROR : NGX_OK;

    if (rc == NGX_OK) {
        ngx_tg_imported_list_mark_patterns(mcp, list, &element);

        if (ngx_tg_imported_tool_is_selected(mcp, element.name,
                                             element.client_name)) {
            rc = ngx_tg_imported_list_add_tool(mcp, list, &element, repair,
                                               log);
        }
    }

    tg_buf_deinit(&name);

    return rc;
}

ngx_tg_imported_list_t *
ngx_tg_imported_list_create(const ngx_tg_mcp_server_t *mcp, tg_str_t array,
                            ngx_uint_t is_quiet, ngx_log_t *log)
{
    ngx_tg_imported_list_t *list;
    ngx_pool_t *pool;

    pool = ngx_create_pool(NGX_DEFAULT_POOL_SIZE, log);

    if (pool == NULL) {
        return NULL;
    }

    list = ngx_pcalloc(pool, sizeof(ngx_tg_imported_list_t));

    if (list == NULL
        || ngx_array_init(&list->tools, pool, 64,
                          sizeof(ngx_tg_imported_tool_t *))
               != NGX_OK)
    {
        ngx_destroy_pool(pool);
        return NULL;
    }

    list->nrefs = 1;
    list->pool = pool;
    list->is_quiet = is_quiet;
    tg_buf_init(&list->raw, tg_alloc_libc());
    tg_buf_append_str(&list->raw, array);

    if (!is_quiet) {
        list->used_patterns = ngx_pcalloc(
            pool, ngx_tg_mcp_server_count_patterns(mcp) + 1);
    }

    if (tg_buf_has_failed(&list->raw)
        || (!is_quiet && list->used_patterns == NULL)) {
        ngx_tg_imported_list_release(list);
        return NULL;
    }

    tg_json_iter_init(&list->rest, tg_buf_view(&list->raw));

    return list;
}

ngx_int_t
ngx_tg_imported_list_read(ngx_tg_mcp_server_t *mcp,
                          ngx_tg_imported_list_t *list, size_t bytes,
                          ngx_log_t *log)
{
    tg_tool_repair_t repair;
    tg_str_t raw;
    size_t done;

    log = list->is_quiet ? NULL : log;
    ngx_tg_imported_list_init_repair(&repair);

    for (done = 0; done < bytes; done += raw.len) {
        if (!tg_json_iter_next(&list->rest, &raw)) {
            break;
        }

        if (++list->nread > NGX_TG_IMPORTED_TOOLS_MAX) {
            ngx_tg_imported_list_add_issue(mcp, list,
                                           &(ngx_tg_imported_list_issue_t){
                                               .at = list->nread,
                                               .why = "the list is too long" },
                                           log);
            break;
        }

        if (ngx_tg_imported_list_read_item(mcp, list, raw, &repair, log)
            == NGX_ERROR) {
            return NGX_ERROR;
        }
    }

    if (done >= bytes) {
        return NGX_AGAIN;
    }

    if (log != NULL) {
        ngx_tg_imported_list_warn_unused(mcp, list, log);
    }

    tg_buf_deinit(&list->raw);

    return NGX_OK;
}

ngx_uint_t
ngx_tg_imported_list_is_equal(const ngx_tg_imported_list_t *list,
                              const ngx_tg_imported_list_t *other)
{
    return list->tools.nelts == other->tools.nelts
           && list->nissues + other->nissues == 0
           && list->is_guessed == other->is_guessed
           && ngx_memcmp(list->tools.elts, other->tools.elts,
                         list->tools.nelts * sizeof(void *))
                  == 0;
}

void
ngx_tg_imported_list_release(ngx_tg_imported_list_t *list)
{
    ngx_uint_t i;

    if (list == NULL || --list->nrefs != 0) {
        return;
    }

    for (i = 0; i < list->tools.nelts; i++) {
        ngx_tg_imported_tool_release(ngx_tg_imported_list_get_tool(list, i));
    }

    tg_buf_deinit(&list->raw);
    ngx_destroy_pool(list->pool);
}
