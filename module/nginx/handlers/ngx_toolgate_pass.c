/*
 * `pass ADDRESS|UPSTREAM …`: a backend answers, over connections that the
 * worker keeps.  NGINX's upstream says which one; each call counts there as
 * one connection.
 */
#include "nginx/call/ngx_toolgate_choice.h"
#include "nginx/line/ngx_toolgate_backend.h"

#include "base/tg_utf8.h"

/* Connections that end before they take a call: then it is the backend's. */
#define NGX_TOOLGATE_PASS_TRIES 3

/* Of a tool, and of a server, which has no more than its TLS. */
typedef struct {
    ngx_stream_upstream_srv_conf_t *upstream; /* NULL: no `pass` */
    ngx_toolgate_speech_t speech;
    ngx_str_t name; /* at the backend; empty: the tool's */
    tg_str_t sent;  /* the same, as it is sent */
    ngx_uint_t is_method;
    ngx_toolgate_tls_t tls;
} ngx_toolgate_pass_t;

typedef struct {
    ngx_toolgate_query_t query;
    ngx_toolgate_pass_t *pass;
    ngx_toolgate_choice_t choice; /* whom the upstream has chosen */
    ngx_uint_t ntries;            /* with that one */
    size_t max_output;
} ngx_toolgate_pass_ctx_t;

