/*
 * What is asked of a client while it waits for a call: who runs the call asks
 * by way of the runner, which gets the answer.
 */
#include "nginx/call/ngx_toolgate_call.h"

/* {"ask":7, and the one member that is there of two. */
static void
ngx_toolgate_call_tell(ngx_toolgate_runner_t *runner, int64_t number,
                       tg_str_t result, tg_str_t error)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_text(&params, "{\"ask\":");
    tg_buf_uint(&params, (uint64_t) number);
    tg_json_put_member(&params, ",\"result\":", result);

    if (result.data == NULL) {
        tg_json_put_member(&params, ",\"error\":", error);
    }

    tg_buf_char(&params, '}');

    if (!tg_buf_failed(&params)) {
        ngx_toolgate_runner_notify(runner, TG_STR("told"),
                                   tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}

/* What a client is asked, or why it was not. */
static int
ngx_toolgate_call_ask(ngx_toolgate_call_t *call, tg_str_t method,
                      tg_str_t params, int64_t number)
{
    char room[TG_NAME_MAX];
    tg_buf_t text;

    text = tg_buf_fixed(room, sizeof(room));
    tg_json_put_decoded(&text, tg_json_body(method));

    return tg_buf_failed(&text)
               ? TG_MISSING
               : tg_peer_ask(&call->front->peer, tg_buf_view(&text), params,
                             (uint64_t) number);
}

void
ngx_toolgate_call_asked(ngx_toolgate_call_t *call, tg_str_t params)
{
    static const char *const names[] = { "ask", "method", "params", NULL };
    tg_str_t values[3];
    int64_t number;
    int rc;

    if (call->front == NULL || tg_json_members(params, names, values) != TG_OK
        || tg_json_int64(values[0], &number) != TG_OK)
    {
        return;
    }

    rc = TG_OK;

    /* Without a method it is taken back. */
    if (tg_json_type(values[1]) != TG_JSON_STRING) {
        tg_peer_unask(&call->front->peer, (uint64_t) number);
    } else {
        rc = ngx_toolgate_call_ask(call, values[1], values[2], number);
    }

    if (rc != TG_OK) {
        ngx_toolgate_call_tell(
            call->job.runner, number, TG_STR_NONE,
            rc == TG_MISSING
                ? TG_STR("{\"code\":-32601,\"message\":\"The client cannot be "
                         "asked this.\"}")
                : TG_STR("{\"code\":-32603,\"message\":\"Too much was asked "
                         "of the client at once.\"}"));
        return;
    }

    ngx_toolgate_call_alive(call);
    ngx_toolgate_wake(call->front);
}

void
ngx_toolgate_call_told(void *host, uint64_t tag, const tg_message_t *message)
{
    ngx_toolgate_call_t *call;

    call = ngx_toolgate_call_of_runner(host);

    if (call != NULL) {
        ngx_toolgate_call_alive(call);
        ngx_toolgate_call_tell(call->job.runner, (int64_t) tag, message->result,
                               message->error);
    }
}
