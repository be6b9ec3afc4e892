/*
 * Params of the runner's method task_open: agents, limits and rules of a
 * server.
 */
#include "nginx/handlers/ngx_tg_task.h"
#include "nginx/call/ngx_tg_session_base.h"

/*
 * Writes a random number of the config: each config load is a new generation,
 * even if nothing has changed.
 */
static void
ngx_tg_tasks_write_generation(tg_buf_t *json)
{
    char key[NGX_TG_TOKEN_LEN + 1];

    tg_buf_append_cstr(json, ",\"generation\":\"");

    if (ngx_tg_token_generate(key) == NGX_OK) {
        tg_buf_append_cstr(json, key);
    }

    tg_buf_append_char(json, '"');
}

static ngx_int_t
ngx_tg_tasks_make_open_params(ngx_cycle_t *cycle, ngx_tg_tasks_t *tasks)
{
    ngx_tg_task_agent_t **agent;
    ngx_tg_tool_t **tool;
    tg_buf_t json;
    ngx_uint_t i, k;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_char(&json, '{');
    tg_json_add_string(&json, "store", ngx_tg_str_from_ngx(&tasks->store));
    ngx_tg_tasks_write_generation(&json);
    tg_spec_write(tg_task_fields, &tasks->options, &json);
    tg_json_add_int(&json, "lease_ms", tasks->options.lease_ms);

    if (tasks->password.len != 0) {
        tg_json_add_string(&json, "password",
                           ngx_tg_str_from_ngx(&tasks->password));
    }

    agent = tasks->agents->elts;

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (agent[i]->is_default) {
            tg_json_add_string(&json, "default",
                               ngx_tg_str_from_ngx(&agent[i]->name));
        }
    }

    for (i = 0; i < tasks->agents->nelts; i++) {
        tg_buf_append_cstr(&json, i == 0 ? ",\"agents\":[" : ",");
        ngx_tg_task_agent_write_json(agent[i], &json);
    }

    tool = tasks->task_tools != NULL ? tasks->task_tools->elts : NULL;

    for (k = 0; tool != NULL && k < tasks->task_tools->nelts; k++) {
        tg_buf_append_cstr(&json, i + k == 0 ? ",\"agents\":[" : ",");
        ngx_tg_task_tool_write_json(tool[k], &json);
    }

    tg_buf_append_char(&json, ']');
    ngx_tg_automation_rules_write_json(tasks, &json);
    tg_buf_append_char(&json, '}');

    return ngx_tg_buf_move_to_pool(cycle->pool, &json, &tasks->open_params);
}

ngx_int_t
ngx_tg_tasks_finalize_config(ngx_cycle_t *cycle)
{
    ngx_tg_tasks_main_conf_t *mmcf;
    ngx_tg_tasks_t **tasks;
    ngx_uint_t i, k;

    mmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_tg_task_module);
    tasks = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        if (ngx_tg_task_store_finalize(cycle, tasks[i]) != NGX_OK
            || ngx_tg_tasks_make_open_params(cycle, tasks[i]) != NGX_OK)
        {
            return NGX_ERROR;
        }

        tasks[i]->scf->task_store = tasks[i]->store;
        tasks[i]->scf->has_task_tools = tasks[i]->tools == 1;

        for (k = 0; k < i; k++) {
            if (tg_str_eq(ngx_tg_str_from_ngx(&tasks[k]->store),
                          ngx_tg_str_from_ngx(&tasks[i]->store)))
            {
                ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                              "two servers use the task store \"%V\"; name "
                              "another file with \"task_store\" in %V",
                              &tasks[i]->store, &tasks[i]->where);
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}
