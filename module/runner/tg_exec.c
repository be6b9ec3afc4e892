#include "runner/tg_exec.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* --- answers --- */

static void
tg_exec_answer(tg_exec_t *exec, const tg_buf_t *json)
{
    tg_outcome_t outcome;
    tg_call_t *call;
    tg_peer_t *peer;

    call = exec->call;
    exec->call = NULL;

    if (call == NULL) {
        return;
    }

    if (tg_buf_failed(json)) {
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                     "toolgate-runner has no memory left for "
                                     "this answer; try again.");
    } else {
        outcome.kind = TG_OUTCOME_JSON;
        outcome.failure = TG_FAILURE_NONE;
        outcome.value = tg_buf_view(json);
    }

    peer = call->peer;
    tg_call_answer(call, &outcome);
    exec->execs->ops->answered(exec->execs->host, peer);
}

static void
tg_exec_fail(tg_exec_t *exec, const char *failure, const tg_buf_t *text)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_exec_answer_failed(&json, failure, tg_buf_view(text));
    json.failed |= tg_buf_failed(text);
    tg_exec_answer(exec, &json);
    tg_buf_deinit(&json);
}

static void
tg_exec_fail_timeout(tg_exec_t *exec)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_text(&text, exec->params.tool);

    if (exec->state == TG_EXEC_QUEUED) {
        tg_buf_text(&text, " could not start within ");
        tg_exec_text_time(&text, exec->params.timeout_ms);
        tg_buf_text(&text, " (timeout): ");
        tg_execs_put_load(&text, exec->execs);
        tg_buf_text(&text, "; try again later or raise timeout.");
    } else {
        tg_buf_text(&text, " did not finish within ");
        tg_exec_text_time(&text, exec->params.timeout_ms);
        tg_buf_text(&text, " and was ended (timeout); ask for less or raise "
                           "timeout.");
    }

    tg_exec_fail(exec, "timeout", &text);
    tg_buf_deinit(&text);
}

/* --- states --- */

static void
tg_exec_unlink(tg_exec_t *exec, tg_exec_t **first, tg_exec_t **last)
{
    if (exec->prev != NULL) {
        exec->prev->next = exec->next;
    } else {
        *first = exec->next;
    }

    if (exec->next != NULL) {
        exec->next->prev = exec->prev;
    } else if (last != NULL) {
        *last = exec->prev;
    }

    exec->next = NULL;
    exec->prev = NULL;
}

static void
tg_exec_enqueue(tg_exec_t *exec)
{
    tg_execs_t *execs;

    execs = exec->execs;
    exec->prev = execs->queue_last;

    if (exec->prev != NULL) {
        exec->prev->next = exec;
    } else {
        execs->queue = exec;
    }

    execs->queue_last = exec;
    execs->nqueued++;
}

static void
tg_exec_take_slot(tg_exec_t *exec)
{
    tg_execs_t *execs;

    execs = exec->execs;
    exec->next = execs->slots;

    if (exec->next != NULL) {
        exec->next->prev = exec;
    }

    execs->slots = exec;
    execs->nrunning++;
    execs->nstarted++;
    exec->has_slot = 1;
}

static void
tg_exec_close(tg_exec_t *exec)
{
    int i;

    for (i = 0; i < 3; i++) {
        if (exec->open_pipes & 1u << i) {
            uv_close((uv_handle_t *) &exec->pipes[i], tg_exec_on_closed);
        }
    }

    exec->open_pipes = 0;
    uv_close((uv_handle_t *) &exec->timer, tg_exec_on_closed);
}

/* The only way from one state to another. */
static void
tg_exec_to(tg_exec_t *exec, tg_exec_state_t state)
{
    tg_execs_t *execs;

    execs = exec->execs;

    if (exec->state == TG_EXEC_QUEUED) {
        tg_exec_unlink(exec, &execs->queue, &execs->queue_last);
        execs->nqueued--;
    }

    exec->state = state;

    if (state == TG_EXEC_RUNNING) {
        tg_exec_take_slot(exec);
    }

    if (state == TG_EXEC_DONE) {
        if (exec->has_slot) {
            tg_exec_unlink(exec, &execs->slots, NULL);
            execs->nrunning--;
        }

        tg_exec_close(exec);
    }
}

static void
tg_exec_free(tg_exec_t *exec)
{
    tg_execs_t *execs;
    size_t bytes;

    execs = exec->execs;
    bytes = exec->params.size;
    tg_exec_params_free(&exec->params);
    tg_exec_output_deinit(&exec->output);
    free(exec->members);
    free(exec);
    tg_execs_gone(execs, bytes);
}

void
tg_exec_on_closed(uv_handle_t *handle)
{
    tg_exec_t *exec;

    exec = handle->data;

    if (--exec->nhandles == 0) {
        tg_exec_free(exec);
    }
}

/* --- the end of a program --- */

static void tg_exec_on_timer(uv_timer_t *timer);

/*
 * Nobody waits any more: ends what is left.  is_forced: also what has left
 * the program's session, which else counts as a daemon that was wanted.
 */
