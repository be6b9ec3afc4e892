/*
 * `broadcast METHOD`: sends the arguments as a notification to all clients of
 * the server, in all workers.
 */
#include "nginx/call/ngx_tg_call.h"
#include "nginx/shm/ngx_tg_shm.h"
#include "nginx/call/ngx_tg_session_base.h"

extern const ngx_tg_handler_t ngx_tg_broadcast_handler;

typedef struct {
    ngx_str_t method; /* empty: no `broadcast` */
} ngx_tg_broadcast_conf_t;

static char *
ngx_tg_broadcast_set_method(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_broadcast_conf_t *broadcast = conf;

    const char *mistake;
    ngx_str_t *value;

    value = cf->args->elts;
    mistake = tg_notification_check_name(ngx_tg_str_from_ngx(&value[1]));

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "invalid name \"%V\" in \"%V\": %s",
                                 &value[1], &cmd->name, mistake);
    }

    broadcast->method = value[1];
    ngx_tg_conf_get_tool(cf)->needs_shm = 1;

    return ngx_tg_conf_set_handler(cf, &ngx_tg_broadcast_handler);
}

static const char *
ngx_tg_broadcast_check(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_broadcast_conf_t *broadcast = conf;

    return broadcast->method.len != 0 && tool->entry.output == TG_OUTPUT_RESULT
               ? "returns the number of notified clients, which is not an MCP "
                 "result; remove \"output result\""
               : NULL;
}

static void
ngx_tg_broadcast_fail_call(ngx_tg_call_t *call, ngx_int_t rc)
{
    switch (rc) {
    case NGX_ABORT:
        ngx_tg_call_fail(call, TG_FAILURE_ARGUMENTS,
                         "This notification is too large for some clients, "
                         "which accept at most 1040384 bytes; send less.");
        break;
    case NGX_BUSY:
        ngx_tg_call_fail(call, TG_FAILURE_BUSY,
                         "NGINX's workers are still delivering earlier "
                         "notifications; this one was not sent to any client. "
                         "Call again later.");
        break;
    case NGX_ERROR:
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        break;
    default:
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL,
                         "NGINX's workers have no shared memory, so clients "
                         "cannot be notified.");
    }
}

static void
ngx_tg_broadcast_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_broadcast_conf_t *broadcast;
    tg_outcome_t outcome;
    u_char text[NGX_INT_T_LEN + 16];
    ngx_uint_t n;
    ngx_int_t rc;
    size_t len;

    /*
     * MCP notifications, and those of the dialect relay, have no other params.
     */
    if (tg_json_type(request->arguments) != TG_JSON_OBJECT) {
        ngx_tg_call_fail(call, TG_FAILURE_ARGUMENTS,
                         "params must be an object: some connected clients "
                         "accept nothing else.");
        return;
    }

    broadcast = call->tool->conf;
    rc = ngx_tg_server_broadcast(call->base->conf,
                                 ngx_tg_str_from_ngx(&broadcast->method),
                                 request->arguments, &n);

    if (rc != NGX_OK) {
        ngx_tg_broadcast_fail_call(call, rc);
        return;
    }

    len = ngx_sprintf(text, "{\"clients\":%ui}", n) - text;
    outcome = tg_outcome_parse_output(call->entry, tg_str((char *) text, len));
    ngx_tg_call_end(call, &outcome);
}

static ngx_command_t ngx_tg_broadcast_commands[] = {

    { ngx_string("broadcast"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_broadcast_set_method, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_tg_broadcast_module = NGX_TG_HANDLER_MODULE(
    ngx_tg_broadcast_commands);

const ngx_tg_handler_t ngx_tg_broadcast_handler = {
    .name = ngx_string("broadcast"),
    .module = &ngx_tg_broadcast_module,
    .conf_size = sizeof(ngx_tg_broadcast_conf_t),
    .check = ngx_tg_broadcast_check,
    .start = ngx_tg_broadcast_start,
};
