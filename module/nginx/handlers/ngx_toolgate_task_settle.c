/*
 * Where tasks are written down, and what the runner is told of a server's.
 */
#include "nginx/handlers/ngx_toolgate_task.h"

#define NGX_TOOLGATE_TASK_FILE "tasks.db"

/* Where it is, if that was not said; and it is one that can be. */
static ngx_int_t
ngx_toolgate_task_place(ngx_cycle_t *cycle, ngx_toolgate_tasks_t *tasks)
{
    const ngx_str_t *dir;
    ngx_file_info_t fi;
    u_char *p, *slash;

    if (tasks->store.len != 0) {
        slash = (u_char *) strrchr((char *) tasks->store.data, '/');
        *slash = '\0';

        if (slash != tasks->store.data
            && (ngx_file_info(tasks->store.data, &fi) == NGX_FILE_ERROR
                || !ngx_is_dir(&fi)))
        {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                          "there is no directory \"%s\" for \"task_store\"; "
                          "make it, for the workers' user, in %V",
                          tasks->store.data, &tasks->where);
            *slash = '/';
            return NGX_ERROR;
        }

        *slash = '/';

        if (slash[1] == '\0'
            || (ngx_file_info(tasks->store.data, &fi) != NGX_FILE_ERROR
                && ngx_is_dir(&fi)))
        {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                          "\"%V\" of \"task_store\" is a directory; name a "
                          "file in it, in %V",
                          &tasks->store, &tasks->where);
            return NGX_ERROR;
        }
    }

    dir = ngx_toolgate_runner_dir(tasks->scf->runner);
    p = ngx_pnalloc(cycle->pool, sizeof("sqlite:/" NGX_TOOLGATE_TASK_FILE)
                                     + dir->len + tasks->store.len);

    if (p == NULL) {
        return NGX_ERROR;
    }

    tasks->store.len =
        (tasks->store.len != 0
             ? ngx_sprintf(p, "sqlite:%V%Z", &tasks->store)
             : ngx_sprintf(p, "sqlite:%V/" NGX_TOOLGATE_TASK_FILE "%Z", dir))
        - p - 1;
    tasks->store.data = p;

    return NGX_OK;
}

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
    tg_buf_t json;
    ngx_uint_t i;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_text(&json, "{\"store\":");
    tg_json_put_string(&json, ngx_toolgate_str(&tasks->store));
    ngx_toolgate_task_put_generation(&json);
    tg_buf_text(&json, ",\"concurrency\":");
    tg_buf_int(&json, tasks->concurrency);
    tg_buf_text(&json, ",\"queue\":");
    tg_buf_int(&json, tasks->queue);
    tg_buf_text(&json, ",\"keep_ms\":");
    tg_buf_int(&json, (int64_t) tasks->keep * 1000);
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
