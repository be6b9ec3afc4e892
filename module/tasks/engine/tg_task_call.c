/*
 * Common functions of the task methods: responses, store queries, params and
 * lists of waiting calls.
 */
#include "tasks/engine/tg_task_call.h"

#include "base/tg_json.h"
#include "tasks/engine/tg_engine_impl.h"

static void
tg_task_call_end_job(tg_task_call_t *call)
{
    if (call->is_starting) {
        call->is_over = 1;
        return;
    }

    tg_job_set_ending(call->job);
    tg_job_set_done(call->job);
}

void
tg_task_call_respond(tg_task_call_t *call, const tg_outcome_t *outcome)
{
    tg_run_stats_t stats;
    tg_buf_t json;

    tg_job_on_work_ended(call->job);
    stats = tg_job_get_run_stats(call->job);
    tg_buf_init(&json, tg_alloc_libc());
    tg_job_result_write_output(&json, outcome, &call->job->params, &stats);
    tg_job_respond(call->job, &json);
    tg_buf_deinit(&json);
    tg_task_call_end_job(call);
}

void
tg_task_call_respond_json(tg_task_call_t *call, tg_str_t json)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_make(TG_OUTCOME_JSON, json);
    tg_task_call_respond(call, &outcome);
}

void
tg_task_call_respond_text(tg_task_call_t *call)
{
    tg_outcome_t outcome;

    outcome = tg_buf_has_failed(&call->text)
                  ? tg_outcome_make_no_memory()
                  : tg_outcome_make(TG_OUTCOME_JSON, tg_buf_view(&call->text));
    tg_task_call_respond(call, &outcome);
}

void
tg_task_call_respond_error(tg_task_call_t *call, int64_t code,
                           const char *message)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_make_failure(TG_FAILURE_ARGUMENTS, message);
    outcome.has_code = !call->is_tool;
    outcome.code = code;
    tg_task_call_respond(call, &outcome);
}

void
tg_task_call_respond_store_error(tg_task_call_t *call)
{
    tg_outcome_t outcome;

    tg_buf_reset(&call->text, 0);
    tg_buf_append_cstr(&call->text, "Task store error: ");
    tg_buf_append_str(&call->text, tg_buf_view(&call->query.json));
    outcome = tg_outcome_make_failure_str(TG_FAILURE_INTERNAL,
                                          tg_buf_view(&call->text));
    tg_task_call_respond(call, &outcome);
}

void
tg_task_call_respond_not_found(tg_task_call_t *call)
{
    tg_task_call_respond_error(
        call, TG_TASK_ERROR_NOT_FOUND,
        "Task not found: no task has this taskId, or it was removed because "
        "it ended long ago (task_keep).");
}

/* --- notifications, also if the caller has gone --- */

static void
tg_task_call_notify_queued(tg_task_call_t *call)
{
    tg_buf_t params;

    call->engine->can_claim = 1;
    tg_task_begin_params(&params, call->query.id, call->query.agent);
    tg_json_add_int(&params, "priority", call->query.priority);
    tg_engine_notify(call->engine, call->owner, "task.queued", &params);
}

/* Notifies clients that a queued task was cancelled. */
static void
tg_task_call_notify_cancelled(tg_task_call_t *call)
{
    tg_str_t task, raw;
    tg_buf_t agent, owner;

    task = tg_buf_view(&call->query.json);
    tg_buf_init(&agent, tg_alloc_libc());
    tg_buf_init(&owner, tg_alloc_libc());

    if (tg_json_has_member(task, TG_STR("agent"), TG_JSON_STRING, &raw)) {
        tg_json_append_unescaped(&agent, tg_json_string_body(raw));
    }

    if (tg_json_has_member(task, TG_STR("owner"), TG_JSON_STRING, &raw)) {
        tg_json_append_unescaped(&owner, tg_json_string_body(raw));
    }

    tg_engine_notify_cancelled(call->engine, tg_buf_view(&owner),
                               call->query.id, tg_buf_view(&agent));
    tg_buf_deinit(&agent);
    tg_buf_deinit(&owner);
    call->engine->priv->nended++;
    tg_engine_resume_following_calls(call->engine, call->query.id);
}

static void
tg_task_call_notify_change(tg_task_call_t *call)
{
    if (call->query.op == TG_STORE_SUBMIT) {
        tg_task_call_notify_queued(call);
    } else if (call->query.op == TG_STORE_CANCEL) {
        tg_task_call_notify_cancelled(call);
    }
}

/* --- store queries --- */

