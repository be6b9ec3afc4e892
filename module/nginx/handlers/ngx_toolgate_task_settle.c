/*
 * What the runner is told of a server's tasks.
 */
#include "nginx/handlers/ngx_toolgate_task.h"

/* Each config is another one, however like it is. */
static void
ngx_toolgate_task_put_generation(tg_buf_t *json)
{
    char key[NGX_TOOLGATE_KEY + 1];

    tg_buf_text(json, ",\"generation\":\"");

    if (ngx_toolgate_make_key(key) == NGX_OK) {
        tg_buf_text(json, key);
    }

    tg_buf_char(json, '"');
}

static ngx_int_t
ngx_toolgate_task_spec(ngx_cycle_t *cycle, ngx_toolgate_tasks_t *tasks)
{
    ngx_toolgate_agent_t **agent;
    ngx_toolgate_tool_t **tool;
    tg_buf_t json;
    ngx_uint_t i, k;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_text(&json, "{\"store\":");
    tg_json_put_string(&json, ngx_toolgate_str(&tasks->store));
    ngx_toolgate_task_put_generation(&json);
    tg_buf_text(&json, ",\"concurrency\":");
    tg_buf_int(&json, tasks->concurrency);
    tg_buf_text(&json, ",\"queue\":");
    tg_buf_int(&json, tasks->queue);
    tg_buf_text(&json, ",\"lease_ms\":");
    tg_buf_int(&json, (int64_t) tasks->lease);

    if (tasks->password.len != 0) {
        tg_buf_text(&json, ",\"password\":");
        tg_json_put_string(&json, ngx_toolgate_str(&tasks->password));
    }

    tg_buf_text(&json, ",\"keep_ms\":");
    tg_buf_int(&json, (int64_t) tasks->keep * 1000);
    tg_buf_text(&json, ",\"output_quota\":");
    tg_buf_int(&json, tasks->output_quota);
    agent = tasks->agents->elts;

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (agent[i]->is_default) {
            tg_buf_text(&json, ",\"default\":");
            tg_json_put_string(&json, ngx_toolgate_str(&agent[i]->name));
        }
    }

    for (i = 0; i < tasks->agents->nelts; i++) {
        tg_buf_text(&json, i == 0 ? ",\"agents\":[" : ",");
        ngx_toolgate_agent_put(agent[i], &json);
    }

    tool = tasks->doers != NULL ? tasks->doers->elts : NULL;

    for (k = 0; tool != NULL && k < tasks->doers->nelts; k++) {
        tg_buf_text(&json, i + k == 0 ? ",\"agents\":[" : ",");
        ngx_toolgate_doer_put(tool[k], &json);
    }

    tg_buf_char(&json, ']');
    ngx_toolgate_autos_put(tasks, &json);
    tg_buf_char(&json, '}');

    return ngx_toolgate_task_keep(cycle->pool, &json, &tasks->spec);
}

ngx_int_t
ngx_toolgate_task_settle(ngx_cycle_t *cycle)
{
    ngx_toolgate_tasks_main_conf_t *mmcf;
    ngx_toolgate_tasks_t **tasks;
    ngx_uint_t i, k;

    mmcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                 ngx_toolgate_task_module);
    tasks = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        if (ngx_toolgate_task_place(cycle, tasks[i]) != NGX_OK
            || ngx_toolgate_task_spec(cycle, tasks[i]) != NGX_OK)
        {
            return NGX_ERROR;
        }

        tasks[i]->scf->task_store = tasks[i]->store;
        tasks[i]->scf->has_task_tools = tasks[i]->tools == 1;

        for (k = 0; k < i; k++) {
            if (tg_str_eq(ngx_toolgate_str(&tasks[k]->store),
                          ngx_toolgate_str(&tasks[i]->store)))
            {
                ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                              "two servers have their tasks in \"%V\"; name "
                              "another file with \"task_store\" in %V",
                              &tasks[i]->store, &tasks[i]->where);
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}
