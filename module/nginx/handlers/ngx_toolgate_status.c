/*
 * `toolgate.status`: what all workers have counted, what runs now, and what
 * the runners and MCP servers do.
 */
#include "nginx/handlers/ngx_toolgate_status.h"

/* ms that a runner has to answer; the rest is said without it. */
#define NGX_TOOLGATE_STATUS_WAIT 2000

static void ngx_toolgate_status_start(ngx_toolgate_call_t *call,
                                      tg_request_t *request);
static void ngx_toolgate_status_run(ngx_toolgate_call_t *call);
static void ngx_toolgate_status_cancel(ngx_toolgate_call_t *call);

const ngx_toolgate_handler_t ngx_toolgate_status_handler = {
    .name = ngx_string("toolgate.status"),
    .flags = NGX_TOOLGATE_OF_SERVER,
    .start = ngx_toolgate_status_start,
    .run = ngx_toolgate_status_run,
    .cancel = ngx_toolgate_status_cancel,
};

static ngx_int_t
ngx_toolgate_status_runners(ngx_toolgate_call_t *call,
                            ngx_toolgate_status_t *status)
{
    ngx_toolgate_status_runner_t *runner;
    ngx_toolgate_srv_conf_t **scf;
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
        runner->is_there = ngx_toolgate_runner_is_there(runner->runner);
        status->nasks += runner->is_there;
    }

    return NGX_OK;
}

/* --- the end --- */

/* Nothing is under way any more. */
static void
ngx_toolgate_status_cancel(ngx_toolgate_call_t *call)
{
    ngx_toolgate_status_runner_t *runner;
    ngx_toolgate_status_t *status;
    ngx_uint_t i;

    status = call->ctx;
    runner = status->runners.elts;

    for (i = 0; i < status->runners.nelts; i++) {
        ngx_toolgate_line_cancel(&runner[i].ask, 0);
    }

    if (status->timer.timer_set) {
        ngx_del_timer(&status->timer);
    }
}

static void
ngx_toolgate_status_end(ngx_toolgate_call_t *call)
{
    tg_outcome_t outcome;
    tg_buf_t json;

    ngx_toolgate_status_cancel(call);
    tg_buf_init(&json, tg_alloc_libc());
    ngx_toolgate_status_put(call->ctx, &json);
    outcome = tg_buf_failed(&json)
                  ? tg_outcome_no_memory()
                  : tg_outcome_output(call->entry, tg_buf_view(&json));
    ngx_toolgate_call_end(call, &outcome);
    tg_buf_deinit(&json);
}

/* --- what runners say --- */

static void
ngx_toolgate_status_answer(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_status_runner_t *runner = data;

    ngx_toolgate_status_t *status;
    u_char *copy;

    status = runner->call->ctx;

    if (answer->kind == TG_ANSWER_RESULT) {
        copy = ngx_pnalloc(runner->call->pool, answer->result.len);

        if (copy != NULL) {
            ngx_memcpy(copy, answer->result.data, answer->result.len);
            runner->raw = tg_str((char *) copy, answer->result.len);
        }
    }

    if (--status->nasks == 0) {
        ngx_toolgate_status_end(runner->call);
    }
}

static void
ngx_toolgate_status_late(ngx_event_t *ev)
{
    ngx_toolgate_status_end(ev->data);
}

static void
ngx_toolgate_status_run(ngx_toolgate_call_t *call)
{
    ngx_toolgate_status_runner_t *runner;
    ngx_toolgate_status_t *status;
    ngx_uint_t i;

    status = call->ctx;
    runner = status->runners.elts;
    status->timer.handler = ngx_toolgate_status_late;
    status->timer.data = call;
    status->timer.log = ngx_cycle->log;
    ngx_add_timer(&status->timer, NGX_TOOLGATE_STATUS_WAIT);

    for (i = 0; i < status->runners.nelts; i++) {
        runner[i].ask.data = &runner[i];
        runner[i].ask.answer = ngx_toolgate_status_answer;

        if (runner[i].is_there
            && ngx_toolgate_runner_ask(runner[i].runner, TG_STR("status"),
                                       TG_STR("{}"), &runner[i].ask)
                   != TG_OK)
        {
            status->nasks--;
        }
    }

    if (status->nasks == 0) {
        ngx_toolgate_status_end(call);
    }
}

static void
ngx_toolgate_status_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    ngx_toolgate_status_t *status;

    (void) request;
    status = ngx_pcalloc(call->pool, sizeof(*status));
    call->ctx = status;

    if (status == NULL
        || ngx_toolgate_status_servers(call, &status->servers) != NGX_OK
        || ngx_toolgate_status_runners(call, status) != NGX_OK
        || ngx_array_init(&status->calls, call->pool, 8,
                          sizeof(ngx_toolgate_status_call_t))
               != NGX_OK)
    {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
        return;
    }

    if (status->nasks == 0) {
        ngx_toolgate_status_end(call);
    } else {
        (void) ngx_toolgate_call_defer(call);
    }
}
