/* Parsing of a rule's trigger. */
#include "rule/tg_rule_impl.h"

static int
tg_rule_reader_read_cron(tg_rule_reader_t *reader, tg_str_t raw)
{
    enum {
        EXPRESSION,
        ZONE,
        MISSED,
        MEMBERS
    };
    static const char *const names[] = { "expression", "zone", "missed", NULL };
    tg_str_t values[MEMBERS], missed;
    tg_rule_t *rule;
    int64_t at;
    int rc;

    rule = reader->rule;
    missed = rule->zone = TG_STR("");
    (void) tg_json_get_members(raw, names, values);
    rc = tg_rule_reader_read_text(reader, "trigger.expression",
                                  values[EXPRESSION], &rule->expression);

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_text(reader, "trigger.zone", values[ZONE],
                                      &rule->zone);
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_text(reader, "trigger.missed", values[MISSED],
                                      &missed);
    }

    if (rc != TG_OK) {
        return rc;
    }

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

        rc = tg_rule_reader_read_text(reader, "trigger.glob", value,
                                      &rule->globs[rule->nglobs]);

        if (rc != TG_OK) {
            return rc;
        }

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
    static const char *const names[] = { "create", "change", "delete" };
    tg_json_cursor_t each;
    tg_str_t value;
    unsigned i, bit;

    for (tg_json_iter_init(&each, raw); tg_json_iter_next(&each, &value);) {
        for (i = 0, bit = 0; i < 3; i++) {
            bit |=
                (unsigned) tg_json_string_eq(value, tg_str_from_cstr(names[i]))
                << i;
        }

        if (bit == 0) {
            return tg_rule_reader_fail(reader,
                                       "trigger.events: must be create, "
                                       "change or delete");
        }

        reader->rule->events |= bit;
    }

    if (reader->rule->events == 0) {
        reader->rule->events = TG_FILE_CREATE | TG_FILE_CHANGE | TG_FILE_DELETE;
    }

    return TG_OK;
}

static int
tg_rule_reader_read_file(tg_rule_reader_t *reader, tg_str_t raw)
{
    enum {
        PATH,
        GLOB,
        EVENTS,
        DEBOUNCE,
        MEMBERS
    };
    static const char *const names[] = { "path", "glob", "events", "debounceMs",
                                         NULL };
    tg_str_t values[MEMBERS];
    tg_rule_t *rule;
    int rc;

    rule = reader->rule;
    rule->debounce_ms = TG_RULE_DEBOUNCE_MS;
    (void) tg_json_get_members(raw, names, values);
    rc = tg_rule_reader_read_text(reader, "trigger.path", values[PATH],
                                  &rule->path);

    if (rc == TG_OK && (rule->path.len == 0 || rule->path.data[0] != '/')) {
        return tg_rule_reader_fail(reader,
                                   "trigger.path: must be an absolute path, "
                                   "which begins with /");
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_globs(reader, values[GLOB]);
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_file_events(reader, values[EVENTS]);
    }

    return rc == TG_OK
               ? tg_rule_reader_read_number(reader, "trigger.debounceMs",
                                            values[DEBOUNCE], 0,
                                            TG_RULE_DEBOUNCE_MS_MAX,
                                            &rule->debounce_ms)
               : rc;
}

static int
tg_rule_reader_read_event(tg_rule_reader_t *reader, const tg_str_t *values)
{
    tg_rule_t *rule;
    tg_str_t pattern;
    int rc;

    rule = reader->rule;
    pattern = TG_STR_NONE;
    rc = tg_rule_reader_read_text(reader, "trigger.source", values[1],
                                  &rule->source);

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_text(reader, "trigger.pattern", values[2],
                                      &pattern);
    }

    if (rc != TG_OK) {
        return rc;
    }

    if (rule->type.data == NULL && rule->source.data == NULL
        && pattern.data == NULL)
    {
        return tg_rule_reader_fail(
            reader, "trigger: needs a type, a source or a pattern");
    }

    return pattern.data == NULL
               ? TG_OK
               : tg_rule_reader_compile_pattern(reader, "trigger.pattern",
                                                pattern, &rule->pattern);
}

int
tg_rule_reader_read_trigger(tg_rule_reader_t *reader, tg_str_t raw)
{
    static const char *const names[] = { "type", "source", "pattern", NULL };
    tg_str_t values[3];
    tg_rule_t *rule;
    int rc;

    rule = reader->rule;

    if (raw.data == NULL || tg_json_get_members(raw, names, values) != TG_OK) {
        return tg_rule_reader_fail(reader, "trigger: must be an object");
    }

    rc = tg_rule_reader_read_text(reader, "trigger.type", values[0],
                                  &rule->type);

    if (rc != TG_OK) {
        return rc;
    }

    if (tg_str_eq(rule->type, TG_STR("cron"))) {
        rule->trigger = TG_TRIGGER_CRON;
        return tg_rule_reader_read_cron(reader, raw);
    }

    if (tg_str_eq(rule->type, TG_STR("file"))) {
        rule->trigger = TG_TRIGGER_FILE;
        return tg_rule_reader_read_file(reader, raw);
    }

    return tg_rule_reader_read_event(reader, values);
}
