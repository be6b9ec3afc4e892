/*
 * Rules of automation: their time zones, state and records.
 */
#include "tasks/automation/tg_automation.h"

#include "base/tg_json.h"
#include "schema/pcre2/tg_pcre2.h"
#include "runner/logging/tg_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TG_ZONE_FILES_DIR "/usr/share/zoneinfo/"
#define TG_ZONE_LOCAL_FILE "/etc/localtime"

/* --- time zones --- */

/*
 * Loads a time zone. TG_OK; TG_MISSING: there is no such file; TG_INVALID: the
 * file is not a time zone; TG_NOMEM.
 */
static int
tg_zone_load_file(const char *path, tg_zone_t **zone)
{
    char *bytes;
    ssize_t n;
    int fd, rc;

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bytes = fd != -1 ? malloc(TG_ZONE_FILE_MAX + 1) : NULL;

    if (bytes == NULL) {
        if (fd != -1) {
            (void) close(fd);
        }

        return fd != -1 ? TG_NOMEM : TG_MISSING;
    }

    n = read(fd, bytes, TG_ZONE_FILE_MAX + 1);
    (void) close(fd);
    rc = n > 0 ? tg_zone_parse(tg_alloc_libc(), tg_str(bytes, (size_t) n), zone)
               : TG_INVALID;
    free(bytes);

    return rc;
}

static void
tg_automation_rule_load_zone(tg_automation_rule_t *rule)
{
    char path[sizeof(TG_ZONE_FILES_DIR) + TG_ZONE_NAME_MAX];
    tg_str_t zone;
    int rc;

    if (rule->rule->trigger != TG_TRIGGER_CRON) {
        return;
    }

    zone = rule->rule->zone;
    rule->schedule = tg_hash_fnv1a(TG_HASH_INIT, rule->rule->expression);
    rule->schedule = tg_hash_fnv1a(rule->schedule, zone);
    (void) snprintf(path, sizeof(path), TG_ZONE_FILES_DIR "%.*s",
                    (int) zone.len, zone.data);
    rc = tg_zone_load_file(zone.len != 0 ? path : TG_ZONE_LOCAL_FILE,
                           &rule->zone);

    /* A machine without /etc/localtime uses UTC. */
    if (rc != TG_OK && (zone.len != 0 || rc != TG_MISSING)) {
        tg_log(TG_LOG_ERROR,
               "the time zone of rule \"%.*s\" cannot be read from %s, UTC "
               "is used",
               (int) rule->rule->id.len, rule->rule->id.data,
               zone.len != 0 ? path : TG_ZONE_LOCAL_FILE);
    }
}

/* --- rules --- */

tg_automation_rule_t *
tg_automation_find_rule(const tg_automation_t *automation, tg_str_t id)
{
    unsigned i;

    for (i = 0; i < automation->nrules; i++) {
        if (tg_str_eq(automation->rules[i].rule->id, id)) {
            return &automation->rules[i];
        }
    }

    return NULL;
}

int
tg_automation_rule_is_enabled(const tg_automation_rule_t *rule)
{
    return rule->override != TG_RULE_OVERRIDE_NONE
               ? rule->override == TG_RULE_OVERRIDE_ON
               : rule->rule->is_enabled;
}

int
tg_automation_can_fire(const tg_automation_t *automation)
{
    return automation->is_loaded && automation->is_enabled
           && automation->engine->state == TG_ENGINE_OPEN
           && !automation->engine->is_shutting_down;
}

void
tg_automation_free_rules(tg_automation_t *automation)
{
    unsigned i;

    for (i = 0; i < automation->nrules; i++) {
        tg_rule_free(automation->rules[i].rule);
        tg_zone_free(automation->rules[i].zone);
    }

    free(automation->rules);
    automation->rules = NULL;
    automation->nrules = 0;
}

/* Copies the state of the old rule with the same id. */
static void
tg_automation_rule_copy_state(tg_automation_rule_t *rule,
                              const tg_automation_rule_t *old)
{
    rule->override = old->override;
    rule->fired_at = old->fired_at;
    rule->task = old->task;
    rule->ended_at = old->ended_at;
    rule->is_submitting = old->is_submitting;
    rule->is_queued = old->is_queued;
    rule->chain = old->chain;

    if (rule->schedule == old->schedule) {
        rule->due_at = old->due_at;
    }
}

