/*
 * Automation of a task engine: its config, its records and its ticks.
 */
#include "tasks/webhook/tg_webhook_send.h"

#include "base/tg_json.h"
#include "runner/logging/tg_log.h"

#include <stdlib.h>

/* --- records --- */

static void
tg_automation_load_record(tg_automation_t *automation, tg_str_t key,
                          tg_str_t value)
{
    static const tg_str_t rules = TG_STR_INIT("rule/");
    static const tg_str_t firings = TG_STR_INIT("execution/");
    tg_automation_rule_t *rule;
    tg_str_t enabled;

    if (tg_str_eq(key, TG_STR("automation"))) {
        automation->is_enabled = !tg_json_has_member(value, TG_STR("enabled"),
                                                     TG_JSON_FALSE, &enabled);

    } else if (key.len > firings.len
               && memcmp(key.data, firings.data, firings.len) == 0)
    {
        tg_automation_load_firing(automation, tg_str_skip(key, firings.len),
                                  value);

    } else if (key.len > rules.len
               && memcmp(key.data, rules.data, rules.len) == 0) {
        rule = tg_automation_find_rule(automation, tg_str_skip(key, rules.len));

        if (rule != NULL) {
            tg_automation_rule_load_record(rule, value);
        }
    }
}

static void
tg_automation_load_records(tg_automation_t *automation, tg_str_t records)
{
    tg_json_cursor_t json;
    tg_str_t key, value;
    tg_buf_t name;

    tg_json_init(&json, records);

    if (tg_json_enter_object(&json) != TG_OK) {
        return;
    }

    tg_buf_init(&name, tg_alloc_libc());

    while (tg_json_iter_next_member(&json, &key, &value)) {
        tg_buf_truncate(&name, 0);
        tg_json_append_unescaped(&name, key);

        if (!tg_buf_has_failed(&name)) {
            tg_automation_load_record(automation, tg_buf_view(&name), value);
        }
    }

    tg_buf_deinit(&name);
}

/* Schedules the rules and watches their files. */
static void
tg_automation_start_rules(tg_automation_t *automation)
{
    unsigned i;

    for (i = 0; i < automation->nrules; i++) {
        tg_automation_schedule_rule(automation, &automation->rules[i]);
    }

    tg_automation_start_watcher(automation);
}

static void
tg_automation_run_waiting_calls(tg_automation_t *automation)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(&automation->waiting)) != NULL) {
        tg_task_call_dequeue(call);
        tg_task_call_begin(call);
    }
}

static void
tg_automation_on_loaded(tg_store_query_t *query)
{
    tg_automation_t *automation;
    tg_engine_t *engine;

    automation = query->data;
    engine = automation->engine;
    tg_engine_log_store_error(engine, query);
    automation->is_loading = 0;

    if (query->rc == TG_OK && !engine->is_shutting_down) {
        tg_automation_load_records(automation, tg_buf_view(&query->json));
        automation->is_loaded = 1;
        tg_automation_start_rules(automation);
        tg_automation_resume_webhooks(automation);
        tg_automation_replay_backlog(automation);
        tg_automation_run_waiting_calls(automation);
    }

    tg_store_query_deinit(query);
}

static void
tg_automation_load(tg_automation_t *automation)
{
    if (automation->is_loaded || automation->is_loading
        || automation->engine->state != TG_ENGINE_OPEN
        || automation->engine->is_shutting_down)
    {
        return;
    }

    automation->is_loading = 1;
    tg_store_query_init(&automation->load, TG_STORE_READ_RECORDS,
                        tg_automation_on_loaded, automation);
    tg_engine_query_store(automation->engine, &automation->load);
}

/* --- callbacks of the engine --- */

static tg_automation_t *
tg_automation_new(tg_engine_t *engine)
{
    tg_automation_t *automation;

    automation = calloc(1, sizeof(*automation));

    if (automation == NULL) {
        return NULL;
    }

    automation->engine = engine;
    automation->now = tg_engine_get_unix_time_ms;
    automation->is_enabled = 1;
    TAILQ_INIT(&automation->firings);
    TAILQ_INIT(&automation->events);
    TAILQ_INIT(&automation->waiting);
    tg_buf_init(&automation->backlog, tg_alloc_libc());
    engine->automation = automation;

    return automation;
}

/* Returns whether the config was already applied; each worker sends it. */
static int
tg_automation_has_generation(const tg_automation_t *automation)
{
    return tg_str_eq(tg_str_from_cstr(automation->generation),
                     automation->engine->config.spec.generation);
}

void
tg_automation_on_configured(tg_engine_t *engine)
{
    tg_automation_t *automation;
    tg_str_t generation;

    automation = engine->automation;

    if (automation == NULL) {
        automation = engine->config.spec.rules.data != NULL
                         ? tg_automation_new(engine)
                         : NULL;
    }

    if (automation == NULL || tg_automation_has_generation(automation)) {
        return;
    }

    generation = engine->config.spec.generation;

    /* Events that have already happened belong to the old rules. */
    tg_automation_flush_events(automation);

    if (tg_automation_parse_rules(automation, engine->config.spec.rules)
        != TG_OK) {
        tg_log(TG_LOG_CRIT, "no memory for the automation rules");
        return;
    }

    if (generation.len < sizeof(automation->generation)) {
        memcpy(automation->generation, generation.data, generation.len);
        automation->generation[generation.len] = '\0';
    }

    /* A new rule may have a record of an earlier config. */
    automation->is_loaded &= !automation->has_new_rules;

    if (automation->is_loaded) {
        tg_automation_start_rules(automation);
    } else {
        tg_automation_load(automation);
    }
}

void
tg_automation_on_opened(tg_engine_t *engine)
{
    if (engine->automation != NULL) {
        tg_automation_load(engine->automation);
    }
}

void
tg_automation_on_tick(tg_engine_t *engine)
{
    tg_automation_t *automation;

    automation = engine->automation;

    if (automation == NULL) {
        return;
    }

    tg_automation_load(automation);

    if (automation->is_loaded) {
        if (engine->state == TG_ENGINE_OPEN) {
            tg_automation_replay_backlog(automation);
            tg_automation_resume_publisher(automation);
        }

        tg_automation_check_due_rules(automation);
        tg_webhook_on_tick(automation);
        tg_automation_prune_firings(automation);
    }
}

void
tg_automation_on_shutdown(tg_engine_t *engine)
{
    tg_firing_t *firing;

    if (engine->automation == NULL) {
        return;
    }

    TAILQ_FOREACH(firing, &engine->automation->firings, link)
    {
        tg_webhook_cancel(firing);
    }

    tg_sched_dequeue(&engine->tasks->jobs->sched.sched,
                     &engine->automation->source);
    tg_automation_clear_events(engine->automation);
    tg_automation_stop_watcher(engine->automation);
}

void
tg_automation_on_engine_freed(tg_engine_t *engine)
{
    tg_automation_t *automation;
    tg_firing_t *firing;

    automation = engine->automation;

    if (automation == NULL) {
        return;
    }

    tg_sched_dequeue(&engine->tasks->jobs->sched.sched, &automation->source);
    tg_automation_clear_events(automation);
    tg_task_calls_dequeue_all(&automation->waiting);

    while ((firing = TAILQ_FIRST(&automation->firings)) != NULL) {
        tg_firing_free(firing);
    }

    tg_automation_free_rules(automation);
    tg_buf_deinit(&automation->backlog);
    free(automation);
}
