/* Schemas of tools: compiled at config load or a first call; validation. */
#include "nginx/call/ngx_tg_call_impl.h"

#include "schema/pcre2/tg_pcre2.h"
#include "protocol/tg_tool_validate.h"

/*
 * Limits for untrusted imported schemas: compiling one must not block a worker
 * for more than some 10 ms, nor fill its memory.
 */
#define NGX_TG_IMPORTED_STEPS_MAX 1000000
#define NGX_TG_IMPORTED_SCHEMA_MEMORY_MAX 8388608
#define NGX_TG_IMPORTED_MEMORY_MAX 67108864
/* Divisor of compilation steps in a batch, which so has two compilations. */
#define NGX_TG_IMPORTED_STEPS_DIVISOR 8

static tg_schema_quota_t ngx_tg_imported_schema_account = {
    .memory_max = NGX_TG_IMPORTED_MEMORY_MAX,
    .schema_max = NGX_TG_IMPORTED_SCHEMA_MEMORY_MAX,
    .steps_max = NGX_TG_IMPORTED_STEPS_MAX,
};

/* One validator per worker, for one call at a time. */
static tg_schema_validator_t *ngx_tg_schema_checker;

static void
ngx_tg_schema_cleanup(void *data)
{
    tg_schema_free(data);
}

/* Compiles a schema for the pool's lifetime, or returns NULL with an error. */
static tg_schema_t *
ngx_tg_schema_compile_in_pool(ngx_pool_t *pool, tg_str_t text,
                              ngx_uint_t has_formats, tg_schema_quota_t *quota,
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
    options.regex = tg_pcre2_get_engine();
    options.is_format_asserted = has_formats;
    options.quota = quota;
    schema = tg_schema_compile(tg_alloc_libc(), text, &options, error);

    if (schema != NULL) {
        cln->handler = ngx_tg_schema_cleanup;
        cln->data = schema;
    }

    return schema;
}

tg_schema_t *
ngx_tg_schema_compile(ngx_conf_t *cf, ngx_str_t *directive, tg_str_t text,
                      ngx_uint_t has_formats)
{
    tg_schema_t *schema;
    tg_buf_t error;

    tg_buf_init(&error, tg_alloc_libc());
    schema = ngx_tg_schema_compile_in_pool(cf->pool, text, has_formats, NULL,
                                           &error);

    if (schema == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "invalid \"%V\": %*s",
                           directive, tg_buf_view(&error).len,
                           tg_buf_view(&error).data);
    }

    tg_buf_deinit(&error);

    return schema;
}

static ngx_int_t
ngx_tg_tool_recompile_schema(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                             ngx_str_t *directive, tg_str_t text,
                             tg_schema_t **schema)
{
    if (tool->validate == NGX_TG_VALIDATE_OFF || *schema == NULL) {
        *schema = NULL;
        return NGX_OK;
    }

    if (tool->validate == NGX_TG_VALIDATE_FORMATS) {
        *schema = ngx_tg_schema_compile(cf, directive, text, 1);
    }

    return *schema != NULL ? NGX_OK : NGX_ERROR;
}

