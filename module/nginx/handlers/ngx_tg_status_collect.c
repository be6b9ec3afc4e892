/* The runners' part of a status: requests to the runners and their answers. */
#include "nginx/handlers/ngx_tg_status.h"

/*
 * Time for a runner's response, in ms; the status is complete without a later
 * one.
 */
#define NGX_TG_STATUS_RUNNER_TIMEOUT 2000

ngx_int_t
ngx_tg_status_list_runners(ngx_tg_status_t *status)
{
    ngx_tg_status_runner_t *runner;
    ngx_tg_srv_conf_t **scf;
    ngx_uint_t i, k;

    if (ngx_array_init(&status->runners, status->pool, 2, sizeof(*runner))
            != NGX_OK
        || ngx_array_init(&status->calls, status->pool, 8,
                          sizeof(ngx_tg_status_call_t))
               != NGX_OK)
    {
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
        runner->status = status;
        runner->runner = scf[i]->runner;
        runner->is_reachable = ngx_tg_runner_is_reachable(runner->runner);
        status->nrequests += runner->is_reachable;
    }

    return NGX_OK;
}

void
ngx_tg_status_cancel(ngx_tg_status_t *status)
{
    ngx_tg_status_runner_t *runner;
    ngx_uint_t i;

    runner = status->runners.elts;

    for (i = 0; i < status->runners.nelts; i++) {
        ngx_tg_upstream_request_cancel(&runner[i].request, 0);
    }

    if (status->timer.timer_set) {
        ngx_del_timer(&status->timer);
    }
}

static void
ngx_tg_status_finish(ngx_tg_status_t *status)
{
    ngx_tg_status_cancel(status);
    status->on_collected(status->data);
}

static void
ngx_tg_status_on_runner_response(void *data, const tg_response_t *answer)
{
    ngx_tg_status_runner_t *runner = data;

    u_char *copy;

    if (answer->kind == TG_RESPONSE_RESULT) {
        copy = ngx_pnalloc(runner->status->pool, answer->result.len);

        if (copy != NULL) {
            ngx_memcpy(copy, answer->result.data, answer->result.len);
            runner->raw = tg_str((char *) copy, answer->result.len);
        }
    }

    if (--runner->status->nrequests == 0) {
        ngx_tg_status_finish(runner->status);
    }
}

static void
ngx_tg_status_on_timeout(ngx_event_t *ev)
{
    ngx_tg_status_finish(ev->data);
}

ngx_int_t
ngx_tg_status_collect(ngx_tg_status_t *status)
{
    ngx_tg_status_runner_t *runner;
    ngx_uint_t i;

    if (status->nrequests == 0) {
        return NGX_OK;
    }

    runner = status->runners.elts;
    status->timer.handler = ngx_tg_status_on_timeout;
    status->timer.data = status;
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

    if (status->nrequests != 0) {
        return NGX_AGAIN;
    }

    ngx_tg_status_cancel(status);

    return NGX_OK;
}
