#include "runner/automation/tg_automation.h"

#include <stdlib.h>

enum {
    TG_TASK_STORE,
    TG_TASK_METHOD,
    TG_TASK_ARGUMENTS,
    TG_TASK_CLIENTS,
    TG_TASK_OWNER,
    TG_TASK_SEES_ALL,
    TG_TASK_IS_TOOL,
    TG_TASK_TOKEN,
    TG_TASK_MEMBERS
};

static const char *const tg_task_members[] = {
    [TG_TASK_STORE] = "store",      [TG_TASK_METHOD] = "method",
    [TG_TASK_ARGUMENTS] = "params", [TG_TASK_CLIENTS] = "clients",
    [TG_TASK_OWNER] = "owner",      [TG_TASK_SEES_ALL] = "sees_all",
    [TG_TASK_IS_TOOL] = "is_tool",  [TG_TASK_TOKEN] = "token",
    [TG_TASK_MEMBERS] = NULL,
};

static const tg_task_method_t tg_task_methods[] = {
    { "tool.call", 0, tg_task_tool, tg_task_tool_told },
    { "task.submit", 0, tg_task_submit, tg_task_submitted },
    { "task.cancel", 0, tg_task_cancel, tg_task_was_cancelled },
    { "task.get", 0, tg_task_get, tg_task_call_told },
    { "task.list", 0, tg_task_list, tg_task_listed },
    { "task.stats", 0, tg_task_stats, tg_task_call_tell },
    { "task.output", 0, tg_task_output, tg_task_read },
    { "task.wait", 0, tg_task_wait, tg_task_waited },
    { "chat.send", 0, tg_task_chat, tg_task_chatted },
    { "automation.status", 0, tg_automation_status, NULL },
    { "automation.enable", 0, tg_automation_enable, tg_automation_chosen },
    { "automation.disable", 0, tg_automation_disable, tg_automation_chosen },
    { "automation.approve", 0, tg_automation_approve, NULL },
    { "daemon.status", 1, tg_task_status, tg_task_status_told },
    { "daemon.stop", 1, tg_task_stop, NULL },
};

static const tg_task_method_t *
tg_task_method(tg_str_t raw)
{
    size_t i;

    for (i = 0; i < sizeof(tg_task_methods) / sizeof(tg_task_methods[0]); i++) {
        if (tg_json_is_text(raw, tg_str_c(tg_task_methods[i].name))) {
            return &tg_task_methods[i];
        }
    }

    return NULL;
}

static void
tg_task_call_begin(tg_task_call_t *call)
{
    tg_engine_t *engine;

    engine = call->engine;

    if (call->method->is_quick) {
        call->method->begin(call);
        return;
    }

    if (engine->config.nagents == 0) {
        tg_task_call_error(call, TG_TASK_UNAVAILABLE,
                           "Subsystem unavailable: the config has no "
                           "task_agent.");
        return;
    }

    if (engine->state != TG_ENGINE_FAILED) {
        call->method->begin(call);
        return;
    }

    tg_buf_reset(&call->text, 0);
    tg_buf_text(&call->text, "Subsystem unavailable: the tasks' store cannot "
                             "be opened: ");
    tg_buf_str(&call->text, tg_buf_view(&engine->why));
    tg_buf_char(&call->text, '\0');
    tg_task_call_error(call, TG_TASK_UNAVAILABLE,
                       tg_buf_failed(&call->text) ? TG_RUNNER_NO_MEMORY
                                                  : call->text.data);
}

static void
tg_task_calls_begin(tg_engine_t *engine)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(&engine->waiting)) != NULL) {
        tg_task_call_leave(call);
        tg_task_call_begin(call);
    }
}

static void
tg_task_call_free(tg_job_t *job)
{
    tg_task_call_t *call;

    call = job->work;
    tg_store_ask_deinit(&call->ask);
    tg_buf_deinit(&call->read.bytes);
    tg_buf_deinit(&call->prompt);
    tg_buf_deinit(&call->cwd);
    tg_buf_deinit(&call->run);
    tg_buf_deinit(&call->text);
    free(call->memory);
    free(call);
}

