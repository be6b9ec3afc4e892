/*
 * `library FILE [SYMBOL] [ARGUMENT …]`: a shared object of another author
 * answers calls within the worker. Its interface is api/toolgate_handler.h.
 */
#include "nginx/call/ngx_tg_call.h"
#include "nginx/native/ngx_tg_shared_object.h"
#include "nginx/native/ngx_tg_native_handler.h"

#include "base/tg_utf8.h"
#include "nginx/call/ngx_tg_session_base.h"

extern const ngx_tg_handler_t ngx_tg_library_handler;
extern ngx_module_t ngx_tg_library_module;

/* Settings of a tool. */
typedef struct {
    ngx_tg_native_handler_t native;
    ngx_array_t *values; /* ngx_stream_complex_value_t: the ARGUMENTs */
    ngx_uint_t is_variable;
} ngx_tg_library_tool_conf_t;

/* State of a call. */
typedef struct {
    tg_pending_call_t pending; /* first member */
    ngx_tg_call_t *call;
    ngx_tg_native_handler_t *native;
    toolgate_request_t request;
    size_t max_output;
    ngx_uint_t is_begun;
    /* last member: it need not be zeroed */
    char inline_text[TG_PENDING_CALL_INLINE_MAX];
} ngx_tg_library_call_t;

typedef struct {
    ngx_array_t objects; /* ngx_tg_shared_object_t * */
    ngx_array_t natives; /* ngx_tg_native_handler_t * */
} ngx_tg_library_main_conf_t;

static ngx_int_t
ngx_tg_library_init_process(ngx_cycle_t *cycle)
{
    ngx_tg_library_main_conf_t *lmcf;
    ngx_tg_native_handler_t **natives;
    ngx_uint_t i;

    lmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_tg_library_module);

    if (lmcf == NULL || !ngx_tg_is_worker()) {
        return NGX_OK;
    }

    natives = lmcf->natives.elts;

    for (i = 0; i < lmcf->natives.nelts; i++) {
        (void) ngx_tg_native_handler_ensure_loaded(natives[i]);
    }

    return NGX_OK;
}

static void
ngx_tg_library_exit_process(ngx_cycle_t *cycle)
{
    ngx_tg_library_main_conf_t *lmcf;
    ngx_tg_native_handler_t **natives;
    ngx_uint_t i;

    lmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_tg_library_module);

    if (lmcf == NULL || lmcf->natives.nelts == 0) {
        return;
    }

    natives = lmcf->natives.elts;

    for (i = 0; i < lmcf->natives.nelts; i++) {
        ngx_tg_native_handler_unload(natives[i]);
    }

    ngx_tg_reply_queue_exit_process();
}

/* --- directive --- */

static void *
ngx_tg_library_create_main_conf(ngx_conf_t *cf)
{
    ngx_tg_library_main_conf_t *lmcf;

    lmcf = ngx_pcalloc(cf->pool, sizeof(ngx_tg_library_main_conf_t));

    if (lmcf == NULL
        || ngx_array_init(&lmcf->objects, cf->pool, 4,
                          sizeof(ngx_tg_shared_object_t *))
               != NGX_OK
        || ngx_array_init(&lmcf->natives, cf->pool, 4,
                          sizeof(ngx_tg_native_handler_t *))
               != NGX_OK)
    {
        return NULL;
    }

    return lmcf;
}

/*
 * Opens the shared object and lets its handler check the tool. NGX_CONF_OK, or
 * NGX_CONF_ERROR: logged.
 */
static char *
ngx_tg_library_open_handler(ngx_conf_t *cf, ngx_tg_native_handler_t *native)
{
    ngx_tg_library_main_conf_t *lmcf;
    const ngx_tg_shared_object_t *object;
    u_char text[NGX_MAX_CONF_ERRSTR];
    ngx_tg_native_handler_t **known;
    ngx_pool_cleanup_t *cln;
    const char *mistake;
    const void *ops;

    lmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_tg_library_module);
    object = ngx_tg_shared_object_open(cf, &lmcf->objects, &native->file);
    ops = object != NULL ? ngx_tg_shared_object_find_data(
              cf, object, &native->symbol, offsetof(toolgate_handler_t, check))
                         : NULL;

    if (ops == NULL) {
        return NGX_CONF_ERROR;
    }

    mistake = ngx_tg_native_handler_check(native, ops, text, sizeof(text));

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "\"%V\" in \"%V\" %s", &native->symbol,
                                 &native->file, mistake);
    }

    known = ngx_array_push(&lmcf->natives);
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (known == NULL || cln == NULL) {
        return NGX_CONF_ERROR;
    }

    /*
     * This cleanup runs before the object is unloaded, if no worker's exit has
     * unloaded the handler before.
     */
    cln->handler = ngx_tg_native_handler_unload;
    cln->data = native;
    *known = native;

    return NGX_CONF_OK;
}

