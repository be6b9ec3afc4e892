/* The W3C trace context that a client sends with a call. */
#include "nginx/call/ngx_tg_call_impl.h"

#include "protocol/tg_trace_context.h"

/* Maximum length of an escaped byte in JSON, as \u0030. */
#define NGX_TG_JSON_ESCAPE_LEN 6

/* Decodes a raw JSON string; absent if it is not a valid string. */
static tg_str_t
ngx_tg_call_decode_trace_text(ngx_tg_call_t *call, tg_str_t raw,
                              int (*fits)(tg_str_t text))
{
    tg_str_t text;
    char *p;

    if (tg_json_type(raw) != TG_JSON_STRING
        || raw.len > TG_TRACESTATE_MAX * NGX_TG_JSON_ESCAPE_LEN)
    {
        return TG_STR_NONE;
    }

    p = ngx_pnalloc(call->pool, raw.len);

    if (p == NULL) {
        return TG_STR_NONE;
    }

    text = tg_str(p, tg_json_unescape(p, tg_json_string_body(raw)));

    return fits(text) ? text : TG_STR_NONE;
}

void
ngx_tg_call_read_trace_context(ngx_tg_call_t *call)
{
    const tg_request_t *request;
    ngx_tg_trace_context_t *trace;

    request = call->request;
    trace = &call->trace;
    trace->parent = ngx_tg_call_decode_trace_text(call, request->traceparent,
                                                  tg_trace_is_traceparent);

    /* A tracestate without a traceparent has no meaning. */
    if (trace->parent.data != NULL) {
        trace->state = ngx_tg_call_decode_trace_text(call, request->tracestate,
                                                     tg_trace_is_tracestate);
    }
}

ngx_int_t
ngx_tg_call_restore_trace_context(ngx_tg_call_t *call, tg_str_t parent,
                                  tg_str_t state)
{
    char *p;

    if (!tg_trace_is_traceparent(parent)) {
        return NGX_OK;
    }

    p = ngx_pnalloc(call->pool, parent.len + state.len);

    if (p == NULL) {
        return NGX_ERROR;
    }

    call->trace.parent = tg_str_copy_to(&p, parent);

    if (tg_trace_is_tracestate(state)) {
        call->trace.state = tg_str_copy_to(&p, state);
    }

    return NGX_OK;
}