static int
tg_task_call_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_task_call_t *call;
    tg_str_t params, owner, token;
    char *at;

    *why = "store and owner must be strings, method one about tasks, params an "
           "object";
    params = values[TG_TASK_ARGUMENTS];
    owner = values[TG_TASK_OWNER];

    if (tg_json_type(values[TG_TASK_STORE]) != TG_JSON_STRING
        || tg_json_type(owner) != TG_JSON_STRING
        || tg_json_type(params) != TG_JSON_OBJECT
        || tg_task_method(values[TG_TASK_METHOD]) == NULL)
    {
        return TG_BAD;
    }

    call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return TG_NOMEM;
    }

    job->work = call;
    job->bytes += params.len;
    call->job = job;
    call->method = tg_task_method(values[TG_TASK_METHOD]);
    tg_store_ask_init(&call->ask, TG_STORE_STATS, NULL, NULL);
    tg_buf_init(&call->read.bytes, tg_alloc_libc());
    tg_buf_init(&call->prompt, tg_alloc_libc());
    tg_buf_init(&call->cwd, tg_alloc_libc());
    tg_buf_init(&call->run, tg_alloc_libc());
    tg_buf_init(&call->text, tg_alloc_libc());
    (void) tg_job_number(values[TG_TASK_CLIENTS], 0, INT64_MAX, &call->clients);
    call->engine = tg_engine_of(job->host, tg_json_body(values[TG_TASK_STORE]));
    owner = tg_json_body(owner);
    token = tg_json_type(values[TG_TASK_TOKEN]) == TG_JSON_STRING
                ? tg_json_body(values[TG_TASK_TOKEN])
                : TG_STR_NONE;
    call->memory = malloc(params.len + owner.len + token.len);

    if (call->memory == NULL || call->engine == NULL) {
        return TG_NOMEM;
    }

    at = call->memory;
    call->params = tg_str_keep(&at, params);
    call->owner = tg_str_keep(&at, owner);
    call->token = tg_str_keep(&at, token);

    call->is_tool = tg_json_type(values[TG_TASK_IS_TOOL]) == TG_JSON_TRUE;

    if (tg_json_type(values[TG_TASK_SEES_ALL]) != TG_JSON_TRUE) {
        call->seen_of = call->owner;
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
        tg_task_call_wait(call, &call->engine->waiting);
    } else {
        tg_task_call_begin(call);
    }

    call->is_starting = 0;

    return call->is_over ? -1 : 0;
}

static void
tg_task_call_stop(tg_job_t *job)
{
    tg_task_call_t *call;

    call = job->work;

    if (call->is_asking
        || (call->list != NULL && tg_task_is_cancelling(call)
            && !tg_engine_is_shared(call->engine)))
    {
        call->is_stopped = 1;
        return;
    }

    if (call->list != NULL) {
        tg_task_call_leave(call);
    }

    tg_job_done(job);
}

const tg_kind_t tg_task_kind = {
    .name = "task",
    .members = tg_task_members,
    .timeout_ms = 60000,
    .is_elsewhere = 1,
    .read = tg_task_call_read,
    .start = tg_task_call_start,
    .stop = tg_task_call_stop,
    .free = tg_task_call_free,
};

/* What is kept of the rules is asked for before anybody asks about them. */
static void
tg_task_on_opened(tg_engine_t *engine)
{
    tg_automation_opened(engine);
    tg_task_calls_begin(engine);
}

static void
tg_task_on_tick(tg_engine_t *engine)
{
    tg_task_calls_tick(engine);
    tg_automation_tick(engine);
}

const tg_task_ops_t tg_task_kind_ops = {
    .opened = tg_task_on_opened,
    .changed = tg_task_calls_follow,
    .ended = tg_task_calls_ended,
    .tick = tg_task_on_tick,
    .configured = tg_automation_configured,
    .happened = tg_automation_happened,
    .dropped = tg_automation_dropped,
    .freed = tg_automation_freed,
    .leave = tg_task_calls_leave,
};
