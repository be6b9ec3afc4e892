#include "runner/task/tg_task_call.h"

#include "base/tg_json.h"

static void
tg_task_call_done(tg_task_call_t *call)
{
    if (call->is_starting) {
        call->is_over = 1;
        return;
    }

    tg_job_end(call->job);
    tg_job_done(call->job);
}

void
tg_task_call_answer(tg_task_call_t *call, const tg_outcome_t *outcome)
{
    tg_ran_t ran;
    tg_buf_t json;

    tg_job_ended(call->job);
    ran = tg_job_ran(call->job);
    tg_buf_init(&json, tg_alloc_libc());
    tg_answer_put_output(&json, outcome, &call->job->params, &ran);
    tg_job_answer(call->job, &json);
    tg_buf_deinit(&json);
    tg_task_call_done(call);
}

void
tg_task_call_json(tg_task_call_t *call, tg_str_t json)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_of(TG_OUTCOME_JSON, json);
    tg_task_call_answer(call, &outcome);
}

/* What was written to text. */
void
tg_task_call_text(tg_task_call_t *call)
{
    tg_outcome_t outcome;

    outcome = tg_buf_failed(&call->text)
                  ? tg_outcome_no_memory()
                  : tg_outcome_of(TG_OUTCOME_JSON, tg_buf_view(&call->text));
    tg_task_call_answer(call, &outcome);
}

void
tg_task_call_error(tg_task_call_t *call, int64_t code, const char *message)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS, message);
    outcome.has_code = !call->is_tool;
    outcome.code = code;
    tg_task_call_answer(call, &outcome);
}

/* The store could not do it. */
void
tg_task_call_refused(tg_task_call_t *call)
{
    tg_outcome_t outcome;

    tg_buf_reset(&call->text, 0);
    tg_buf_text(&call->text, "The tasks' store says no: ");
    tg_buf_str(&call->text, tg_buf_view(&call->ask.json));
    outcome = tg_outcome_failed(TG_FAILURE_INTERNAL, tg_buf_view(&call->text));
    tg_task_call_answer(call, &outcome);
}

void
tg_task_call_missing(tg_task_call_t *call)
{
    tg_task_call_error(call, TG_TASK_NOT_FOUND,
                       "Task not found: there is none with this taskId, or it "
                       "was removed as it ended long ago (task_keep).");
}

/* --- what others are told, whether its caller still waits or not --- */

static void
tg_task_tell_queued(tg_task_call_t *call)
{
    tg_buf_t params;

    call->engine->wants = 1;
    tg_task_tell_begin(&params, call->ask.id, call->ask.agent);
    tg_buf_text(&params, ",\"priority\":");
    tg_buf_int(&params, call->ask.priority);
    tg_task_tell(call->engine, call->owner, "task.queued", &params);
}

/* One that waited, as the store tells it. */
static void
tg_task_call_tell_cancelled(tg_task_call_t *call)
{
    tg_str_t told, raw;
    tg_buf_t agent, owner;

    told = tg_buf_view(&call->ask.json);
    tg_buf_init(&agent, tg_alloc_libc());
    tg_buf_init(&owner, tg_alloc_libc());

    if (tg_json_has(told, TG_STR("agent"), TG_JSON_STRING, &raw)) {
        tg_json_put_decoded(&agent, tg_json_body(raw));
    }

    if (tg_json_has(told, TG_STR("owner"), TG_JSON_STRING, &raw)) {
        tg_json_put_decoded(&owner, tg_json_body(raw));
    }

    tg_task_tell_cancelled(call->engine, tg_buf_view(&owner), call->ask.id,
                           tg_buf_view(&agent));
    tg_buf_deinit(&agent);
    tg_buf_deinit(&owner);
    call->engine->nended++;
    call->engine->tasks->ops->changed(call->engine, call->ask.id);
}

static void
tg_task_call_tell_others(tg_task_call_t *call)
{
    if (call->ask.op == TG_STORE_SUBMIT) {
        tg_task_tell_queued(call);
    } else if (call->ask.op == TG_STORE_CANCEL) {
        tg_task_call_tell_cancelled(call);
    }
}

/* --- the store --- */

int
tg_task_is_cancelling(const tg_task_call_t *call)
{
    return call->ask.op == TG_STORE_CANCEL && call->ask.rc == TG_AGAIN
           && !call->engine->is_dropped;
}

