/*
 * Schemas of tools: compiled at config load, checked for every call.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "regex/tg_regex.h"

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

/* Is there something that the schema is about?  Its data is NULL if not. */
static ngx_uint_t
ngx_toolgate_is_structured(tg_entry_kind_t kind, const tg_outcome_t *outcome,
                           tg_str_t *value)
{
    tg_str_t flag;

    *value = outcome->value;

    if (outcome->kind == TG_OUTCOME_JSON
        || (outcome->kind == TG_OUTCOME_RESULT && kind == TG_ENTRY_METHOD))
    {
        return 1;
    }

    /* A tool that says no, or asks, need not say it in the schema's shape. */
    if (outcome->kind != TG_OUTCOME_RESULT
        || tg_result_is_asking(outcome->value)
        || (tg_json_get(outcome->value, TG_STR("isError"), &flag) == TG_OK
            && tg_json_type(flag) == TG_JSON_TRUE))
    {
        return 0;
    }

    if (tg_json_get(outcome->value, TG_STR("structuredContent"), value)
        != TG_OK) {
        *value = TG_STR_NONE;
    }

    return 1;
}

void
ngx_toolgate_check_outcome(ngx_toolgate_call_t *call, tg_outcome_t *outcome,
                           tg_buf_t *scratch)
{
    tg_str_t value, meta;
    int rc;

    if (!ngx_toolgate_is_structured(call->entry->kind, outcome, &value)) {
        return;
    }

    call->rule = NGX_TOOLGATE_RULE_OUTPUT;
    meta = outcome->meta;

    if (value.data == NULL) {
        tg_buf_printf(scratch,
                      "The result of %.*s has no \"structuredContent\", though "
                      "the tool has an output schema; this is the tool's "
                      "mistake.",
                      (int) call->entry->name.len, call->entry->name.data);
        *outcome = tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(scratch));
        return;
    }

    tg_buf_printf(scratch,
                  "The result of %.*s does not fit its output schema; this is "
                  "the tool's mistake. ",
                  (int) call->entry->name.len, call->entry->name.data);
    rc = ngx_toolgate_schema_check(call, call->output_schema, value, scratch);

    if (rc == TG_NOMEM || tg_buf_failed(scratch)) {
        *outcome = tg_outcome_no_memory();
    } else if (rc != TG_OK) {
        *outcome = tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(scratch));
        outcome->meta = meta;
    } else {
        call->rule = NGX_TOOLGATE_RULE_NONE;
    }
}

int
ngx_toolgate_schema_check(ngx_toolgate_call_t *call, const tg_schema_t *schema,
                          tg_str_t raw, tg_buf_t *error)
{
    tg_peer_t *peer;
    uint64_t before;
    int rc;

    if (ngx_toolgate_checker == NULL) {
        ngx_toolgate_checker = tg_schema_checker_new(
            tg_alloc_libc(), ((uint64_t) ngx_random() << 32) ^ ngx_random());

        if (ngx_toolgate_checker == NULL) {
            return TG_NOMEM;
        }
    }

    /* An answer that comes later is no part of the frame any more. */
    if (call->request == NULL) {
        tg_schema_checker_frame(ngx_toolgate_checker, 0, NULL);
        return tg_schema_check(schema, ngx_toolgate_checker, raw, error);
    }

    peer = &call->front->peer;
    before = peer->work;
    tg_schema_checker_frame(ngx_toolgate_checker, peer->serving, &peer->work);
    rc = tg_schema_check(schema, ngx_toolgate_checker, raw, error);
    call->front->steps += peer->work - before;

    return rc;
}

void
ngx_toolgate_schema_exit(void)
{
    tg_schema_checker_free(ngx_toolgate_checker);
    ngx_toolgate_checker = NULL;
}
