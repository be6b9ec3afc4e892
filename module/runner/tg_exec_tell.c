/*
 * What the caller of `exec` is told in the end.
 */
#include "runner/tg_exec.h"
#include "runner/tg_held.h"

static tg_exec_times_t
tg_exec_times(const tg_exec_t *exec)
{
    tg_exec_times_t times;
    uint64_t now;

    now = uv_now(exec->execs->loop);

    if (!exec->has_slot) {
        times.queued_ms = now - exec->arrived_at;
        times.ran_ms = 0;
        return times;
    }

    times.queued_ms = exec->started_at - exec->arrived_at;
    times.ran_ms = (exec->is_reaped ? exec->reaped_at : now) - exec->started_at;

    return times;
}

static void
tg_exec_tell(tg_exec_t *exec, tg_buf_t *json)
{
    tg_outcome_t outcome;
    tg_call_t *call;
    tg_peer_t *peer;

    if (exec->held != NULL) {
        tg_held_end(exec, json);
        return;
    }

    call = exec->call;
    exec->call = NULL;

    if (tg_buf_failed(json)) {
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL, TG_EXEC_NO_MEMORY);
    } else {
        outcome.kind = TG_OUTCOME_JSON;
        outcome.failure = TG_FAILURE_NONE;
        outcome.value = tg_buf_view(json);
    }

    peer = call->peer;
    tg_call_answer(call, &outcome);
    exec->execs->ops->told(exec->execs->host, peer);
}

void
tg_exec_tell_end(tg_exec_t *exec)
{
    tg_exec_times_t times;
    tg_buf_t json;

    if (exec->call == NULL && exec->held == NULL) {
        return;
    }

    tg_exec_progress_last(exec);
    times = tg_exec_times(exec);
    tg_buf_init(&json, tg_alloc_libc());
    tg_exec_answer_status(&json, &exec->output, exec->params.tool, exec->status,
                          &times);
    tg_exec_tell(exec, &json);
    tg_buf_deinit(&json);
}

void
tg_exec_tell_failure(tg_exec_t *exec, const char *failure, const tg_buf_t *text)
{
    tg_exec_times_t times;
    tg_buf_t json;

    if (exec->call == NULL && exec->held == NULL) {
        return;
    }

    tg_exec_progress_last(exec);
    times = tg_exec_times(exec);
    tg_buf_init(&json, tg_alloc_libc());
    tg_exec_answer_failed(&json, failure, tg_buf_view(text), &times);
    json.failed |= tg_buf_failed(text);
    tg_exec_tell(exec, &json);
    tg_buf_deinit(&json);
}

/* --- that its time is over --- */

static void
tg_exec_text_times(tg_buf_t *text, const tg_exec_t *exec)
{
    tg_exec_times_t times;

    times = tg_exec_times(exec);
    tg_buf_text(text, " (it waited ");
    tg_exec_text_time(text, times.queued_ms);
    tg_buf_text(text, " in the queue and ");

    if (exec->has_slot) {
        tg_buf_text(text, "ran ");
        tg_exec_text_time(text, times.ran_ms);
    } else {
        tg_buf_text(text, "did not run");
    }

    tg_buf_char(text, ')');
}

static int
tg_exec_is_capped(const tg_exec_t *exec)
{
    return uv_now(exec->execs->loop) - exec->arrived_at
           >= exec->params.max_timeout_ms;
}

/* What it waits for: a place of its kind, or a slot. */
static void
tg_exec_text_queued(tg_buf_t *text, const tg_exec_t *exec)
{
    const tg_limit_t *limit;
    const char *name;

    tg_buf_text(text, " and was dropped (timeout): ");
    limit = tg_exec_blocker(exec, &name);

    if (limit != NULL) {
        tg_limit_put(text, limit, name);
    } else {
        tg_execs_put_load(text, exec->execs);
    }

    tg_buf_text(text, "; try again later or raise timeout.");
}

static void
tg_exec_text_timeout(tg_buf_t *text, const tg_exec_t *exec)
{
    const tg_exec_params_t *params;
    int is_capped;

    params = &exec->params;
    is_capped = tg_exec_is_capped(exec);
    tg_buf_text(text, params->tool);

    if (exec->state == TG_EXEC_QUEUED) {
        tg_buf_text(text, " could not start within ");
    } else if (exec->progress.last_len != 0 && !is_capped) {
        tg_buf_text(text, " reported no progress for ");
    } else {
        tg_buf_text(text, " did not finish within ");
    }

    tg_exec_text_time(text,
                      is_capped ? params->max_timeout_ms : params->timeout_ms);
    tg_exec_text_times(text, exec);

    if (exec->state == TG_EXEC_QUEUED) {
        tg_exec_text_queued(text, exec);
        return;
    }

    tg_buf_text(text, " and was ended (timeout); ask for less or raise ");
    tg_buf_text(text, is_capped && params->max_timeout_ms > params->timeout_ms
                          ? "the max of timeout."
                          : "timeout.");
}

void
tg_exec_tell_timeout(tg_exec_t *exec)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_exec_text_timeout(&text, exec);
    tg_exec_tell_failure(exec, "timeout", &text);
    tg_buf_deinit(&text);
}
