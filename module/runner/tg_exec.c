#include "runner/tg_exec.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

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
    unsigned i;

    execs = exec->execs;
    exec->prev = execs->queue_last;

    if (exec->prev != NULL) {
        exec->prev->next = exec;
    } else {
        execs->queue = exec;
    }

    execs->queue_last = exec;
    execs->nqueued++;

    for (i = 0; i < exec->nlimits; i++) {
        exec->limits[i]->nwaiting++;
    }
}

static void
tg_exec_take_slot(tg_exec_t *exec)
{
    tg_execs_t *execs;
    unsigned i;

    execs = exec->execs;
    exec->next = execs->slots;

    if (exec->next != NULL) {
        exec->next->prev = exec;
    }

    execs->slots = exec;
    execs->nrunning++;
    execs->nstarted++;
    exec->has_slot = 1;

    for (i = 0; i < exec->nlimits; i++) {
        exec->limits[i]->nrunning++;
    }
}

static void
tg_exec_leave_queue(tg_exec_t *exec)
{
    unsigned i;

    tg_exec_unlink(exec, &exec->execs->queue, &exec->execs->queue_last);
    exec->execs->nqueued--;

    for (i = 0; i < exec->nlimits; i++) {
        exec->limits[i]->nwaiting--;
    }
}

/* Gives the places of its kinds back. */
static void
tg_exec_release(tg_exec_t *exec)
{
    unsigned i;

    for (i = 0; i < exec->nlimits; i++) {
        exec->limits[i]->nrunning -= exec->has_slot;
        tg_limit_unref(&exec->execs->limits, exec->limits[i]);
    }

    if (exec->nlimits != 0) {
        exec->nlimits = 0;
        tg_execs_wake(exec->execs);
    }
}

static void
tg_exec_close(tg_exec_t *exec)
{
    int i;

    for (i = 0; i < TG_SPAWN_FDS; i++) {
        if (exec->open_pipes & 1u << i) {
            uv_close((uv_handle_t *) &exec->pipes[i], tg_exec_on_closed);
        }
    }

    exec->open_pipes = 0;
    uv_close((uv_handle_t *) &exec->timer, tg_exec_on_closed);
    uv_close((uv_handle_t *) &exec->pace, tg_exec_on_closed);
}

/* The only way from one state to another. */
static void
tg_exec_to(tg_exec_t *exec, tg_exec_state_t state)
{
    tg_execs_t *execs;

    execs = exec->execs;

    if (exec->state == TG_EXEC_QUEUED) {
        tg_exec_leave_queue(exec);
    }

    exec->state = state;

    if (state == TG_EXEC_RUNNING) {
        tg_exec_take_slot(exec);
    }

    if (state == TG_EXEC_DONE || (state == TG_EXEC_ENDING && exec->is_reaped)) {
        tg_exec_release(exec);
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
    tg_progress_deinit(&exec->progress);
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
    tg_exec_tell_end(exec);

    /* Its number is free, but none of ours can have become its group. */
    if (kill(-exec->pid, 0) == -1 && errno == ESRCH) {
        tg_exec_to(exec, TG_EXEC_DONE);
        return;
    }

    tg_exec_finish(exec, 0);
}

void
tg_exec_set_deadline(tg_exec_t *exec)
{
    uint64_t wait, age;

    age = uv_now(exec->execs->loop) - exec->arrived_at;
    wait = exec->params.max_timeout_ms;
    wait = wait > age ? wait - age : 0;

    if (wait > exec->params.timeout_ms) {
        wait = exec->params.timeout_ms;
    }

    uv_timer_start(&exec->timer, tg_exec_on_timer, wait, 0);
}

/* The deadline, unless progress that nobody has read yet moves it. */
static void
tg_exec_on_deadline(tg_exec_t *exec)
{
    if (uv_now(exec->execs->loop) - exec->arrived_at
            < exec->params.max_timeout_ms
        && tg_exec_progress_at_deadline(exec))
    {
        return;
    }

    tg_exec_tell_timeout(exec);
    tg_exec_finish(exec, 1);
}

static void
tg_exec_on_timer(uv_timer_t *timer)
{
    tg_exec_t *exec;
    int rc;

    exec = timer->data;

    switch (exec->state) {
    case TG_EXEC_QUEUED:
        tg_exec_tell_timeout(exec);
        tg_exec_to(exec, TG_EXEC_DONE);
        break;
    case TG_EXEC_RUNNING:
        tg_exec_on_deadline(exec);
        break;
    case TG_EXEC_DRAINING:
        /* Timers come before pipes: a late loop has not looked there yet. */
        rc = tg_exec_read_rest(exec);

        if (rc != TG_OK) {
            tg_exec_on_overflow(exec, rc);
            break;
        }

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
        tg_exec_tell_failure(exec, "output", &text);
    } else {
        tg_buf_text(&text, "toolgate-runner has no memory left for the "
                           "output; try again.");
        tg_exec_tell_failure(exec, "internal", &text);
    }

    tg_buf_deinit(&text);
    tg_exec_finish(exec, 1);
}

void
tg_exec_exited(tg_exec_t *exec, int status)
{
    exec->is_reaped = 1;
    exec->reaped_at = uv_now(exec->execs->loop);
    exec->status = status;

    if (exec->state != TG_EXEC_RUNNING) {
        tg_exec_release(exec);
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

const tg_limit_t *
tg_exec_blocker(const tg_exec_t *exec, const char **name)
{
    unsigned i;

    for (i = 0; i < exec->nlimits; i++) {
        if (tg_limit_is_busy(exec->limits[i])) {
            *name = exec->params.limits[i].name;
            return exec->limits[i];
        }
    }

    return NULL;
}

static int
tg_exec_take_limits(tg_exec_t *exec)
{
    tg_limit_t *limit;
    unsigned i;

    for (i = 0; i < exec->params.nlimits; i++) {
        limit = tg_limit_get(&exec->execs->limits, &exec->params.limits[i]);

        if (limit == NULL) {
            tg_exec_release(exec);
            return TG_NOMEM;
        }

        exec->limits[exec->nlimits++] = limit;
    }

    return TG_OK;
}

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

    if (tg_exec_take_limits(exec) != TG_OK) {
        tg_exec_params_free(params);
        free(exec);
        return NULL;
    }

    tg_progress_init(&exec->progress);
    tg_exec_output_init(&exec->output, params->max_output);
    execs->nexecs++;
    execs->bytes += params->size;

    /* The loop's time is that of its last wait; the deadline is from now. */
    uv_update_time(execs->loop);
    uv_timer_init(execs->loop, &exec->timer);
    uv_timer_init(execs->loop, &exec->pace);
    exec->timer.data = exec;
    exec->pace.data = exec;
    exec->nhandles = 2;
    exec->arrived_at = uv_now(execs->loop);
    tg_exec_set_deadline(exec);
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
        exec->started_at = uv_now(exec->execs->loop);
        tg_exec_to(exec, TG_EXEC_RUNNING);
    } else {
        tg_exec_tell_failure(exec, failure, &text);
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
