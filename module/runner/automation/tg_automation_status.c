/*
 * What is told of automation: automation.status, and its parts of
 * daemon.status.
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"
#include "runner/automation/tg_watcher.h"

static void
tg_automation_put_due(tg_buf_t *json, const char *key,
                      const tg_automation_rule_t *rule)
{
    tg_buf_text(json, key);

    if (rule->due_at == 0 || !tg_automation_is_on(rule)) {
        tg_buf_text(json, "null");
        return;
    }

    tg_buf_char(json, '"');
    tg_buf_time(json, (uint64_t) rule->due_at * 1000);
    tg_buf_char(json, '"');
}

static void
tg_automation_put_rule(tg_buf_t *json, const tg_automation_rule_t *rule)
{
    tg_buf_text(json, "{\"id\":");
    tg_json_put_string(json, rule->rule->id);
    tg_buf_text(json, ",\"description\":");
    tg_json_put_string(json, rule->rule->description.data != NULL
                                 ? rule->rule->description
                                 : TG_STR(""));
    tg_buf_char(json, ',');
    tg_rule_put(json, rule->rule);
    tg_buf_printf(json,
                  ",\"enabled\":%s,\"cooldownMs\":%lld,"
                  "\"requiresApproval\":%s",
                  tg_automation_is_on(rule) ? "true" : "false",
                  (long long) rule->rule->cooldown_ms,
                  rule->rule->needs_approval ? "true" : "false");

    if (rule->rule->trigger == TG_TRIGGER_CRON) {
        tg_automation_put_due(json, ",\"nextRunAt\":", rule);
    }

    tg_buf_char(json, '}');
}

static void
tg_automation_put_execution(tg_buf_t *json, const tg_execution_t *execution)
{
    tg_execution_put_begin(json, execution);
    tg_buf_text(json, ",\"timestamp\":\"");
    tg_buf_time(json, (uint64_t) execution->at);
    tg_buf_char(json, '"');
    tg_execution_put_end(json, execution);
    tg_buf_char(json, '}');
}

/* By those who see tasks of that owner, or all: absent. */
static int
tg_execution_is_seen(const tg_execution_t *execution, tg_str_t seen_of)
{
    return seen_of.data == NULL
           || tg_str_eq(tg_buf_view(&execution->owner), seen_of);
}

/* The last ones; what waits for approval is among them, however old. */
static void
tg_automation_put_executions(tg_buf_t *json, const tg_automation_t *automation,
                             tg_str_t seen_of)
{
    const tg_execution_t *execution;
    unsigned waiting, others, room;
    const char *comma;

    waiting = others = 0;

    TAILQ_FOREACH(execution, &automation->executions, place)
    {
        if (!tg_execution_is_seen(execution, seen_of)) {
            continue;
        }

        *(execution->state == TG_EXECUTION_APPROVAL ? &waiting : &others) += 1;
    }

    room = waiting < TG_EXECUTIONS_TOLD ? TG_EXECUTIONS_TOLD - waiting : 0;
    comma = "";

    TAILQ_FOREACH(execution, &automation->executions, place)
    {
        if (!tg_execution_is_seen(execution, seen_of)) {
            continue;
        }

        if (execution->state == TG_EXECUTION_APPROVAL
                ? waiting-- > TG_EXECUTIONS_TOLD
                : others-- > room)
        {
            continue;
        }

        tg_buf_text(json, comma);
        tg_automation_put_execution(json, execution);
        comma = ",";
    }
}

void
tg_automation_put(tg_buf_t *json, const tg_automation_t *automation,
                  tg_str_t seen_of)
{
    unsigned i;

    if (automation == NULL) {
        tg_buf_text(json, "{\"enabled\":false,\"ruleCount\":0,\"rules\":[],"
                          "\"recentExecutions\":[]}");
        return;
    }

    tg_buf_printf(json, "{\"enabled\":%s,\"ruleCount\":%u,\"rules\":[",
                  automation->is_enabled ? "true" : "false",
                  automation->nrules);

    for (i = 0; i < automation->nrules; i++) {
        tg_buf_text(json, i == 0 ? "" : ",");
        tg_automation_put_rule(json, &automation->rules[i]);
    }

    tg_buf_text(json, "],\"recentExecutions\":[");
    tg_automation_put_executions(json, automation, seen_of);
    tg_buf_text(json, "]}");
}

void
tg_automation_put_files(tg_buf_t *json, const tg_automation_t *automation)
{
    tg_watcher_stats_t stats;

    if (automation == NULL || automation->watcher == NULL) {
        tg_buf_text(json, "{\"enabled\":false}");
        return;
    }

    tg_watcher_look(automation->watcher, &stats);
    tg_buf_printf(json,
                  "{\"enabled\":true,\"rules\":%u,\"folders\":%u,"
                  "\"files\":%llu,\"events\":%llu,\"events_received\":%llu,"
                  "\"missing\":%u,\"ready\":%s}",
                  stats.nrules, stats.nfolders,
                  (unsigned long long) stats.nfiles,
                  (unsigned long long) stats.nevents,
                  (unsigned long long) stats.nevents, stats.nmissing,
                  stats.is_ready ? "true" : "false");
}

/* AIWG's own daemon has the number of jobs under this name. */
void
tg_automation_put_scheduler(tg_buf_t *json, const tg_automation_t *automation)
{
    const tg_automation_rule_t *rule;
    tg_buf_t jobs;
    unsigned i, n;

    tg_buf_init(&jobs, tg_alloc_libc());

    for (i = 0, n = 0; automation != NULL && i < automation->nrules; i++) {
        rule = &automation->rules[i];

        if (rule->rule->trigger != TG_TRIGGER_CRON) {
            continue;
        }

        tg_buf_text(&jobs, n++ == 0 ? "" : ",");
        tg_buf_text(&jobs, "{\"id\":");
        tg_json_put_string(&jobs, rule->rule->id);
        tg_buf_text(&jobs, ",\"cron\":");
        tg_json_put_string(&jobs, rule->rule->expression);

        if (rule->rule->zone.len != 0) {
            tg_buf_text(&jobs, ",\"zone\":");
            tg_json_put_string(&jobs, rule->rule->zone);
        }

        tg_automation_put_due(&jobs, ",\"nextRunAt\":", rule);
        tg_buf_char(&jobs, '}');
    }

    if (n == 0) {
        tg_buf_text(json, "{\"enabled\":false}");
    } else {
        tg_buf_printf(json, "{\"enabled\":true,\"jobs\":%u,\"schedule\":[", n);
        tg_buf_str(json, tg_buf_view(&jobs));
        tg_buf_text(json, "]}");
    }

    tg_buf_deinit(&jobs);
}
