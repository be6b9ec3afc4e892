/*
 * When rules are due.  What was missed, because nothing ran or the clock was
 * put forward, is made up for once.
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"

#include <stdlib.h>

/* --- times --- */

static int64_t
tg_automation_next(const tg_automation_rule_t *rule, int64_t now)
{
    int64_t at;

    return tg_cron_next(&rule->rule->cron, rule->zone, now, &at) == TG_OK ? at
                                                                          : 0;
}

typedef struct {
    tg_store_ask_t ask;
    tg_engine_t *engine;
    tg_store_note_t note;
    tg_buf_t text;
} tg_plan_note_t;

static void
tg_automation_on_planned(tg_store_ask_t *ask)
{
    tg_plan_note_t *note;
    tg_engine_t *engine;

    note = ask->data;
    engine = note->engine;
    tg_engine_answered(engine);
    tg_engine_refused(engine, ask);
    tg_store_ask_deinit(ask);
    tg_buf_deinit(&note->text);
    free(note);
    engine->go_on(engine);
}

/* So that whoever comes next knows that it was missed. */
static void
tg_automation_keep(tg_automation_t *automation,
                   const tg_automation_rule_t *rule)
{
    tg_plan_note_t *note;
    size_t len;

    note = calloc(1, sizeof(*note));

    if (note == NULL) {
        return;
    }

    note->engine = automation->engine;
    tg_buf_init(&note->text, tg_alloc_libc());
    tg_buf_text(&note->text, "rule/");
    tg_buf_str(&note->text, rule->rule->id);
    len = note->text.len;
    tg_automation_put_rule_note(&note->text, rule);

    if (tg_buf_failed(&note->text)) {
        tg_buf_deinit(&note->text);
        free(note);
        return;
    }

    note->note.key = tg_str(note->text.data, len);
    note->note.value = tg_str(note->text.data + len, note->text.len - len);
    tg_store_ask_init(&note->ask, TG_STORE_NOTE, tg_automation_on_planned,
                      note);
    note->ask.notes = &note->note;
    note->ask.nnotes = 1;
    automation->nnoted++;
    tg_engine_ask(automation->engine, &note->ask);
}

void
tg_automation_plan(tg_automation_t *automation, tg_automation_rule_t *rule)
{
    if (rule->rule->trigger == TG_TRIGGER_CRON && rule->due_at == 0) {
        rule->due_at = tg_automation_next(rule, automation->now() / 1000);
        tg_automation_keep(automation, rule);
    }
}

/* --- what is due --- */

static void
tg_automation_put_time(tg_buf_t *json, int64_t seconds)
{
    tg_buf_char(json, '"');
    tg_buf_time(json, (uint64_t) seconds * 1000);
    tg_buf_char(json, '"');
}

/* Its event, of which other rules hear as well. */
static void
tg_automation_strike(tg_automation_t *automation, tg_automation_rule_t *rule,
                     int64_t due_at, int is_missed)
{
    tg_buf_t event;

    tg_buf_init(&event, tg_alloc_libc());
    tg_automation_event(automation, &event, "cron.fired", "schedule");
    tg_buf_text(&event, "{\"job_id\":");
    tg_json_put_string(&event, rule->rule->id);
    tg_buf_text(&event, ",\"scheduled\":");
    tg_automation_put_time(&event, due_at);
    tg_buf_printf(&event, ",\"missed\":%s}}", is_missed ? "true" : "false");

    if (!tg_buf_failed(&event)) {
        tg_automation_fire(automation, rule, tg_buf_view(&event), 0);
        tg_automation_publish(automation, tg_buf_view(&event), 0);
    }

    tg_buf_deinit(&event);
}

/* Says whether the rule was due. */
static int
tg_automation_look(tg_automation_t *automation, tg_automation_rule_t *rule,
                   int64_t now)
{
    int64_t due_at;
    int is_missed;

    due_at = rule->due_at;

    if (rule->rule->trigger != TG_TRIGGER_CRON || due_at == 0 || now < due_at) {
        return 0;
    }

    is_missed = now - due_at > TG_AUTOMATION_LATE_S;
    rule->due_at = tg_automation_next(rule, now);

    if (automation->is_enabled && tg_automation_is_on(rule)
        && !(is_missed && rule->rule->is_skipping))
    {
        tg_automation_strike(automation, rule, due_at, is_missed);
    }

    tg_automation_keep(automation, rule);

    return 1;
}

/*
 * Looks at one rule after the other until the time slice is over: hundreds may
 * be due in the same minute.
 */
static void
tg_automation_run(tg_source_t *source)
{
    tg_automation_t *automation;
    tg_automation_rule_t *rule;
    tg_sched_t *sched;
    int64_t now;
    int was_due;

    automation = TG_OWNER(source, tg_automation_t, source);
    sched = &automation->engine->tasks->jobs->sched.sched;
    now = automation->looking_at;

    while (automation->nlooked < automation->nrules
           && automation->engine->state == TG_ENGINE_OPEN)
    {
        rule = &automation->rules[automation->nlooked++];

        if (now < automation->seen_at - TG_AUTOMATION_BACK_S) {
            rule->due_at = 0;
            tg_automation_plan(automation, rule);
        }

        was_due = tg_automation_look(automation, rule, now);

        if (tg_slice_is_over(sched, source, was_due ? TG_AUTOMATION_STEPS : 1))
        {
            return;
        }
    }

    automation->seen_at = now;
}

void
tg_automation_due(tg_automation_t *automation)
{
    /* What stands still catches up when it goes on. */
    if (automation->engine->state != TG_ENGINE_OPEN
        || automation->source.is_waiting)
    {
        return;
    }

    automation->looking_at = automation->now() / 1000;
    automation->nlooked = 0;
    automation->source.run = tg_automation_run;
    tg_slice_begin(&automation->engine->tasks->jobs->sched.sched);
    tg_automation_run(&automation->source);
}
