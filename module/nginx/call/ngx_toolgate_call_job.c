/*
 * Calls that are jobs of the runner's, or meet it when their session moves.
 */
#include "nginx/call/ngx_toolgate_call.h"

/*
 * Why there is none.  What was carried did start; its job may have been too
 * long without a worker.
 */
static tg_outcome_t
ngx_toolgate_job_lost(const ngx_toolgate_call_t *call,
                      const tg_answer_t *answer)
{
    const char *text;

    if (answer->kind == TG_ANSWER_ERROR) {
        text = "The program was ended while NGINX was reloaded; it may have "
               "done part of its work. Try again.";
    } else if (answer->kind == TG_ANSWER_LOST) {
        text = "toolgate-runner ended while the program ran, and the program "
               "with it; it may have done part of its work. Try again: the "
               "next call starts the runner anew.";
    } else if (call->is_carried) {
        text = "The toolgate-runner that has the program cannot be reached "
               "since NGINX was told to reload or stop; whether the program "
               "has done its work is not known. Look into NGINX's error log.";
    } else {
        text = "toolgate-runner could not be reached, so the program was not "
               "started; try again, and look into NGINX's error log.";
    }

    return tg_outcome_failure(TG_FAILURE_LOST, text);
}

static tg_outcome_t
ngx_toolgate_job_outcome(ngx_toolgate_call_t *call, const tg_answer_t *answer,
                         tg_buf_t *text)
{
    tg_outcome_t outcome;

    if (answer->kind == TG_ANSWER_RESULT) {
        return tg_outcome_get(answer->result, text, &call->queued);
    }

    if (answer->kind != TG_ANSWER_ERROR || call->is_carried) {
        return ngx_toolgate_job_lost(call, answer);
    }

    tg_json_put_decoded(text, answer->message);
    outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                 "toolgate-runner refused the call.");

    if (!tg_buf_failed(text) && text->len != 0) {
        outcome.value = tg_buf_view(text);
    }

    return outcome;
}

static void
ngx_toolgate_call_job_answer(void *data, const tg_answer_t *answer)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    outcome = ngx_toolgate_job_outcome(data, answer, &text);
    ngx_toolgate_call_end(data, &outcome);
    tg_buf_deinit(&text);
}

static void
ngx_toolgate_call_job_progress(void *data, const tg_message_t *message)
{
    ngx_toolgate_call_progress(data, message->p.progress, message->p.total,
                               message->p.message);
}

static void
ngx_toolgate_call_job_released(void *data)
{
    ngx_toolgate_call_t *call = data;

    ngx_post_event(&call->front->wake, &ngx_posted_events);
}

static void
ngx_toolgate_call_job_gone(void *data)
{
    ngx_toolgate_call_end(data, NULL);
}

static const ngx_toolgate_job_ops_t ngx_toolgate_call_job_ops = {
    ngx_toolgate_call_job_answer,
    ngx_toolgate_call_job_progress,
    ngx_toolgate_call_job_released,
    ngx_toolgate_call_job_gone,
};

void
ngx_toolgate_call_job_init(ngx_toolgate_call_t *call,
                           ngx_toolgate_runner_t *runner)
{
    call->job.data = call;
    call->job.ops = &ngx_toolgate_call_job_ops;
    call->job.runner = runner;
    call->job.name = call->entry->name;
}

void
ngx_toolgate_call_job(ngx_toolgate_call_t *call, tg_str_t method,
                      tg_str_t params)
{
    int rc;

    ngx_toolgate_call_job_init(call, call->front->conf->runner);
    rc = ngx_toolgate_job_start(&call->job, method, params);

    if (rc == TG_LIMIT) {
        ngx_toolgate_call_fail(call, TG_FAILURE_BUSY,
                               "Too much is waiting for toolgate-runner, or "
                               "this call is too large for it; call again "
                               "later, or with less.");
    } else if (rc != TG_OK) {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
    }
}

int
ngx_toolgate_call_adopt(ngx_toolgate_call_t *call,
                        ngx_toolgate_runner_t *runner, const char *key)
{
    ngx_toolgate_call_job_init(call, runner);
    call->job.state = NGX_TOOLGATE_JOB_HELD;
    ngx_memcpy(call->job.key, key, NGX_TOOLGATE_KEY);

    return ngx_toolgate_job_adopt(&call->job);
}
