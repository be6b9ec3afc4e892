/*
 * `return VALUE`: answered at once, in the worker.
 */
#include "nginx/ngx_stream_toolgate.h"

void
ngx_stream_toolgate_return_handler(ngx_stream_toolgate_call_t *call,
                                   tg_request_t *request)
{
    tg_outcome_t outcome;
    ngx_str_t text;

    (void) request;

    if (ngx_stream_toolgate_value(call, call->tool->value, &text) != NGX_OK) {
        ngx_stream_toolgate_fail(call, TG_FAILURE_INTERNAL,
                                 "Toolgate has no memory left; try again.");
        return;
    }

    outcome = tg_outcome_output(&call->tool->entry,
                                tg_str((const char *) text.data, text.len));
    ngx_stream_toolgate_answer(call, &outcome);
}
