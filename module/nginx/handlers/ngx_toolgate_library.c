/*
 * `library FILE [SYMBOL] [ARGUMENT …]`: answered by a shared object that
 * somebody else wrote, in the worker.  What it sees of us is
 * api/toolgate_handler.h.
 */
#include "nginx/call/ngx_toolgate_call.h"
#include "nginx/native/ngx_toolgate_object.h"
#include "nginx/native/ngx_toolgate_native.h"

#include "base/tg_utf8.h"

/* Of a tool. */
typedef struct {
    ngx_toolgate_native_t native;
    ngx_array_t *values; /* ngx_stream_complex_value_t, of the ARGUMENTs */
    ngx_uint_t is_variable;
} ngx_toolgate_library_t;

/* Of a call. */
typedef struct {
    tg_mail_t mail; /* first */
    ngx_toolgate_call_t *call;
    ngx_toolgate_native_t *native;
    toolgate_request_t request;
    size_t max_output;
    ngx_uint_t is_begun;
    char room[TG_MAIL_ROOM]; /* last: it need not be zeroed */
} ngx_toolgate_library_call_t;

typedef struct {
    ngx_array_t objects; /* ngx_toolgate_object_t * */
    ngx_array_t natives; /* ngx_toolgate_native_t * */
} ngx_toolgate_library_conf_t;

static void *ngx_toolgate_library_create_conf(ngx_conf_t *cf);
static ngx_int_t ngx_toolgate_library_init_process(ngx_cycle_t *cycle);
static void ngx_toolgate_library_exit_process(ngx_cycle_t *cycle);
static char *ngx_toolgate_library_file(ngx_conf_t *cf, ngx_command_t *cmd,
                                       void *conf);
static void ngx_toolgate_library_start(ngx_toolgate_call_t *call,
                                       tg_request_t *request);
static void ngx_toolgate_library_run(ngx_toolgate_call_t *call);
static void ngx_toolgate_library_cancel(ngx_toolgate_call_t *call);

static ngx_command_t ngx_toolgate_library_commands[] = {

    { ngx_string("library"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_toolgate_library_file, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

static ngx_stream_module_t ngx_toolgate_library_module_ctx = {
    .create_main_conf = ngx_toolgate_library_create_conf,
};

ngx_module_t ngx_toolgate_library_module = {
    NGX_MODULE_V1,
    &ngx_toolgate_library_module_ctx,  /* module context */
    ngx_toolgate_library_commands,     /* module directives */
    NGX_STREAM_MODULE,                 /* module type */
    NULL,                              /* init master */
    NULL,                              /* init module */
    ngx_toolgate_library_init_process, /* init process */
    NULL,                              /* init thread */
    NULL,                              /* exit thread */
    ngx_toolgate_library_exit_process, /* exit process */
    NULL,                              /* exit master */
    NGX_MODULE_V1_PADDING
};

const ngx_toolgate_handler_t ngx_toolgate_library_handler = {
    .name = ngx_string("library"),
    .module = &ngx_toolgate_library_module,
    .conf_size = sizeof(ngx_toolgate_library_t),
    .flags = NGX_TOOLGATE_TAKES_TIME | NGX_TOOLGATE_MAY_SPILL,
    .start = ngx_toolgate_library_start,
    .run = ngx_toolgate_library_run,
    .cancel = ngx_toolgate_library_cancel,
};

static ngx_int_t
ngx_toolgate_library_init_process(ngx_cycle_t *cycle)
{
    ngx_toolgate_library_conf_t *lmcf;
    ngx_toolgate_native_t **natives;
    ngx_uint_t i;

    lmcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                 ngx_toolgate_library_module);

    if (lmcf == NULL
        || (ngx_process != NGX_PROCESS_WORKER
            && ngx_process != NGX_PROCESS_SINGLE))
    {
        return NGX_OK;
    }

    natives = lmcf->natives.elts;

    for (i = 0; i < lmcf->natives.nelts; i++) {
        (void) ngx_toolgate_native_is_ready(natives[i]);
    }

    return NGX_OK;
}

static void
ngx_toolgate_library_exit_process(ngx_cycle_t *cycle)
{
    ngx_toolgate_library_conf_t *lmcf;
    ngx_toolgate_native_t **natives;
    ngx_uint_t i;

    lmcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                 ngx_toolgate_library_module);

    if (lmcf == NULL || lmcf->natives.nelts == 0) {
        return;
    }

    natives = lmcf->natives.elts;

    for (i = 0; i < lmcf->natives.nelts; i++) {
        ngx_toolgate_native_unload(natives[i]);
    }

    ngx_toolgate_mail_exit();
}

/* --- the directive --- */

static void *
ngx_toolgate_library_create_conf(ngx_conf_t *cf)
{
    ngx_toolgate_library_conf_t *lmcf;

    lmcf = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_library_conf_t));

    if (lmcf == NULL
        || ngx_array_init(&lmcf->objects, cf->pool, 4,
                          sizeof(ngx_toolgate_object_t *))
               != NGX_OK
        || ngx_array_init(&lmcf->natives, cf->pool, 4,
                          sizeof(ngx_toolgate_native_t *))
               != NGX_OK)
    {
        return NULL;
    }

    return lmcf;
}

