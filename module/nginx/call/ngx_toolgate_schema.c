/*
 * Schemas of tools: compiled at config load, checked for every call.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "regex/tg_regex.h"
#include "tool/tg_fit.h"

/*
 * The authors of imported schemas are not trusted: a compilation must not hold
 * a worker for longer than some 10 ms, nor fill its memory.
 */
#define NGX_TOOLGATE_IMPORTED_STEPS 1000000
#define NGX_TOOLGATE_IMPORTED_SCHEMA 8388608
#define NGX_TOOLGATE_IMPORTED_MEMORY 67108864
/*
 * The part of these steps that counts as checks of a frame, so that a batch
 * has two such compilations at most, which happen once.
 */
#define NGX_TOOLGATE_IMPORTED_PART 8

static tg_schema_account_t ngx_toolgate_imported = {
    .memory_max = NGX_TOOLGATE_IMPORTED_MEMORY,
    .schema_max = NGX_TOOLGATE_IMPORTED_SCHEMA,
    .steps_max = NGX_TOOLGATE_IMPORTED_STEPS,
};

/* A worker checks one call at a time. */
static tg_schema_checker_t *ngx_toolgate_checker;

static void
ngx_toolgate_schema_free(void *data)
{
    tg_schema_free(data);
}

/* NULL: error says what is wrong, or is empty: no memory. */
static tg_schema_t *
ngx_toolgate_schema_new(ngx_pool_t *pool, tg_str_t text, ngx_uint_t has_formats,
                        tg_schema_account_t *account, tg_buf_t *error)
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
    options.account = account;
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
    schema = ngx_toolgate_schema_new(cf->pool, text, has_formats, NULL, &error);

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

/* --- of imported tools --- */

static tg_schema_t *
ngx_toolgate_import_schema(ngx_toolgate_tool_t *tool, tg_str_t text,
                           const char *what, uint64_t *steps, tg_buf_t *why)
{
    tg_schema_t *schema;
    const char *mistake;
    tg_buf_t error;

    if (text.data == NULL) {
        return NULL;
    }

    tg_buf_init(&error, tg_alloc_libc());
    mistake = tg_tool_schema_check(text);
    schema = NULL;

    if (mistake != NULL) {
        tg_buf_text(&error, mistake);

    } else {
        schema = ngx_toolgate_schema_new(tool->pool, text,
                                         tool->validate == NGX_TOOLGATE_FORMATS,
                                         &ngx_toolgate_imported, &error);
        *steps += ngx_toolgate_imported.steps;
    }

    if (schema == NULL) {
        tg_buf_text(why, why->len != 0 ? "; " : "");
        tg_buf_text(why, what);
        tg_buf_text(why, ": ");
        tg_buf_str(why,
                   error.len != 0 ? tg_buf_view(&error) : TG_STR(TG_NO_MEMORY));
    }

    tg_buf_deinit(&error);

    return schema;
}

uint64_t
ngx_toolgate_compile_imported(ngx_toolgate_tool_t *tool)
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

    /* Its block may have one in the place of the server's. */
    if (tool->input == NULL) {
        tool->input = ngx_toolgate_import_schema(tool, tool->entry.input_schema,
                                                 "inputSchema", &steps, &why);
    }

    tool->output_schema = ngx_toolgate_import_schema(
        tool, tool->entry.output_schema, "outputSchema", &steps, &why);

    if (why.len != 0) {
        text = ngx_pnalloc(tool->pool, why.len);
        tool->unchecked = TG_STR(TG_NO_MEMORY);

        if (text != NULL) {
            ngx_memcpy(text, why.data, why.len);
            tool->unchecked = tg_str(text, why.len);
        }
    }

    tg_buf_deinit(&why);

    return steps;
}

/* NULL, or why the call is refused. */
static const char *
ngx_toolgate_check_compile(ngx_toolgate_call_t *call)
{
    tg_peer_t *peer;
    uint64_t steps;

    peer = &call->front->peer;

    if (peer->work >= TG_SCHEMA_STEPS_FEW) {
        call->rule = NGX_TOOLGATE_RULE_INPUT;
        return "compiling the schemas of these tools takes too many steps; "
               "send fewer calls at once";
    }

    /* Few of them, and the checks of their arguments, fit into a frame. */
    steps = ngx_toolgate_compile_imported(call->tool);
    peer->work += steps / NGX_TOOLGATE_IMPORTED_PART;
    call->front->steps += steps;

    return NULL;
}

const char *
ngx_toolgate_check_prepare(ngx_toolgate_call_t *call)
{
    const char *why;

    why = call->tool->is_uncompiled ? ngx_toolgate_check_compile(call) : NULL;

    if (why == NULL && call->tool->output_schema != NULL) {
        call->output_schema = tg_schema_hold(call->tool->output_schema);
    }

    return why;
}

/* --- checks --- */

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
    tg_request_t *request;
    tg_buf_t written;
    char *text;
    int rc;

    request = call->request;
    tg_buf_init(&written, tg_alloc_libc());
    rc = tg_fit_request(call->tool->input, ngx_toolgate_check_begin(call),
                        request, &written, outcome, scratch);
    ngx_toolgate_check_end(call);

    if (rc == TG_BAD) {
        call->rule = NGX_TOOLGATE_RULE_INPUT;
    }

    if (rc == TG_OK && request->arguments.data == written.data) {
        text = ngx_pnalloc(call->pool, request->arguments.len);

        if (text != NULL) {
            request->arguments = tg_str_keep(&text, request->arguments);
        } else {
            *outcome = tg_outcome_no_memory();
            rc = TG_NOMEM;
        }
    }

    tg_buf_deinit(&written);

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
