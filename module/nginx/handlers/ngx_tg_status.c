/*
 * `toolgate.status`: counters of all workers, calls in flight, and the state of
 * runners and MCP servers.
 */
#include "nginx/handlers/ngx_tg_status.h"

/*
 * Time for a runner's response, in ms; the status is sent without a later one.
 */
#define NGX_TG_STATUS_RUNNER_TIMEOUT 2000

static ngx_int_t
ngx_tg_status_init_runners(ngx_tg_call_t *call, ngx_tg_status_t *status)
{
    ngx_tg_status_runner_t *runner;
    ngx_tg_srv_conf_t **scf;
    ngx_uint_t i, k;

    if (ngx_array_init(&status->runners, call->pool, 2, sizeof(*runner))
        != NGX_OK) {
        return NGX_ERROR;
    }

    scf = status->servers.elts;

    for (i = 0; i < status->servers.nelts; i++) {
        runner = status->runners.elts;

        for (k = 0;
             k < status->runners.nelts && runner[k].runner != scf[i]->runner;
             k++)
        {
        }

        if (scf[i]->runner == NULL || k < status->runners.nelts) {
            continue;
        }

        runner = ngx_array_push(&status->runners);

        if (runner == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(runner, sizeof(*runner));
        runner->call = call;
        runner->runner = scf[i]->runner;
        runner->is_reachable = ngx_tg_runner_is_reachable(runner->runner);
        status->nrequests += runner->is_reachable;
    }

    return NGX_OK;
}

/* --- end of the call --- */

/* Cancels all requests to runners, and the timer. */
static void
ngx_tg_status_cancel(ngx_tg_call_t *call)
{
    ngx_tg_status_runner_t *runner;
    ngx_tg_status_t *status;
    ngx_uint_t i;

    status = call->ctx;
    runner = status->runners.elts;

    for (i = 0; i < status->runners.nelts; i++) {
        ngx_tg_upstream_request_cancel(&runner[i].request, 0);
    }

    if (status->timer.timer_set) {
        ngx_del_timer(&status->timer);
    }
}

static void
ngx_tg_status_send_response(ngx_tg_call_t *call)
{
    tg_outcome_t outcome;
    tg_buf_t json;

    ngx_tg_status_cancel(call);
    tg_buf_init(&json, tg_alloc_libc());
    ngx_tg_status_write_json(call->ctx, &json);
    outcome = tg_buf_has_failed(&json)
                  ? tg_outcome_make_no_memory()
                  : tg_outcome_parse_output(call->entry, tg_buf_view(&json));
    ngx_tg_call_end(call, &outcome);
    tg_buf_deinit(&json);
}

/* --- responses of runners --- */

static void
ngx_tg_status_on_runner_response(void *data, const tg_response_t *answer)
{
    ngx_tg_status_runner_t *runner = data;

    ngx_tg_status_t *status;
    u_char *copy;

    status = runner->call->ctx;

    if (answer->kind == TG_RESPONSE_RESULT) {
        copy = ngx_pnalloc(runner->call->pool, answer->result.len);

        if (copy != NULL) {
            ngx_memcpy(copy, answer->result.data, answer->result.len);
            runner->raw = tg_str((char *) copy, answer->result.len);
        }
    }

    if (--status->nrequests == 0) {
        ngx_tg_status_send_response(runner->call);
    }
}

static void
ngx_tg_status_on_timeout(ngx_event_t *ev)
{
    ngx_tg_status_send_response(ev->data);
}

static void
ngx_tg_status_run(ngx_tg_call_t *call)
{
    ngx_tg_status_runner_t *runner;
    ngx_tg_status_t *status;
    ngx_uint_t i;

    status = call->ctx;
    runner = status->runners.elts;
    status->timer.handler = ngx_tg_status_on_timeout;
    status->timer.data = call;
    status->timer.log = ngx_cycle->log;
    ngx_add_timer(&status->timer, NGX_TG_STATUS_RUNNER_TIMEOUT);

    for (i = 0; i < status->runners.nelts; i++) {
        runner[i].request.data = &runner[i];
        runner[i].request.answer = ngx_tg_status_on_runner_response;

        if (runner[i].is_reachable
            && ngx_tg_runner_send_request(runner[i].runner, TG_STR("status"),
                                          TG_STR("{}"), &runner[i].request)
                   != TG_OK)
        {
            status->nrequests--;
        }
    }

    if (status->nrequests == 0) {
        ngx_tg_status_send_response(call);
    }
}

static void
ngx_tg_status_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_status_t *status;

    status = ngx_pcalloc(call->pool, sizeof(*status));
    call->ctx = status;

    if (status == NULL
        || ngx_tg_status_list_servers(call, &status->servers) != NGX_OK
        || ngx_tg_status_init_runners(call, status) != NGX_OK
        || ngx_array_init(&status->calls, call->pool, 8,
                          sizeof(ngx_tg_status_call_t))
               != NGX_OK)
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
    .cancel = ngx_tg_status_cancel,
};
