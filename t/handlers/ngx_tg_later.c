/*
 * `later SECONDS VALUE`: a handler for tests that the worker runs itself. It
 * reports progress half-way, and logs a cancellation.
 */
#include "nginx/call/ngx_tg_call.h"

typedef struct {
    ngx_stream_complex_value_t *seconds;
    ngx_stream_complex_value_t *value; /* NULL: not set */
} ngx_tg_later_t;

typedef struct {
    ngx_event_t timer;
    ngx_str_t text;
    ngx_uint_t half; /* half of the time has passed */
    ngx_msec_t time;
} ngx_tg_later_ctx_t;

static char *ngx_tg_later_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static void ngx_tg_later_run(ngx_tg_call_t *call);
static void ngx_tg_later_start(ngx_tg_call_t *call, tg_request_t *request);
static void ngx_tg_later_cancel(ngx_tg_call_t *call);

static ngx_command_t ngx_tg_later_commands[] = {

    { ngx_string("later"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE2,
      ngx_tg_later_value, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_tg_later_module = NGX_TG_HANDLER_MODULE(ngx_tg_later_commands);

const ngx_tg_handler_t ngx_tg_later_handler = {
    .name = ngx_string("later"),
    .module = &ngx_tg_later_module,
    .conf_size = sizeof(ngx_tg_later_t),
    .flags = NGX_TG_HANDLER_IS_ASYNC,
    .start = ngx_tg_later_start,
    .run = ngx_tg_later_run,
    .cancel = ngx_tg_later_cancel,
};

static char *
ngx_tg_later_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_later_t *later = conf;

    ngx_str_t *value;
    char *rv;

    (void) cmd;
    value = cf->args->elts;
    rv = ngx_tg_conf_set_handler(cf, &ngx_tg_later_handler);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    later->seconds = ngx_tg_value_compile_new(cf, &value[1]);
    later->value = ngx_tg_value_compile_new(cf, &value[2]);

    return later->seconds != NULL && later->value != NULL ? NGX_CONF_OK
                                                          : NGX_CONF_ERROR;
}

static void
ngx_tg_later_handle(ngx_event_t *ev)
{
    ngx_tg_later_ctx_t *ctx;
    ngx_tg_call_t *call;
    tg_outcome_t outcome;

    call = ev->data;
    ctx = call->ctx;

    if (ctx->half++ == 0) {
        ngx_add_timer(&ctx->timer, ctx->time / 2);
        ngx_tg_call_send_progress(call, TG_STR("1"), TG_STR("2"),
                                  TG_STR("\"half\""));
        return;
    }

    outcome = tg_outcome_parse_output(
        call->entry, tg_str((char *) ctx->text.data, ctx->text.len));
    ngx_tg_call_end(call, &outcome);
}

static void
ngx_tg_later_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_later_t *later;
    ngx_tg_later_ctx_t *ctx;
    ngx_str_t seconds;

    (void) request;
    later = call->tool->conf;
    ctx = ngx_pcalloc(call->pool, sizeof(ngx_tg_later_ctx_t));

    if (ctx == NULL
        || ngx_tg_call_eval_value(call, later->seconds, &seconds) != NGX_OK
        || ngx_tg_call_eval_value(call, later->value, &ctx->text) != NGX_OK)
    {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, "no memory");
        return;
    }

    /* The evaluated text may belong to the request. */
    ctx->text.data = ngx_pstrdup(call->pool, &ctx->text);
    ctx->time = (ngx_msec_t) ngx_atofp(seconds.data, seconds.len, 3);
    ctx->timer.handler = ngx_tg_later_handle;
    ctx->timer.data = call;
    ctx->timer.log = ngx_cycle->log;
    call->ctx = ctx;
    (void) ngx_tg_call_defer(call);
}

static void
ngx_tg_later_run(ngx_tg_call_t *call)
{
    ngx_tg_later_ctx_t *ctx;

    ctx = call->ctx;
    ngx_add_timer(&ctx->timer, ctx->time / 2);
}

static void
ngx_tg_later_cancel(ngx_tg_call_t *call)
{
    ngx_tg_later_ctx_t *ctx;

    ctx = call->ctx;
    ngx_del_timer(&ctx->timer);
    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0, "later \"%V\" cancelled",
                  &ctx->text);
}
