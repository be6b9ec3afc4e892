/*
 * The job type `task` and the table of task methods.
 */
#include "tasks/automation/tg_automation.h"
#include "tasks/engine/tg_engine_impl.h"

#include <stdlib.h>

typedef struct {
    tg_str_t store;
    tg_str_t method;
    tg_str_t params;
    tg_str_t owner;
    tg_str_t token;
    int64_t clients;
    int64_t sees_all;
    int64_t is_tool;
} tg_task_call_params_t;

#define TG_TASK_CALL_FIELD(text, kind, member)                                 \
    .name = text, .type = kind, TG_FIELD_AT(tg_task_call_params_t, member)

static const tg_json_field_t tg_task_call_fields[] = {
    { TG_TASK_CALL_FIELD("store", TG_FIELD_STRING, store), .is_required = 1 },
    { TG_TASK_CALL_FIELD("method", TG_FIELD_RAW, method) },
    { TG_TASK_CALL_FIELD("params", TG_FIELD_OBJECT, params), .is_required = 1 },
    { TG_TASK_CALL_FIELD("clients", TG_FIELD_INT, clients), .max = INT64_MAX },
    { TG_TASK_CALL_FIELD("owner", TG_FIELD_STRING, owner), .is_required = 1 },
    { TG_TASK_CALL_FIELD("sees_all", TG_FIELD_FLAG, sees_all) },
    { TG_TASK_CALL_FIELD("is_tool", TG_FIELD_FLAG, is_tool) },
    { TG_TASK_CALL_FIELD("token", TG_FIELD_STRING, token) },
    { .name = NULL },
};

/* clang-format off */

static const tg_task_method_t tg_task_methods[] = {
    { "tool.call", TG_STORE_SUBMIT, 0,
      tg_task_call_begin_tool, tg_task_call_on_tool },
    { "task.submit", TG_STORE_SUBMIT, 0,
      tg_task_call_begin_submit, tg_task_call_on_submit },
    { "task.cancel", TG_STORE_CANCEL, TG_TASK_METHOD_HAS_ID,
      NULL, tg_task_call_on_cancel },
    { "task.get", TG_STORE_GET, TG_TASK_METHOD_HAS_ID,
      tg_task_call_begin_get, tg_task_call_respond_task },
    { "task.list", TG_STORE_LIST, 0,
      tg_task_call_begin_list, tg_task_call_on_list },
    { "task.stats", TG_STORE_STATS, 0,
      NULL, tg_task_call_respond_stored },
    { "task.output", TG_STORE_GET, TG_TASK_METHOD_HAS_ID,
      tg_task_call_begin_output, tg_task_call_on_output },
    { "task.wait", TG_STORE_GET, TG_TASK_METHOD_HAS_ID,
      tg_task_call_begin_wait, tg_task_call_on_wait },
    { "chat.send", TG_STORE_SUBMIT, 0,
      tg_task_call_begin_chat, tg_task_call_on_chat },
    { "automation.status", TG_STORE_OPS, TG_TASK_METHOD_HAS_RULES,
      tg_task_call_begin_rules_status, NULL },
    { "automation.enable", TG_STORE_WRITE_RECORDS, TG_TASK_METHOD_CHANGES_RULES,
      tg_task_call_begin_rules_override, tg_task_call_on_rules_override },
    { "automation.disable", TG_STORE_WRITE_RECORDS,
      TG_TASK_METHOD_CHANGES_RULES,
      tg_task_call_begin_rules_override, tg_task_call_on_rules_override },
    { "automation.approve", TG_STORE_OPS, TG_TASK_METHOD_CHANGES_RULES,
      tg_task_call_begin_rules_approve, NULL },
    { "daemon.status", TG_STORE_STATUS, TG_TASK_METHOD_NEEDS_NO_STORE,
      tg_task_call_begin_status, tg_task_call_on_status },
    { "daemon.stop", TG_STORE_OPS, TG_TASK_METHOD_NEEDS_NO_STORE,
      tg_task_call_begin_stop, NULL },
};

/* clang-format on */

static const tg_task_method_t *
tg_task_find_method(tg_str_t raw)
{
    size_t i;

    for (i = 0; i < sizeof(tg_task_methods) / sizeof(tg_task_methods[0]); i++) {
        if (tg_json_string_eq(raw, tg_str_from_cstr(tg_task_methods[i].name))) {
            return &tg_task_methods[i];
        }
    }

    return NULL;
}

void
tg_task_call_begin(tg_task_call_t *call)
{
    const tg_task_method_t *method;

    method = call->method;

    if ((method->flags & TG_TASK_METHOD_HAS_RULES)
        && !tg_task_call_check_rules(call))
    {
        return;
    }

    if (method->op != TG_STORE_OPS) {
        tg_task_call_init_query(call, method->op);
    }

    if ((method->flags & TG_TASK_METHOD_HAS_ID)
        && !tg_task_call_get_task_id(call)) {
        return;
    }

    if (method->begin != NULL) {
        method->begin(call);
    } else {
        tg_task_call_query_store(call);
    }
}

