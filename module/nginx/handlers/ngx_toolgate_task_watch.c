/*
 * What a worker tells the runner about tasks, and hears of them: it says once
 * what may be run, and anew whenever it has lost the line.  That is also what
 * starts the runner with NGINX, and keeps it.
 */
#include "nginx/handlers/ngx_toolgate_task.h"
#include "nginx/share/ngx_toolgate_share.h"

/* Between two tries to ask: it doubles. */
#define NGX_TOOLGATE_TASK_RETRY_MIN 50
#define NGX_TOOLGATE_TASK_RETRY_MAX 10000

static void
ngx_toolgate_task_ask_later(ngx_toolgate_tasks_t *tasks)
{
    if (ngx_toolgate_exits() || ngx_terminate || tasks->retry.timer_set
        || tasks->ask.line != NULL)
    {
        return;
    }

    ngx_add_timer(&tasks->retry, tasks->delay);
    tasks->delay = ngx_min(tasks->delay * 2, NGX_TOOLGATE_TASK_RETRY_MAX);
}

static void
ngx_toolgate_task_ask(ngx_event_t *ev)
{
    ngx_toolgate_tasks_t *tasks = ev->data;

    if (ngx_toolgate_runner_ask(tasks->scf->runner, TG_STR("task_open"),
                                ngx_toolgate_str(&tasks->spec), &tasks->ask)
        != TG_OK)
    {
        ngx_toolgate_task_ask_later(tasks);
    }
}

static void
ngx_toolgate_task_answer(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_tasks_t *tasks = data;

    if (answer->kind == TG_ANSWER_RESULT) {
        tasks->delay = NGX_TOOLGATE_TASK_RETRY_MIN;

    } else if (answer->kind == TG_ANSWER_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "toolgate-runner does not take the tasks of \"%V\": %*s",
                      &tasks->store, answer->message.len, answer->message.data);
    } else {
        ngx_toolgate_task_ask_later(tasks);
    }
}

static void
ngx_toolgate_task_lost(void *data)
{
    ngx_toolgate_task_ask_later(data);
}

/* As ngx_toolgate_job_owner() has it, raw. */
static uint64_t
ngx_toolgate_task_whom(tg_str_t owner)
{
    int64_t uid;

    if (tg_json_type(owner) != TG_JSON_STRING) {
        return NGX_TOOLGATE_TO_SEERS;
    }

    if (tg_json_is_text(owner, TG_STR("*"))) {
        return NGX_TOOLGATE_TO_ALL;
    }

    return tg_json_int64(tg_json_body(owner), &uid) == TG_OK
               ? (uint64_t) uid
               : NGX_TOOLGATE_TO_NOBODY;
}

static void
ngx_toolgate_task_told(void *data, tg_str_t method, tg_str_t params)
{
    static const char *const names[] = { "store", "method", "params", "owner",
                                         NULL };
    ngx_toolgate_tasks_t *tasks = data;

    tg_str_t said[4];
    ngx_int_t rc;

    if (!tg_json_body_is(method, TG_STR("task_event"))
        || tg_json_members(params, names, said) != TG_OK
        || !tg_json_is_text(said[0], ngx_toolgate_str(&tasks->store))
        || tg_json_type(said[1]) != TG_JSON_STRING
        || tg_json_type(said[2]) != TG_JSON_OBJECT)
    {
        return;
    }

    rc = ngx_toolgate_tell(tasks->scf, ngx_toolgate_task_whom(said[3]),
                           tg_json_body(said[1]), said[2]);

    if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "clients were not told \"%*s\" about a task (%i)",
                      said[1].len - 2, said[1].data + 1, rc);
    }
}

ngx_int_t
ngx_toolgate_task_init_process(ngx_cycle_t *cycle)
{
    ngx_toolgate_tasks_main_conf_t *mmcf;
    ngx_toolgate_tasks_t **tasks;
    ngx_uint_t i;

    mmcf = cycle->conf_ctx[ngx_stream_module.index] != NULL
               ? ngx_stream_cycle_get_module_main_conf(cycle,
                                                       ngx_toolgate_task_module)
               : NULL;

    if (mmcf == NULL
        || (ngx_process != NGX_PROCESS_WORKER
            && ngx_process != NGX_PROCESS_SINGLE))
    {
        return NGX_OK;
    }

    tasks = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        tasks[i]->delay = NGX_TOOLGATE_TASK_RETRY_MIN;
        tasks[i]->retry.handler = ngx_toolgate_task_ask;
        tasks[i]->retry.data = tasks[i];
        tasks[i]->retry.log = cycle->log;
        tasks[i]->retry.cancelable = 1;
        tasks[i]->ask.data = tasks[i];
        tasks[i]->ask.answer = ngx_toolgate_task_answer;
        tasks[i]->watch.data = tasks[i];
        tasks[i]->watch.told = ngx_toolgate_task_told;
        tasks[i]->watch.lost = ngx_toolgate_task_lost;
        ngx_toolgate_runner_watch(tasks[i]->scf->runner, &tasks[i]->watch);
        /* What is posted now waits for nothing else to happen. */
        ngx_post_event(&tasks[i]->retry, &ngx_posted_next_events);
    }

    return NGX_OK;
}
