/*
 * Tools with `task`: the runner treats each as an agent named tool:NAME, and
 * each of its tasks contains its own program.
 */
#include "nginx/handlers/ngx_tg_task.h"

static ngx_int_t
ngx_tg_task_tool_add(ngx_conf_t *cf, ngx_tg_tasks_t *tasks, ngx_tg_tool_t *tool)
{
    ngx_tg_tool_t **slot;
    ngx_uint_t n;

    if (tasks->methods != 1 && tasks->tools != 1) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "tool \"%*s\" has \"task\", but clients have no way to "
                      "follow its tasks; add \"task_methods on\" or "
                      "\"task_tools on\" to its server, in %V:%ui",
                      tool->entry.name.len, tool->entry.name.data, &tool->file,
                      tool->line);
        return NGX_ERROR;
    }

    slot = ngx_tg_conf_array_push(cf, &tasks->task_tools,
                                  sizeof(ngx_tg_tool_t *));

    if (slot == NULL) {
        return NGX_ERROR;
    }

    *slot = tool;

    if (tasks->agents == NULL) {
        tasks->agents = ngx_array_create(cf->pool, 1,
                                         sizeof(ngx_tg_task_agent_t *));
    }

    if (tasks->agents == NULL) {
        return NGX_ERROR;
    }

    n = tasks->agents->nelts + tasks->task_tools->nelts;

    if (n > NGX_TG_TASK_AGENTS_MAX) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "more than %d \"task_agent\" blocks and tools with "
                      "\"task\" in a server; combine some of them, in "
                      "%V:%ui",
                      NGX_TG_TASK_AGENTS_MAX, &tool->file, tool->line);
        return NGX_ERROR;
    }

    return NGX_OK;
}

ngx_int_t
ngx_tg_task_tools_find(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf,
                       ngx_tg_tasks_t *tasks)
{
    ngx_tg_tool_t *tool;
    size_t i;

    for (i = 0; (tool = ngx_tg_server_get_block(scf, i)) != NULL; i++) {
        if (tool->task != NGX_TG_TASK_NEVER
            && ngx_tg_task_tool_add(cf, tasks, tool) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

void
ngx_tg_task_tool_write_json(const ngx_tg_tool_t *tool, tg_buf_t *json)
{
    /* Tool names have no characters that JSON escapes. */
    tg_buf_append_cstr(json, "{\"name\":\"tool:");
    tg_buf_append_str(json, tool->entry.name);
    tg_buf_append_char(json, '"');

    if (tool->limit.calls.concurrency > 0) {
        tg_json_add_int(json, "concurrency",
                        ngx_min(tool->limit.calls.concurrency,
                                TG_TASK_CONCURRENCY_MAX));
    }

    tg_spec_write(tg_output_fields, &tool->output_spec, json);
    tg_json_add_int(json, "retry", tool->retry);
    tg_buf_append_char(json, '}');
}
