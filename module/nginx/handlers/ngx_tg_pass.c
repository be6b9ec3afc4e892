/*
 * `pass ADDRESS|UPSTREAM …`: a backend answers calls over persistent
 * connections of the worker. NGINX's upstream selects the backend; each call
 * counts there as one connection.
 */
#include "nginx/handlers/ngx_tg_pass.h"

/*
 * Connections to one backend that may end before they take a call; after that
 * the backend counts as failed.
 */
#define NGX_TG_PASS_TRIES 3

typedef struct {
    ngx_tg_backend_call_t query;
    ngx_tg_pass_conf_t *pass;
    /* of the config, which lives longer than its calls */
    ngx_tg_tool_t *tool;
    ngx_tg_upstream_peer_t choice; /* backend that the upstream has selected */
    ngx_uint_t ntries;             /* attempts with that backend */
    size_t max_output;
    tg_str_t arguments; /* of the call; a copy */
} ngx_tg_pass_ctx_t;

/* --- selection of a backend --- */

/*
 * Fails a call with a text that has the tool's name, the upstream's name and a
 * reason.
 */
static void
ngx_tg_pass_fail_call(ngx_tg_call_t *call, tg_failure_t failure,
                      const char *format, const char *why)
{
    ngx_tg_pass_ctx_t *ctx;
    u_char text[512];

    ctx = call->ctx;
    (void) ngx_snprintf(text, sizeof(text), format, call->entry->name.len,
                        call->entry->name.data, &ctx->pass->upstream->host,
                        why);
    text[sizeof(text) - 1] = '\0';
    ngx_tg_call_fail(call, failure, (const char *) text);
}

static void
ngx_tg_pass_fail_unreachable(ngx_tg_call_t *call, const char *why)
{
    ngx_tg_pass_fail_call(call, TG_FAILURE_LOST,
                          "%*s: no backend of \"%V\" can be reached (%s), so "
                          "the call was not started; try again later, or ask "
                          "the operator.%Z",
                          why);
}

/*
 * Selects the next backend. NGX_OK, or NGX_BUSY: none is left. The servers of a
 * name (`resolve`) may have changed since the call arrived, for example while
 * it waited for a slot; then the selection starts again, with the same
 * arguments.
 */
static ngx_int_t
ngx_tg_pass_select_peer(ngx_tg_call_t *call)
{
    ngx_tg_pass_ctx_t *ctx;
    tg_request_t request;
    ngx_int_t rc;

    ctx = call->ctx;

    while (ngx_tg_upstream_peer_select_next(&ctx->choice) != NGX_OK) {
        if (call->base == NULL
            || !ngx_tg_upstream_peer_is_stale(&ctx->choice,
                                              ctx->pass->upstream))
        {
            return NGX_BUSY;
        }

        ngx_memzero(&request, sizeof(request));
        request.arguments = ctx->arguments;
        call->request = &request;
        call->tool = ctx->tool;
        rc = ngx_tg_upstream_peer_init(call, &ctx->choice, ctx->pass->upstream);
        call->request = NULL;
        call->tool = NULL;

        if (rc != NGX_OK) {
            return NGX_BUSY;
        }
    }

    return NGX_OK;
}

/* Sends the call to the next backend that the upstream selects. */
static void
ngx_tg_pass_try_next_peer(ngx_tg_call_t *call)
{
    ngx_tg_pass_ctx_t *ctx;
    ngx_tg_backend_t *backend;
    ngx_peer_connection_t *peer;
    const char *why;

    ctx = call->ctx;
    peer = &ctx->choice.peer;
    why = "all are marked as down";

    while (ngx_tg_pass_select_peer(call) == NGX_OK) {
        ctx->ntries = 0;
        backend = ngx_tg_backend_find_or_create(&ctx->pass->protocol,
                                                peer->sockaddr, peer->socklen,
                                                peer->name);

        if (backend == NULL) {
            ngx_tg_upstream_peer_release(&ctx->choice, 0);
            ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
            return;
        }

        /*
         * An unreachable backend is only waited for if there is no other one.
         */
        if (peer->tries == 1 || !ngx_tg_backend_is_backing_off(backend)) {
            ngx_tg_backend_send_call(backend, &ctx->query);
            return;
        }

        why = ngx_tg_backend_get_error(backend);
        ngx_tg_upstream_peer_release(&ctx->choice, NGX_PEER_FAILED);
    }

    ngx_tg_pass_fail_unreachable(call, why);
}

