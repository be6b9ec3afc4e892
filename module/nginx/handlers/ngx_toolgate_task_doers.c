/*
 * Tools with `task`: for the runner they are agents that are called tool:NAME,
 * and each of their tasks brings its own program along.
 */
#include "nginx/handlers/ngx_toolgate_task.h"

static ngx_int_t
ngx_toolgate_task_add_doer(ngx_conf_t *cf, ngx_toolgate_tasks_t *tasks,
                           ngx_toolgate_tool_t *tool)
{
    ngx_toolgate_tool_t **slot;
    ngx_uint_t n;

    if (tasks->methods != 1 && tasks->tools != 1) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "tool \"%*s\" has \"task\", but nobody could ask what "
                      "became of its tasks; add \"task_methods on\" or "
                      "\"task_tools on\" to its server, in %V:%ui",
                      tool->entry.name.len, tool->entry.name.data, &tool->file,
                      tool->line);
        return NGX_ERROR;
    }

    slot = ngx_toolgate_push(cf, &tasks->doers, sizeof(ngx_toolgate_tool_t *));

    if (slot == NULL) {
        return NGX_ERROR;
    }

    *slot = tool;

    if (tasks->agents == NULL) {
        tasks->agents = ngx_array_create(cf->pool, 1,
                                         sizeof(ngx_toolgate_agent_t *));
    }

    if (tasks->agents == NULL) {
        return NGX_ERROR;
    }

    n = tasks->agents->nelts + tasks->doers->nelts;

    if (n > NGX_TOOLGATE_AGENTS_MAX) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "more than %d \"task_agent\" blocks and tools with "
                      "\"task\" in a server; have one do what several do, in "
                      "%V:%ui",
                      NGX_TOOLGATE_AGENTS_MAX, &tool->file, tool->line);
        return NGX_ERROR;
    }

    return NGX_OK;
}

ngx_int_t
ngx_toolgate_task_find_doers(ngx_conf_t *cf, ngx_toolgate_srv_conf_t *scf,
                             ngx_toolgate_tasks_t *tasks)
{
    ngx_toolgate_tool_t *tool;
    size_t i;

    for (i = 0; (tool = ngx_toolgate_block_at(scf, i)) != NULL; i++) {
        if (tool->task != NGX_TOOLGATE_TASK_NEVER
            && ngx_toolgate_task_add_doer(cf, tasks, tool) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

void
ngx_toolgate_doer_put(const ngx_toolgate_tool_t *tool, tg_buf_t *json)
{
    /* Names have no characters that JSON escapes. */
    tg_buf_text(json, "{\"name\":\"tool:");
    tg_buf_str(json, tool->entry.name);
    tg_buf_char(json, '"');

    if (tool->limit.concurrency != 0) {
        tg_buf_printf(json, ",\"concurrency\":%lu",
                      (unsigned long) ngx_min(tool->limit.concurrency,
                                              NGX_TOOLGATE_TASKS_MAX));
    }

    tg_buf_printf(json, ",\"max_output\":%lu,\"retry\":%ld}",
                  (unsigned long) tool->max_output, (long) tool->retry);
}
