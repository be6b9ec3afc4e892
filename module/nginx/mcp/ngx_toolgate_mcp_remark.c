/*
 * What is remarkable about the tools that an MCP server lists: which of them
 * are left out, or listed otherwise than they came, so that clients can read
 * the list.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include "schema/tg_pattern.h"

/* Of one list; in the log and in the status. */
#define NGX_TOOLGATE_MCP_REMARKS 100

void
ngx_toolgate_mcp_repair_init(tg_tool_repair_t *repair)
{
    ngx_memzero(repair, sizeof(tg_tool_repair_t));
    repair->is_pattern = tg_pattern_is_valid;
}

static void
ngx_toolgate_mcp_log_remark(ngx_toolgate_mcp_t *mcp,
                            const ngx_toolgate_mcp_remark_t *remark,
                            ngx_log_t *log)
{
    tg_buf_t text;

    if (!ngx_toolgate_may_log(&mcp->pace, NGX_LOG_WARN, log)) {
        return;
    }

    if (remark->why != NULL) {
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "element %ui of the list of mcp_server \"%V\" is left "
                      "out: %s%s%*s",
                      remark->at, &mcp->name, remark->why,
                      remark->name.len != 0 ? "; it is the tool " : "",
                      remark->name.len, remark->name.data);
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_tool_repairs_put(&text, remark->repairs);
    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "tool %*s of mcp_server \"%V\" is repaired for the list of "
                  "clients: %*s",
                  remark->name.len, remark->name.data, &mcp->name, text.len,
                  text.data);
    tg_buf_deinit(&text);
}

/* The name is the list's own: what it came in is freed. */
static void
ngx_toolgate_mcp_keep_remark(const ngx_toolgate_mcp_list_t *list,
                             ngx_toolgate_mcp_remark_t *kept,
                             const ngx_toolgate_mcp_remark_t *remark)
{
    char *name;

    *kept = *remark;
    kept->name = TG_STR_NONE;

    if (remark->name.len != 0) {
        name = ngx_pnalloc(list->pool, remark->name.len);

        if (name != NULL) {
            ngx_memcpy(name, remark->name.data, remark->name.len);
            kept->name = tg_str(name, remark->name.len);
        }
    }
}

void
ngx_toolgate_mcp_remark(ngx_toolgate_mcp_t *mcp, ngx_toolgate_mcp_list_t *list,
                        const ngx_toolgate_mcp_remark_t *remark, ngx_log_t *log)
{
    if (list->nremarks++ < NGX_TOOLGATE_MCP_REMARKS) {
        if (list->remarks == NULL) {
            list->remarks = ngx_pcalloc(list->pool, NGX_TOOLGATE_MCP_REMARKS
                                                        * sizeof(*remark));
        }

        if (list->remarks != NULL) {
            ngx_toolgate_mcp_keep_remark(list,
                                         &list->remarks[list->nremarks - 1],
                                         remark);
        }

        if (log != NULL) {
            ngx_toolgate_mcp_log_remark(mcp, remark, log);
        }

    } else if (list->nremarks == NGX_TOOLGATE_MCP_REMARKS + 1 && log != NULL) {
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "more than %d tools of mcp_server \"%V\" are left out or "
                      "repaired; the others are not logged",
                      NGX_TOOLGATE_MCP_REMARKS, &mcp->name);
    }
}

void
ngx_toolgate_mcp_log_union(ngx_toolgate_mcp_t *mcp, tg_str_t name,
                           tg_str_t word, ngx_log_t *log)
{
    if (!ngx_toolgate_may_log(&mcp->pace, NGX_LOG_WARN, log)) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "tool %*s of mcp_server \"%V\" has \"%*s\" at the root of "
                  "its inputSchema, which Anthropic's API refuses with all "
                  "tools beside it; \"hide\" it, or give it an "
                  "\"input_schema\" of an object",
                  name.len, name.data, &mcp->name, word.len, word.data);
}

/* Appends those that are left out, or those that are repaired. */
static void
ngx_toolgate_mcp_put_some(const ngx_toolgate_mcp_list_t *list,
                          ngx_uint_t is_left_out, tg_buf_t *json)
{
    const ngx_toolgate_mcp_remark_t *remark;
    tg_buf_t text;
    ngx_uint_t i, n;

    for (i = 0, n = 0; i < ngx_min(list->nremarks, NGX_TOOLGATE_MCP_REMARKS);
         i++) {
        remark = &list->remarks[i];

        if ((remark->why != NULL) != is_left_out) {
            continue;
        }

        tg_buf_text(json, n++ != 0      ? ",{\"tool\":"
                          : is_left_out ? ",\"left_out\":[{\"tool\":"
                                        : ",\"repaired\":[{\"tool\":");
        tg_json_put_compact(json, remark->name.len != 0 ? remark->name
                                                        : TG_STR("null"));
        tg_buf_text(json, ",\"why\":");
        tg_buf_init(&text, tg_alloc_libc());

        if (is_left_out) {
            tg_buf_text(&text, remark->why);
        } else {
            tg_tool_repairs_put(&text, remark->repairs);
        }

        tg_json_put_string(json, tg_buf_view(&text));
        tg_buf_char(json, '}');
        json->failed |= tg_buf_failed(&text);
        tg_buf_deinit(&text);
    }

    if (n != 0) {
        tg_buf_char(json, ']');
    }
}

void
ngx_toolgate_mcp_put_remarks(const ngx_toolgate_mcp_t *mcp, tg_buf_t *json)
{
    if (mcp->list != NULL && mcp->list->remarks != NULL) {
        ngx_toolgate_mcp_put_some(mcp->list, 1, json);
        ngx_toolgate_mcp_put_some(mcp->list, 0, json);
    }
}