static char *
ngx_tg_library_set_args(ngx_conf_t *cf, ngx_tg_library_tool_conf_t *library,
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
        value = ngx_tg_conf_array_push(cf, &library->values,
                                       sizeof(ngx_stream_complex_value_t));

        if (value == NULL
            || ngx_tg_value_compile(cf, &texts[i], value) != NGX_OK) {
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
ngx_tg_library_set_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_library_tool_conf_t *library = conf;

    ngx_tg_native_handler_t *native;
    const tg_catalog_entry_t *entry;
    ngx_uint_t i, n;
    ngx_str_t *value;
    char *rv;

    rv = ngx_tg_conf_set_handler(cf, &ngx_tg_library_handler);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;
    n = cf->args->nelts;

    for (i = 1; i < ngx_min(n, 3); i++) {
        if (value[i].len == 0 || ngx_tg_text_has_variables(&value[i])) {
            return "needs a file and a symbol without variables; write "
                   "\"library FILE SYMBOL ARGUMENT ...\", with variables in "
                   "ARGUMENTs only";
        }
    }

    native = &library->native;
    native->file = value[1];

    if (ngx_tg_unescape_dollars(cf, &native->file) != NGX_OK
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
        rv = ngx_tg_library_set_args(cf, library, &value[3], n - 3);
    }

    entry = &ngx_tg_conf_get_tool(cf)->entry;
    native->tool.name.data = entry->name.data;
    native->tool.name.len = entry->name.len;

    /*
     * A process that only sends a signal (nginx -s) must not run code of the
     * library.
     */
    return rv != NGX_CONF_OK || ngx_process == NGX_PROCESS_SIGNALLER
               ? rv
               : ngx_tg_library_open_handler(cf, native);
}

/* --- execution of a call --- */

static const char *
ngx_tg_library_copy_text(ngx_pool_t *pool, tg_str_t text)
{
    char *copy;

    copy = ngx_pnalloc(pool, text.len + 1);

    if (copy != NULL) {
        memcpy(copy, text.data, text.len);
        copy[text.len] = '\0';
    }

    return copy;
}

/* Evaluates the ARGUMENTs for this call; NULL: no memory. */
static const toolgate_text_t *
ngx_tg_library_eval_args(ngx_tg_call_t *call,
                         ngx_tg_library_tool_conf_t *library)
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

        if (ngx_tg_call_eval_value(call, &values[i], &text) != NGX_OK) {
            return NULL;
        }

        args[i].data = ngx_tg_library_copy_text(call->pool,
                                                ngx_tg_str_from_ngx(&text));
        args[i].len = text.len;

        if (args[i].data == NULL) {
            return NULL;
        }
    }

    return args;
}

static void
ngx_tg_library_fail_call(ngx_tg_library_call_t *ctx,
                         const tg_pending_call_reply_t *reply)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    if (reply->text.len > ctx->max_output) {
        tg_buf_printf(&text,
                      "%.*s: the answer has %zu bytes, more than the maximum "
                      "of %zu (max_output); ask for less.",
                      (int) ctx->call->entry->name.len,
                      ctx->call->entry->name.data, reply->text.len,
                      ctx->max_output);
        ctx->call->rule = NGX_TG_RULE_MAX_OUTPUT;
    } else {
        tg_utf8_append_visible(&text, reply->text, 0);
    }

    outcome = tg_buf_has_failed(&text)
                  ? tg_outcome_make_no_memory()
                  : tg_outcome_make_failure_str(reply->text.len
                                                        > ctx->max_output
                                                    ? TG_FAILURE_OUTPUT
                                                    : reply->failure,
                                                tg_buf_view(&text));
    ngx_tg_call_end(ctx->call, &outcome);
    tg_buf_deinit(&text);
}

static void
ngx_tg_library_end_call(ngx_tg_library_call_t *ctx,
                        const tg_pending_call_reply_t *reply)
{
    if (reply->failure != TG_FAILURE_NONE || reply->text.len > ctx->max_output)
    {
        ngx_tg_library_fail_call(ctx, reply);
        return;
    }

    ngx_tg_call_end_with_output(ctx->call, reply->text);
}

static void
ngx_tg_library_send_progress(ngx_tg_call_t *call,
                             const tg_pending_call_progress_t *progress)
{
    tg_progress_values_t values;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_progress_values_write_json(progress, &text, &values);

    if (values.progress.data != NULL) {
        ngx_tg_call_send_progress(call, values.progress, values.total,
                                  values.message);
    }

    tg_buf_deinit(&text);
}

static void
ngx_tg_library_on_message(tg_pending_call_t *pending,
                          const tg_pending_call_reply_t *reply,
                          const tg_pending_call_progress_t *progress)
{
    ngx_tg_library_call_t *ctx = (ngx_tg_library_call_t *) pending;

    if (reply != NULL) {
        ngx_tg_library_end_call(ctx, reply);
    } else {
        ngx_tg_library_send_progress(ctx->call, progress);
    }
}