int
tg_task_call_is_cancelling(const tg_task_call_t *call)
{
    return call->query.op == TG_STORE_CANCEL && call->query.rc == TG_AGAIN
           && !call->engine->is_shutting_down;
}

/*
 * Returns whether a query must be handled even if the caller has gone: it
 * cancels a running task, or has written records of a rule.
 */
static int
tg_task_call_has_taken_effect(const tg_task_call_t *call)
{
    return tg_task_call_is_cancelling(call)
           || (call->query.op == TG_STORE_WRITE_RECORDS
               && call->query.rc == TG_OK);
}

static void
tg_task_call_on_query_done(tg_store_query_t *query)
{
    tg_task_call_t *call;

    call = query->data;
    call->is_querying = 0;

    if (query->rc == TG_OK) {
        tg_task_call_notify_change(call);
    }

    if (call->is_abandoned && !tg_task_call_has_taken_effect(call)) {
        tg_job_set_done(call->job);
    } else if (query->rc == TG_INVALID) {
        tg_task_call_respond_store_error(call);
    } else {
        call->method->on_result(call);
    }
}

void
tg_task_call_init_query(tg_task_call_t *call, tg_store_op_t op)
{
    tg_store_query_deinit(&call->query);
    tg_store_query_init(&call->query, op, tg_task_call_on_query_done, call);
    call->query.owner = call->visible_owner;
}

void
tg_task_call_query_store(tg_task_call_t *call)
{
    call->is_querying = 1;
    tg_engine_query_store(call->engine, &call->query);
}

void
tg_task_call_respond_task(tg_task_call_t *call)
{
    if (call->query.rc == TG_OK) {
        tg_buf_reset(&call->text, 0);
        tg_task_append_json(&call->text, &call->query);
        tg_task_call_respond_text(call);
    } else {
        tg_task_call_respond_stored(call);
    }
}

void
tg_task_call_respond_stored(tg_task_call_t *call)
{
    if (call->query.rc == TG_MISSING) {
        tg_task_call_respond_not_found(call);
    } else {
        tg_task_call_respond_json(call, tg_buf_view(&call->query.json));
    }
}

/* --- params --- */

tg_str_t
tg_task_call_get_param(const tg_task_call_t *call, const char *name,
                       tg_json_type_t type)
{
    tg_str_t value;

    return tg_json_has_member(call->params, tg_str_from_cstr(name), type,
                              &value)
               ? value
               : TG_STR_NONE;
}

int64_t
tg_task_call_get_int(const tg_task_call_t *call, const char *name, int64_t min,
                     int64_t max, int64_t default_value)
{
    tg_str_t raw;
    int64_t value;

    raw = tg_task_call_get_param(call, name, TG_JSON_NUMBER);

    if (raw.data == NULL || tg_json_parse_int64(raw, &value) != TG_OK) {
        return default_value;
    }

    return value < min ? min : value > max ? max : value;
}

int
tg_task_call_get_bool(const tg_task_call_t *call, const char *name)
{
    return tg_task_call_get_param(call, name, TG_JSON_TRUE).data != NULL;
}

tg_str_t
tg_task_call_get_text(const tg_task_call_t *call, const char *name,
                      tg_buf_t *buf)
{
    tg_str_t raw;

    raw = tg_task_call_get_param(call, name, TG_JSON_STRING);

    if (raw.data == NULL) {
        return TG_STR_NONE;
    }

    tg_buf_reset(buf, 0);
    tg_json_append_unescaped(buf, tg_json_string_body(raw));

    return tg_buf_view(buf);
}

int
tg_task_call_get_task_id(tg_task_call_t *call)
{
    call->query.id = tg_task_parse_id(
        tg_task_call_get_text(call, "taskId", &call->prompt));

    if (call->query.id == -1) {
        tg_task_call_respond_not_found(call);
        return 0;
    }

    return 1;
}

/* --- lists of waiting calls --- */

void
tg_task_call_enqueue(tg_task_call_t *call, tg_task_calls_t *list)
{
    call->list = list;
    TAILQ_INSERT_TAIL(list, call, link);
}

void
tg_task_call_dequeue(tg_task_call_t *call)
{
    TAILQ_REMOVE(call->list, call, link);
    call->list = NULL;
}

void
tg_task_calls_dequeue_all(tg_task_calls_t *calls)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(calls)) != NULL) {
        tg_task_call_dequeue(call);

        /* Nothing else ends a call whose caller has gone. */
        if (call->is_abandoned) {
            tg_job_set_done(call->job);
        }
    }
}
