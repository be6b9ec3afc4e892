/*
 * `toolgate.status`: counters of all workers, calls in flight, and the state of
 * runners and MCP servers.
 */
#include "nginx/handlers/ngx_tg_status.h"

/* Stops waiting for runners: the call ends. */
static void
ngx_tg_status_on_cancel(ngx_tg_call_t *call)
{
    ngx_tg_status_cancel(call->ctx);
}

static void
ngx_tg_status_send_response(void *data)
{
    ngx_tg_call_t *call = data;

    tg_outcome_t outcome;
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    ngx_tg_status_write_json(call->ctx, &json);
    outcome = tg_buf_has_failed(&json)
                  ? tg_outcome_make_no_memory()
                  : tg_outcome_parse_output(call->entry, tg_buf_view(&json));
    ngx_tg_call_end(call, &outcome);
    tg_buf_deinit(&json);
}

static void
ngx_tg_status_run(ngx_tg_call_t *call)
{
    if (ngx_tg_status_collect(call->ctx) == NGX_OK) {
        ngx_tg_status_send_response(call);
    }
}

static void
ngx_tg_status_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_status_t *status;

    status = ngx_pcalloc(call->pool, sizeof(*status));
    call->ctx = status;

    if (status == NULL) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        return;
    }

    status->pool = call->pool;
    status->on_collected = ngx_tg_status_send_response;
    status->data = call;

    if (ngx_tg_status_list_servers(status, call) != NGX_OK
        || ngx_tg_status_list_runners(status) != NGX_OK)
    {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        return;
    }

    if (status->nrequests == 0) {
        ngx_tg_status_send_response(call);
    } else {
        (void) ngx_tg_call_defer(call);
    }
}

/* --- handler --- */

const ngx_tg_handler_t ngx_tg_status_handler = {
    .name = ngx_string("toolgate.status"),
    .flags = NGX_TG_HANDLER_IS_BUILTIN,
    .start = ngx_tg_status_start,
    .run = ngx_tg_status_run,
    .cancel = ngx_tg_status_on_cancel,
};