/* Sends a call again whose connection ended before anything was sent. */
static void
ngx_tg_pass_retry(ngx_tg_call_t *call)
{
    ngx_tg_pass_ctx_t *ctx;
    ngx_tg_backend_t *backend;
    ngx_peer_connection_t *peer;

    ctx = call->ctx;
    peer = &ctx->choice.peer;
    backend = ngx_tg_backend_find_or_create(&ctx->pass->protocol,
                                            peer->sockaddr, peer->socklen,
                                            peer->name);

    /* A persistent connection may have been closed for any reason. */
    if (backend != NULL && ctx->query.was_open
        && ++ctx->ntries < NGX_TG_PASS_TRIES) {
        ngx_tg_backend_send_call(backend, &ctx->query);
        return;
    }

    ngx_tg_upstream_peer_release(&ctx->choice, NGX_PEER_FAILED);

    if (peer->tries != 0
        || ngx_tg_upstream_peer_is_stale(&ctx->choice, ctx->pass->upstream))
    {
        ngx_tg_pass_try_next_peer(call);
    } else {
        ngx_tg_pass_fail_unreachable(call,
                                     backend != NULL
                                         ? ngx_tg_backend_get_error(backend)
                                         : "no memory");
    }
}

/* --- responses --- */

static void
ngx_tg_pass_on_response(void *data, const tg_response_t *answer)
{
    ngx_tg_call_t *call = data;
    ngx_tg_pass_ctx_t *ctx;
    tg_outcome_t outcome;
    tg_buf_t scratch;

    ctx = call->ctx;

    if (answer == NULL) {
        ngx_tg_upstream_peer_release(&ctx->choice, 0);
        ngx_tg_pass_fail_call(call, TG_FAILURE_BUSY,
                              "%*s: too much data is waiting for \"%V\", or "
                              "this call is too large for it; try again later, "
                              "or send less.%Z",
                              NULL);
        return;
    }

    if (answer->kind == TG_RESPONSE_NOT_STARTED) {
        ngx_tg_pass_retry(call);
        return;
    }

    ngx_tg_upstream_peer_release(&ctx->choice, answer->kind == TG_RESPONSE_LOST
                                                   ? NGX_PEER_FAILED
                                                   : 0);

    if (answer->kind == TG_RESPONSE_LOST) {
        ngx_tg_pass_fail_call(call, TG_FAILURE_LOST,
                              "%*s: the connection to \"%V\" closed while the "
                              "call was running; it may have been executed. "
                              "Check what it did before you call it again.%Z",
                              NULL);
        return;
    }

    tg_buf_init(&scratch, tg_alloc_libc());
    outcome = ngx_tg_call_convert_response(
        call, ctx->pass->is_method || ctx->pass->mcp_method.len != 0,
        ctx->max_output, answer, &scratch);
    ngx_tg_call_end(call, &outcome);
    tg_buf_deinit(&scratch);
}

static void
ngx_tg_pass_on_progress(void *data, const tg_message_t *message)
{
    ngx_tg_call_send_progress(data, message->p.progress, message->p.total,
                              message->p.message);
}

/* --- execution of a call --- */

/*
 * Copies the data to be sent, so that it lives as long as the call. NGX_OK, or
 * NGX_ERROR: no memory.
 */
static ngx_int_t
ngx_tg_pass_copy_request(ngx_tg_call_t *call, tg_mcp_call_t *sent)
{
    char *at;

    at = ngx_pnalloc(call->pool, sent->arguments.len + sent->meta.len
                                     + sent->input_responses.len
                                     + sent->request_state.len);

    if (at == NULL) {
        return NGX_ERROR;
    }

    sent->arguments = tg_str_copy_to(&at, sent->arguments);
    sent->meta = tg_str_copy_to(&at, sent->meta);
    sent->input_responses = tg_str_copy_to(&at, sent->input_responses);
    sent->request_state = tg_str_copy_to(&at, sent->request_state);

    return NGX_OK;
}