static void
tg_task_call_run_method(tg_task_call_t *call)
{
    tg_engine_t *engine;

    engine = call->engine;

    if (call->method->flags & TG_TASK_METHOD_NEEDS_NO_STORE) {
        tg_task_call_begin(call);
        return;
    }

    if (engine->config.nagents == 0) {
        tg_task_call_respond_error(call, TG_TASK_ERROR_UNAVAILABLE,
                                   "Subsystem unavailable: the config has no "
                                   "task_agent.");
        return;
    }

    if (engine->state != TG_ENGINE_FAILED) {
        tg_task_call_begin(call);
        return;
    }

    tg_buf_reset(&call->text, 0);
    tg_buf_append_cstr(&call->text,
                       "Subsystem unavailable: the task store cannot be "
                       "opened: ");
    tg_buf_append_str(&call->text, tg_buf_view(&engine->priv->why));
    tg_buf_append_char(&call->text, '\0');
    tg_task_call_respond_error(call, TG_TASK_ERROR_UNAVAILABLE,
                               tg_buf_has_failed(&call->text)
                                   ? TG_RUNNER_NO_MEMORY
                                   : call->text.data);
}

static void
tg_engine_run_waiting_calls(tg_engine_t *engine)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(&engine->priv->waiting)) != NULL) {
        tg_task_call_dequeue(call);
        tg_task_call_run_method(call);
    }
}

static void
tg_task_call_free(tg_job_t *job)
{
    tg_task_call_t *call;

    call = job->work;
    tg_store_query_deinit(&call->query);
    tg_buf_deinit(&call->read.bytes);
    tg_buf_deinit(&call->prompt);
    tg_buf_deinit(&call->cwd);
    tg_buf_deinit(&call->job_params);
    tg_buf_deinit(&call->text);
    free(call->memory);
    free(call);
}

static int
tg_task_call_create(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_task_call_params_t params;
    tg_task_call_t *call;
    tg_str_t owner, token;
    char *at;

    *why = "store and owner must be strings, method a task method, and "
           "params an object";

    if (tg_json_store_fields(tg_task_call_fields, values, &params, why) != TG_OK
        || tg_task_find_method(params.method) == NULL)
    {
        return TG_INVALID;
    }

    call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return TG_NOMEM;
    }

    job->work = call;
    job->bytes += params.params.len;
    call->job = job;
    call->method = tg_task_find_method(params.method);
    tg_store_query_init(&call->query, TG_STORE_STATS, NULL, NULL);
    tg_buf_init(&call->read.bytes, tg_alloc_libc());
    tg_buf_init(&call->prompt, tg_alloc_libc());
    tg_buf_init(&call->cwd, tg_alloc_libc());
    tg_buf_init(&call->job_params, tg_alloc_libc());
    tg_buf_init(&call->text, tg_alloc_libc());
    call->clients = params.clients;
    call->engine = tg_tasks_get_engine(job->host,
                                       tg_json_string_body(params.store));
    owner = tg_json_string_body(params.owner);
    token = params.token.data != NULL ? tg_json_string_body(params.token)
                                      : TG_STR_NONE;
    call->memory = malloc(params.params.len + owner.len + token.len);

    if (call->memory == NULL || call->engine == NULL) {
        return TG_NOMEM;
    }

    at = call->memory;
    call->params = tg_str_copy_to(&at, params.params);
    call->owner = tg_str_copy_to(&at, owner);
    call->token = tg_str_copy_to(&at, token);

    call->is_tool = (int) params.is_tool;

    if (!params.sees_all) {
        call->visible_owner = call->owner;
    }

    return TG_OK;
}

static int
tg_task_call_start(tg_job_t *job)
{
    tg_task_call_t *call;

    call = job->work;
    call->is_starting = 1;

    if (call->engine->state == TG_ENGINE_OPENING) {
        tg_task_call_enqueue(call, &call->engine->priv->waiting);
    } else {
        tg_task_call_run_method(call);
    }

    call->is_starting = 0;

    return call->is_over ? -1 : 0;
}

static void
tg_task_call_stop(tg_job_t *job)
{
    tg_task_call_t *call;

    call = job->work;

    if (call->is_querying
        || (call->list != NULL && tg_task_call_is_cancelling(call)
            && !tg_engine_is_shared(call->engine)))
    {
        call->is_abandoned = 1;
        return;
    }

    if (call->list != NULL) {
        tg_task_call_dequeue(call);
    }

    tg_job_set_done(job);
}

const tg_job_type_t tg_task_job_type = {
    .name = "task",
    .fields = tg_task_call_fields,
    .timeout_ms = 60000,
    .needs_no_slot = 1,
    .read = tg_task_call_create,
    .start = tg_task_call_start,
    .stop = tg_task_call_stop,
    .free = tg_task_call_free,
};

void
tg_task_calls_on_engine_opened(tg_engine_t *engine)
{
    tg_automation_on_opened(engine);
    tg_engine_run_waiting_calls(engine);
}
