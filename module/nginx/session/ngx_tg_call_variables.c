/* Variables of a call that its block and its client have added. */
#include "nginx/session/ngx_tg_session_impl.h"

#include "nginx/call/ngx_tg_call_ask.h"

/* $tool_traceparent and $tool_tracestate, until the call ends. */
ngx_int_t
ngx_tg_trace_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                      uintptr_t data)
{
    const ngx_tg_call_t *call;

    call = ngx_tg_stream_get_current_call(s);

    if (call == NULL) {
        return ngx_tg_variable_set(v, NULL, 0);
    }

    return ngx_tg_variable_set_str(v, data == 'p' ? call->trace.parent
                                                  : call->trace.state);
}

/* $tool_answer_NAME, $tool_answer_NAME_FIELD and $tool_action_NAME. */
ngx_int_t
ngx_tg_ask_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                    uintptr_t data)
{
    const ngx_tg_call_t *call;
    tg_str_t name;

    call = ngx_tg_stream_get_current_call(s);

    if (call == NULL || call->asks == NULL) {
        return ngx_tg_variable_set(v, NULL, 0);
    }

    name = ngx_tg_str_from_ngx((const ngx_str_t *) data);

    if (tg_str_has_prefix(name, "tool_action_")) {
        return ngx_tg_variable_set_str(
            v, ngx_tg_call_get_action(
                   call, tg_str_skip(name, sizeof("tool_action_") - 1)));
    }

    return ngx_tg_variable_set_decoded(
        s, v,
        ngx_tg_call_get_answer(call,
                               tg_str_skip(name, sizeof("tool_answer_") - 1)));
}