/*
 * A task that runs is ended, and what was written of a rule holds, whether the
 * caller still waits or not.
 */
static int
tg_task_call_goes_on(const tg_task_call_t *call)
{
    return tg_task_is_cancelling(call)
           || (call->ask.op == TG_STORE_NOTE && call->ask.rc == TG_OK);
}

static void
tg_task_call_on_told(tg_store_ask_t *ask)
{
    tg_task_call_t *call;
    tg_engine_t *engine;

    call = ask->data;
    engine = call->engine;
    call->is_asking = 0;
    tg_engine_answered(engine);

    if (ask->rc == TG_OK) {
        tg_task_call_tell_others(call);
    }

    if (call->is_stopped && !tg_task_call_goes_on(call)) {
        tg_job_done(call->job);
    } else if (ask->rc == TG_BAD) {
        tg_task_call_refused(call);
    } else {
        call->method->told(call);
    }

    tg_engine_go_on(engine);
}

void
tg_task_call_init(tg_task_call_t *call, tg_store_op_t op)
{
    tg_store_ask_deinit(&call->ask);
    tg_store_ask_init(&call->ask, op, tg_task_call_on_told, call);
    call->ask.owner = call->seen_of;
}

void
tg_task_call_ask(tg_task_call_t *call)
{
    call->is_asking = 1;
    tg_engine_ask(call->engine, &call->ask);
}

void
tg_task_call_told(tg_task_call_t *call)
{
    if (call->ask.rc == TG_OK) {
        tg_buf_reset(&call->text, 0);
        tg_task_put_told(&call->text, &call->ask);
        tg_task_call_text(call);
    } else {
        tg_task_call_tell(call);
    }
}

void
tg_task_call_tell(tg_task_call_t *call)
{
    if (call->ask.rc == TG_MISSING) {
        tg_task_call_missing(call);
    } else {
        tg_task_call_json(call, tg_buf_view(&call->ask.json));
    }
}

/* --- params --- */

tg_str_t
tg_task_param(const tg_task_call_t *call, const char *name, tg_json_type_t type)
{
    tg_str_t value;

    return tg_json_has(call->params, tg_str_c(name), type, &value)
               ? value
               : TG_STR_NONE;
}

int64_t
tg_task_number(const tg_task_call_t *call, const char *name, int64_t least,
               int64_t most, int64_t usual)
{
    tg_str_t raw;
    int64_t value;

    raw = tg_task_param(call, name, TG_JSON_NUMBER);

    if (raw.data == NULL || tg_json_int64(raw, &value) != TG_OK) {
        return usual;
    }

    return value < least ? least : value > most ? most : value;
}

int
tg_task_flag(const tg_task_call_t *call, const char *name)
{
    return tg_task_param(call, name, TG_JSON_TRUE).data != NULL;
}

/* A text, decoded; absent where it is none. */
tg_str_t
tg_task_text(const tg_task_call_t *call, const char *name, tg_buf_t *buf)
{
    tg_str_t raw;

    raw = tg_task_param(call, name, TG_JSON_STRING);

    if (raw.data == NULL) {
        return TG_STR_NONE;
    }

    tg_buf_reset(buf, 0);
    tg_json_put_decoded(buf, tg_json_body(raw));

    return tg_buf_view(buf);
}

/* The task that is meant, or it was answered. */
int
tg_task_which(tg_task_call_t *call)
{
    call->ask.id = tg_task_id(tg_task_text(call, "taskId", &call->prompt));

    if (call->ask.id == -1) {
        tg_task_call_missing(call);
        return 0;
    }

    return 1;
}

/* --- calls that wait --- */

void
tg_task_call_wait(tg_task_call_t *call, tg_task_calls_t *list)
{
    call->list = list;
    TAILQ_INSERT_TAIL(list, call, place);
}

void
tg_task_call_leave(tg_task_call_t *call)
{
    TAILQ_REMOVE(call->list, call, place);
    call->list = NULL;
}

void
tg_task_calls_leave(tg_task_calls_t *calls)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(calls)) != NULL) {
        tg_task_call_leave(call);

        /* Nobody else ends one whose caller has gone. */
        if (call->is_stopped) {
            tg_job_done(call->job);
        }
    }
}
