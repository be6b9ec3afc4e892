/* Parsing of a rule's trigger. */
#include "rule/tg_rule_impl.h"

static int
tg_rule_reader_read_cron(tg_rule_reader_t *reader, tg_str_t raw)
{
    tg_cron_trigger_t spec;
    tg_rule_t *rule;
    tg_str_t missed;
    int64_t at;
    int rc;

    rule = reader->rule;
    rc = tg_rule_reader_read_members(reader, "trigger.", tg_cron_trigger_fields,
                                     raw, &spec);

    if (rc != TG_OK) {
        return rc;
    }

    rule->expression = spec.expression;
    rule->zone = spec.zone.data != NULL ? spec.zone : TG_STR("");
    missed = spec.missed;
    rule->is_missed_skipped = tg_str_eq(missed, TG_STR("skip"));

    if (missed.len != 0 && !rule->is_missed_skipped
        && !tg_str_eq(missed, TG_STR("run")))
    {
        return tg_rule_reader_fail(reader,
                                   "trigger.missed: must be run or skip");
    }

    if (rule->zone.len != 0 && !tg_zone_is_valid_name(rule->zone)) {
        return tg_rule_reader_fail(reader,
                                   "trigger.zone: must be the name of a time "
                                   "zone, such as Europe/Berlin");
    }

    tg_buf_append_cstr(reader->why, "trigger.expression: ");
    rc = tg_cron_parse(rule->expression, &rule->cron, reader->why);

    if (rc == TG_OK && tg_cron_find_next(&rule->cron, NULL, 0, &at) != TG_OK) {
        tg_buf_append_cstr(reader->why, "this day does not exist");
        return TG_INVALID;
    }

    return rc;
}

static int
tg_rule_reader_read_globs(tg_rule_reader_t *reader, tg_str_t raw)
{
    const char *mistake;
    tg_rule_t *rule;
    tg_json_cursor_t each;
    tg_str_t value;
    int rc;

    rule = reader->rule;
    value = TG_STR_NONE;
    tg_json_iter_init(&each, raw);

    while (tg_json_type(raw) == TG_JSON_STRING
           || tg_json_iter_next(&each, &value)) {
        if (rule->nglobs == TG_RULE_GLOBS_MAX) {
            return tg_rule_reader_fail(reader,
                                       "trigger.glob: must have at "
                                       "most %d",
                                       TG_RULE_GLOBS_MAX);
        }

        if (tg_json_type(raw) == TG_JSON_STRING) {
            value = raw;
            raw = TG_STR_NONE;
            tg_json_iter_init(&each, raw);
        }

        if (tg_json_type(value) != TG_JSON_STRING) {
            return tg_rule_reader_fail(reader,
                                       "trigger.glob: must be a string");
        }

        rc = tg_rule_reader_decode(reader, "trigger.", "glob", &value);

        if (rc != TG_OK) {
            return rc;
        }

        rule->globs[rule->nglobs] = value;

        mistake = tg_path_glob_check(rule->globs[rule->nglobs++]);

        if (mistake != NULL) {
            return tg_rule_reader_fail(reader, "trigger.glob: %s", mistake);
        }
    }

    return TG_OK;
}

static int
tg_rule_reader_read_file_events(tg_rule_reader_t *reader, tg_str_t raw)
{
    static const char *const names[] = { "create", "change", "delete", NULL };
    tg_json_cursor_t each;
    tg_str_t value;
    int i;

    for (tg_json_iter_init(&each, raw); tg_json_iter_next(&each, &value);) {
        i = tg_json_string_find(value, names);

        if (i < 0) {
            return tg_rule_reader_fail(reader,
                                       "trigger.events: must be create, "
                                       "change or delete");
        }

        reader->rule->events |= 1u << i;
    }

    if (reader->rule->events == 0) {
        reader->rule->events = TG_FILE_CREATE | TG_FILE_CHANGE | TG_FILE_DELETE;
    }

    return TG_OK;
}

static int
tg_rule_reader_read_file(tg_rule_reader_t *reader, tg_str_t raw)
{
    tg_file_trigger_t spec;
    tg_rule_t *rule;
    int rc;

    rule = reader->rule;
    rc = tg_rule_reader_read_members(reader, "trigger.", tg_file_trigger_fields,
                                     raw, &spec);

    if (rc != TG_OK) {
        return rc;
    }

    rule->path = spec.path;
    rule->debounce_ms = spec.debounce_ms;

    if (rule->path.len == 0 || rule->path.data[0] != '/') {
        return tg_rule_reader_fail(reader,
                                   "trigger.path: must be an absolute path, "
                                   "which begins with /");
    }

    rc = tg_rule_reader_read_globs(reader, spec.glob);

    return rc == TG_OK ? tg_rule_reader_read_file_events(reader, spec.events)
                       : rc;
}

static int
tg_rule_reader_check_event(tg_rule_reader_t *reader, tg_str_t pattern)
{
    const tg_rule_t *rule;

    rule = reader->rule;

    if (rule->type.data == NULL && rule->source.data == NULL
        && pattern.data == NULL)
    {
        return tg_rule_reader_fail(
            reader, "trigger: needs a type, a source or a pattern");
    }

    return pattern.data == NULL
               ? TG_OK
               : tg_rule_reader_compile_pattern(reader, "trigger.pattern",
                                                pattern,
                                                &reader->rule->pattern);
}

int
tg_rule_reader_read_trigger(tg_rule_reader_t *reader, tg_str_t raw)
{
    tg_event_trigger_t spec;
    tg_rule_t *rule;
    int rc;

    rule = reader->rule;

    if (tg_json_has_member(raw, TG_STR("type"), TG_JSON_STRING, &rule->type)) {
        if (tg_json_string_eq(rule->type, TG_STR("cron"))) {
            rule->type = TG_STR("cron");
            rule->trigger = TG_TRIGGER_CRON;
            return tg_rule_reader_read_cron(reader, raw);
        }

        if (tg_json_string_eq(rule->type, TG_STR("file"))) {
            rule->type = TG_STR("file");
            rule->trigger = TG_TRIGGER_FILE;
            return tg_rule_reader_read_file(reader, raw);
        }
    }

    rc = tg_rule_reader_read_members(reader, "trigger.",
                                     tg_event_trigger_fields, raw, &spec);

    if (rc != TG_OK) {
        return rc == TG_MISSING
                   ? tg_rule_reader_fail(reader, "trigger: must be an object")
                   : rc;
    }

    rule->type = spec.type;
    rule->source = spec.source;

    return tg_rule_reader_check_event(reader, spec.pattern);
}
