/*
 * What of a call is in the runner.
 */
#include "nginx/call/ngx_toolgate_job.h"

#include <sys/random.h>

/* A runner that is lost so often in a row takes nothing. */
#define NGX_TOOLGATE_JOB_TRIES 3

static void
ngx_toolgate_job_set(ngx_toolgate_job_t *job, ngx_toolgate_job_state_t state)
{
    job->state = state;

    if (state != NGX_TOOLGATE_JOB_RELEASING) {
        ngx_toolgate_line_forget(&job->release);
    }

    if (state == NGX_TOOLGATE_JOB_NONE || state == NGX_TOOLGATE_JOB_HELD) {
        ngx_toolgate_line_forget(&job->ask);
    }

    if (state == NGX_TOOLGATE_JOB_NONE) {
        ngx_toolgate_runner_unkeep(&job->left);
    }
}

/*
 * Sends a job again, to the next runner, if the connection broke before it was
 * sent, or if it does no harm twice.  NGX_OK; NGX_DECLINED: the answer holds.
 */
static ngx_int_t
ngx_toolgate_job_resend(ngx_toolgate_job_t *job, const tg_answer_t *answer)
{
    static const char *const names[] = { "method", "params", NULL };
    tg_str_t values[2];

    if (!job->ask.has_broken || job->nresent == NGX_TOOLGATE_JOB_RESENDS) {
        return NGX_DECLINED;
    }

    if (answer->kind == TG_ANSWER_LOST && job->repeatable.len != 0) {
        values[0] = TG_STR("\"task\"");
        values[1] = job->repeatable;

    } else if (answer->kind != TG_ANSWER_NOT_STARTED
               || answer->unsent.data == NULL
               || tg_json_members(answer->unsent, names, values) != TG_OK
               || tg_json_is_text(values[0], TG_STR("adopt")))
    {
        return NGX_DECLINED;
    }

    job->nresent++;

    return ngx_toolgate_job_start(job, tg_json_body(values[0]), values[1])
                   == TG_OK
               ? NGX_OK
               : NGX_DECLINED;
}

static void
ngx_toolgate_job_answer(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_job_t *job = data;

    ngx_toolgate_job_state_t state;

    state = job->state;

    if (ngx_toolgate_job_resend(job, answer) != NGX_OK) {
        ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_NONE);
        job->ops->answer(job->data, answer);

    } else if (state == NGX_TOOLGATE_JOB_RELEASING) {
        job->ops->released(job->data);
    }
}

static void
ngx_toolgate_job_progress(void *data, const tg_message_t *message)
{
    ngx_toolgate_job_t *job = data;

    job->ops->progress(job->data, message);
}

int
ngx_toolgate_job_start(ngx_toolgate_job_t *job, tg_str_t method,
                       tg_str_t params)
{
    int rc;

    job->ask.data = job;
    job->ask.answer = ngx_toolgate_job_answer;
    job->ask.progress = ngx_toolgate_job_progress;
    rc = ngx_toolgate_runner_ask(job->runner, method, params, &job->ask);

    if (rc == TG_OK) {
        ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_RUNNING);
    }

    return rc;
}

/* --- another worker --- */

ngx_int_t
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
ngx_toolgate_job_gone(void *data)
{
    ngx_toolgate_job_t *job = data;

    ngx_toolgate_job_state_t state;

    state = job->state;
    ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_NONE);

    if (state == NGX_TOOLGATE_JOB_LEFT) {
        job->ops->gone(job->data);
    } else {
        job->ops->released(job->data);
    }
}

static void
ngx_toolgate_job_released(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_job_t *job = data;

    if (answer->kind == TG_ANSWER_RESULT) {
        ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_HELD);

        if (job->is_here) {
            job->left.key = job->key;
            job->left.data = job;
            job->left.gone = ngx_toolgate_job_gone;
            ngx_toolgate_runner_keep(job->runner, &job->left);
        }

    } else {
        /* Refused: an older runner, or one that does not let go of it now. */
        ngx_toolgate_job_set(job, job->is_here ? NGX_TOOLGATE_JOB_NONE
                                               : NGX_TOOLGATE_JOB_RUNNING);
        /* A runner that ended is started anew, but not for ever. */
        job->is_kept = !job->is_here || answer->kind == TG_ANSWER_ERROR
                       || ++job->tries == NGX_TOOLGATE_JOB_TRIES;

        if (job->is_here && job->is_kept) {
            ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                          "toolgate-runner does not take a call of \"%*s\" "
                          "that runs in this worker (%*s); its client waits "
                          "here until it has ended",
                          job->name.len, job->name.data, answer->message.len,
                          answer->message.data);
        }
    }

    job->ops->released(job->data);
}