/*
 * Passes the call to the library. Returns 1: the call was answered and freed;
 * 0: the library answers later.
 */
static ngx_uint_t
ngx_tg_library_call_handler(ngx_tg_library_call_t *ctx)
{
    tg_pending_call_reply_t reply;

    ctx->is_begun = 1;
    ctx->pending.on_arrival = ngx_tg_library_on_message;
    ctx->pending.inline_text = ctx->inline_text;
    ctx->request.call = tg_pending_call_open(&ctx->pending,
                                             ngx_tg_reply_queue_get());

    ngx_tg_native_handler_call(ctx->native, &ctx->request);

    if (!tg_pending_call_take_reply(&ctx->pending, &reply)) {
        return 0;
    }

    ngx_tg_library_end_call(ctx, &reply);
    tg_thread_message_free(reply.thread_message);

    return 1;
}

static ngx_tg_library_call_t *
ngx_tg_library_create_call(ngx_tg_call_t *call, tg_str_t arguments)
{
    ngx_tg_library_call_t *ctx;
    ngx_tg_library_tool_conf_t *library;
    toolgate_request_t *request;

    library = call->tool->conf;
    ctx = ngx_palloc(call->pool, sizeof(ngx_tg_library_call_t));

    if (ctx == NULL) {
        return NULL;
    }

    tg_memzero(ctx, offsetof(ngx_tg_library_call_t, inline_text));

    ctx->call = call;
    ctx->native = &library->native;
    ctx->max_output = ngx_tg_call_get_handler_max_output(call);
    call->ctx = ctx;

    request = &ctx->request;
    request->size = sizeof(toolgate_request_t);
    request->tool = &library->native.tool;
    request->state = library->native.state;
    request->arguments.data = ngx_tg_library_copy_text(call->pool, arguments);
    request->arguments.len = arguments.len;
    request->args = library->is_variable
                        ? ngx_tg_library_eval_args(call, library)
                        : library->native.tool.args;

    return request->arguments.data != NULL
                   && (request->args != NULL || library->native.tool.nargs == 0)
               ? ctx
               : NULL;
}

/*
 * Starts a call. Most calls are answered at once and need not be deferred. A
 * call that must wait for a slot, or that may be refused because too many run,
 * is deferred before the library sees it.
 */
static void
ngx_tg_library_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_library_call_t *ctx;
    ngx_tg_library_tool_conf_t *library;
    const tg_peer_t *peer;

    library = call->tool->conf;

    if (!library->native.is_loaded
        && !ngx_tg_native_handler_ensure_loaded(&library->native))
    {
        ngx_tg_call_fail(call, TG_FAILURE_LOST, library->native.load_error);
        return;
    }

    ctx = ngx_tg_library_create_call(call, request->arguments);

    if (ctx == NULL) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        return;
    }

    peer = &call->base->peer;

    if (call->tool->limit.calls.concurrency <= 0
        && call->base->conf->limit.calls.concurrency <= 0
        && peer->ncalls < peer->max_calls)
    {
        if (ngx_tg_library_call_handler(ctx)) {
            return;
        }

        call->has_run = 1;
    }

    /* On failure ctx has been freed. */
    if (ngx_tg_call_defer(call) == NGX_OK && ctx->is_begun) {
        tg_pending_call_enable_delivery(&ctx->pending);
    }
}

static void
ngx_tg_library_run(ngx_tg_call_t *call)
{
    ngx_tg_library_call_t *ctx;

    ctx = call->ctx;

    if (!ctx->is_begun && !ngx_tg_library_call_handler(ctx)) {
        tg_pending_call_enable_delivery(&ctx->pending);
    }
}

static void
ngx_tg_library_cancel(ngx_tg_call_t *call)
{
    ngx_tg_library_call_t *ctx;

    ctx = call->ctx;

    if (tg_pending_call_close(&ctx->pending)) {
        ngx_tg_native_handler_cancel(ctx->native, ctx->request.call);
    }
}

/* --- module --- */

static ngx_command_t ngx_tg_library_commands[] = {

    { ngx_string("library"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_tg_library_set_file, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

static ngx_stream_module_t ngx_tg_library_module_ctx = {
    .create_main_conf = ngx_tg_library_create_main_conf,
};

ngx_module_t ngx_tg_library_module = NGX_TG_MODULE(
    ngx_tg_library_module_ctx, ngx_tg_library_commands,
    .init_process = ngx_tg_library_init_process,
    .exit_process = ngx_tg_library_exit_process);

const ngx_tg_handler_t ngx_tg_library_handler = {
    .name = ngx_string("library"),
    .module = &ngx_tg_library_module,
    .conf_size = sizeof(ngx_tg_library_tool_conf_t),
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_ALLOWS_SPILL,
    .start = ngx_tg_library_start,
    .run = ngx_tg_library_run,
    .cancel = ngx_tg_library_cancel,
};
