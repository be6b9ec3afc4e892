/*
 * Due times of cron rules. Firings that were missed, because no runner ran or
 * the clock was set forward, are made up for by one firing.
 */
#include "tasks/automation/tg_firing.h"

#include "base/tg_json.h"

#include <stdlib.h>

/* --- due times --- */

static int64_t
tg_automation_rule_find_next_due(const tg_automation_rule_t *rule, int64_t now)
{
    int64_t at;

    return tg_cron_find_next(&rule->rule->cron, rule->zone, now, &at) == TG_OK
               ? at
               : 0;
}

typedef struct {
    tg_store_query_t query;
    tg_store_record_t record;
    tg_buf_t text;
} tg_schedule_record_t;

static void
tg_automation_on_schedule_stored(tg_store_query_t *query)
{
    tg_schedule_record_t *record;

    record = query->data;
    tg_engine_log_store_error(query->engine, query);
    tg_store_query_deinit(query);
    tg_buf_deinit(&record->text);
    free(record);
}

/* Stores the due time, so that a later runner detects a missed firing. */
static void
tg_automation_store_schedule(tg_automation_t *automation,
                             const tg_automation_rule_t *rule)
{
    tg_schedule_record_t *record;
    size_t len;

    record = calloc(1, sizeof(*record));

    if (record == NULL) {
        return;
    }

    tg_buf_init(&record->text, tg_alloc_libc());
    tg_buf_append_cstr(&record->text, "rule/");
    tg_buf_append_str(&record->text, rule->rule->id);
    len = record->text.len;
    tg_automation_rule_write_record(&record->text, rule);

    if (tg_buf_has_failed(&record->text)) {
        tg_buf_deinit(&record->text);
        free(record);
        return;
    }

    record->record.key = tg_str(record->text.data, len);
    record->record.value = tg_str(record->text.data + len,
                                  record->text.len - len);
    tg_store_query_init(&record->query, TG_STORE_WRITE_RECORDS,
                        tg_automation_on_schedule_stored, record);
    record->query.records = &record->record;
    record->query.nrecords = 1;
    automation->nrecords_stored++;
    tg_engine_query_store(automation->engine, &record->query);
}

void
tg_automation_schedule_rule(tg_automation_t *automation,
                            tg_automation_rule_t *rule)
{
    if (rule->rule->trigger == TG_TRIGGER_CRON && rule->due_at == 0) {
        rule->due_at = tg_automation_rule_find_next_due(rule, automation->now()
                                                                  / 1000);
        tg_automation_store_schedule(automation, rule);
    }
}

/* --- check of due rules --- */

static void
tg_automation_append_time(tg_buf_t *json, int64_t seconds)
{
    tg_buf_append_char(json, '"');
    tg_buf_append_time(json, (uint64_t) seconds * 1000);
    tg_buf_append_char(json, '"');
}

/* Fires a rule with cron.fired, and publishes the event to other rules. */
static void
tg_automation_fire_due_rule(tg_automation_t *automation,
                            tg_automation_rule_t *rule, int64_t due_at,
                            int is_missed)
{
    tg_buf_t event;

    tg_buf_init(&event, tg_alloc_libc());
    tg_automation_begin_event(automation, &event, "cron.fired", "schedule");
    tg_buf_append_char(&event, '{');
    tg_json_add_string(&event, "job_id", rule->rule->id);
    tg_json_begin_member(&event, "scheduled");
    tg_automation_append_time(&event, due_at);
    tg_json_add_bool(&event, "missed", is_missed);
    tg_buf_append_cstr(&event, "}}");

    if (!tg_buf_has_failed(&event)) {
        tg_automation_fire_rule(automation, rule, TG_OK, tg_buf_view(&event),
                                0);
        tg_automation_publish_event(automation, tg_buf_view(&event), 0);
    }

    tg_buf_deinit(&event);
}

/* Fires the rule if it is due. Returns whether it was due. */
static int
tg_automation_check_due_rule(tg_automation_t *automation,
                             tg_automation_rule_t *rule, int64_t now)
{
    int64_t due_at;
    int is_missed;

    due_at = rule->due_at;

    if (rule->rule->trigger != TG_TRIGGER_CRON || due_at == 0 || now < due_at) {
        return 0;
    }

    is_missed = now - due_at > TG_AUTOMATION_MISSED_S;
    rule->due_at = tg_automation_rule_find_next_due(rule, now);

    if (automation->is_enabled && tg_automation_rule_is_enabled(rule)
        && !(is_missed && rule->rule->is_missed_skipped))
    {
        tg_automation_fire_due_rule(automation, rule, due_at, is_missed);
    }

    tg_automation_store_schedule(automation, rule);

    return 1;
}

/* Checks rules until the time slice is over, as many may be due at once. */
static void
tg_automation_run_due_check(tg_sched_source_t *source)
{
    tg_automation_t *automation;
    tg_automation_rule_t *rule;
    tg_sched_t *sched;
    int64_t now;
    int was_due;

    automation = TG_CONTAINER_OF(source, tg_automation_t, source);
    sched = &automation->engine->tasks->jobs->sched.sched;
    now = automation->current_check_s;

    while (automation->nchecked < automation->nrules
           && automation->engine->state == TG_ENGINE_OPEN)
    {
        rule = &automation->rules[automation->nchecked++];

        if (now < automation->last_check_s - TG_AUTOMATION_CLOCK_BACK_S) {
            rule->due_at = 0;
            tg_automation_schedule_rule(automation, rule);
        }

        was_due = tg_automation_check_due_rule(automation, rule, now);

        if (tg_sched_is_slice_over(sched, source,
                                   was_due ? TG_AUTOMATION_FIRE_STEPS : 1))
        {
            return;
        }
    }

    automation->last_check_s = now;
}

void
tg_automation_check_due_rules(tg_automation_t *automation)
{
    /* A stopped engine catches up when it is resumed. */
    if (automation->engine->state != TG_ENGINE_OPEN
        || automation->source.is_queued) {
        return;
    }

    automation->current_check_s = automation->now() / 1000;
    automation->nchecked = 0;
    automation->source.run = tg_automation_run_due_check;
    tg_sched_begin_slice(&automation->engine->tasks->jobs->sched.sched);
    tg_automation_run_due_check(&automation->source);
}
