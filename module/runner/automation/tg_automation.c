#include "runner/automation/tg_hook.h"

#include "base/tg_json.h"
#include "runner/tg_log.h"

#include <stdlib.h>

/* --- what is kept --- */

static void
tg_automation_load_note(tg_automation_t *automation, tg_str_t key,
                        tg_str_t value)
{
    static const tg_str_t rules = TG_STR_OF("rule/");
    static const tg_str_t executions = TG_STR_OF("execution/");
    tg_automation_rule_t *rule;
    tg_str_t enabled;

    if (tg_str_eq(key, TG_STR("automation"))) {
        automation->is_enabled = !tg_json_has(value, TG_STR("enabled"),
                                              TG_JSON_FALSE, &enabled);

    } else if (key.len > executions.len
               && memcmp(key.data, executions.data, executions.len) == 0)
    {
        tg_execution_load(
            automation,
            tg_str(key.data + executions.len, key.len - executions.len), value);

    } else if (key.len > rules.len
               && memcmp(key.data, rules.data, rules.len) == 0) {
        rule = tg_automation_rule(automation, tg_str(key.data + rules.len,
                                                     key.len - rules.len));

        if (rule != NULL) {
            tg_automation_load_rule(rule, value);
        }
    }
}

static void
tg_automation_load_notes(tg_automation_t *automation, tg_str_t notes)
{
    tg_json_t json;
    tg_str_t key, value;
    tg_buf_t name;

    tg_json_init(&json, notes);

    if (tg_json_object(&json) != TG_OK) {
        return;
    }

    tg_buf_init(&name, tg_alloc_libc());

    while (tg_json_member(&json, &key) == TG_OK
           && tg_json_value(&json, &value) == TG_OK)
    {
        tg_buf_truncate(&name, 0);
        tg_json_put_decoded(&name, key);

        if (!tg_buf_failed(&name)) {
            tg_automation_load_note(automation, tg_buf_view(&name), value);
        }
    }

    tg_buf_deinit(&name);
}

/* The rules begin, or go on after a new config. */
static void
tg_automation_begin(tg_automation_t *automation)
{
    unsigned i;

    for (i = 0; i < automation->nrules; i++) {
        tg_automation_plan(automation, &automation->rules[i]);
    }

    tg_automation_watch(automation);
}

static void
tg_automation_serve(tg_automation_t *automation)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(&automation->waiting)) != NULL) {
        tg_task_call_leave(call);
        call->method->begin(call);
    }
}

static void
tg_automation_on_load(tg_store_ask_t *ask)
{
    tg_automation_t *automation;
    tg_engine_t *engine;

    automation = ask->data;
    engine = automation->engine;
    tg_engine_answered(engine);
    tg_engine_refused(engine, ask);
    automation->is_loading = 0;

    if (ask->rc == TG_OK && !engine->is_dropped) {
        tg_automation_load_notes(automation, tg_buf_view(&ask->json));
        automation->is_loaded = 1;
        tg_automation_begin(automation);
        tg_executions_resume(automation);
        tg_automation_catch_up(automation);
        tg_automation_serve(automation);
    }

    tg_store_ask_deinit(ask);
    engine->go_on(engine);
}

static void
tg_automation_load(tg_automation_t *automation)
{
    if (automation->is_loaded || automation->is_loading
        || automation->engine->state != TG_ENGINE_OPEN
        || automation->engine->is_dropped)
    {
        return;
    }

    automation->is_loading = 1;
    tg_store_ask_init(&automation->load, TG_STORE_NOTES, tg_automation_on_load,
                      automation);
    tg_engine_ask(automation->engine, &automation->load);
}

/* --- from the engine --- */

static tg_automation_t *
tg_automation_new(tg_engine_t *engine)
{
    tg_automation_t *automation;

    automation = calloc(1, sizeof(*automation));

    if (automation == NULL) {
        return NULL;
    }

    automation->engine = engine;
    automation->now = tg_engine_now;
    automation->is_enabled = 1;
    TAILQ_INIT(&automation->executions);
    TAILQ_INIT(&automation->events);
    TAILQ_INIT(&automation->waiting);
    tg_buf_init(&automation->backlog, tg_alloc_libc());
    engine->automation = automation;

    return automation;
}

/* Each worker says the same. */
static int
tg_automation_is_known(const tg_automation_t *automation)
{
    return tg_str_eq(tg_str_c(automation->generation),
                     automation->engine->config.generation);
}

void
tg_automation_configured(tg_engine_t *engine)
{
    tg_automation_t *automation;
    tg_str_t generation;

    automation = engine->automation;

    if (automation == NULL) {
        automation = engine->config.rules.data != NULL
                         ? tg_automation_new(engine)
                         : NULL;
    }

    if (automation == NULL || tg_automation_is_known(automation)) {
        return;
    }

    generation = engine->config.generation;

    /* What has happened is the old rules'. */
    tg_automation_publish_all(automation);

    if (tg_automation_read(automation, engine->config.rules) != TG_OK) {
        tg_log(TG_LOG_CRIT, "no memory for the rules of automation");
        return;
    }

    if (generation.len < sizeof(automation->generation)) {
        memcpy(automation->generation, generation.data, generation.len);
        automation->generation[generation.len] = '\0';
    }

    /* Something may be kept of one that was there before. */
    automation->is_loaded &= !automation->has_new;

    if (automation->is_loaded) {
        tg_automation_begin(automation);
    } else {
        tg_automation_load(automation);
    }
}

void
tg_automation_opened(tg_engine_t *engine)
{
    if (engine->automation != NULL) {
        tg_automation_load(engine->automation);
    }
}

void
tg_automation_tick(tg_engine_t *engine)
{
    tg_automation_t *automation;

    automation = engine->automation;

    if (automation == NULL) {
        return;
    }

    tg_automation_load(automation);

    if (automation->is_loaded) {
        if (engine->state == TG_ENGINE_OPEN) {
            tg_automation_catch_up(automation);
            tg_automation_publish_on(automation);
        }

        tg_automation_due(automation);
        tg_hook_tick(automation);
        tg_executions_prune(automation);
    }
}

void
tg_automation_dropped(tg_engine_t *engine)
{
    tg_execution_t *execution;

    if (engine->automation == NULL) {
        return;
    }

    TAILQ_FOREACH(execution, &engine->automation->executions, place)
    {
        tg_hook_cancel(execution);
    }

    tg_source_leave(&engine->tasks->jobs->sched.sched,
                    &engine->automation->source);
    tg_automation_forget(engine->automation);
    tg_automation_unwatch(engine->automation);
}

void
tg_automation_freed(tg_engine_t *engine)
{
    tg_automation_t *automation;
    tg_execution_t *execution;

    automation = engine->automation;

    if (automation == NULL) {
        return;
    }

    tg_source_leave(&engine->tasks->jobs->sched.sched, &automation->source);
    tg_automation_forget(automation);
    engine->tasks->ops->leave(&automation->waiting);

    while ((execution = TAILQ_FIRST(&automation->executions)) != NULL) {
        tg_execution_free(execution);
    }

    tg_automation_free_rules(automation);
    tg_buf_deinit(&automation->backlog);
    free(automation);
}
