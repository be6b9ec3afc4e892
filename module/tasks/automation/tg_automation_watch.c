/*
 * File rules: starts the watcher, and fires rules when files change.
 */
#include "tasks/automation/tg_firing.h"

#include "base/tg_json.h"
#include "tasks/watch/tg_watcher.h"
#include "runner/logging/tg_log.h"

/* Time after which a queued task no longer suppresses its rule, in ms. */
#define TG_AUTOMATION_QUEUED_TASK_MAX_MS 600000

/*
 * Returns the position in a chain if the rule's task may have changed the
 * files, as it was running; else 0. Who made a change is not known for certain.
 */
static unsigned
tg_automation_rule_get_file_chain(const tg_automation_rule_t *rule, int64_t at)
{
    return rule->task != -1
                   && (rule->ended_at == 0
                       || at <= rule->ended_at + TG_AUTOMATION_OWN_CHANGE_MS)
               ? rule->chain
               : 0;
}

static void
tg_automation_on_files_changed(void *host, tg_str_t id, int64_t at,
                               tg_str_t payload)
{
    tg_automation_t *automation;
    tg_automation_rule_t *rule;
    unsigned chain;
    tg_buf_t event;

    automation = host;
    rule = tg_automation_find_rule(automation, id);

    if (rule == NULL || !tg_automation_can_fire(automation)
        || !tg_automation_rule_is_enabled(rule))
    {
        return;
    }

    /* A queued task will find the files in their current state. */
    if ((rule->is_queued || rule->is_submitting)
        && automation->now() - rule->fired_at
               < TG_AUTOMATION_QUEUED_TASK_MAX_MS)
    {
        return;
    }

    chain = tg_automation_rule_get_file_chain(rule, at);
    tg_buf_init(&event, tg_alloc_libc());
    tg_automation_begin_event(automation, &event, "file.changed",
                              "file_watcher");
    tg_buf_append_str(&event, payload);
    tg_buf_append_char(&event, '}');

    if (!tg_buf_has_failed(&event)) {
        tg_automation_fire_rule(automation, rule, TG_OK, tg_buf_view(&event),
                                chain);
        tg_automation_publish_event(automation, tg_buf_view(&event), chain);
    }

    tg_buf_deinit(&event);
}

static void
tg_automation_on_watcher_closed(void *host)
{
    tg_automation_t *automation;
    tg_engine_t *engine;

    automation = host;
    engine = automation->engine;
    tg_engine_end_work(engine);
    tg_engine_advance(engine);
}

static const tg_watcher_ops_t tg_automation_watcher_ops = {
    .on_files_changed = tg_automation_on_files_changed,
    .closed = tg_automation_on_watcher_closed,
};

void
tg_automation_stop_watcher(tg_automation_t *automation)
{
    if (automation->watcher != NULL) {
        tg_watcher_close(automation->watcher);
        automation->watcher = NULL;
    }
}

void
tg_automation_start_watcher(tg_automation_t *automation)
{
    const tg_automation_rule_t *rule;
    tg_buf_t rules;
    unsigned i;

    tg_buf_init(&rules, tg_alloc_libc());

    for (i = 0; i < automation->nrules; i++) {
        rule = &automation->rules[i];

        if (rule->rule->trigger == TG_TRIGGER_FILE) {
            tg_buf_append_char(&rules, rules.len == 0 ? '[' : ',');
            tg_buf_append_str(&rules, rule->rule->raw);
        }
    }

    tg_buf_append_cstr(&rules, rules.len != 0 ? "]" : "");

    if (automation->watcher != NULL
        && !tg_watcher_has_rules(automation->watcher, tg_buf_view(&rules)))
    {
        tg_automation_stop_watcher(automation);
    }

    if (automation->watcher == NULL && rules.len != 0
        && !tg_buf_has_failed(&rules)) {
        automation->watcher = tg_watcher_new(
            automation->engine->tasks->jobs->loop, tg_buf_view(&rules),
            &tg_automation_watcher_ops, automation);

        if (automation->watcher != NULL) {
            /* until the watcher is closed */
            automation->engine->nwork_pending++;
        } else {
            tg_log(TG_LOG_ERROR, "the files of automation rules cannot be "
                                 "watched: no memory");
        }
    }

    tg_buf_deinit(&rules);
}