static void
tg_exec_finish(tg_exec_t *exec, int is_forced)
{
    exec->is_forced = is_forced != 0;
    tg_exec_to(exec, TG_EXEC_ENDING);

    if (!tg_exec_end(exec)) {
        tg_exec_to(exec, TG_EXEC_DONE);
        return;
    }

    uv_timer_start(&exec->timer, tg_exec_on_timer, TG_EXEC_TICK_MS,
                   TG_EXEC_TICK_MS);
}

/* The main process has ended, and its outputs as far as they matter. */
static void
tg_exec_complete(tg_exec_t *exec)
{
    tg_buf_t json;

    if (exec->call != NULL) {
        tg_buf_init(&json, tg_alloc_libc());
        tg_exec_answer_status(&json, &exec->output, exec->params.tool,
                              exec->status);
        tg_exec_answer(exec, &json);
        tg_buf_deinit(&json);
    }

    /* Its number is free, but none of ours can have become its group. */
    if (kill(-exec->pid, 0) == -1 && errno == ESRCH) {
        tg_exec_to(exec, TG_EXEC_DONE);
        return;
    }

    tg_exec_finish(exec, 0);
}

static void
tg_exec_on_timer(uv_timer_t *timer)
{
    tg_exec_t *exec;

    exec = timer->data;

    switch (exec->state) {
    case TG_EXEC_QUEUED:
        tg_exec_fail_timeout(exec);
        tg_exec_to(exec, TG_EXEC_DONE);
        break;
    case TG_EXEC_RUNNING:
        tg_exec_fail_timeout(exec);
        tg_exec_finish(exec, 1);
        break;
    case TG_EXEC_DRAINING:
        tg_exec_complete(exec);
        break;
    case TG_EXEC_ENDING:
        tg_exec_look(exec);
        break;
    case TG_EXEC_DONE:
        break;
    }
}

void
tg_exec_look(tg_exec_t *exec)
{
    if (exec->state == TG_EXEC_ENDING && !tg_exec_end_again(exec)) {
        tg_exec_to(exec, TG_EXEC_DONE);
    }
}

void
tg_exec_on_eof(tg_exec_t *exec)
{
    if (exec->state == TG_EXEC_DRAINING && exec->nreading == 0) {
        tg_exec_complete(exec);
    }
}

void
tg_exec_on_overflow(tg_exec_t *exec, int rc)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    if (rc == TG_LIMIT) {
        tg_exec_text_overflow(&text, exec->params.tool,
                              exec->params.max_output);
        tg_exec_fail(exec, "output", &text);
    } else {
        tg_buf_text(&text, "toolgate-runner has no memory left for the "
                           "output; try again.");
        tg_exec_fail(exec, "internal", &text);
    }

    tg_buf_deinit(&text);
    tg_exec_finish(exec, 1);
}

void
tg_exec_exited(tg_exec_t *exec, int status)
{
    exec->is_reaped = 1;
    exec->status = status;

    if (exec->state != TG_EXEC_RUNNING) {
        return;
    }

    if (exec->nreading == 0) {
        tg_exec_complete(exec);
        return;
    }

    tg_exec_to(exec, TG_EXEC_DRAINING);
    uv_timer_start(&exec->timer, tg_exec_on_timer, TG_EXEC_DRAIN_MS, 0);
}

/* --- what the pool asks for --- */

tg_exec_t *
tg_exec_new(tg_execs_t *execs, tg_exec_params_t *params)
{
    tg_exec_t *exec;

    exec = calloc(1, sizeof(*exec));

    if (exec == NULL) {
        tg_exec_params_free(params);
        return NULL;
    }

    exec->execs = execs;
    exec->params = *params;
    exec->state = TG_EXEC_QUEUED;
    tg_exec_output_init(&exec->output, params->max_output);
    execs->nexecs++;
    execs->bytes += params->size;

    /* The loop's time is that of its last wait; the deadline is from now. */
    uv_update_time(execs->loop);
    uv_timer_init(execs->loop, &exec->timer);
    exec->timer.data = exec;
    exec->nhandles = 1;
    uv_timer_start(&exec->timer, tg_exec_on_timer, params->timeout_ms, 0);
    tg_exec_enqueue(exec);

    return exec;
}

void
tg_exec_start(tg_exec_t *exec)
{
    const char *failure;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    if (tg_exec_run(exec, &failure, &text) == 0) {
        tg_exec_to(exec, TG_EXEC_RUNNING);
    } else {
        tg_exec_fail(exec, failure, &text);
        tg_exec_to(exec, TG_EXEC_DONE);
    }

    tg_buf_deinit(&text);
}

void
tg_exec_cancel(tg_exec_t *exec)
{
    exec->call = NULL;

    switch (exec->state) {
    case TG_EXEC_QUEUED:
        tg_exec_to(exec, TG_EXEC_DONE);
        break;
    case TG_EXEC_RUNNING:
    case TG_EXEC_DRAINING:
        tg_exec_finish(exec, 1);
        break;
    case TG_EXEC_ENDING:
    case TG_EXEC_DONE:
        break;
    }
}
