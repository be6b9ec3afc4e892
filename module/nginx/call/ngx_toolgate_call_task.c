/*
 * Calls that become tasks (`task`): the runner writes down what is to be run,
 * and answers with the task.
 */
#include "nginx/call/ngx_toolgate_call.h"

/* As of a method about tasks: a database may be away for a moment. */
#define NGX_TOOLGATE_TASK_ANSWER 60000

ngx_uint_t
ngx_toolgate_put_token(tg_buf_t *params)
{
    char key[NGX_TOOLGATE_KEY + 1];

    if (ngx_toolgate_make_key(key) != NGX_OK) {
        return 0;
    }

    tg_buf_text(params, ",\"token\":\"");
    tg_buf_text(params, key);
    tg_buf_char(params, '"');

    return 1;
}

void
ngx_toolgate_call_repeat_task(ngx_toolgate_call_t *call, tg_str_t params)
{
    u_char *copy;

    copy = ngx_pnalloc(call->pool, params.len);

    if (copy != NULL) {
        ngx_memcpy(copy, params.data, params.len);
        call->job.repeatable = tg_str((char *) copy, params.len);
        tg_call_hold(call->deferred, call->deferred->held + params.len);
    }
}

void
ngx_toolgate_call_task(ngx_toolgate_call_t *call, tg_str_t arguments,
                       tg_str_t job)
{
    const ngx_toolgate_srv_conf_t *scf;
    ngx_uint_t has_token;
    tg_buf_t params;

    scf = call->front->conf;
    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_text(&params, "{\"tool\":");
    tg_json_put_string(&params, call->tool->entry.name);
    tg_buf_text(&params, ",\"store\":");
    tg_json_put_string(&params, ngx_toolgate_str(&scf->task_store));
    tg_buf_text(&params, ",\"method\":\"tool.call\",\"is_tool\":true");
    ngx_toolgate_job_owner(call, &params);
    has_token = ngx_toolgate_put_token(&params);
    tg_buf_text(&params, scf->has_task_tools
                             ? ",\"params\":{\"has_tools\":true"
                             : ",\"params\":{\"has_tools\":false");
    tg_json_put_member(&params, ",\"arguments\":", arguments);
    tg_json_put_member(&params, ",\"job\":", job);
    tg_buf_text(&params, "}}");

    /* The tool's own time is the task's. */
    call->timeout = NGX_TOOLGATE_TASK_ANSWER;
    call->max_timeout = NGX_TOOLGATE_TASK_ANSWER;

    if (tg_buf_failed(&params)) {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
    } else if (ngx_toolgate_call_defer(call) == NGX_OK) {
        call->job.is_task = 1;

        if (has_token) {
            ngx_toolgate_call_repeat_task(call, tg_buf_view(&params));
        }

        ngx_toolgate_call_job(call, TG_STR("task"), tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}
