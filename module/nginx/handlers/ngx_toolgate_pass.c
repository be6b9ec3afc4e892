/*
 * `pass ADDRESS|UPSTREAM …`: a backend answers, over connections that the
 * worker keeps.  NGINX's upstream says which one; each call counts there as
 * one connection.
 */
#include "nginx/handlers/ngx_toolgate_pass.h"

/* Connections that end before they take a call: then it is the backend's. */
#define NGX_TOOLGATE_PASS_TRIES 3

typedef struct {
    ngx_toolgate_query_t query;
    ngx_toolgate_pass_t *pass;
    ngx_toolgate_tool_t *tool;    /* of the config, which outlives its calls */
    ngx_toolgate_choice_t choice; /* whom the upstream has chosen */
    ngx_uint_t ntries;            /* with that one */
    size_t max_output;
} ngx_toolgate_pass_ctx_t;

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

/*
 * One that is given: NGX_OK or NGX_BUSY.  The servers of a name (`resolve`)
 * may be others than those of the time when the call came, as while it waited
 * for its turn; then the upstream is asked once more, for the same arguments.
 */
static ngx_int_t
ngx_toolgate_pass_choose(ngx_toolgate_call_t *call)
{
    ngx_toolgate_pass_ctx_t *ctx;
    tg_request_t request;
    ngx_int_t rc;

    ctx = call->ctx;

    while (ngx_toolgate_choice_next(&ctx->choice) != NGX_OK) {
        if (call->front == NULL
            || !ngx_toolgate_choice_is_old(&ctx->choice, ctx->pass->upstream))
        {
            return NGX_BUSY;
        }

        ngx_memzero(&request, sizeof(request));
        request.arguments = ctx->query.call.arguments;
        call->request = &request;
        call->tool = ctx->tool;
        rc = ngx_toolgate_choice_init(call, &ctx->choice, ctx->pass->upstream);
        call->request = NULL;
        call->tool = NULL;

        if (rc != NGX_OK) {
            return NGX_BUSY;
        }
    }

    return NGX_OK;
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

    while (ngx_toolgate_pass_choose(call) == NGX_OK) {
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

    if (peer->tries != 0
        || ngx_toolgate_choice_is_old(&ctx->choice, ctx->pass->upstream))
    {
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

/* What is sent lives as long as the call. */
static ngx_int_t
ngx_toolgate_pass_keep(ngx_toolgate_call_t *call, tg_mcp_call_t *sent)
{
    char *at;

    at = ngx_pnalloc(call->pool, sent->arguments.len + sent->meta.len
                                     + sent->input_responses.len
                                     + sent->request_state.len);

    if (at == NULL) {
        return NGX_ERROR;
    }

    sent->arguments = tg_str_keep(&at, sent->arguments);
    sent->meta = tg_str_keep(&at, sent->meta);
    sent->input_responses = tg_str_keep(&at, sent->input_responses);
    sent->request_state = tg_str_keep(&at, sent->request_state);

    return NGX_OK;
}

static ngx_int_t
ngx_toolgate_pass_prepare(ngx_toolgate_call_t *call,
                          ngx_toolgate_pass_ctx_t *ctx,
                          const tg_request_t *request)
{
    ngx_toolgate_query_t *query;
    tg_mcp_call_t *sent;

    query = &ctx->query;
    query->is_method = ctx->pass->is_method;
    query->data = call;
    query->answer = ngx_toolgate_pass_answer;
    query->progress = ngx_toolgate_pass_progress;

    sent = &query->call;
    sent->name = ctx->pass->sent;
    sent->arguments = request->arguments;

    if (!query->is_method) {
        sent->meta = request->meta;
        sent->input_responses = request->input_responses;
        sent->request_state = request->request_state;
    }

    if (ngx_toolgate_pass_keep(call, sent) != NGX_OK) {
        return NGX_ERROR;
    }

    /* It is in a method's params; a tool's arguments stand beside it. */
    if (query->is_method && call->entry->kind == TG_ENTRY_METHOD
        && request->progress_token.data != NULL)
    {
        query->token = request->progress_token;
        query->token.data = sent->arguments.data
                            + (request->progress_token.data
                               - request->arguments.data);
    }

    return ngx_toolgate_choice_init(call, &ctx->choice, ctx->pass->upstream);
}

void
ngx_toolgate_pass_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    ngx_toolgate_pass_ctx_t *ctx;

    ctx = ngx_pcalloc(call->pool, sizeof(ngx_toolgate_pass_ctx_t));
    call->ctx = ctx;

    if (ctx != NULL) {
        ctx->tool = call->tool;
        ctx->pass = call->tool->conf;
        ctx->max_output = ngx_toolgate_call_output_max(call);
    }

    if (ctx == NULL || ngx_toolgate_pass_prepare(call, ctx, request) != NGX_OK)
    {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
        return;
    }

    (void) ngx_toolgate_call_defer(call);
}

void
ngx_toolgate_pass_run(ngx_toolgate_call_t *call)
{
    ngx_toolgate_pass_next(call);
}

void
ngx_toolgate_pass_cancel(ngx_toolgate_call_t *call)
{
    ngx_toolgate_pass_ctx_t *ctx;
    ngx_uint_t is_late;

    ctx = call->ctx;
    is_late = call->timer.timedout;
    ngx_toolgate_backend_cancel(&ctx->query, is_late);
    ngx_toolgate_choice_end(&ctx->choice, is_late ? NGX_PEER_FAILED : 0);
}
