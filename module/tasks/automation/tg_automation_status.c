/*
 * Status of automation: the result of automation.status, and its members in
 * daemon.status.
 */
#include "tasks/automation/tg_firing.h"

#include "base/tg_json.h"
#include "tasks/watch/tg_watcher.h"

static void
tg_automation_append_due_time(tg_buf_t *json, const char *key,
                              const tg_automation_rule_t *rule)
{
    tg_buf_append_cstr(json, key);

    if (rule->due_at == 0 || !tg_automation_rule_is_enabled(rule)) {
        tg_buf_append_cstr(json, "null");
        return;
    }

    tg_buf_append_char(json, '"');
    tg_buf_append_time(json, (uint64_t) rule->due_at * 1000);
    tg_buf_append_char(json, '"');
}

static void
tg_automation_append_rule(tg_buf_t *json, const tg_automation_rule_t *rule)
{
    tg_buf_append_char(json, '{');
    tg_json_add_string(json, "id", rule->rule->id);
    tg_json_add_string(json, "description",
                       rule->rule->description.data != NULL
                           ? rule->rule->description
                           : TG_STR(""));
    tg_buf_append_char(json, ',');
    tg_rule_write_json(json, rule->rule);
    tg_json_add_bool(json, "enabled", tg_automation_rule_is_enabled(rule));
    tg_json_add_int(json, "cooldownMs", rule->rule->cooldown_ms);
    tg_json_add_bool(json, "requiresApproval", rule->rule->needs_approval);

    if (rule->rule->trigger == TG_TRIGGER_CRON) {
        tg_automation_append_due_time(json, ",\"nextRunAt\":", rule);
    }

    tg_buf_append_char(json, '}');
}

static void
tg_automation_append_firing(tg_buf_t *json, const tg_firing_t *firing)
{
    tg_firing_begin_json(json, firing);
    tg_buf_append_cstr(json, ",\"timestamp\":\"");
    tg_buf_append_time(json, (uint64_t) firing->at);
    tg_buf_append_char(json, '"');
    tg_firing_append_status(json, firing);
    tg_buf_append_char(json, '}');
}

/*
 * Returns whether a caller that sees this owner's tasks (absent: all) may see
 * the firing.
 */
static int
tg_firing_is_visible(const tg_firing_t *firing, tg_str_t visible_owner)
{
    return visible_owner.data == NULL
           || tg_str_eq(tg_buf_view(&firing->owner), visible_owner);
}

/*
 * Appends the last TG_FIRINGS_STATUS_MAX visible firings, preferring those that
 * wait for approval.
 */
static void
tg_automation_append_firings(tg_buf_t *json, const tg_automation_t *automation,
                             tg_str_t visible_owner)
{
    const tg_firing_t *firing;
    unsigned waiting, others, room;

    waiting = others = 0;

    TAILQ_FOREACH(firing, &automation->firings, link)
    {
        if (!tg_firing_is_visible(firing, visible_owner)) {
            continue;
        }

        *(firing->state == TG_FIRING_PENDING_APPROVAL ? &waiting
                                                      : &others) += 1;
    }

    room = waiting < TG_FIRINGS_STATUS_MAX ? TG_FIRINGS_STATUS_MAX - waiting
                                           : 0;

    TAILQ_FOREACH(firing, &automation->firings, link)
    {
        if (!tg_firing_is_visible(firing, visible_owner)) {
            continue;
        }

        if (firing->state == TG_FIRING_PENDING_APPROVAL
                ? waiting-- > TG_FIRINGS_STATUS_MAX
                : others-- > room)
        {
            continue;
        }

        tg_json_begin_element(json);
        tg_automation_append_firing(json, firing);
    }
}

void
tg_automation_append_status(tg_buf_t *json, const tg_automation_t *automation,
                            tg_str_t visible_owner)
{
    unsigned i;

    if (automation == NULL) {
        tg_buf_append_cstr(json,
                           "{\"enabled\":false,\"ruleCount\":0,\"rules\":[],"
                           "\"recentExecutions\":[]}");
        return;
    }

    tg_buf_printf(json, "{\"enabled\":%s,\"ruleCount\":%u,\"rules\":[",
                  automation->is_enabled ? "true" : "false",
                  automation->nrules);

    for (i = 0; i < automation->nrules; i++) {
        tg_json_begin_element(json);
        tg_automation_append_rule(json, &automation->rules[i]);
    }

    tg_buf_append_cstr(json, "],\"recentExecutions\":[");
    tg_automation_append_firings(json, automation, visible_owner);
    tg_buf_append_cstr(json, "]}");
}

void
tg_automation_append_watcher_status(tg_buf_t *json,
                                    const tg_automation_t *automation)
{
    tg_watcher_stats_t stats;

    if (automation == NULL || automation->watcher == NULL) {
        tg_buf_append_cstr(json, "{\"enabled\":false}");
        return;
    }

    tg_watcher_get_stats(automation->watcher, &stats);
    tg_buf_append_char(json, '{');
    tg_json_add_bool(json, "enabled", 1);
    tg_json_add_uint(json, "rules", stats.nrules);
    tg_json_add_uint(json, "folders", stats.nfolders);
    tg_json_add_uint(json, "files", stats.nfiles);
    tg_json_add_uint(json, "events", stats.nevents);
    tg_json_add_uint(json, "events_received", stats.nevents);
    tg_json_add_uint(json, "missing", stats.nmissing);
    tg_json_add_bool(json, "ready", stats.is_ready);
    tg_buf_append_char(json, '}');
}

/* AIWG's daemon has the number of jobs in "jobs". */
void
tg_automation_append_schedule(tg_buf_t *json, const tg_automation_t *automation)
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

        tg_buf_append_cstr(&jobs, n++ == 0 ? "" : ",");
        tg_buf_append_char(&jobs, '{');
        tg_json_add_string(&jobs, "id", rule->rule->id);
        tg_json_add_string(&jobs, "cron", rule->rule->expression);

        if (rule->rule->zone.len != 0) {
            tg_json_add_string(&jobs, "zone", rule->rule->zone);
        }

        tg_automation_append_due_time(&jobs, ",\"nextRunAt\":", rule);
        tg_buf_append_char(&jobs, '}');
    }

    if (n == 0) {
        tg_buf_append_cstr(json, "{\"enabled\":false}");
    } else {
        tg_buf_printf(json, "{\"enabled\":true,\"jobs\":%u,\"schedule\":[", n);
        tg_buf_append_str(json, tg_buf_view(&jobs));
        tg_buf_append_cstr(json, "]}");
    }

    tg_buf_deinit(&jobs);
}