static char *ngx_toolgate_pass_conf(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
static void *ngx_toolgate_pass_create(ngx_conf_t *cf);
static char *ngx_toolgate_pass_merge(ngx_conf_t *cf, void *parent, void *child);
static const char *ngx_toolgate_pass_check(ngx_toolgate_tool_t *tool,
                                           void *conf);
static tg_output_t ngx_toolgate_pass_output(ngx_toolgate_tool_t *tool,
                                            void *conf);
static void ngx_toolgate_pass_start(ngx_toolgate_call_t *call,
                                    tg_request_t *request);
static void ngx_toolgate_pass_run(ngx_toolgate_call_t *call);
static void ngx_toolgate_pass_cancel(ngx_toolgate_call_t *call);

#define NGX_TOOLGATE_TLS_OFFSET(field) offsetof(ngx_toolgate_pass_t, tls.field)

static ngx_command_t ngx_toolgate_pass_commands[] = {

    { ngx_string("pass"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_toolgate_pass_conf, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    NGX_TOOLGATE_TLS_COMMANDS(NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF
                              | NGX_STREAM_TOOL_CONF),

    ngx_null_command
};

static ngx_stream_module_t ngx_toolgate_pass_module_ctx = {
    .create_srv_conf = ngx_toolgate_pass_create,
    .merge_srv_conf = ngx_toolgate_pass_merge,
};

ngx_module_t ngx_toolgate_pass_module = { NGX_MODULE_V1,
                                          &ngx_toolgate_pass_module_ctx,
                                          ngx_toolgate_pass_commands,
                                          NGX_STREAM_MODULE,
                                          NULL,
                                          NULL,
                                          NULL,
                                          NULL,
                                          NULL,
                                          NULL,
                                          NULL,
                                          NGX_MODULE_V1_PADDING };

const ngx_toolgate_handler_t ngx_toolgate_pass_handler = {
    .name = ngx_string("pass"),
    .module = &ngx_toolgate_pass_module,
    .conf_size = sizeof(ngx_toolgate_pass_t),
    .flags = NGX_TOOLGATE_TAKES_TIME,
    .check = ngx_toolgate_pass_check,
    .output = ngx_toolgate_pass_output,
    .start = ngx_toolgate_pass_start,
    .run = ngx_toolgate_pass_run,
    .cancel = ngx_toolgate_pass_cancel,
};

/* --- directives --- */

/* What a backend answers with is a whole result, unless it is a method's. */
static tg_output_t
ngx_toolgate_pass_output(ngx_toolgate_tool_t *tool, void *conf)
{
    ngx_toolgate_pass_t *pass = conf;

    return tool->entry.kind == TG_ENTRY_TOOL && !pass->is_method
               ? TG_OUTPUT_RESULT
               : TG_OUTPUT_JSON;
}

/* protocol=NAME */
static char *
ngx_toolgate_pass_protocol(ngx_conf_t *cf, ngx_toolgate_pass_t *pass,
                           ngx_str_t *name)
{
    ngx_uint_t dialect;

    if (tg_str_eq(ngx_toolgate_str(name), TG_STR("mcp"))) {
        pass->speech.dialect = TG_DIALECT_JSONRPC;
        pass->speech.is_mcp = 1;
        return NGX_CONF_OK;
    }

    for (dialect = TG_DIALECT_AUTO + 1; dialect < TG_DIALECT_END; dialect++) {
        if (tg_str_eq(ngx_toolgate_str(name),
                      tg_str_c(tg_dialect_name((tg_dialect_t) dialect))))
        {
            pass->speech.dialect = (tg_dialect_t) dialect;
            return NGX_CONF_OK;
        }
    }

    return ngx_toolgate_refuse(cf,
                               "unknown protocol \"%V\" in \"pass\"; write "
                               "one of ipc, jsonrpc, relay, mcp",
                               name);
}

/* The value of NAME=VALUE: NGX_OK, or NGX_DECLINED: it is another. */
static ngx_int_t
ngx_toolgate_pass_param(const ngx_str_t *text, const char *name,
                        ngx_str_t *value)
{
    size_t len;

    len = ngx_strlen(name);

    if (text->len < len || ngx_strncmp(text->data, name, len) != 0) {
        return NGX_DECLINED;
    }

    value->data = text->data + len;
    value->len = text->len - len;

    return NGX_OK;
}

static char *
ngx_toolgate_pass_params(ngx_conf_t *cf, ngx_toolgate_pass_t *pass)
{
    ngx_str_t *value, param;
    ngx_uint_t i;
    char *rv;

    value = cf->args->elts;

    for (i = 2; i < cf->args->nelts; i++) {
        rv = NGX_CONF_OK;

        if (ngx_toolgate_pass_param(&value[i], "protocol=", &param) == NGX_OK
            && pass->speech.dialect == TG_DIALECT_AUTO)
        {
            rv = ngx_toolgate_pass_protocol(cf, pass, &param);

        } else if (pass->name.len == 0
                   && (ngx_toolgate_pass_param(&value[i], "name=", &pass->name)
                           == NGX_OK
                       || ngx_toolgate_pass_param(&value[i],
                                                  "method=", &pass->name)
                              == NGX_OK)
                   && pass->name.len != 0)
        {
            pass->is_method = value[i].data[0] == 'm';

        } else {
            rv = ngx_toolgate_refuse(
                cf,
                "invalid parameter \"%V\" in \"pass\"; behind the address "
                "there may be, once each, \"protocol=ipc|jsonrpc|relay|mcp\" "
                "and the name at the backend, \"name=NAME\" or, for a method "
                "of JSON-RPC, \"method=NAME\"",
                &value[i]);
        }

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return NGX_CONF_OK;
}

/* What is sent of the name, which the block has. */
static char *
ngx_toolgate_pass_name(ngx_conf_t *cf, ngx_toolgate_pass_t *pass)
{
    ngx_toolgate_tool_t *tool;
    tg_buf_t escaped;
    u_char *copy;

    tool = ngx_toolgate_conf_tool(cf);

    if (pass->name.len == 0) {
        pass->name.data = (u_char *) tool->entry.name.data;
        pass->name.len = tool->entry.name.len;
    }

    pass->sent = ngx_toolgate_str(&pass->name);

    if (!tg_utf8_is_valid(pass->sent)) {
        return "has a name that is not valid UTF-8";
    }

    if (pass->is_method) {
        return NGX_CONF_OK;
    }

    tg_buf_init(&escaped, tg_alloc_libc());
    tg_json_put_escaped(&escaped, pass->sent);
    copy = ngx_pnalloc(cf->pool, escaped.len);

    if (copy != NULL && !tg_buf_failed(&escaped)) {
        ngx_memcpy(copy, escaped.data, escaped.len);
        pass->sent = tg_str((char *) copy, escaped.len);
    }

    tg_buf_deinit(&escaped);

    return copy != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *
ngx_toolgate_pass_conf(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_pass_t *pass = conf;

    ngx_str_t *value;
    ngx_url_t url;
    char *rv;

    (void) cmd;
    value = cf->args->elts;
    rv = ngx_toolgate_set_handler(cf, &ngx_toolgate_pass_handler);

    if (rv == NGX_CONF_OK) {
        rv = ngx_toolgate_pass_params(cf, pass);
    }

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (pass->speech.dialect == TG_DIALECT_AUTO) {
        pass->speech.dialect = TG_DIALECT_JSONRPC;
    }

    if (pass->is_method
        && (pass->speech.dialect != TG_DIALECT_JSONRPC || pass->speech.is_mcp))
    {
        return "has \"method=\", which is for \"protocol=jsonrpc\"; write "
               "\"name=\" for the tool's name at the backend";
    }

    pass->is_method |= ngx_toolgate_conf_tool(cf)->entry.kind == TG_ENTRY_METHOD
                       && pass->speech.dialect == TG_DIALECT_JSONRPC
                       && !pass->speech.is_mcp;

    if (ngx_strchr(value[1].data, '$') != NULL) {
        return "needs an address or an upstream that is known at load; it "
               "has no variables";
    }

    ngx_memzero(&url, sizeof(ngx_url_t));
    url.url = value[1];
    url.no_resolve = 1;
    pass->upstream = ngx_stream_upstream_add(cf, &url, 0);

    return pass->upstream != NULL ? ngx_toolgate_pass_name(cf, pass)
                                  : NGX_CONF_ERROR;
}

/* --- TLS --- */

static void *
ngx_toolgate_pass_create(ngx_conf_t *cf)
{
    ngx_toolgate_pass_t *pass;

    pass = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_pass_t));

    if (pass != NULL) {
        ngx_toolgate_tls_create(&pass->tls);
    }

    return pass;
}

static const char *
ngx_toolgate_pass_check(ngx_toolgate_tool_t *tool, void *conf)
{
    ngx_toolgate_pass_t *pass = conf;

    (void) tool;

    return pass->upstream == NULL && !ngx_toolgate_tls_is_unset(&pass->tls)
               ? "has no \"pass\", so \"tool_pass_ssl\" and its like mean "
                 "nothing in it; remove them"
               : NULL;
}

/* The server was read: NGX_OK, or NGX_ERROR, logged. */
static ngx_int_t
ngx_toolgate_pass_secure(ngx_conf_t *cf, const ngx_toolgate_tool_t *tool,
                         ngx_toolgate_tls_t *server)
{
    ngx_toolgate_pass_t *pass = tool->conf;
    ngx_toolgate_tls_t *tls;
    const char *mistake;

    tls = server;

    if (!ngx_toolgate_tls_is_unset(&pass->tls)) {
        tls = &pass->tls;
        ngx_toolgate_tls_merge(tls, server);
    }

    if (!tls->enable) {
        return NGX_OK;
    }

    pass->speech.tls = tls;
    pass->speech.tls_name = tls->name.len != 0 ? tls->name
                                               : pass->upstream->host;
    mistake = ngx_toolgate_tls_check(tls, &pass->speech.tls_name);

    if (mistake != NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "\"%*s\" %s",
                      tool->entry.name.len, tool->entry.name.data, mistake);
        return NGX_ERROR;
    }

    return ngx_toolgate_tls_init(cf, tls);
}

static char *
ngx_toolgate_pass_merge(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_toolgate_pass_t *prev = parent;
    ngx_toolgate_pass_t *conf = child;

    const ngx_toolgate_tool_t *tool;
    ngx_toolgate_srv_conf_t *scf;
    size_t i;

    ngx_toolgate_tls_merge(&prev->tls, NULL);
    ngx_toolgate_tls_merge(&conf->tls, &prev->tls);
    scf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);

    for (i = 0; scf->catalogue != NULL && i < tg_catalogue_size(scf->catalogue);
         i++)
    {
        tool = tg_catalogue_at(scf->catalogue, i)->host;

        if (tool->handler == &ngx_toolgate_pass_handler
            && ngx_toolgate_pass_secure(cf, tool, &conf->tls) != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

/* --- who it goes to --- */

/* A failure whose text has the tool's name, the backend's, and a reason. */
static void
ngx_toolgate_pass_fail(ngx_toolgate_call_t *call, tg_failure_t failure,
                       const char *format, const char *why)
{
    ngx_toolgate_pass_ctx_t *ctx;
    u_char text[512];

    ctx = call->ctx;
    (void) ngx_snprintf(text, sizeof(text), format, call->entry->name.len,
                        call->entry->name.data, &ctx->pass->upstream->host,
                        why);
    text[sizeof(text) - 1] = '\0';
    ngx_toolgate_call_fail(call, failure, (const char *) text);
}

static void
ngx_toolgate_pass_absent(ngx_toolgate_call_t *call, const char *why)
{
    ngx_toolgate_pass_fail(call, TG_FAILURE_LOST,
                           "%*s: no backend of \"%V\" can be reached (%s), so "
                           "the call was not started; try again later, or "
                           "tell the operator.%Z",
                           why);
}

/* Asks the next one that the upstream has. */
static void
ngx_toolgate_pass_next(ngx_toolgate_call_t *call)
{
    ngx_toolgate_pass_ctx_t *ctx;
    ngx_toolgate_backend_t *backend;
    ngx_peer_connection_t *peer;
    const char *why;

    ctx = call->ctx;
    peer = &ctx->choice.peer;
    why = "none is said to be alive";

    while (ngx_toolgate_choice_next(&ctx->choice) == NGX_OK) {
        ctx->ntries = 0;
        backend = ngx_toolgate_backend_get(&ctx->pass->speech, peer->sockaddr,
                                           peer->socklen, peer->name);

        if (backend == NULL) {
            ngx_toolgate_choice_end(&ctx->choice, 0);
            ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
            return;
        }

        /* Where there is another one, nobody waits for it. */
        if (peer->tries == 1 || !ngx_toolgate_backend_rests(backend)) {
            ngx_toolgate_backend_ask(backend, &ctx->query);
            return;
        }

        why = ngx_toolgate_backend_why(backend);
        ngx_toolgate_choice_end(&ctx->choice, NGX_PEER_FAILED);
    }

    ngx_toolgate_pass_absent(call, why);
}

/* Nothing of it was sent, as the connection ended. */
static void
ngx_toolgate_pass_again(ngx_toolgate_call_t *call)
{
    ngx_toolgate_pass_ctx_t *ctx;
    ngx_toolgate_backend_t *backend;
    ngx_peer_connection_t *peer;

    ctx = call->ctx;
    peer = &ctx->choice.peer;
    backend = ngx_toolgate_backend_get(&ctx->pass->speech, peer->sockaddr,
                                       peer->socklen, peer->name);

    /* A connection that was kept may have ended for any reason. */
    if (backend != NULL && ctx->query.was_open
        && ++ctx->ntries < NGX_TOOLGATE_PASS_TRIES)
    {
        ngx_toolgate_backend_ask(backend, &ctx->query);
        return;
    }

    ngx_toolgate_choice_end(&ctx->choice, NGX_PEER_FAILED);

    if (peer->tries != 0) {
        ngx_toolgate_pass_next(call);
    } else {
        ngx_toolgate_pass_absent(call, backend != NULL
                                           ? ngx_toolgate_backend_why(backend)
                                           : "no memory");
    }
}

/* --- what it answers --- */

static void
ngx_toolgate_pass_answer(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_call_t *call = data;
    ngx_toolgate_pass_ctx_t *ctx;
    tg_outcome_t outcome;
    tg_buf_t scratch;

    ctx = call->ctx;

    if (answer == NULL) {
        ngx_toolgate_choice_end(&ctx->choice, 0);
        ngx_toolgate_pass_fail(call, TG_FAILURE_BUSY,
                               "%*s: too much is waiting for \"%V\", or this "
                               "call is too large for it; call again later, "
                               "or with less.%Z",
                               NULL);
        return;
    }

    if (answer->kind == TG_ANSWER_NOT_STARTED) {
        ngx_toolgate_pass_again(call);
        return;
    }

    ngx_toolgate_choice_end(&ctx->choice, answer->kind == TG_ANSWER_LOST
                                              ? NGX_PEER_FAILED
                                              : 0);

    if (answer->kind == TG_ANSWER_LOST) {
        ngx_toolgate_pass_fail(call, TG_FAILURE_LOST,
                               "%*s: the connection to \"%V\" ended while it "
                               "ran; it may have been executed. See what it "
                               "did before it is called again.%Z",
                               NULL);
        return;
    }

    tg_buf_init(&scratch, tg_alloc_libc());
    outcome = ngx_toolgate_answer(call, ctx->pass->is_method, ctx->max_output,
                                  answer, &scratch);
    ngx_toolgate_call_end(call, &outcome);
    tg_buf_deinit(&scratch);
}

static void
ngx_toolgate_pass_progress(void *data, const tg_message_t *message)
{
    ngx_toolgate_call_progress(data, message->p.progress, message->p.total,
                               message->p.message);
}

/* --- a call --- */

static ngx_int_t
ngx_toolgate_pass_prepare(ngx_toolgate_call_t *call,
                          ngx_toolgate_pass_ctx_t *ctx,
                          const tg_request_t *request)
{
    ngx_toolgate_query_t *query;
    char *copy;

    copy = ngx_pnalloc(call->pool, request->arguments.len);

    if (copy == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(copy, request->arguments.data, request->arguments.len);

    query = &ctx->query;
    query->is_method = ctx->pass->is_method;
    query->name = ctx->pass->sent;
    query->arguments = tg_str(copy, request->arguments.len);
    query->data = call;
    query->answer = ngx_toolgate_pass_answer;
    query->progress = ngx_toolgate_pass_progress;

    if (query->is_method && request->progress_token.data != NULL) {
        query->token = request->progress_token;
        query->token.data = copy
                            + (request->progress_token.data
                               - request->arguments.data);
    }

    return ngx_toolgate_choice_init(call, &ctx->choice, ctx->pass->upstream);
}

static void
ngx_toolgate_pass_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    ngx_toolgate_pass_ctx_t *ctx;

    ctx = ngx_pcalloc(call->pool, sizeof(ngx_toolgate_pass_ctx_t));
    call->ctx = ctx;

    if (ctx != NULL) {
        ctx->pass = call->tool->conf;
        ctx->max_output = call->tool->max_output;
    }

    if (ctx == NULL || ngx_toolgate_pass_prepare(call, ctx, request) != NGX_OK)
    {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
        return;
    }

    (void) ngx_toolgate_call_defer(call);
}

static void
ngx_toolgate_pass_run(ngx_toolgate_call_t *call)
{
    ngx_toolgate_pass_next(call);
}

static void
ngx_toolgate_pass_cancel(ngx_toolgate_call_t *call)
{
    ngx_toolgate_pass_ctx_t *ctx;
    ngx_uint_t is_late;

    ctx = call->ctx;
    is_late = call->timer.timedout;
    ngx_toolgate_backend_cancel(&ctx->query, is_late);
    ngx_toolgate_choice_end(&ctx->choice, is_late ? NGX_PEER_FAILED : 0);
}
