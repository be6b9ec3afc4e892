/* Parsing of a rule: its settings and its action. */
#include "rule/tg_rule_impl.h"

#include "base/tg_url.h"

enum {
    TG_ACTION_MEMBER_TYPE,
    TG_ACTION_MEMBER_AGENT,
    TG_ACTION_MEMBER_PROMPT,
    TG_ACTION_MEMBER_MESSAGE,
    TG_ACTION_MEMBER_CHANNEL,
    TG_ACTION_MEMBER_URL,
    TG_ACTION_MEMBER_PRIORITY,
    TG_ACTION_MEMBERS
};

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
    static const char *const names[] = { "type",     "agent",   "prompt",
                                         "message",  "channel", "url",
                                         "priority", NULL };
    tg_str_t values[TG_ACTION_MEMBERS];
    tg_rule_t *rule;
    int i, rc;

    rule = reader->rule;

    if (raw.data == NULL || tg_json_get_members(raw, names, values) != TG_OK) {
        return tg_rule_reader_fail(reader, "action: must be an object");
    }

    {
        static const char *const paths[] = { "action.agent", "action.prompt",
                                             "action.message", "action.channel",
                                             "action.url" };
        tg_str_t *const texts[] = { &rule->agent, &rule->prompt, &rule->message,
                                    &rule->channel, &rule->url };

        for (i = 0, rc = TG_OK; rc == TG_OK && i < 5; i++) {
            rc = tg_rule_reader_read_text(reader, paths[i],
                                          values[TG_ACTION_MEMBER_AGENT + i],
                                          texts[i]);
        }
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_number(reader, "action.priority",
                                        values[TG_ACTION_MEMBER_PRIORITY],
                                        INT32_MIN, INT32_MAX, &rule->priority);
    }

    return rc == TG_OK
               ? tg_rule_reader_check_action(reader,
                                             values[TG_ACTION_MEMBER_TYPE])
               : rc;
}

enum {
    TG_RULE_MEMBER_ID,
    TG_RULE_MEMBER_DESCRIPTION,
    TG_RULE_MEMBER_SECRET,
    TG_RULE_MEMBER_ENABLED,
    TG_RULE_MEMBER_APPROVAL,
    TG_RULE_MEMBER_COOLDOWN,
    TG_RULE_MEMBER_TRIGGER,
    TG_RULE_MEMBER_CONDITIONS,
    TG_RULE_MEMBER_ACTION,
    TG_RULE_MEMBERS
};

static const char *const tg_rule_members[] = {
    "id",         "description", "secret",     "enabled", "requiresApproval",
    "cooldownMs", "trigger",     "conditions", "action",  NULL,
};

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
tg_rule_reader_read_settings(tg_rule_reader_t *reader, const tg_str_t *values)
{
    tg_rule_t *rule;
    int rc;

    rule = reader->rule;
    rc = tg_rule_reader_read_text(reader, "id", values[TG_RULE_MEMBER_ID],
                                  &rule->id);

    if (rc == TG_OK) {
        rc = tg_rule_reader_check_id(reader);
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_text(reader, "description",
                                      values[TG_RULE_MEMBER_DESCRIPTION],
                                      &rule->description);
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_text(reader, "secret",
                                      values[TG_RULE_MEMBER_SECRET],
                                      &rule->secret);
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_bool(reader, "enabled",
                                      values[TG_RULE_MEMBER_ENABLED],
                                      &rule->is_enabled);
    }

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_bool(reader, "requiresApproval",
                                      values[TG_RULE_MEMBER_APPROVAL],
                                      &rule->needs_approval);
    }

    return rc == TG_OK ? tg_rule_reader_read_number(
               reader, "cooldownMs", values[TG_RULE_MEMBER_COOLDOWN], 0,
               TG_RULE_COOLDOWN_S_MAX * INT64_C(1000), &rule->cooldown_ms)
                       : rc;
}

static int
tg_rule_reader_read_rule(tg_rule_reader_t *reader)
{
    tg_str_t values[TG_RULE_MEMBERS];
    size_t start;
    int rc;

    start = reader->why->len;

    if (tg_json_get_members(reader->rule->raw, tg_rule_members, values)
        != TG_OK) {
        return tg_rule_reader_fail(reader, "a rule must be an object");
    }

    rc = tg_rule_reader_read_settings(reader, values);

    if (rc == TG_OK) {
        rc = tg_rule_reader_read_trigger(reader,
                                         values[TG_RULE_MEMBER_TRIGGER]);
    }

    /* Remove the prefix of an error message: there was no error. */
    if (rc == TG_OK) {
        tg_buf_truncate(reader->why, start);
        rc = tg_rule_reader_read_conditions(reader,
                                            values[TG_RULE_MEMBER_CONDITIONS]);
    }

    if (rc == TG_OK) {
        tg_buf_truncate(reader->why, start);
        rc = tg_rule_reader_read_action(reader, values[TG_RULE_MEMBER_ACTION]);
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
    made->is_enabled = 1;
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
