/* The members and directives of rules. */
#include "spec/tg_rule_spec.h"

static const char *const tg_rule_approval_words[] = { "required", NULL };

const tg_json_field_t tg_rule_fields[] = {
    { TG_FIELD(tg_rule_spec_t, "id", TG_FIELD_STRING, id) },
    { TG_FIELD(tg_rule_spec_t, "description", TG_FIELD_STRING, description) },
    { TG_FIELD(tg_rule_spec_t, "secret", TG_FIELD_STRING, secret) },
    { TG_FIELD(tg_rule_spec_t, "enabled", TG_FIELD_BOOL, is_enabled),
      .absent = 1, TG_OPTION("enabled", .syntax = TG_SPEC_FLAG) },
    { TG_FIELD(tg_rule_spec_t, "requiresApproval", TG_FIELD_BOOL,
               needs_approval),
      .words = tg_rule_approval_words,
      TG_OPTION("approval", .syntax = TG_SPEC_WORD,
                .expected = "\"required\"") },
    { TG_FIELD(tg_rule_spec_t, "cooldownMs", TG_FIELD_INT, cooldown_ms),
      .max = TG_RULE_COOLDOWN_MS_MAX,
      TG_OPTION("cooldown", .syntax = TG_SPEC_TIME, .min = 1000,
                .expected = "between 1s and 366d, such as \"10m\"") },
    { TG_FIELD(tg_rule_spec_t, "trigger", TG_FIELD_RAW, trigger) },
    { TG_FIELD(tg_rule_spec_t, "conditions", TG_FIELD_RAW, conditions) },
    { TG_FIELD(tg_rule_spec_t, "action", TG_FIELD_RAW, action) },
    { .name = NULL },
};

const tg_json_field_t tg_cron_trigger_fields[] = {
    { TG_FIELD(tg_cron_trigger_t, "expression", TG_FIELD_STRING, expression),
      TG_OPTION(NULL, .syntax = TG_SPEC_TEXT, .noun = "parameter",
                .expected = "the five fields in quotes, optionally followed by "
                            "\"zone=NAME\" or \"missed=skip\"") },
    { TG_FIELD(tg_cron_trigger_t, "zone", TG_FIELD_STRING, zone),
      TG_PARAMETER("zone=", .syntax = TG_SPEC_TEXT) },
    { TG_FIELD(tg_cron_trigger_t, "missed", TG_FIELD_STRING, missed),
      TG_PARAMETER("missed=", .syntax = TG_SPEC_TEXT) },
    { .name = NULL },
};

const tg_json_field_t tg_event_trigger_fields[] = {
    { TG_FIELD(tg_event_trigger_t, "type", TG_FIELD_STRING, type),
      TG_PARAMETER("type=", .syntax = TG_SPEC_TEXT, .noun = "parameter",
                   .expected = "\"type=NAME\", \"source=NAME\" or "
                               "\"pattern=REGEX\"") },
    { TG_FIELD(tg_event_trigger_t, "source", TG_FIELD_STRING, source),
      TG_PARAMETER("source=", .syntax = TG_SPEC_TEXT) },
    { TG_FIELD(tg_event_trigger_t, "pattern", TG_FIELD_STRING, pattern),
      TG_PARAMETER("pattern=", .syntax = TG_SPEC_TEXT) },
    { .name = NULL },
};

const tg_json_field_t tg_file_trigger_fields[] = {
    { TG_FIELD(tg_file_trigger_t, "path", TG_FIELD_STRING, path),
      TG_OPTION(NULL, .syntax = TG_SPEC_TEXT, .noun = "parameter",
                .expected = "\"glob=PATTERN\", \"events=LIST\" or "
                            "\"debounce=TIME\"") },
    { TG_FIELD(tg_file_trigger_t, "glob", TG_FIELD_RAW, glob),
      TG_PARAMETER("glob=", .syntax = TG_SPEC_TEXTS) },
    { TG_FIELD(tg_file_trigger_t, "events", TG_FIELD_RAW, events),
      TG_PARAMETER("events=", .syntax = TG_SPEC_LIST) },
    { TG_FIELD(tg_file_trigger_t, "debounceMs", TG_FIELD_INT, debounce_ms),
      .max = TG_RULE_DEBOUNCE_MS_MAX, .absent = TG_RULE_DEBOUNCE_MS,
      TG_PARAMETER("debounce=", .syntax = TG_SPEC_TIME, .noun = "parameter",
                   .expected = "a time of at most 1h, such as "
                               "\"debounce=2s\"") },
    { .name = NULL },
};

const tg_json_field_t tg_rule_action_fields[] = {
    { TG_FIELD(tg_rule_action_t, "type", TG_FIELD_RAW, type) },
    { TG_FIELD(tg_rule_action_t, "agent", TG_FIELD_STRING, agent) },
    { TG_FIELD(tg_rule_action_t, "prompt", TG_FIELD_STRING, prompt) },
    { TG_FIELD(tg_rule_action_t, "message", TG_FIELD_STRING, message) },
    { TG_FIELD(tg_rule_action_t, "channel", TG_FIELD_STRING, channel) },
    { TG_FIELD(tg_rule_action_t, "url", TG_FIELD_STRING, url) },
    { TG_FIELD(tg_rule_action_t, "priority", TG_FIELD_INT, priority),
      .min = INT32_MIN, .max = INT32_MAX,
      TG_OPTION("priority", .syntax = TG_SPEC_NUMBER,
                .expected = "for instance 5 or -5") },
    { .name = NULL },
};
