/* The part of a call that is in the runner: start, detach, attach, relay. */
#include "nginx/call/ngx_tg_remote_call.h"

#include <sys/random.h>

/* Failed attempts in a row after which a job is not detached any more. */
#define NGX_TG_DETACH_TRIES_MAX 3

static void
ngx_tg_remote_call_set_state(ngx_tg_remote_call_t *job,
                             ngx_tg_remote_call_state_t state)
{
    job->state = state;

    if (state != NGX_TG_REMOTE_CALL_DETACHING) {
        ngx_tg_upstream_request_forget(&job->detach_request);
    }

    if (state == NGX_TG_REMOTE_CALL_NONE
        || state == NGX_TG_REMOTE_CALL_DETACHED) {
        ngx_tg_upstream_request_forget(&job->request);
    }

    if (state == NGX_TG_REMOTE_CALL_NONE) {
        ngx_tg_relayed_call_remove(&job->relayed);
    }
}

/*
 * Sends a job to the next runner, if it was not sent before the loss or may be
 * executed twice. NGX_DECLINED: the response is final.
 */
static ngx_int_t
ngx_tg_remote_call_resend(ngx_tg_remote_call_t *job,
                          const tg_response_t *answer)
{
    static const char *const names[] = { "method", "params", NULL };
    tg_str_t values[2];

    if (!job->request.has_broken
        || job->nresends == NGX_TG_REMOTE_CALL_RESENDS_MAX) {
        return NGX_DECLINED;
    }

    if (answer->kind == TG_RESPONSE_LOST && job->repeatable_params.len != 0) {
        values[0] = TG_STR("\"task\"");
        values[1] = job->repeatable_params;

    } else if (answer->kind != TG_RESPONSE_NOT_STARTED
               || answer->unsent_message.data == NULL
               || tg_json_get_members(answer->unsent_message, names, values)
                      != TG_OK
               || tg_json_string_eq(values[0], TG_STR("adopt")))
    {
        return NGX_DECLINED;
    }

    job->nresends++;

    return ngx_tg_remote_call_start(job, tg_json_string_body(values[0]),
                                    values[1])
                   == TG_OK
               ? NGX_OK
               : NGX_DECLINED;
}

static void
ngx_tg_remote_call_on_response(void *data, const tg_response_t *answer)
{
    ngx_tg_remote_call_t *job = data;

    ngx_tg_remote_call_state_t state;

    state = job->state;

    if (ngx_tg_remote_call_resend(job, answer) != NGX_OK) {
        ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_NONE);
        job->ops->answer(job->data, answer);

    } else if (state == NGX_TG_REMOTE_CALL_DETACHING) {
        job->ops->on_detached(job->data);
    }
}

static void
ngx_tg_remote_call_on_progress(void *data, const tg_message_t *message)
{
    ngx_tg_remote_call_t *job = data;

    job->ops->progress(job->data, message);
}

int
ngx_tg_remote_call_start(ngx_tg_remote_call_t *job, tg_str_t method,
                         tg_str_t params)
{
    int rc;

    job->request.data = job;
    job->request.answer = ngx_tg_remote_call_on_response;
    job->request.progress = ngx_tg_remote_call_on_progress;
    rc = ngx_tg_runner_send_request(job->runner, method, params, &job->request);

    if (rc == TG_OK) {
        ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_RUNNING);
    }

    return rc;
}

/* --- move to another worker --- */

ngx_int_t
ngx_tg_token_generate(char *key)
{
    u_char bytes[NGX_TG_TOKEN_LEN / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        return NGX_ERROR;
    }

    *ngx_hex_dump((u_char *) key, bytes, sizeof(bytes)) = '\0';

    return NGX_OK;
}

static void
ngx_tg_remote_call_on_gone(void *data)
{
    ngx_tg_remote_call_t *job = data;

    ngx_tg_remote_call_state_t state;

    state = job->state;
    ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_NONE);

    if (state == NGX_TG_REMOTE_CALL_RELAYED) {
        job->ops->on_gone(job->data);
    } else {
        job->ops->on_detached(job->data);
    }
}

static void
ngx_tg_remote_call_on_detached(void *data, const tg_response_t *answer)
{
    ngx_tg_remote_call_t *job = data;

    if (answer->kind == TG_RESPONSE_RESULT) {
        ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_DETACHED);

        if (job->is_local) {
            job->relayed.key = job->key;
            job->relayed.data = job;
            job->relayed.on_gone = ngx_tg_remote_call_on_gone;
            ngx_tg_runner_add_relayed_call(job->runner, &job->relayed);
        }

    } else {
        /* Refused: an older runner, or one that cannot detach now. */
        ngx_tg_remote_call_set_state(job, job->is_local
                                              ? NGX_TG_REMOTE_CALL_NONE
                                              : NGX_TG_REMOTE_CALL_RUNNING);
        /* A runner that has ended is started again, within limits. */
        job->is_pinned = !job->is_local || answer->kind == TG_RESPONSE_ERROR
                         || ++job->tries == NGX_TG_DETACH_TRIES_MAX;

        if (job->is_local && job->is_pinned) {
            ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                          "toolgate-runner does not accept a running call of "
                          "\"%*s\" from this worker (%*s); its client stays "
                          "here until the call ends",
                          job->name.len, job->name.data, answer->message.len,
                          answer->message.data);
        }
    }

    job->ops->on_detached(job->data);
}