static int
tg_automation_parse_rule(tg_automation_t *automation, tg_str_t raw,
                         tg_automation_rule_t *rule)
{
    tg_automation_rule_t *old;
    char text[256];
    tg_buf_t why;

    why = tg_buf_make_fixed(text, sizeof(text));
    memset(rule, 0, sizeof(*rule));
    rule->task = -1;

    if (tg_rule_parse(tg_alloc_libc(), raw, tg_pcre2_get_engine(), &rule->rule,
                      &why)
        != TG_OK)
    {
        tg_log(TG_LOG_ERROR, "an automation rule cannot be used: %.*s",
               (int) why.len, text);
        return TG_INVALID;
    }

    tg_automation_rule_load_zone(rule);
    old = tg_automation_find_rule(automation, rule->rule->id);

    automation->has_new_rules |= old == NULL;

    if (old != NULL) {
        tg_automation_rule_copy_state(rule, old);
    }

    return TG_OK;
}

int
tg_automation_parse_rules(tg_automation_t *automation, tg_str_t raw)
{
    tg_automation_rule_t *rules;
    tg_json_cursor_t each;
    tg_str_t rule;
    unsigned n;

    rules = calloc(TG_RULES_MAX, sizeof(*rules));

    if (rules == NULL) {
        return TG_NOMEM;
    }

    n = 0;
    automation->has_new_rules = 0;

    for (tg_json_iter_init(&each, raw);
         n < TG_RULES_MAX && tg_json_iter_next(&each, &rule);)
    {
        n += tg_automation_parse_rule(automation, rule, &rules[n]) == TG_OK;
    }

    tg_automation_free_rules(automation);
    automation->rules = rules;
    automation->nrules = n;
    automation->nevents = 0;

    while (n > 0) {
        automation->nevents += rules[--n].rule->trigger == TG_TRIGGER_EVENT;
    }

    return TG_OK;
}

/* --- records --- */

void
tg_automation_rule_write_record(tg_buf_t *json,
                                const tg_automation_rule_t *rule)
{
    tg_buf_printf(json,
                  "{\"firedAt\":%lld,\"dueAt\":%lld,\"schedule\":\"%llx\"",
                  (long long) rule->fired_at, (long long) rule->due_at,
                  (unsigned long long) rule->schedule);

    if (rule->override != TG_RULE_OVERRIDE_NONE) {
        tg_json_add_bool(json, "enabled",
                         rule->override == TG_RULE_OVERRIDE_ON);
    }

    tg_buf_append_char(json, '}');
}

int64_t
tg_record_get_int(tg_str_t raw)
{
    int64_t value;

    return tg_json_type(raw) == TG_JSON_NUMBER
                   && tg_json_parse_int64(raw, &value) == TG_OK
               ? value
               : 0;
}

void
tg_automation_rule_load_record(tg_automation_rule_t *rule, tg_str_t value)
{
    static const char *const names[] = { "firedAt", "dueAt", "schedule",
                                         "enabled", NULL };
    tg_str_t values[4];
    char text[24];
    tg_buf_t schedule;

    if (tg_json_get_members(value, names, values) != TG_OK) {
        return;
    }

    rule->fired_at = tg_record_get_int(values[0]);
    schedule = tg_buf_make_fixed(text, sizeof(text));
    tg_buf_printf(&schedule, "%llx", (unsigned long long) rule->schedule);

    if (tg_json_string_eq(values[2], tg_buf_view(&schedule))) {
        rule->due_at = tg_record_get_int(values[1]);
    }

    rule->override = tg_json_type(values[3]) == TG_JSON_TRUE
                         ? TG_RULE_OVERRIDE_ON
                     : tg_json_type(values[3]) == TG_JSON_FALSE
                         ? TG_RULE_OVERRIDE_OFF
                         : TG_RULE_OVERRIDE_NONE;
}
