/*
 * Server requests to a client that waits for a call: its executor sends them
 * through the runner, which gets the responses.
 */
#include "nginx/call/ngx_tg_call_impl.h"

/* Sends `{"ask":7` and the client's raw result or error to the runner. */
static void
ngx_tg_runner_notify_client_response(ngx_tg_runner_t *runner, int64_t number,
                                     tg_str_t result, tg_str_t error)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_uint(&params, "ask", (uint64_t) number);
    tg_json_add_compact(&params, "result", result);

    if (result.data == NULL) {
        tg_json_add_compact(&params, "error", error);
    }

    tg_buf_append_char(&params, '}');

    if (!tg_buf_has_failed(&params)) {
        ngx_tg_runner_notify(runner, TG_STR("told"), tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}

/* Sends a request to the client. TG_MISSING: it lacks the method. */
static int
ngx_tg_call_send_server_request(ngx_tg_call_t *call, tg_str_t method,
                                tg_str_t params, int64_t number)
{
    char room[TG_NAME_MAX];
    tg_buf_t text;

    text = tg_buf_make_fixed(room, sizeof(room));
    tg_json_append_unescaped(&text, tg_json_string_body(method));

    return tg_buf_has_failed(&text)
               ? TG_MISSING
               : tg_peer_send_server_request(&call->base->peer,
                                             tg_buf_view(&text), params,
                                             (uint64_t) number);
}

void
ngx_tg_call_on_server_request(ngx_tg_call_t *call, tg_str_t params)
{
    static const char *const names[] = { "ask", "method", "params", NULL };
    tg_str_t values[3];
    int64_t number;
    int rc;

    if (call->base == NULL
        || tg_json_get_members(params, names, values) != TG_OK
        || tg_json_parse_int64(values[0], &number) != TG_OK)
    {
        return;
    }

    rc = TG_OK;

    /* No method: the runner cancels the request. */
    if (tg_json_type(values[1]) != TG_JSON_STRING) {
        tg_peer_cancel_server_request(&call->base->peer, (uint64_t) number);
    } else {
        rc = ngx_tg_call_send_server_request(call, values[1], values[2],
                                             number);
    }

    if (rc != TG_OK) {
        ngx_tg_runner_notify_client_response(
            call->priv->job.runner, number, TG_STR_NONE,
            rc == TG_MISSING
                ? TG_STR("{\"code\":-32601,\"message\":\"The client does not "
                         "support this request.\"}")
                : TG_STR("{\"code\":-32603,\"message\":\"Too many requests to "
                         "the client are pending.\"}"));
        return;
    }

    ngx_tg_call_reset_watchdog(call);
    ngx_tg_session_base_wake(call->base);
}

void
ngx_tg_call_on_client_response(void *host, uint64_t tag,
                               const tg_message_t *message)
{
    ngx_tg_call_t *call;

    call = ngx_tg_session_base_find_remote_call(host);

    if (call != NULL) {
        ngx_tg_call_reset_watchdog(call);
        ngx_tg_runner_notify_client_response(call->priv->job.runner,
                                             (int64_t) tag, message->result,
                                             message->error);
    }
}
