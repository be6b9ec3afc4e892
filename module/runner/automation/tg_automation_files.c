/*
 * Rules about files.
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"
#include "runner/automation/tg_watcher.h"
#include "runner/tg_log.h"

/* A rule whose task waits for so long does not wait for it. */
#define TG_AUTOMATION_QUEUED_MS 600000

/*
 * Was it the rule's own task that changed them?  Nobody can tell for sure; it
 * ran at that time.
 */
static unsigned
tg_automation_files_chain(const tg_automation_rule_t *rule, int64_t at)
{
    return rule->task != -1
                   && (rule->ended_at == 0
                       || at <= rule->ended_at + TG_AUTOMATION_AFTER_MS)
               ? rule->chain
               : 0;
}

static void
tg_automation_on_files(void *host, tg_str_t id, int64_t at, tg_str_t payload)
{
    tg_automation_t *automation;
    tg_automation_rule_t *rule;
    unsigned chain;
    tg_buf_t event;

    automation = host;
    rule = tg_automation_rule(automation, id);

    if (rule == NULL || !tg_automation_is_running(automation)
        || !tg_automation_is_on(rule))
    {
        return;
    }

    /* The task that waits will see the files as they are. */
    if ((rule->is_queued || rule->is_submitting)
        && automation->now() - rule->fired_at < TG_AUTOMATION_QUEUED_MS)
    {
        return;
    }

    chain = tg_automation_files_chain(rule, at);
    tg_buf_init(&event, tg_alloc_libc());
    tg_automation_event(automation, &event, "file.changed", "file_watcher");
    tg_buf_str(&event, payload);
    tg_buf_char(&event, '}');

    if (!tg_buf_failed(&event)) {
        tg_automation_fire(automation, rule, tg_buf_view(&event), chain);
        tg_automation_publish(automation, tg_buf_view(&event), chain);
    }

    tg_buf_deinit(&event);
}

static void
tg_automation_on_closed(void *host)
{
    tg_automation_t *automation;
    tg_engine_t *engine;

    automation = host;
    engine = automation->engine;
    tg_engine_answered(engine);
    engine->go_on(engine);
}

static const tg_watcher_ops_t tg_automation_watcher_ops = {
    .changed = tg_automation_on_files,
    .closed = tg_automation_on_closed,
};

void
tg_automation_unwatch(tg_automation_t *automation)
{
    if (automation->watcher != NULL) {
        tg_watcher_close(automation->watcher);
        automation->watcher = NULL;
    }
}

void
tg_automation_watch(tg_automation_t *automation)
{
    const tg_automation_rule_t *rule;
    tg_buf_t rules;
    unsigned i;

    tg_buf_init(&rules, tg_alloc_libc());

    for (i = 0; i < automation->nrules; i++) {
        rule = &automation->rules[i];

        if (rule->rule->trigger == TG_TRIGGER_FILE) {
            tg_buf_char(&rules, rules.len == 0 ? '[' : ',');
            tg_buf_str(&rules, rule->rule->raw);
        }
    }

    tg_buf_text(&rules, rules.len != 0 ? "]" : "");

    if (automation->watcher != NULL
        && !tg_watcher_is_for(automation->watcher, tg_buf_view(&rules)))
    {
        tg_automation_unwatch(automation);
    }

    if (automation->watcher == NULL && rules.len != 0 && !tg_buf_failed(&rules))
    {
        automation->watcher = tg_watcher_new(
            automation->engine->tasks->jobs->loop, tg_buf_view(&rules),
            &tg_automation_watcher_ops, automation);

        if (automation->watcher != NULL) {
            automation->engine->nwork++; /* until it is closed */
        } else {
            tg_log(TG_LOG_ERROR, "files of rules cannot be watched: no memory");
        }
    }

    tg_buf_deinit(&rules);
}