/* Copies the arguments, by which an upstream may select a backend. */
static ngx_int_t
ngx_tg_pass_copy_arguments(ngx_tg_call_t *call, ngx_tg_pass_ctx_t *ctx,
                           const tg_request_t *request)
{
    char *at;

    at = ngx_pnalloc(call->pool, request->arguments.len + 1);

    if (at == NULL) {
        return NGX_ERROR;
    }

    ctx->arguments = tg_str_copy_to(&at, request->arguments);

    return NGX_OK;
}

/* Writes the params of prompts/get or resources/read. */
static void
ngx_tg_pass_write_mcp_params(const ngx_tg_call_t *call,
                             const ngx_tg_pass_ctx_t *ctx,
                             const tg_request_t *request, tg_buf_t *out)
{
    tg_str_t name;

    /* The backend gets the URI that matches its template. */
    name = call->entry->kind == TG_ENTRY_TEMPLATE ? request->reply.subject
                                                  : ctx->pass->sent;
    tg_buf_append_cstr(out, call->entry->kind == TG_ENTRY_PROMPT
                                ? "{\"name\":\""
                                : "{\"uri\":\"");
    tg_buf_append_str(out, name);
    tg_buf_append_char(out, '"');

    if (call->entry->kind == TG_ENTRY_PROMPT) {
        tg_json_add_compact(out, "arguments", request->arguments);
    }

    tg_buf_append_char(out, '}');
}

static ngx_int_t
ngx_tg_pass_init_call(ngx_tg_call_t *call, ngx_tg_pass_ctx_t *ctx,
                      const tg_request_t *request)
{
    ngx_tg_backend_call_t *query;
    tg_mcp_call_t *sent;
    tg_buf_t params;
    ngx_int_t rc;

    query = &ctx->query;
    query->is_method = ctx->pass->is_method;
    query->data = call;
    query->answer = ngx_tg_pass_on_response;
    query->progress = ngx_tg_pass_on_progress;

    sent = &query->call;
    sent->name = ctx->pass->sent;
    sent->arguments = request->arguments;

    if (!query->is_method) {
        sent->meta = request->meta;
        sent->input_responses = request->input_responses;
        sent->request_state = request->request_state;
    }

    tg_buf_init(&params, tg_alloc_libc());

    if (ctx->pass->mcp_method.len != 0) {
        sent->method = ctx->pass->mcp_method;
        ngx_tg_pass_write_mcp_params(call, ctx, request, &params);
        sent->arguments = tg_buf_view(&params);
    }

    rc = tg_buf_has_failed(&params) ? NGX_ERROR
                                    : ngx_tg_pass_copy_request(call, sent);
    tg_buf_deinit(&params);
    ctx->arguments = sent->arguments;

    if (rc == NGX_OK && ctx->pass->mcp_method.len != 0) {
        rc = ngx_tg_pass_copy_arguments(call, ctx, request);
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    /*
     * The progress token is within a method's params, but outside of a tool's
     * arguments.
     */
    if (query->is_method && call->entry->kind == TG_ENTRY_METHOD
        && request->progress_token.data != NULL)
    {
        query->token = request->progress_token;
        query->token.data = sent->arguments.data
                            + (request->progress_token.data
                               - request->arguments.data);
    }

    return ngx_tg_upstream_peer_init(call, &ctx->choice, ctx->pass->upstream);
}

void
ngx_tg_pass_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_pass_ctx_t *ctx;

    ctx = ngx_pcalloc(call->pool, sizeof(ngx_tg_pass_ctx_t));
    call->ctx = ctx;

    if (ctx != NULL) {
        ctx->tool = call->tool;
        ctx->pass = call->tool->conf;
        ctx->max_output = ngx_tg_call_get_handler_max_output(call);
    }

    if (ctx == NULL || ngx_tg_pass_init_call(call, ctx, request) != NGX_OK) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        return;
    }

    (void) ngx_tg_call_defer(call);
}

void
ngx_tg_pass_run(ngx_tg_call_t *call)
{
    ngx_tg_pass_try_next_peer(call);
}

void
ngx_tg_pass_cancel(ngx_tg_call_t *call)
{
    ngx_tg_pass_ctx_t *ctx;

    ctx = call->ctx;
    ngx_tg_backend_call_cancel(&ctx->query, call->is_late);
    ngx_tg_upstream_peer_release(&ctx->choice,
                                 call->is_late ? NGX_PEER_FAILED : 0);
}