/* The handler itself, if it takes the tool. */
static char *
ngx_toolgate_library_open(ngx_conf_t *cf, ngx_toolgate_native_t *native)
{
    ngx_toolgate_library_conf_t *lmcf;
    const ngx_toolgate_object_t *object;
    u_char text[NGX_MAX_CONF_ERRSTR];
    ngx_toolgate_native_t **known;
    ngx_pool_cleanup_t *cln;
    const char *mistake;
    const void *ops;

    lmcf = ngx_stream_conf_get_module_main_conf(cf,
                                                ngx_toolgate_library_module);
    object = ngx_toolgate_object(cf, &lmcf->objects, &native->file);
    ops = object != NULL
              ? ngx_toolgate_object_data(cf, object, &native->symbol,
                                         offsetof(toolgate_handler_t, check))
              : NULL;

    if (ops == NULL) {
        return NGX_CONF_ERROR;
    }

    mistake = ngx_toolgate_native_check(native, ops, text, sizeof(text));

    if (mistake != NULL) {
        return ngx_toolgate_refuse(cf, "\"%V\" in \"%V\" %s", &native->symbol,
                                   &native->file, mistake);
    }

    known = ngx_array_push(&lmcf->natives);
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (known == NULL || cln == NULL) {
        return NGX_CONF_ERROR;
    }

    /* Before the object goes, where no worker's exit has come first. */
    cln->handler = ngx_toolgate_native_unload;
    cln->data = native;
    *known = native;

    return NGX_CONF_OK;
}

static char *
ngx_toolgate_library_arguments(ngx_conf_t *cf, ngx_toolgate_library_t *library,
                               ngx_str_t *texts, ngx_uint_t n)
{
    ngx_stream_complex_value_t *value;
    toolgate_text_t *args;
    ngx_uint_t i;

    args = ngx_pcalloc(cf->pool, n * sizeof(toolgate_text_t));

    if (args == NULL) {
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < n; i++) {
        value = ngx_toolgate_push(cf, &library->values,
                                  sizeof(ngx_stream_complex_value_t));

        if (value == NULL
            || ngx_toolgate_compile(cf, &texts[i], value) != NGX_OK) {
            return NGX_CONF_ERROR;
        }

        if (value->lengths == NULL) {
            args[i].data = (char *) value->value.data;
            args[i].len = value->value.len;
        } else {
            library->is_variable = 1;
        }
    }

    library->native.tool.args = args;
    library->native.tool.nargs = n;

    return NGX_CONF_OK;
}

