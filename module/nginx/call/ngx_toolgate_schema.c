/*
 * Schemas of tools: compiled at config load, checked for every call.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "regex/tg_regex.h"
#include "tool/tg_fit.h"

/* A worker checks one call at a time. */
static tg_schema_checker_t *ngx_toolgate_checker;

static void
ngx_toolgate_schema_free(void *data)
{
    tg_schema_free(data);
}

tg_schema_t *
ngx_toolgate_schema_new(ngx_pool_t *pool, tg_str_t text, ngx_uint_t has_formats,
                        tg_buf_t *error)
{
    tg_schema_options_t options;
    ngx_pool_cleanup_t *cln;
    tg_schema_t *schema;

    cln = ngx_pool_cleanup_add(pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    ngx_memzero(&options, sizeof(tg_schema_options_t));
    options.regex = tg_regex_pcre2();
    options.is_format_asserted = has_formats;
    schema = tg_schema_compile(tg_alloc_libc(), text, &options, error);

    if (schema != NULL) {
        cln->handler = ngx_toolgate_schema_free;
        cln->data = schema;
    }

    return schema;
}

tg_schema_t *
ngx_toolgate_schema_compile(ngx_conf_t *cf, ngx_str_t *directive, tg_str_t text,
                            ngx_uint_t has_formats)
{
    tg_schema_t *schema;
    tg_buf_t error;

    tg_buf_init(&error, tg_alloc_libc());
    schema = ngx_toolgate_schema_new(cf->pool, text, has_formats, &error);

    if (schema == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "invalid \"%V\": %*s",
                           directive, tg_buf_view(&error).len,
                           tg_buf_view(&error).data);
    }

    tg_buf_deinit(&error);

    return schema;
}

static ngx_int_t
ngx_toolgate_compile_again(ngx_conf_t *cf, const ngx_toolgate_tool_t *tool,
                           ngx_str_t *directive, tg_str_t text,
                           tg_schema_t **schema)
{
    if (tool->validate == NGX_TOOLGATE_OFF || *schema == NULL) {
        *schema = NULL;
        return NGX_OK;
    }

    if (tool->validate == NGX_TOOLGATE_FORMATS) {
        *schema = ngx_toolgate_schema_compile(cf, directive, text, 1);
    }

    return *schema != NULL ? NGX_OK : NGX_ERROR;
}

ngx_int_t
ngx_toolgate_compile_schemas(ngx_conf_t *cf, ngx_toolgate_srv_conf_t *scf)
{
    static ngx_str_t input = ngx_string("input_schema");
    static ngx_str_t output = ngx_string("output_schema");

    ngx_toolgate_tool_t *tool;
    size_t i;

    for (i = 0; (tool = ngx_toolgate_block_at(scf, i)) != NULL; i++) {
        ngx_conf_init_uint_value(tool->validate, scf->validate);

        if (ngx_toolgate_compile_again(cf, tool, &input,
                                       tool->entry.input_schema, &tool->input)
                != NGX_OK
            || ngx_toolgate_compile_again(cf, tool, &output,
                                          tool->entry.output_schema,
                                          &tool->output_schema)
                   != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/*
 * The worker's checker, for this call; NULL: no memory.  Its checks end with
 * ngx_toolgate_check_end().  An answer that comes later is no part of the frame
 * any more; the calls of a batch share the steps of one frame, which are
 * counted in the peer's work.
 */
static tg_schema_checker_t *
ngx_toolgate_check_begin(ngx_toolgate_call_t *call)
{
    tg_peer_t *peer;

    if (ngx_toolgate_checker == NULL) {
        ngx_toolgate_checker = tg_schema_checker_new(
            tg_alloc_libc(), ((uint64_t) ngx_random() << 32) ^ ngx_random());

        if (ngx_toolgate_checker == NULL) {
            return NULL;
        }
    }

    if (call->request == NULL) {
        tg_schema_checker_frame(ngx_toolgate_checker, 0, NULL);
        return ngx_toolgate_checker;
    }

    peer = &call->front->peer;
    call->front->steps -= peer->work;
    tg_schema_checker_frame(ngx_toolgate_checker, peer->serving, &peer->work);

    return ngx_toolgate_checker;
}

static void
ngx_toolgate_check_end(ngx_toolgate_call_t *call)
{
    if (call->request != NULL && ngx_toolgate_checker != NULL) {
        call->front->steps += call->front->peer.work;
    }
}

int
ngx_toolgate_check_arguments(ngx_toolgate_call_t *call, tg_outcome_t *outcome,
                             tg_buf_t *scratch)
{
    int rc;

    rc = tg_fit_arguments(call->tool->input, ngx_toolgate_check_begin(call),
                          call->request->arguments, outcome, scratch);
    ngx_toolgate_check_end(call);

    if (rc == TG_BAD) {
        call->rule = NGX_TOOLGATE_RULE_INPUT;
    }

    return rc;
}

void
ngx_toolgate_check_outcome(ngx_toolgate_call_t *call, tg_outcome_t *outcome,
                           tg_buf_t *scratch)
{
    int rc;

    rc = tg_fit_outcome(call->output_schema, ngx_toolgate_check_begin(call),
                        call->entry, outcome, scratch);
    ngx_toolgate_check_end(call);

    if (rc != TG_OK) {
        call->rule = NGX_TOOLGATE_RULE_OUTPUT;
    }
}

void
ngx_toolgate_schema_exit(void)
{
    tg_schema_checker_free(ngx_toolgate_checker);
    ngx_toolgate_checker = NULL;
}
