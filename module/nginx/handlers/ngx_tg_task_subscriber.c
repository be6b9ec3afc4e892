/*
 * Connection of a worker to the runner for tasks: sends task_open, again after
 * each loss of the connection, and broadcasts the runner's notifications. It
 * also starts the runner with NGINX and keeps it running.
 */
#include "nginx/call/ngx_tg_session_base.h"
#include "nginx/handlers/ngx_tg_task.h"
#include "nginx/shm/ngx_tg_shm.h"

/* Delay in ms before task_open is sent again; doubled after each failure. */
#define NGX_TG_TASK_RETRY_MIN 50
#define NGX_TG_TASK_RETRY_MAX 10000

static void
ngx_tg_tasks_schedule_open(ngx_tg_tasks_t *tasks)
{
    if (ngx_tg_worker_is_exiting() || ngx_terminate || tasks->retry.timer_set
        || tasks->request.conn != NULL)
    {
        return;
    }

    ngx_add_timer(&tasks->retry, tasks->delay);
    tasks->delay = ngx_min(tasks->delay * 2, NGX_TG_TASK_RETRY_MAX);
}

static void
ngx_tg_tasks_send_open(ngx_event_t *ev)
{
    ngx_tg_tasks_t *tasks = ev->data;

    if (ngx_tg_runner_send_request(tasks->scf->runner, TG_STR("task_open"),
                                   ngx_tg_str_from_ngx(&tasks->open_params),
                                   &tasks->request)
        != TG_OK)
    {
        ngx_tg_tasks_schedule_open(tasks);
    }
}

static void
ngx_tg_tasks_on_open_response(void *data, const tg_response_t *answer)
{
    ngx_tg_tasks_t *tasks = data;

    if (answer->kind == TG_RESPONSE_RESULT) {
        tasks->delay = NGX_TG_TASK_RETRY_MIN;

    } else if (answer->kind == TG_RESPONSE_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "toolgate-runner rejected the configuration of the task "
                      "store \"%V\": %*s",
                      &tasks->store, answer->message.len, answer->message.data);
    } else {
        ngx_tg_tasks_schedule_open(tasks);
    }
}

static void
ngx_tg_tasks_on_runner_lost(void *data)
{
    ngx_tg_tasks_schedule_open(data);
}

/* Returns the audience of a notification for a raw owner. */
static uint64_t
ngx_tg_task_event_get_audience(tg_str_t owner)
{
    if (tg_json_type(owner) != TG_JSON_STRING) {
        return NGX_TG_AUDIENCE_SEE_ALL;
    }

    if (tg_json_string_eq(owner, TG_STR("*"))) {
        return NGX_TG_AUDIENCE_ALL;
    }

    return ngx_tg_owner_get_audience(tg_json_string_body(owner));
}

static void
ngx_tg_tasks_on_runner_notification(void *data, tg_str_t method,
                                    tg_str_t params)
{
    static const char *const names[] = { "store", "method", "params", "owner",
                                         NULL };
    ngx_tg_tasks_t *tasks = data;

    tg_str_t said[4];
    ngx_int_t rc;

    if (!tg_json_body_eq_text(method, TG_STR("task_event"))
        || tg_json_get_members(params, names, said) != TG_OK
        || !tg_json_string_eq(said[0], ngx_tg_str_from_ngx(&tasks->store))
        || tg_json_type(said[1]) != TG_JSON_STRING
        || tg_json_type(said[2]) != TG_JSON_OBJECT)
    {
        return;
    }

    rc = ngx_tg_server_broadcast_to_audience(
        tasks->scf, ngx_tg_task_event_get_audience(said[3]),
        tg_json_string_body(said[1]), said[2]);

    if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "notification \"%*s\" about a task was not sent (%i)",
                      said[1].len - 2, said[1].data + 1, rc);
    }
}

ngx_int_t
ngx_tg_tasks_init_process(ngx_cycle_t *cycle)
{
    ngx_tg_tasks_main_conf_t *mmcf;
    ngx_tg_tasks_t **tasks;
    ngx_uint_t i;

    mmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_tg_task_module);

    if (mmcf == NULL || !ngx_tg_is_worker()) {
        return NGX_OK;
    }

    tasks = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        tasks[i]->delay = NGX_TG_TASK_RETRY_MIN;
        tasks[i]->retry.handler = ngx_tg_tasks_send_open;
        tasks[i]->retry.data = tasks[i];
        tasks[i]->retry.log = cycle->log;
        tasks[i]->retry.cancelable = 1;
        tasks[i]->request.data = tasks[i];
        tasks[i]->request.answer = ngx_tg_tasks_on_open_response;
        tasks[i]->subscriber.data = tasks[i];
        tasks[i]->subscriber.on_notification =
            ngx_tg_tasks_on_runner_notification;
        tasks[i]->subscriber.on_lost = ngx_tg_tasks_on_runner_lost;
        ngx_tg_runner_add_subscriber(tasks[i]->scf->runner,
                                     &tasks[i]->subscriber);
        /*
         * An event that is posted here runs without waiting for another event.
         */
        ngx_post_event(&tasks[i]->retry, &ngx_posted_next_events);
    }

    return NGX_OK;
}
