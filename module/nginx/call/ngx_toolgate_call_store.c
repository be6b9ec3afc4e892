/*
 * Large results of calls that this worker runs itself (`pass`, `library`): the
 * runner stores them, and the caller gets a preview, as of all other handlers.
 */
#include "nginx/call/ngx_toolgate_call.h"

static int
ngx_toolgate_call_ask_store(ngx_toolgate_call_t *call,
                            const tg_outcome_t *outcome)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_text(&params, "{\"tool\":");
    tg_json_put_string(&params, call->entry->name);
    tg_buf_str(&params, call->storing);
    ngx_toolgate_job_max_answer(call, &params);
    tg_buf_text(&params, ",\"answer\":");
    tg_outcome_put(&params, outcome);
    tg_buf_text(&params, "}}");
    rc = TG_NOMEM;

    if (!tg_buf_failed(&params)) {
        ngx_toolgate_call_job_init(call, call->front->conf->runner);
        rc = ngx_toolgate_job_start(&call->job, TG_STR("store_output"),
                                    tg_buf_view(&params));
    }

    tg_buf_deinit(&params);

    return rc;
}

/* A handler that answers at once has noted nothing. */
static ngx_uint_t
ngx_toolgate_call_is_large(ngx_toolgate_call_t *call,
                           const tg_outcome_t *outcome)
{
    if (call->deferred == NULL && call->handler->run != NULL) {
        (void) ngx_toolgate_call_note_storing(call);
    }

    return call->storing.len != 0 && outcome->value.len > call->whole_max;
}

ngx_uint_t
ngx_toolgate_call_store(ngx_toolgate_call_t *call, tg_outcome_t *outcome)
{
    tg_ran_t ran;

    /* Without its session, the runner does that when it gets the answer. */
    if (call->is_stored || call->front == NULL
        || call->job.state != NGX_TOOLGATE_JOB_NONE
        || !ngx_toolgate_call_is_large(call, outcome))
    {
        return 0;
    }

    ran = ngx_toolgate_ran(call);

    if (call->deferred == NULL && ngx_toolgate_call_hold(call) != NGX_OK) {
        return 1;
    }

    if (ngx_toolgate_call_ask_store(call, outcome) != TG_OK) {
        if (outcome->value.len > call->max_output) {
            *outcome = tg_outcome_failure(
                TG_FAILURE_OUTPUT,
                "The call was executed, but its result has more bytes than "
                "max_output, and could not be stored; ask for less.");
        }

        return 0;
    }

    /* The handler is done with it; from here on it is the runner's. */
    call->is_stored = 1;
    call->ran = ran;
    call->handler = NULL;
    call->has_run = 0;
    call->job.is_here = 0;
    ngx_toolgate_line_cancel(&call->place, 0);
    ngx_toolgate_call_alive(call);

    return 1;
}