/* Begins params with the job's key; the caller adds the rest. */
static void
ngx_tg_remote_call_begin_params(ngx_tg_remote_call_t *job, tg_buf_t *params)
{
    tg_buf_init(params, tg_alloc_libc());
    tg_buf_append_cstr(params, "{\"key\":\"");
    tg_buf_append_cstr(params, job->key);
    tg_buf_append_char(params, '"');
}

/* Requests a new key for the job. TG_OK, or it cannot be detached. */
static int
ngx_tg_remote_call_request_detach(ngx_tg_remote_call_t *job)
{
    tg_buf_t params;
    int rc;

    if (job->runner == NULL || ngx_tg_token_generate(job->key) != NGX_OK) {
        return TG_NOMEM;
    }

    ngx_tg_remote_call_begin_params(job, &params);

    if (job->is_local) {
        tg_json_add_string(&params, "tool", job->name);
        tg_buf_append_str(&params, job->store_params);
    } else {
        tg_json_add_uint(&params, "id", job->request.id);
    }

    if (job->is_local && job->number != 0) {
        tg_json_add_uint(&params, "call", job->number);
    }

    tg_buf_append_char(&params, '}');
    rc = tg_buf_has_failed(&params)
             ? TG_NOMEM
             : ngx_tg_runner_send_request(job->runner,
                                          job->is_local ? TG_STR("leave")
                                                        : TG_STR("release"),
                                          tg_buf_view(&params),
                                          &job->detach_request);
    tg_buf_deinit(&params);

    return rc;
}

ngx_int_t
ngx_tg_remote_call_detach(ngx_tg_remote_call_t *job)
{
    if (job->is_pinned || job->state == NGX_TG_REMOTE_CALL_DETACHING) {
        return NGX_AGAIN;
    }

    if (job->state == NGX_TG_REMOTE_CALL_DETACHED) {
        return NGX_OK;
    }

    job->is_local = job->state == NGX_TG_REMOTE_CALL_NONE;
    job->detach_request.data = job;
    job->detach_request.answer = ngx_tg_remote_call_on_detached;

    if (ngx_tg_remote_call_request_detach(job) == TG_OK) {
        ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_DETACHING);
    } else {
        job->is_pinned = 1;
    }

    return NGX_AGAIN;
}

ngx_int_t
ngx_tg_remote_call_reattach(ngx_tg_remote_call_t *job)
{
    if (job->state != NGX_TG_REMOTE_CALL_DETACHED) {
        return NGX_OK;
    }

    if (job->is_local) {
        ngx_tg_remote_call_notify_result(job, TG_STR("null"));
        return NGX_OK;
    }

    return ngx_tg_remote_call_attach(job) == TG_OK ? NGX_OK : NGX_ERROR;
}

ngx_uint_t
ngx_tg_remote_call_relay(ngx_tg_remote_call_t *job)
{
    if (job->is_local) {
        ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_RELAYED);
    }

    return job->is_local;
}

static void
ngx_tg_remote_call_notify(ngx_tg_remote_call_t *job, tg_str_t method,
                          tg_buf_t *params)
{
    tg_buf_append_char(params, '}');

    if (!tg_buf_has_failed(params)) {
        ngx_tg_runner_notify(job->runner, method, tg_buf_view(params));
    }

    tg_buf_deinit(params);
}

void
ngx_tg_remote_call_notify_progress(ngx_tg_remote_call_t *job, tg_str_t progress,
                                   tg_str_t total, tg_str_t message)
{
    tg_buf_t params;

    ngx_tg_remote_call_begin_params(job, &params);
    tg_json_add_compact(&params, "progress", progress);
    tg_json_add_compact(&params, "total", total);
    tg_json_add_compact(&params, "message", message);
    ngx_tg_remote_call_notify(job, TG_STR("tell"), &params);
}

void
ngx_tg_remote_call_notify_result(ngx_tg_remote_call_t *job, tg_str_t answer)
{
    tg_buf_t params;

    ngx_tg_remote_call_begin_params(job, &params);
    tg_json_add_compact(&params, "answer", answer);
    ngx_tg_remote_call_notify(job, TG_STR("finish"), &params);
    ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_NONE);
}

int
ngx_tg_remote_call_attach(ngx_tg_remote_call_t *job)
{
    u_char text[NGX_TG_TOKEN_LEN + 32];
    tg_str_t params;

    params.data = (char *) text;
    params.len = ngx_sprintf(text, "{\"key\":\"%s\"}", job->key) - text;

    return ngx_tg_remote_call_start(job, TG_STR("adopt"), params);
}

void
ngx_tg_remote_call_cancel(ngx_tg_remote_call_t *job)
{
    if (job->is_local) {
        if (job->state != NGX_TG_REMOTE_CALL_NONE) {
            ngx_tg_remote_call_notify_result(job, TG_STR("null"));
        }

        return;
    }

    /* The job may be detached before the runner reads this. */
    if (job->state == NGX_TG_REMOTE_CALL_DETACHING) {
        ngx_tg_upstream_request_cancel(&job->request, 0);
        ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_DETACHED);
    }

    /* Only the connection that owns a job can cancel it. */
    if (job->state == NGX_TG_REMOTE_CALL_DETACHED) {
        (void) ngx_tg_remote_call_attach(job);
    }

    ngx_tg_upstream_request_cancel(&job->request, 0);
    ngx_tg_remote_call_set_state(job, NGX_TG_REMOTE_CALL_NONE);
}
