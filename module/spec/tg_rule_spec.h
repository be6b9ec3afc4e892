/*
 * Rules of automation: the members of a rule (rule/tg_rule.h), and the
 * directives in an `automation` block that set them.
 */
#ifndef TG_RULE_SPEC_H
#define TG_RULE_SPEC_H

#include "spec/tg_spec.h"

/* Largest cooldownMs: a year. */
#define TG_RULE_COOLDOWN_MS_MAX 31622400000
/* Largest debounceMs, in ms: an hour. */
#define TG_RULE_DEBOUNCE_MS_MAX 3600000
/* Default of debounceMs, in ms. */
#define TG_RULE_DEBOUNCE_MS 500

typedef struct {
    tg_str_t id;
    tg_str_t description;
    tg_str_t secret; /* signs the requests of a webhook */
    int64_t is_enabled;
    int64_t needs_approval;
    int64_t cooldown_ms;
    tg_str_t trigger; /* raw values */
    tg_str_t conditions;
    tg_str_t action;
} tg_rule_spec_t;

extern const tg_json_field_t tg_rule_fields[];

/* The triggers. `glob` and `events` are raw values. */
typedef struct {
    tg_str_t expression;
    tg_str_t zone;
    tg_str_t missed;
} tg_cron_trigger_t;

typedef struct {
    tg_str_t type;
    tg_str_t source;
    tg_str_t pattern;
} tg_event_trigger_t;

typedef struct {
    tg_str_t path;
    tg_str_t glob; /* a string or an array of strings */
    tg_str_t events;
    int64_t debounce_ms;
} tg_file_trigger_t;

extern const tg_json_field_t tg_cron_trigger_fields[];
extern const tg_json_field_t tg_event_trigger_fields[];
extern const tg_json_field_t tg_file_trigger_fields[];

typedef struct {
    tg_str_t type;
    tg_str_t agent;
    tg_str_t prompt;
    tg_str_t message;
    tg_str_t channel;
    tg_str_t url;
    int64_t priority;
} tg_rule_action_t;

extern const tg_json_field_t tg_rule_action_fields[];

#endif
