/* The lists of an MCP server: selected items and their names. */
#include "nginx/imports/ngx_tg_imports.h"

#include "catalog/tg_imported_tool.h"

/* Maximum number of tools; no model can use more. */
#define NGX_TG_IMPORTED_TOOLS_MAX 4096
/* Maximum number of prompts, and of resources. */
#define NGX_TG_IMPORTED_ITEMS_MAX 16384
/* Maximum number of templates; a URI that is not listed is matched by each. */
#define NGX_TG_IMPORTED_TEMPLATES_MAX 256

/* --- names --- */

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

/* --- lists --- */

/* Adds an item, or an issue if it is omitted; log may be NULL. */
static ngx_int_t
ngx_tg_imported_list_add_item(ngx_tg_mcp_server_t *mcp,
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
    } else if (element->kind == TG_MCP_TOOLS) {
        rc = ngx_tg_imported_tool_create(mcp, element, repair, list->pool->log,
                                         &listed);
    } else {
        repair->root_union.len = 0;
        rc = ngx_tg_imported_item_create(mcp, element, list->pool->log,
                                         &repair->why, &listed);
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

    list->ntools += listed != NULL && element->kind == TG_MCP_TOOLS;
    ngx_memzero(&issue, sizeof(issue));
    issue.kind = element->kind;
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
    static const char *const keys[TG_MCP_KINDS] = { "name", "name", "uri",
                                                    "uriTemplate" };
    ngx_tg_imported_list_item_t element;
    char room[TG_NAME_AGENT_MAX];
    ngx_int_t rc;
    tg_buf_t name;

    element.kind = list->kind;

    if (!tg_json_has_member(raw, tg_str_from_cstr(keys[element.kind]),
                            TG_JSON_STRING, &element.raw_name)
        || element.raw_name.len == 2)
    {
        ngx_tg_imported_list_add_issue(
            mcp, list,
            &(ngx_tg_imported_list_issue_t){
                .kind = element.kind,
                .at = list->nread,
                .why = element.kind < TG_MCP_RESOURCES ? "it has no name"
                                                       : "it has no URI" },
            log);
        return NGX_OK;
    }

    tg_buf_init(&name, tg_alloc_libc());
    tg_json_append_unescaped(&name, tg_json_string_body(element.raw_name));
    element.raw = raw;
    element.name = tg_buf_view(&name);
    element.client_name = element.kind < TG_MCP_RESOURCES
                              ? tg_imported_tool_make_name(ngx_tg_str_from_ngx(
                                                               &mcp->prefix),
                                                           element.name, room)
                              : element.name;
    rc = tg_buf_has_failed(&name) ? NGX_ERROR : NGX_OK;

    if (rc == NGX_OK) {
        ngx_tg_imported_list_mark_patterns(mcp, list, &element);

        if (ngx_tg_imported_item_is_selected(mcp, element.kind, element.name,
                                             element.client_name))
        {
            rc = ngx_tg_imported_list_add_item(mcp, list, &element, repair,
                                               log);
        }
    }

    tg_buf_deinit(&name);

    return rc;
}

/* Starts to read the list of list->kind; an absent list is empty. */
static void
ngx_tg_imported_list_begin_kind(ngx_tg_imported_list_t *list)
{
    tg_str_t array;

    array = list->arrays[list->kind];
    tg_json_iter_init(&list->rest,
                      array.data != NULL && tg_json_type(array) == TG_JSON_ARRAY
                          ? array
                          : TG_STR("[]"));
    list->nread = 0;
}

ngx_tg_imported_list_t *
ngx_tg_imported_list_create(const ngx_tg_mcp_server_t *mcp, tg_str_t object,
                            ngx_uint_t is_quiet, ngx_log_t *log)
{
    const char *names[TG_MCP_KINDS + 1];
    ngx_tg_imported_list_t *list;
    ngx_pool_t *pool;
    ngx_uint_t i;

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
    tg_buf_append_str(&list->raw, object);

    if (!is_quiet) {
        list->used_patterns = ngx_pcalloc(
            pool, ngx_tg_mcp_server_count_patterns(mcp) + 1);
    }

    if (tg_buf_has_failed(&list->raw)
        || (!is_quiet && list->used_patterns == NULL)) {
        ngx_tg_imported_list_release(list);
        return NULL;
    }

    for (i = 0; i < TG_MCP_KINDS; i++) {
        names[i] = tg_mcp_kinds[i].member;
    }

    names[i] = NULL;
    (void) tg_json_get_members(tg_buf_view(&list->raw), names, list->arrays);
    ngx_tg_imported_list_begin_kind(list);

    return list;
}

/* Counts an element. Returns 1, with an issue, if there are too many. */
static ngx_uint_t
ngx_tg_imported_list_is_too_long(ngx_tg_mcp_server_t *mcp,
                                 ngx_tg_imported_list_t *list, ngx_log_t *log)
{
    static const ngx_uint_t max[TG_MCP_KINDS] = {
        [TG_MCP_TOOLS] = NGX_TG_IMPORTED_TOOLS_MAX,
        [TG_MCP_PROMPTS] = NGX_TG_IMPORTED_ITEMS_MAX,
        [TG_MCP_RESOURCES] = NGX_TG_IMPORTED_ITEMS_MAX,
        [TG_MCP_TEMPLATES] = NGX_TG_IMPORTED_TEMPLATES_MAX,
    };

    if (++list->nread <= max[list->kind]) {
        return 0;
    }

    ngx_tg_imported_list_add_issue(mcp, list,
                                   &(ngx_tg_imported_list_issue_t){
                                       .kind = list->kind,
                                       .at = list->nread,
                                       .why = "the list is too long" },
                                   log);

    return 1;
}

/* Adds the template for unlisted URIs, if the server has resources. */
static ngx_int_t
ngx_tg_imported_list_finish(ngx_tg_mcp_server_t *mcp,
                            ngx_tg_imported_list_t *list)
{
    ngx_int_t rc;

    rc = NGX_OK;

    if (list->arrays[TG_MCP_RESOURCES].data != NULL && !mcp->has_no_resources) {
        list->catch_all = ngx_tg_imported_item_create_catch_all(
            mcp, list->pool->log);
        rc = list->catch_all != NULL ? NGX_OK : NGX_ERROR;
    }

    tg_buf_deinit(&list->raw);
    ngx_memzero(list->arrays, sizeof(list->arrays));

    return rc;
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
        if (!tg_json_iter_next(&list->rest, &raw)
            || ngx_tg_imported_list_is_too_long(mcp, list, log))
        {
            if (list->kind == TG_MCP_KINDS - 1) {
                break;
            }

            list->kind++;
            ngx_tg_imported_list_begin_kind(list);
            raw.len = 0;
            continue;
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

    return ngx_tg_imported_list_finish(mcp, list);
}

ngx_uint_t
ngx_tg_imported_list_is_equal(const ngx_tg_imported_list_t *list,
                              const ngx_tg_imported_list_t *other)
{
    return list->tools.nelts == other->tools.nelts
           && list->nissues + other->nissues == 0
           && list->is_guessed == other->is_guessed
           && (list->catch_all != NULL) == (other->catch_all != NULL)
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

    if (list->catch_all != NULL) {
        ngx_tg_imported_tool_release(list->catch_all);
    }

    tg_buf_deinit(&list->raw);
    ngx_destroy_pool(list->pool);
}