static char *
ngx_toolgate_library_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_library_t *library = conf;

    ngx_toolgate_native_t *native;
    const tg_entry_t *entry;
    ngx_uint_t i, n;
    ngx_str_t *value;
    char *rv;

    (void) cmd;
    rv = ngx_toolgate_set_handler(cf, &ngx_toolgate_library_handler);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;
    n = cf->args->nelts;

    for (i = 1; i < ngx_min(n, 3); i++) {
        if (value[i].len == 0 || ngx_toolgate_varies(&value[i])) {
            return "needs a file and a symbol that are known at load; write "
                   "\"library FILE SYMBOL ARGUMENT ...\", with variables in "
                   "ARGUMENTs only";
        }
    }

    native = &library->native;
    native->file = value[1];

    if (ngx_toolgate_literal(cf, &native->file) != NGX_OK
        || ngx_conf_full_name(cf->cycle, &native->file, 1) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (n > 2) {
        native->symbol = value[2];
    } else {
        ngx_str_set(&native->symbol, "toolgate_handler");
    }

    if (n > 3) {
        rv = ngx_toolgate_library_arguments(cf, library, &value[3], n - 3);
    }

    entry = &ngx_toolgate_conf_tool(cf)->entry;
    native->tool.name.data = entry->name.data;
    native->tool.name.len = entry->name.len;

    /* A process that only signals touches nothing. */
    return rv != NGX_CONF_OK || ngx_process == NGX_PROCESS_SIGNALLER
               ? rv
               : ngx_toolgate_library_open(cf, native);
}

/* --- a call --- */

static const char *
ngx_toolgate_library_text(ngx_pool_t *pool, tg_str_t text)
{
    char *copy;

    copy = ngx_pnalloc(pool, text.len + 1);

    if (copy != NULL) {
        memcpy(copy, text.data, text.len);
        copy[text.len] = '\0';
    }

    return copy;
}

/* What the ARGUMENTs are for this call; NULL: no memory. */
static const toolgate_text_t *
ngx_toolgate_library_args(ngx_toolgate_call_t *call,
                          ngx_toolgate_library_t *library)
{
    ngx_stream_complex_value_t *values;
    toolgate_text_t *args;
    ngx_str_t text;
    ngx_uint_t i;

    args = ngx_palloc(call->pool, library->native.tool.nargs * sizeof(*args));

    if (args == NULL) {
        return NULL;
    }

    values = library->values->elts;

    for (i = 0; i < library->native.tool.nargs; i++) {
        args[i] = library->native.tool.args[i];

        if (args[i].data != NULL) {
            continue;
        }

        if (ngx_toolgate_value(call, &values[i], &text) != NGX_OK) {
            return NULL;
        }

        args[i].data = ngx_toolgate_library_text(call->pool,
                                                 ngx_toolgate_str(&text));
        args[i].len = text.len;

        if (args[i].data == NULL) {
            return NULL;
        }
    }

    return args;
}

static void
ngx_toolgate_library_failed(ngx_toolgate_library_call_t *ctx,
                            const tg_mail_reply_t *reply)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    if (reply->text.len > ctx->max_output) {
        tg_buf_printf(&text,
                      "%.*s: the answer has %zu bytes, which are more than %zu "
                      "(max_output); ask for less.",
                      (int) ctx->call->entry->name.len,
                      ctx->call->entry->name.data, reply->text.len,
                      ctx->max_output);
        ctx->call->rule = NGX_TOOLGATE_RULE_MAX_OUTPUT;
    } else {
        tg_utf8_put_visible(&text, reply->text, 0);
    }

    outcome = tg_buf_failed(&text)
                  ? tg_outcome_no_memory()
                  : tg_outcome_failed(reply->text.len > ctx->max_output
                                          ? TG_FAILURE_OUTPUT
                                          : reply->failure,
                                      tg_buf_view(&text));
    ngx_toolgate_call_end(ctx->call, &outcome);
    tg_buf_deinit(&text);
}

static void
ngx_toolgate_library_end(ngx_toolgate_library_call_t *ctx,
                         const tg_mail_reply_t *reply)
{
    if (reply->failure != TG_FAILURE_NONE || reply->text.len > ctx->max_output)
    {
        ngx_toolgate_library_failed(ctx, reply);
        return;
    }

    ngx_toolgate_call_output(ctx->call, reply->text);
}

static void
ngx_toolgate_library_progress(ngx_toolgate_call_t *call,
                              const tg_mail_progress_t *progress)
{
    tg_mail_values_t values;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_mail_values(progress, &text, &values);

    if (values.progress.data != NULL) {
        ngx_toolgate_call_progress(call, values.progress, values.total,
                                   values.message);
    }

    tg_buf_deinit(&text);
}

