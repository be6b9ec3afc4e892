/* Parsing of a rule: its settings and its action. */
#include "rule/tg_rule_impl.h"

#include "base/tg_url.h"

static int
tg_rule_reader_check_action(tg_rule_reader_t *reader, tg_str_t type)
{
    const char *mistake;
    tg_rule_t *rule;
    tg_url_t url;

    rule = reader->rule;

    if (tg_json_string_eq(type, TG_STR("agent"))) {
        rule->action = TG_ACTION_AGENT;
        return TG_OK;
    }

    if (tg_json_string_eq(type, TG_STR("notify"))) {
        rule->action = TG_ACTION_NOTIFY;
        return rule->message.data != NULL
                   ? TG_OK
                   : tg_rule_reader_fail(reader, "action.message: is missing");
    }

    if (!tg_json_string_eq(type, TG_STR("webhook"))) {
        return tg_rule_reader_fail(reader,
                                   "action.type: must be agent, notify or "
                                   "webhook");
    }

    rule->action = TG_ACTION_WEBHOOK;

    if (rule->url.data == NULL) {
        return tg_rule_reader_fail(reader, "action.url: is missing");
    }

    return tg_url_parse(rule->url, &url, &mistake) == TG_OK
               ? TG_OK
               : tg_rule_reader_fail(reader, "action.url: %s", mistake);
}

static int
tg_rule_reader_read_action(tg_rule_reader_t *reader, tg_str_t raw)
{
    tg_rule_action_t action;
    tg_rule_t *rule;
    int rc;

    rule = reader->rule;
    rc = tg_rule_reader_read_members(reader, "action.", tg_rule_action_fields,
                                     raw, &action);

    if (rc != TG_OK) {
        return rc == TG_MISSING
                   ? tg_rule_reader_fail(reader, "action: must be an object")
                   : rc;
    }

    rule->agent = action.agent;
    rule->prompt = action.prompt;
    rule->message = action.message;
    rule->channel = action.channel;
    rule->url = action.url;
    rule->priority = action.priority;

    return tg_rule_reader_check_action(reader, action.type);
}

/* --- whole rule --- */

/* Checks the id, which clients use and people read. */
static int
tg_rule_reader_check_id(tg_rule_reader_t *reader)
{
    const tg_rule_t *rule;
    size_t i;

    rule = reader->rule;

    for (i = 0; i < rule->id.len && (unsigned char) rule->id.data[i] > 0x1f
                && rule->id.data[i] != 0x7f;
         i++)
    {
        /* void */
    }

    return rule->id.len != 0 && i == rule->id.len && i <= TG_RULE_ID_MAX
               ? TG_OK
               : tg_rule_reader_fail(reader,
                                     "id: must be a string of 1 to %d bytes, "
                                     "without control characters",
                                     TG_RULE_ID_MAX);
}

static int
tg_rule_reader_read_rule(tg_rule_reader_t *reader)
{
    tg_rule_spec_t spec;
    tg_rule_t *rule;
    size_t start;
    int rc;

    rule = reader->rule;
    start = reader->why->len;
    rc = tg_rule_reader_read_members(reader, "", tg_rule_fields, rule->raw,
                                     &spec);

    if (rc != TG_OK) {
        return rc == TG_MISSING
                   ? tg_rule_reader_fail(reader, "a rule must be an object")
                   : rc;
    }

    rule->id = spec.id;
    rule->description = spec.description;
    rule->secret = spec.secret;
    rule->is_enabled = spec.is_enabled != 0;
    rule->needs_approval = spec.needs_approval != 0;
    rule->cooldown_ms = spec.cooldown_ms;
    rc = tg_rule_reader_check_id(reader);

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_trigger(reader, spec.trigger);
    }

    /* Remove the prefix of an error message: there was no error. */
    if (rc == TG_OK) {
        tg_buf_truncate(reader->why, start);
        rc = tg_rule_reader_read_conditions(reader, spec.conditions);
    }

    if (rc == TG_OK) {
        tg_buf_truncate(reader->why, start);
        rc = tg_rule_reader_read_action(reader, spec.action);
    }

    return rc;
}

int
tg_rule_parse(const tg_alloc_t *alloc, tg_str_t raw,
              const tg_schema_regex_engine_t *regex, tg_rule_t **rule,
              tg_buf_t *why)
{
    tg_rule_reader_t reader;
    tg_rule_t *made;
    int rc;

    made = tg_calloc(alloc, sizeof(*made));

    if (made == NULL) {
        return TG_NOMEM;
    }

    made->alloc = alloc;
    made->regex = regex;
    /* An unescaped text is never longer than its escaped form. */
    made->memory = tg_alloc(alloc, 2 * raw.len + 1);

    if (made->memory == NULL) {
        tg_rule_free(made);
        return TG_NOMEM;
    }

    memcpy(made->memory, raw.data, raw.len);
    made->raw = tg_str(made->memory, raw.len);
    reader.rule = made;
    reader.at = made->memory + raw.len;
    reader.why = why;
    rc = tg_rule_reader_read_rule(&reader);

    if (rc != TG_OK) {
        tg_rule_free(made);
        return rc;
    }

    *rule = made;

    return TG_OK;
}

void
tg_rule_free(tg_rule_t *rule)
{
    unsigned i;

    if (rule == NULL) {
        return;
    }

    for (i = 0; i < rule->nconditions; i++) {
        if (rule->conditions[i].pattern.code != NULL) {
            rule->regex->free(rule->regex->ctx,
                              rule->conditions[i].pattern.code);
        }
    }

    if (rule->pattern.code != NULL) {
        rule->regex->free(rule->regex->ctx, rule->pattern.code);
    }

    tg_free(rule->alloc, rule->memory);
    tg_free(rule->alloc, rule);
}
