/*
 * Calls that go along when their session changes its worker: their programs
 * are held by the runner under a key, and adopted by whoever has it.
 */
#include "nginx/move/ngx_toolgate_move.h"

#include <sys/random.h>

/* What the new worker has to know of a call, beside what the peer knows. */
typedef struct {
    uint64_t start;
    uint64_t queued;
    uint64_t timeout;
    uint64_t left; /* until the last resort */
    uint64_t dir_len;
    char key[NGX_TOOLGATE_KEY];
} ngx_toolgate_token_t;

/* --- the old worker --- */

static ngx_int_t
ngx_toolgate_make_key(char *key)
{
    u_char bytes[NGX_TOOLGATE_KEY / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        return NGX_ERROR;
    }

    *ngx_hex_dump((u_char *) key, bytes, sizeof(bytes)) = '\0';

    return NGX_OK;
}

static void
ngx_toolgate_released(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_call_t *call = data;

    if (answer->kind == TG_ANSWER_RESULT) {
        call->holder = call->program.runner;
        ngx_toolgate_runner_forget(&call->program);

    } else {
        /* An older runner, or one that does not let go of it now. */
        call->is_kept = 1;
    }

    ngx_toolgate_session_run(call->session);
}

static int
ngx_toolgate_ask_release(ngx_toolgate_call_t *call)
{
    tg_buf_t params;
    int rc;

    call->release.data = call;
    call->release.answer = ngx_toolgate_released;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_text(&params, "{\"id\":");
    tg_buf_uint(&params, call->program.id);
    tg_buf_text(&params, ",\"key\":\"");
    tg_buf_text(&params, call->key);
    tg_buf_text(&params, "\"}");

    rc = tg_buf_failed(&params)
             ? TG_NOMEM
             : ngx_toolgate_runner_ask(call->program.runner, TG_STR("release"),
                                       tg_buf_view(&params), &call->release);
    tg_buf_deinit(&params);

    return rc;
}

int
ngx_toolgate_adopt(ngx_toolgate_runner_t *runner, ngx_toolgate_call_t *call)
{
    tg_buf_t params;
    int rc;

    call->holder = NULL;
    ngx_toolgate_exec_ask(call);

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_text(&params, "{\"key\":\"");
    tg_buf_text(&params, call->key);
    tg_buf_text(&params, "\"}");

    rc = tg_buf_failed(&params)
             ? TG_NOMEM
             : ngx_toolgate_runner_ask(runner, TG_STR("adopt"),
                                       tg_buf_view(&params), &call->program);
    tg_buf_deinit(&params);

    return rc;
}

static void
ngx_toolgate_release_call(ngx_toolgate_call_t *call)
{
    if (call->program.runner == NULL || call->release.runner != NULL
        || call->is_kept)
    {
        return;
    }

    if (ngx_toolgate_make_key(call->key) != NGX_OK
        || ngx_toolgate_ask_release(call) != TG_OK)
    {
        call->is_kept = 1;
    }
}

ngx_int_t
ngx_toolgate_release(ngx_toolgate_session_t *session)
{
    ngx_toolgate_call_t *call;
    tg_call_t *deferred;
    ngx_int_t rc;

    rc = NGX_OK;

    for (deferred = session->peer.calls; deferred != NULL;
         deferred = deferred->next)
    {
        call = deferred->host;
        ngx_toolgate_release_call(call);

        if (call->holder == NULL) {
            rc = NGX_AGAIN;
        }
    }

    return rc;
}

void
ngx_toolgate_reclaim(ngx_toolgate_session_t *session)
{
    ngx_toolgate_call_t *call;
    tg_call_t *deferred, *next;

    for (deferred = session->peer.calls; deferred != NULL; deferred = next) {
        next = deferred->next;
        call = deferred->host;

        if (call->holder != NULL
            && ngx_toolgate_adopt(call->holder, call) != TG_OK) {
            ngx_toolgate_fail(call, TG_FAILURE_LOST,
                              "NGINX was told to exit and lost the "
                              "program; it may have done its work.");
        }
    }
}

void
ngx_toolgate_put_token(void *host, const tg_call_t *deferred, tg_buf_t *out)
{
    ngx_toolgate_token_t token;
    ngx_toolgate_call_t *call;
    const ngx_str_t *dir;

    (void) host;
    call = deferred->host;
    dir = ngx_toolgate_runner_dir(call->holder);

    ngx_memzero(&token, sizeof(token));
    token.start = call->start;
    token.queued = call->queued;
    token.timeout = call->tool->timeout;
    token.left = ngx_toolgate_time_left(&call->timer);
    token.dir_len = dir->len;
    ngx_memcpy(token.key, call->key, NGX_TOOLGATE_KEY);

    tg_buf_put(out, (char *) &token, sizeof(token));
    tg_buf_put(out, (char *) dir->data, dir->len);
}

void
ngx_toolgate_forget_calls(ngx_toolgate_session_t *session)
{
    tg_call_t *deferred;

    for (deferred = session->peer.calls; deferred != NULL;
         deferred = deferred->next)
    {
        ngx_toolgate_call_drop(deferred->host);
    }

    tg_peer_forget(&session->peer);
}

/* --- the new worker --- */

static void
ngx_toolgate_carry_failed(tg_call_t *deferred)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                 "NGINX was reloaded and lost the call; its "
                                 "program may have done its work.");
    tg_call_answer(deferred, &outcome);
}

/* The tool as it was; its result is checked where the schema is the same. */
static void
ngx_toolgate_carry_tool(ngx_toolgate_call_t *call, const tg_entry_t *now,
                        ngx_msec_t timeout)
{
    ngx_toolgate_tool_t *tool;

    tool = call->tool;
    tool->entry = *call->deferred->entry;
    tool->timeout = timeout;
    call->now = now;

    if (now != NULL && tool->entry.output_schema.data != NULL) {
        tool->output_schema =
            ((ngx_toolgate_tool_t *) now->host)->output_schema;
    }
}

void
ngx_toolgate_resume_call(void *host, tg_call_t *deferred, const tg_entry_t *now,
                         tg_str_t bytes)
{
    ngx_toolgate_session_t *session = host;

    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_runner_t *runner;
    ngx_toolgate_token_t token;
    ngx_toolgate_call_t *call;

    if (bytes.len < sizeof(token)) {
        ngx_toolgate_carry_failed(deferred);
        return;
    }

    ngx_memcpy(&token, bytes.data, sizeof(token));
    bytes = tg_str(bytes.data + sizeof(token), bytes.len - sizeof(token));
    call = ngx_toolgate_call_carried(session, deferred,
                                     (ngx_msec_t) token.left);

    if (call == NULL) {
        ngx_toolgate_carry_failed(deferred);
        return;
    }

    ngx_toolgate_carry_tool(call, now, (ngx_msec_t) token.timeout);
    call->start = (ngx_msec_t) token.start;
    call->queued = (ngx_msec_t) token.queued;
    ngx_memcpy(call->key, token.key, NGX_TOOLGATE_KEY);

    mcf = ngx_stream_get_module_main_conf(session->stream,
                                          ngx_stream_toolgate_module);
    runner = token.dir_len == bytes.len ? ngx_toolgate_runner_of(mcf, bytes)
                                        : NULL;

    if (runner == NULL || ngx_toolgate_adopt(runner, call) != TG_OK) {
        ngx_toolgate_fail(call, TG_FAILURE_LOST,
                          "NGINX was reloaded and lost the program; it "
                          "may have done its work.");
    }
}