static void
ngx_toolgate_library_arrived(tg_mail_t *mail, const tg_mail_reply_t *reply,
                             const tg_mail_progress_t *progress)
{
    ngx_toolgate_library_call_t *ctx = (ngx_toolgate_library_call_t *) mail;

    if (reply != NULL) {
        ngx_toolgate_library_end(ctx, reply);
    } else {
        ngx_toolgate_library_progress(ctx->call, progress);
    }
}

/* Hands the call to the library: 1: it was answered, and is gone. */
static ngx_uint_t
ngx_toolgate_library_begin(ngx_toolgate_library_call_t *ctx)
{
    tg_mail_reply_t reply;

    ctx->is_begun = 1;
    ctx->mail.arrived = ngx_toolgate_library_arrived;
    ctx->mail.room = ctx->room;
    ctx->request.call = tg_mail_open(&ctx->mail, ngx_toolgate_mail_post());

    ngx_toolgate_native_call(ctx->native, &ctx->request);

    if (!tg_mail_take(&ctx->mail, &reply)) {
        return 0;
    }

    ngx_toolgate_library_end(ctx, &reply);
    tg_letter_free(reply.letter);

    return 1;
}

static ngx_toolgate_library_call_t *
ngx_toolgate_library_new(ngx_toolgate_call_t *call, tg_str_t arguments)
{
    ngx_toolgate_library_call_t *ctx;
    ngx_toolgate_library_t *library;
    toolgate_request_t *request;

    library = call->tool->conf;
    ctx = ngx_palloc(call->pool, sizeof(ngx_toolgate_library_call_t));

    if (ctx == NULL) {
        return NULL;
    }

    tg_zero(ctx, offsetof(ngx_toolgate_library_call_t, room));

    ctx->call = call;
    ctx->native = &library->native;
    ctx->max_output = ngx_toolgate_call_output_max(call);
    call->ctx = ctx;

    request = &ctx->request;
    request->size = sizeof(toolgate_request_t);
    request->tool = &library->native.tool;
    request->state = library->native.state;
    request->arguments.data = ngx_toolgate_library_text(call->pool, arguments);
    request->arguments.len = arguments.len;
    request->args = library->is_variable
                        ? ngx_toolgate_library_args(call, library)
                        : library->native.tool.args;

    return request->arguments.data != NULL
                   && (request->args != NULL || library->native.tool.nargs == 0)
               ? ctx
               : NULL;
}

/*
 * Most are answered at once, and need not be deferred for that.  What must
 * wait, or may be refused as too many run, is not begun before it is.
 */
static void
ngx_toolgate_library_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    ngx_toolgate_library_call_t *ctx;
    ngx_toolgate_library_t *library;
    const tg_peer_t *peer;

    library = call->tool->conf;

    if (!library->native.is_loaded
        && !ngx_toolgate_native_is_ready(&library->native))
    {
        ngx_toolgate_call_fail(call, TG_FAILURE_LOST, library->native.refusal);
        return;
    }

    ctx = ngx_toolgate_library_new(call, request->arguments);

    if (ctx == NULL) {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
        return;
    }

    peer = &call->front->peer;

    if (call->tool->limit.concurrency == 0
        && call->front->conf->limit.concurrency == 0
        && peer->ncalls < peer->max_calls)
    {
        if (ngx_toolgate_library_begin(ctx)) {
            return;
        }

        call->has_run = 1;
    }

    /* When it fails, ctx is gone. */
    if (ngx_toolgate_call_defer(call) == NGX_OK && ctx->is_begun) {
        tg_mail_release(&ctx->mail);
    }
}

static void
ngx_toolgate_library_run(ngx_toolgate_call_t *call)
{
    ngx_toolgate_library_call_t *ctx;

    ctx = call->ctx;

    if (!ctx->is_begun && !ngx_toolgate_library_begin(ctx)) {
        tg_mail_release(&ctx->mail);
    }
}

static void
ngx_toolgate_library_cancel(ngx_toolgate_call_t *call)
{
    ngx_toolgate_library_call_t *ctx;

    ctx = call->ctx;

    if (tg_mail_close(&ctx->mail)) {
        ngx_toolgate_native_cancel(ctx->native, ctx->request.call);
    }
}
