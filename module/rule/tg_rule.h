/*
 * Automation rules: a trigger, conditions and an action.
 *
 *   {"id":"fix","description":"…","enabled":true,"cooldownMs":600000,
 *    "requiresApproval":true,
 *    "trigger":{"type":"task.failed","source":"tasks","pattern":"^task"},
 *    "conditions":[{"field":"metadata.suite","operator":"eq","value":"unit"}],
 *    "action":{"type":"agent","agent":"a","prompt":"…{{error}}…",
 *              "priority":5}}
 *
 * Two triggers create their own events:
 *
 *   {"type":"cron","expression":"0 3 * * *","zone":"Europe/Berlin",
 *    "missed":"skip"}
 *   {"type":"file","path":"/srv/app","glob":["*.c"],
 *    "events":["change","create","delete"],"debounceMs":500}
 *
 * Other actions: {"type":"notify","message":"…","channel":"…"} and
 * {"type":"webhook","url":"https://…","message":"…"}. The `text` of a
 * condition, in place of `value`, equals any value that is written like it: "3"
 * equals 3. Other members are ignored. Regular expressions are those of JSON
 * Schema, with a limit of steps.
 */
#ifndef TG_RULE_H
#define TG_RULE_H

#include "base/tg_glob.h"
#include "rule/tg_cron.h"
#include "rule/tg_event.h"
#include "schema/tg_schema.h"
#include "spec/tg_rule_spec.h"

#define TG_RULES_MAX 256
/* Largest id of a rule in bytes. */
#define TG_RULE_ID_MAX 128
#define TG_RULE_CONDITIONS_MAX 32
#define TG_RULE_GLOBS_MAX 16
/* Steps of matching one regular expression against one text. */
#define TG_RULE_REGEX_STEPS_MAX 1000000

typedef enum {
    TG_TRIGGER_EVENT,
    TG_TRIGGER_CRON,
    TG_TRIGGER_FILE
} tg_trigger_type_t;
typedef enum {
    TG_ACTION_AGENT,
    TG_ACTION_NOTIFY,
    TG_ACTION_WEBHOOK
} tg_action_type_t;

enum {
    TG_FILE_CREATE = 1,
    TG_FILE_CHANGE = 2,
    TG_FILE_DELETE = 4
};

typedef enum {
    TG_RULE_OP_EQ,
    TG_RULE_OP_NEQ,
    TG_RULE_OP_CONTAINS,
    TG_RULE_OP_MATCHES,
    TG_RULE_OP_GT,
    TG_RULE_OP_GTE,
    TG_RULE_OP_LT,
    TG_RULE_OP_LTE,
    TG_RULE_OP_EXISTS,
    TG_RULE_OP_NOT_EXISTS,
    TG_RULE_OPS
} tg_rule_op_t;

typedef struct {
    void *code; /* NULL: no pattern */
    unsigned weight;
} tg_rule_pattern_t;

typedef struct {
    tg_str_t field;
    tg_rule_op_t op;
    tg_str_t value; /* raw; absent if the condition has `text` */
    tg_str_t text;
    tg_rule_pattern_t pattern;
} tg_rule_condition_t;

/* A parsed rule, which owns its slices. Missing texts are absent. */
typedef struct {
    const tg_alloc_t *alloc;
    const tg_schema_regex_engine_t *regex;
    char *memory;
    tg_str_t raw; /* the whole JSON */
    tg_str_t id;
    tg_str_t description;
    tg_str_t secret; /* signs the requests of a webhook */
    int is_enabled;
    int needs_approval;
    int64_t cooldown_ms;

    tg_trigger_type_t trigger;
    tg_str_t type;
    tg_str_t source;
    tg_rule_pattern_t pattern; /* matched against TYPE:SOURCE */
    tg_str_t expression;
    tg_str_t zone; /* empty: the system's zone */
    tg_cron_t cron;
    int is_missed_skipped; /* missed runs are skipped */
    tg_str_t path;
    tg_str_t globs[TG_RULE_GLOBS_MAX];
    unsigned nglobs;
    unsigned events; /* TG_FILE_… bits */
    int64_t debounce_ms;

    tg_rule_condition_t conditions[TG_RULE_CONDITIONS_MAX];
    unsigned nconditions;

    tg_action_type_t action;
    tg_str_t agent;
    tg_str_t prompt;
    tg_str_t message;
    tg_str_t channel;
    tg_str_t url;
    int64_t priority;
} tg_rule_t;

/*
 * Parses valid JSON, which is copied. TG_OK; TG_INVALID: why says where and
 * what to write; TG_NOMEM. regex must outlive the rule; NULL: patterns are
 * rejected.
 */
int tg_rule_parse(const tg_alloc_t *alloc, tg_str_t raw,
                  const tg_schema_regex_engine_t *regex, tg_rule_t **rule,
                  tg_buf_t *why);
void tg_rule_free(tg_rule_t *rule);

/* Returns the operator of a name, or TG_RULE_OPS if it is unknown. */
tg_rule_op_t tg_rule_find_operator(tg_str_t name);

/* Checks whether text is a number, as gt, gte, lt and lte require. */
int tg_rule_is_number(tg_str_t text);

/* Compiles a pattern. TG_OK; TG_INVALID: why says what is wrong; TG_NOMEM. */
int tg_rule_pattern_compile(const tg_alloc_t *alloc,
                            const tg_schema_regex_engine_t *regex,
                            tg_str_t text, tg_rule_pattern_t *pattern,
                            tg_buf_t *why);

/* Matches an event. TG_MISSING: no match; TG_LIMIT: too many steps. */
int tg_rule_match_event(const tg_rule_t *rule, tg_str_t event);

/* Checks all conditions. Results are those of tg_rule_match_event(). */
int tg_rule_check_conditions(const tg_rule_t *rule, tg_str_t event);

/* Receives a message that begins with the rule's member. */
typedef void (*tg_rule_lint_warn_pt)(void *ctx, const char *message);
/* Warns of types, sources and fields that no event of the rule has. */
void tg_rule_lint(const tg_rule_t *rule, tg_rule_lint_warn_pt warn, void *ctx);

/* Matches a path below the rule's folder. A rule without globs matches all. */
int tg_rule_match_file(const tg_rule_t *rule, tg_str_t path);

/* Appends "trigger":{…},"action":{…}; a webhook's URL only by its origin. */
void tg_rule_write_json(tg_buf_t *json, const tg_rule_t *rule);

#endif
