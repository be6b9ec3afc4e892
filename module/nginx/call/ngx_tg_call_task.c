/* Calls that become tasks (`task`): the runner answers with the task. */
#include "nginx/call/ngx_tg_call_impl.h"

#include "protocol/tg_rpc.h"

/* Timeout of the submission, in ms: a database may fail for a moment. */
#define NGX_TG_TASK_RESPONSE_TIMEOUT 60000

ngx_uint_t
ngx_tg_call_is_task_submission(const ngx_tg_call_t *call,
                               const tg_request_t *request)
{
    tg_str_t value;

    switch (call->tool->task) {
    case NGX_TG_TASK_REQUIRED:
        return 1;
    case NGX_TG_TASK_OPTIONAL:
        return request->meta.data != NULL
               && tg_json_has_member(request->meta, TG_STR(TG_META_TASK),
                                     TG_JSON_TRUE, &value);
    default:
        return 0;
    }
}

ngx_uint_t
ngx_tg_append_submission_token(tg_buf_t *params)
{
    char key[NGX_TG_TOKEN_LEN + 1];

    if (ngx_tg_token_generate(key) != NGX_OK) {
        return 0;
    }

    tg_buf_append_cstr(params, ",\"token\":\"");
    tg_buf_append_cstr(params, key);
    tg_buf_append_char(params, '"');

    return 1;
}

void
ngx_tg_call_save_task_params(ngx_tg_call_t *call, tg_str_t params)
{
    u_char *copy;

    copy = ngx_pnalloc(call->pool, params.len);

    if (copy != NULL) {
        ngx_memcpy(copy, params.data, params.len);
        call->priv->job.repeatable_params = tg_str((char *) copy, params.len);
        tg_call_set_host_bytes(call->priv->deferred,
                               call->priv->deferred->host_bytes + params.len);
    }
}

void
ngx_tg_call_start_task_job(ngx_tg_call_t *call, tg_buf_t *params,
                           ngx_uint_t is_repeatable)
{
    call->priv->job.is_task = 1;
    call->priv->is_repeatable = is_repeatable;
    ngx_tg_call_start_remote(call, TG_STR("task"), params, TG_FAILURE_INTERNAL,
                             NULL);
}

void
ngx_tg_call_start_task(ngx_tg_call_t *call, tg_str_t arguments, tg_buf_t *job)
{
    const ngx_tg_srv_conf_t *scf;
    ngx_uint_t has_token;
    tg_buf_t params;

    scf = call->base->conf;
    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_string(&params, "tool", call->tool->entry.name);
    tg_json_add_string(&params, "store", ngx_tg_str_from_ngx(&scf->task_store));
    tg_json_add_cstr(&params, "method", "tool.call");
    tg_json_add_bool(&params, "is_tool", 1);
    ngx_tg_call_append_owner(call, &params);
    has_token = ngx_tg_append_submission_token(&params);
    tg_buf_append_cstr(&params, scf->has_task_tools
                                    ? ",\"params\":{\"has_tools\":true"
                                    : ",\"params\":{\"has_tools\":false");
    tg_json_add_compact(&params, "arguments", arguments);
    tg_buf_append_char(job, '}');

    if (tg_buf_has_failed(job)) {
        params.failed = 1;
    } else {
        tg_json_add_compact(&params, "job", tg_buf_view(job));
    }

    tg_buf_deinit(job);
    tg_buf_append_char(&params, '}');

    /* The tool's own timeout is the task's. */
    call->priv->timeout = NGX_TG_TASK_RESPONSE_TIMEOUT;
    call->priv->max_timeout = NGX_TG_TASK_RESPONSE_TIMEOUT;
    ngx_tg_call_start_task_job(call, &params, has_token);
}