ngx_int_t
ngx_tg_server_compile_schemas(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    static ngx_str_t input = ngx_string("input_schema");
    static ngx_str_t output = ngx_string("output_schema");

    ngx_tg_tool_t *tool;
    size_t i;

    for (i = 0; (tool = ngx_tg_server_get_block(scf, i)) != NULL; i++) {
        ngx_conf_init_uint_value(tool->validate, scf->validate);

        if (ngx_tg_tool_recompile_schema(cf, tool, &input,
                                         tool->entry.input_schema, &tool->input)
                != NGX_OK
            || ngx_tg_tool_recompile_schema(cf, tool, &output,
                                            tool->entry.output_schema,
                                            &tool->output_schema)
                   != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* --- schemas of imported tools --- */

static tg_schema_t *
ngx_tg_tool_compile_imported_schema(ngx_tg_tool_t *tool, tg_str_t text,
                                    const char *what, uint64_t *steps,
                                    tg_buf_t *why)
{
    tg_schema_t *schema;
    const char *mistake;
    tg_buf_t error;

    if (text.data == NULL) {
        return NULL;
    }

    tg_buf_init(&error, tg_alloc_libc());
    mistake = tg_tool_check_schema(text);
    schema = NULL;

    if (mistake != NULL) {
        tg_buf_append_cstr(&error, mistake);

    } else {
        schema = ngx_tg_schema_compile_in_pool(
            tool->pool, text, tool->validate == NGX_TG_VALIDATE_FORMATS,
            &ngx_tg_imported_schema_account, &error);
        *steps += ngx_tg_imported_schema_account.steps;
    }

    if (schema == NULL) {
        tg_buf_append_cstr(why, why->len != 0 ? "; " : "");
        tg_buf_append_cstr(why, what);
        tg_buf_append_cstr(why, ": ");
        tg_buf_append_str(why, error.len != 0 ? tg_buf_view(&error)
                                              : TG_STR(TG_TEXT_NO_MEMORY));
    }

    tg_buf_deinit(&error);

    return schema;
}

uint64_t
ngx_tg_tool_compile_imported(ngx_tg_tool_t *tool)
{
    uint64_t steps;
    tg_buf_t why;
    char *text;

    if (!tool->is_uncompiled) {
        return 0;
    }

    tool->is_uncompiled = 0;
    tg_buf_init(&why, tg_alloc_libc());
    steps = 0;

    /* The config's own input schema replaces the server's. */
    if (tool->input == NULL) {
        tool->input = ngx_tg_tool_compile_imported_schema(
            tool, tool->entry.input_schema, "inputSchema", &steps, &why);
    }

    tool->output_schema = ngx_tg_tool_compile_imported_schema(
        tool, tool->entry.output_schema, "outputSchema", &steps, &why);

    if (why.len != 0) {
        text = ngx_pnalloc(tool->pool, why.len);
        tool->unchecked = TG_STR(TG_TEXT_NO_MEMORY);

        if (text != NULL) {
            ngx_memcpy(text, why.data, why.len);
            tool->unchecked = tg_str(text, why.len);
        }
    }

    tg_buf_deinit(&why);

    return steps;
}

/* Compiles a tool's schemas. Returns NULL, or the reason to refuse the call. */
static const char *
ngx_tg_call_compile_imported(ngx_tg_call_t *call)
{
    tg_peer_t *peer;
    uint64_t steps;

    peer = &call->base->peer;

    if (peer->work >= TG_SCHEMA_BASE_STEPS) {
        call->rule = NGX_TG_RULE_INPUT;
        return "compiling the schemas of these tools takes too many steps; "
               "send fewer calls at once";
    }

    /* The steps of a frame suffice for few compilations. */
    steps = ngx_tg_tool_compile_imported(call->tool);
    peer->work += steps / NGX_TG_IMPORTED_STEPS_DIVISOR;
    call->base->steps += steps;

    return NULL;
}

const char *
ngx_tg_call_prepare_schemas(ngx_tg_call_t *call)
{
    const char *why;

    why = call->tool->is_uncompiled ? ngx_tg_call_compile_imported(call) : NULL;

    if (why == NULL && call->tool->output_schema != NULL) {
        call->priv->output_schema = tg_schema_retain(call->tool->output_schema);
    }

    return why;
}

/* --- validation --- */

/*
 * Returns the worker's validator until ngx_tg_call_end_validation(); NULL: no
 * memory. Calls in a batch share its steps, which the peer counts in `work`; a
 * later response does not.
 */
static tg_schema_validator_t *
ngx_tg_call_begin_validation(ngx_tg_call_t *call)
{
    tg_peer_t *peer;

    if (ngx_tg_schema_checker == NULL) {
        ngx_tg_schema_checker = tg_schema_validator_new(
            tg_alloc_libc(), ((uint64_t) ngx_random() << 32) ^ ngx_random());

        if (ngx_tg_schema_checker == NULL) {
            return NULL;
        }
    }

    if (call->request == NULL) {
        tg_schema_validator_set_frame(ngx_tg_schema_checker, 0, NULL);
        return ngx_tg_schema_checker;
    }

    peer = &call->base->peer;
    call->base->steps -= peer->work;
    tg_schema_validator_set_frame(ngx_tg_schema_checker, peer->frame_size,
                                  &peer->work);

    return ngx_tg_schema_checker;
}

static void
ngx_tg_call_end_validation(ngx_tg_call_t *call)
{
    if (call->request != NULL && ngx_tg_schema_checker != NULL) {
        call->base->steps += call->base->peer.work;
    }
}

int
ngx_tg_call_validate_args(ngx_tg_call_t *call, tg_outcome_t *outcome,
                          tg_buf_t *scratch)
{
    tg_request_t *request;
    tg_buf_t written;
    char *text;
    int rc;

    request = call->request;
    tg_buf_init(&written, tg_alloc_libc());
    rc = tg_tool_validate_request(call->tool->input,
                                  ngx_tg_call_begin_validation(call), request,
                                  &written, outcome, scratch);
    ngx_tg_call_end_validation(call);

    if (rc == TG_INVALID) {
        call->rule = NGX_TG_RULE_INPUT;
    }

    if (rc == TG_OK && request->arguments.data == written.data) {
        text = ngx_pnalloc(call->pool, request->arguments.len);

        if (text != NULL) {
            request->arguments = tg_str_copy_to(&text, request->arguments);
        } else {
            *outcome = tg_outcome_make_no_memory();
            rc = TG_NOMEM;
        }
    }

    tg_buf_deinit(&written);

    return rc;
}

int
ngx_tg_call_validate_answer(ngx_tg_call_t *call, const tg_schema_t *schema,
                            tg_str_t raw)
{
    tg_schema_validator_t *validator;
    int rc;

    validator = ngx_tg_call_begin_validation(call);
    rc = validator != NULL ? tg_schema_validate(schema, validator, raw, NULL)
                           : TG_NOMEM;
    ngx_tg_call_end_validation(call);

    return rc;
}

void
ngx_tg_call_validate_outcome(ngx_tg_call_t *call, tg_outcome_t *outcome,
                             tg_buf_t *scratch)
{
    int rc;

    rc = tg_tool_validate_outcome(call->priv->output_schema,
                                  ngx_tg_call_begin_validation(call),
                                  call->entry, outcome, scratch);
    ngx_tg_call_end_validation(call);

    if (rc != TG_OK) {
        call->rule = NGX_TG_RULE_OUTPUT;
    }
}

void
ngx_tg_schema_checker_exit(void)
{
    tg_schema_validator_free(ngx_tg_schema_checker);
    ngx_tg_schema_checker = NULL;
}
