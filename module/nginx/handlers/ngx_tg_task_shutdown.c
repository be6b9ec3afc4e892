/*
 * Stops tasks when NGINX ends. Only the master knows that, because workers also
 * end at each reload. If another binary has taken over, the runner knows that
 * from the connections of its workers.
 */
#include "nginx/handlers/ngx_tg_task.h"
#include "nginx/upstream/ngx_tg_runner.h"

void
ngx_tg_tasks_exit_master(ngx_cycle_t *cycle)
{
    ngx_tg_tasks_main_conf_t *mmcf;
    ngx_tg_tasks_t **tasks;
    tg_buf_t params;
    ngx_uint_t i;

    mmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_tg_task_module);

    for (i = 0; mmcf != NULL && i < mmcf->servers.nelts; i++) {
        tasks = mmcf->servers.elts;
        tg_buf_init(&params, tg_alloc_libc());
        tg_buf_append_char(&params, '{');
        tg_json_add_string(&params, "store",
                           ngx_tg_str_from_ngx(&tasks[i]->store));
        tg_buf_append_cstr(&params, ngx_terminate ? ",\"force\":true}" : "}");

        if (!tg_buf_has_failed(&params)) {
            ngx_tg_runner_send_request_sync(tasks[i]->scf->runner,
                                            TG_STR("task_stop"),
                                            tg_buf_view(&params));
        }

        tg_buf_deinit(&params);
    }
}