/* Has the runner hold it under a new key; TG_OK, or it stays. */
static int
ngx_toolgate_job_ask_release(ngx_toolgate_job_t *job)
{
    u_char text[NGX_TOOLGATE_KEY + TG_NAME_MAX + NGX_TOOLGATE_STORING + 96];
    u_char *p;
    tg_str_t params;

    if (job->runner == NULL || ngx_toolgate_make_key(job->key) != NGX_OK) {
        return TG_NOMEM;
    }

    /* Names have no characters that JSON escapes. */
    p = ngx_sprintf(text, "{\"key\":\"%s\",", job->key);
    p = job->is_here
            ? ngx_sprintf(p, "\"tool\":\"%*s\"", job->name.len, job->name.data)
            : ngx_sprintf(p, "\"id\":%uL", job->ask.id);

    if (job->is_here && job->number != 0) {
        p = ngx_sprintf(p, ",\"call\":%uL", job->number);
    }

    if (job->is_here && job->storing.len != 0) {
        p = ngx_cpymem(p, job->storing.data, job->storing.len);
    }

    *p++ = '}';
    params = tg_str((char *) text, p - text);

    return ngx_toolgate_runner_ask(job->runner,
                                   job->is_here ? TG_STR("leave")
                                                : TG_STR("release"),
                                   params, &job->release);
}

ngx_int_t
ngx_toolgate_job_release(ngx_toolgate_job_t *job)
{
    if (job->is_kept || job->state == NGX_TOOLGATE_JOB_RELEASING) {
        return NGX_AGAIN;
    }

    if (job->state == NGX_TOOLGATE_JOB_HELD) {
        return NGX_OK;
    }

    job->is_here = job->state == NGX_TOOLGATE_JOB_NONE;
    job->release.data = job;
    job->release.answer = ngx_toolgate_job_released;

    if (ngx_toolgate_job_ask_release(job) == TG_OK) {
        ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_RELEASING);
    } else {
        job->is_kept = 1;
    }

    return NGX_AGAIN;
}

ngx_int_t
ngx_toolgate_job_reclaim(ngx_toolgate_job_t *job)
{
    if (job->state != NGX_TOOLGATE_JOB_HELD) {
        return NGX_OK;
    }

    if (job->is_here) {
        ngx_toolgate_job_finish(job, TG_STR("null"));
        return NGX_OK;
    }

    return ngx_toolgate_job_adopt(job) == TG_OK ? NGX_OK : NGX_ERROR;
}

ngx_uint_t
ngx_toolgate_job_leave(ngx_toolgate_job_t *job)
{
    if (job->is_here) {
        ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_LEFT);
    }

    return job->is_here;
}

/* `{"key":"…"` and what is to follow. */
static void
ngx_toolgate_job_put_key(ngx_toolgate_job_t *job, tg_buf_t *params)
{
    tg_buf_init(params, tg_alloc_libc());
    tg_buf_text(params, "{\"key\":\"");
    tg_buf_text(params, job->key);
    tg_buf_char(params, '"');
}

static void
ngx_toolgate_job_say(ngx_toolgate_job_t *job, tg_str_t method, tg_buf_t *params)
{
    tg_buf_char(params, '}');

    if (!tg_buf_failed(params)) {
        ngx_toolgate_runner_notify(job->runner, method, tg_buf_view(params));
    }

    tg_buf_deinit(params);
}

void
ngx_toolgate_job_tell(ngx_toolgate_job_t *job, tg_str_t progress,
                      tg_str_t total, tg_str_t message)
{
    tg_buf_t params;

    ngx_toolgate_job_put_key(job, &params);
    tg_json_put_member(&params, ",\"progress\":", progress);
    tg_json_put_member(&params, ",\"total\":", total);
    tg_json_put_member(&params, ",\"message\":", message);
    ngx_toolgate_job_say(job, TG_STR("tell"), &params);
}

void
ngx_toolgate_job_finish(ngx_toolgate_job_t *job, tg_str_t answer)
{
    tg_buf_t params;

    ngx_toolgate_job_put_key(job, &params);
    tg_json_put_member(&params, ",\"answer\":", answer);
    ngx_toolgate_job_say(job, TG_STR("finish"), &params);
    ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_NONE);
}

int
ngx_toolgate_job_adopt(ngx_toolgate_job_t *job)
{
    u_char text[NGX_TOOLGATE_KEY + 32];
    tg_str_t params;

    params.data = (char *) text;
    params.len = ngx_sprintf(text, "{\"key\":\"%s\"}", job->key) - text;

    return ngx_toolgate_job_start(job, TG_STR("adopt"), params);
}

void
ngx_toolgate_job_cancel(ngx_toolgate_job_t *job)
{
    if (job->is_here) {
        if (job->state != NGX_TOOLGATE_JOB_NONE) {
            ngx_toolgate_job_finish(job, TG_STR("null"));
        }

        return;
    }

    /* By the time that the runner reads this, it may be held. */
    if (job->state == NGX_TOOLGATE_JOB_RELEASING) {
        ngx_toolgate_line_cancel(&job->ask, 0);
        ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_HELD);
    }

    /* What is held must be had to be cancelled. */
    if (job->state == NGX_TOOLGATE_JOB_HELD) {
        (void) ngx_toolgate_job_adopt(job);
    }

    ngx_toolgate_line_cancel(&job->ask, 0);
    ngx_toolgate_job_set(job, NGX_TOOLGATE_JOB_NONE);
}
