/*
 * Captures the job of a call instead of starting it: the handler evaluates its
 * values as for a client, but the call ends when it would go to the runner.
 */
#include "nginx/call/ngx_tg_call_capture.h"

#include "nginx/call/ngx_tg_call_impl.h"

ngx_int_t
ngx_tg_call_capture_job(ngx_tg_session_base_t *base,
                        const tg_catalog_entry_t *entry, tg_str_t uri,
                        tg_str_t arguments, tg_str_t *method, tg_buf_t *params)
{
    ngx_tg_captured_job_t captured;
    tg_request_t request;
    ngx_tg_call_t *call;
    tg_buf_t subject;
    u_char text[512];

    call = ngx_tg_call_new(base);

    if (call == NULL) {
        return NGX_ERROR;
    }

    tg_buf_init(&subject, tg_alloc_libc());
    tg_json_write_escaped(&subject, uri);
    ngx_memzero(&captured, sizeof(ngx_tg_captured_job_t));
    captured.params = params;
    tg_memzero(&request, sizeof(tg_request_t));
    request.entry = entry;
    request.name = tg_buf_view(&subject);
    request.arguments = arguments;
    request.reply.kind = entry->kind;
    request.reply.subject = request.name;
    request.reply.is_silent = 1;

    call->tool = entry->host;
    call->entry = entry;
    call->request = &request;
    call->priv->handler = call->tool->handler;
    call->priv->captured = &captured;

    if (ngx_tg_call_take_rate(call, text, sizeof(text)) != NGX_OK) {
        ngx_tg_call_end(call, NULL);
        tg_buf_deinit(&subject);
        return NGX_BUSY;
    }

    ngx_tg_call_set_state(call, NGX_TG_CALL_RUNNING);
    call->priv->handler->start(call, &request);
    tg_buf_deinit(&subject);
    *method = captured.method;

    return captured.method.len != 0 && !tg_buf_has_failed(params) ? NGX_OK
                                                                  : NGX_ERROR;
}
