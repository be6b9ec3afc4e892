/* Issues of imported lists: tools that are omitted or repaired. */
#include "nginx/imports/ngx_tg_imports.h"

#include "schema/tg_pattern.h"

/* Maximum number of issues per list, in the log and in the status. */
#define NGX_TG_IMPORTED_ISSUES_MAX 100

void
ngx_tg_imported_list_init_repair(tg_tool_repair_t *repair)
{
    ngx_memzero(repair, sizeof(tg_tool_repair_t));
    repair->is_pattern = tg_pattern_is_valid;
}

static void
ngx_tg_imported_list_log_issue(ngx_tg_mcp_server_t *mcp,
                               const ngx_tg_imported_list_issue_t *issue,
                               ngx_log_t *log)
{
    tg_buf_t text;

    if (!ngx_tg_log_throttle_take(&mcp->pace, NGX_LOG_WARN, log)) {
        return;
    }

    if (issue->kind != TG_MCP_TOOLS) {
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "element %ui of the list of %s of mcp_server \"%V\" is "
                      "omitted: %s%s%*s",
                      issue->at, tg_mcp_kinds[issue->kind].noun, &mcp->name,
                      issue->why, issue->name.len != 0 ? "; it is " : "",
                      issue->name.len, issue->name.data);
        return;
    }

    if (issue->why != NULL) {
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "element %ui of the tool list of mcp_server \"%V\" is "
                      "omitted: %s%s%*s",
                      issue->at, &mcp->name, issue->why,
                      issue->name.len != 0 ? "; it is the tool " : "",
                      issue->name.len, issue->name.data);
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_tool_repairs_write(&text, issue->repairs);
    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "tool %*s of mcp_server \"%V\" is listed with repairs: %*s",
                  issue->name.len, issue->name.data, &mcp->name, text.len,
                  text.data);
    tg_buf_deinit(&text);
}

/* Copies an issue and its name to the list. */
static void
ngx_tg_imported_list_store_issue(const ngx_tg_imported_list_t *list,
                                 ngx_tg_imported_list_issue_t *kept,
                                 const ngx_tg_imported_list_issue_t *issue)
{
    char *name;

    *kept = *issue;
    kept->name = TG_STR_NONE;

    if (issue->name.len != 0) {
        name = ngx_pnalloc(list->pool, issue->name.len);

        if (name != NULL) {
            ngx_memcpy(name, issue->name.data, issue->name.len);
            kept->name = tg_str(name, issue->name.len);
        }
    }
}

void
ngx_tg_imported_list_add_issue(ngx_tg_mcp_server_t *mcp,
                               ngx_tg_imported_list_t *list,
                               const ngx_tg_imported_list_issue_t *issue,
                               ngx_log_t *log)
{
    if (list->nissues++ < NGX_TG_IMPORTED_ISSUES_MAX) {
        if (list->issues == NULL) {
            list->issues = ngx_pcalloc(list->pool, NGX_TG_IMPORTED_ISSUES_MAX
                                                       * sizeof(*issue));
        }

        if (list->issues != NULL) {
            ngx_tg_imported_list_store_issue(list,
                                             &list->issues[list->nissues - 1],
                                             issue);
        }

        if (log != NULL) {
            ngx_tg_imported_list_log_issue(mcp, issue, log);
        }

    } else if (list->nissues == NGX_TG_IMPORTED_ISSUES_MAX + 1 && log != NULL) {
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "more than %d tools of mcp_server \"%V\" are omitted or "
                      "repaired; the others are not logged",
                      NGX_TG_IMPORTED_ISSUES_MAX, &mcp->name);
    }
}

void
ngx_tg_imported_tool_warn_union(ngx_tg_mcp_server_t *mcp, tg_str_t name,
                                tg_str_t word, ngx_log_t *log)
{
    if (!ngx_tg_log_throttle_take(&mcp->pace, NGX_LOG_WARN, log)) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "tool %*s of mcp_server \"%V\" has \"%*s\" at the root of "
                  "its inputSchema, which Anthropic's API rejects, together "
                  "with all other tools; \"hide\" it, or give it an "
                  "\"input_schema\" without it",
                  name.len, name.data, &mcp->name, word.len, word.data);
}

/* Appends the omitted tools, or the repaired ones. */
static void
ngx_tg_imported_list_write_issues_of(const ngx_tg_imported_list_t *list,
                                     ngx_uint_t is_left_out, tg_buf_t *json)
{
    const ngx_tg_imported_list_issue_t *issue;
    tg_buf_t text;
    ngx_uint_t i, n;

    for (i = 0, n = 0; i < ngx_min(list->nissues, NGX_TG_IMPORTED_ISSUES_MAX);
         i++) {
        issue = &list->issues[i];

        if ((issue->why != NULL) != is_left_out) {
            continue;
        }

        tg_buf_append_cstr(json, n++ != 0      ? ",{\"tool\":"
                                 : is_left_out ? ",\"left_out\":[{\"tool\":"
                                               : ",\"repaired\":[{\"tool\":");
        tg_json_write_compact(json, issue->name.len != 0 ? issue->name
                                                         : TG_STR("null"));

        if (issue->kind != TG_MCP_TOOLS) {
            tg_json_add_cstr(json, "kind", tg_mcp_kinds[issue->kind].noun);
        }

        tg_json_begin_member(json, "why");
        tg_buf_init(&text, tg_alloc_libc());

        if (is_left_out) {
            tg_buf_append_cstr(&text, issue->why);
        } else {
            tg_tool_repairs_write(&text, issue->repairs);
        }

        tg_json_write_string(json, tg_buf_view(&text));
        tg_buf_append_char(json, '}');
        json->failed |= tg_buf_has_failed(&text);
        tg_buf_deinit(&text);
    }

    if (n != 0) {
        tg_buf_append_char(json, ']');
    }
}

void
ngx_tg_imported_list_write_issues(const ngx_tg_mcp_server_t *mcp,
                                  tg_buf_t *json)
{
    if (mcp->list != NULL && mcp->list->issues != NULL) {
        ngx_tg_imported_list_write_issues_of(mcp->list, 1, json);
        ngx_tg_imported_list_write_issues_of(mcp->list, 0, json);
    }
}
