/*
 * Large results of calls that this worker runs (`pass`, `library`): the runner
 * stores them, and the caller gets a preview.
 */
#include "nginx/call/ngx_tg_call_impl.h"

static int
ngx_tg_call_request_store(ngx_tg_call_t *call, const tg_outcome_t *outcome)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_string(&params, "tool", call->entry->name);
    tg_buf_append_str(&params, call->priv->store_params);
    ngx_tg_call_append_max_response(call, &params);
    tg_json_begin_member(&params, "answer");
    tg_outcome_write_json(&params, outcome);
    tg_buf_append_cstr(&params, "}}");
    rc = TG_NOMEM;

    if (!tg_buf_has_failed(&params)) {
        ngx_tg_call_init_remote(call, call->base->conf->runner);
        rc = ngx_tg_remote_call_start(&call->priv->job, TG_STR("store_output"),
                                      tg_buf_view(&params));
    }

    tg_buf_deinit(&params);

    return rc;
}

/* Saves the params, too, which a handler that answers at once has not done. */
static ngx_uint_t
ngx_tg_call_has_large_result(ngx_tg_call_t *call, const tg_outcome_t *outcome)
{
    if (call->priv->deferred == NULL && call->priv->handler->run != NULL) {
        (void) ngx_tg_call_save_store_params(call);
    }

    return call->priv->store_params.len != 0
           && outcome->value.len > call->priv->unstored_max;
}

ngx_uint_t
ngx_tg_call_store_result(ngx_tg_call_t *call, tg_outcome_t *outcome)
{
    tg_run_stats_t ran;

    /* If the session has moved, the runner stores the result later. */
    if (call->priv->is_stored || call->base == NULL
        || call->priv->job.state != NGX_TG_REMOTE_CALL_NONE
        || !ngx_tg_call_has_large_result(call, outcome))
    {
        return 0;
    }

    ran = ngx_tg_call_get_run_stats(call);

    if (call->priv->deferred == NULL
        && ngx_tg_call_defer_request(call) != NGX_OK) {
        return 1;
    }

    if (ngx_tg_call_request_store(call, outcome) != TG_OK) {
        if (outcome->value.len > call->priv->max_output) {
            *outcome = tg_outcome_make_failure(
                TG_FAILURE_OUTPUT,
                "The call was executed, but its result has more bytes than "
                "max_output, and could not be stored; ask for less.");
        }

        return 0;
    }

    /* The rest of the call is a job of the runner. */
    call->priv->is_stored = 1;
    call->priv->ran = ran;
    call->priv->handler = NULL;
    call->has_run = 0;
    call->priv->job.is_local = 0;
    ngx_tg_upstream_request_cancel(&call->priv->slot_request, 0);
    ngx_tg_call_reset_watchdog(call);

    return 1;
}
