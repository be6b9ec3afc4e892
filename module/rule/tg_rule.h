/*
 * Rules of automation: when what happens, and which events they are about.
 *
 *   {"id":"fix","description":"…","enabled":true,"cooldownMs":600000,
 *    "requiresApproval":true,
 *    "trigger":{"type":"task.failed","source":"tasks","pattern":"^task"},
 *    "conditions":[{"field":"metadata.suite","operator":"eq","value":"unit"}],
 *    "action":{"type":"agent","agent":"a","prompt":"…{{error}}…",
 *              "priority":5}}
 *
 * Two triggers are about no event that others have made:
 *
 *   {"type":"cron","expression":"0 3 * * *","zone":"Europe/Berlin",
 *    "missed":"skip"}
 *   {"type":"file","path":"/srv/app","glob":["*.c"],
 *    "events":["change","create","delete"],"debounceMs":500}
 *
 * Other actions: {"type":"notify","message":"…","channel":"…"} and
 * {"type":"webhook","url":"https://…","message":"…"}.  A condition may have a
 * `text` instead of a value: it is that, however it is written, so that "3"
 * is 3.  Members that are not named here are passed over.
 *
 * Regular expressions are those of JSON Schema, with a bound.
 */
#ifndef TG_RULE_H
#define TG_RULE_H

#include "rule/tg_cron.h"
#include "rule/tg_event.h"
#include "rule/tg_path_glob.h"
#include "schema/tg_schema.h"

/* Rules of a server, and what one may have. */
#define TG_RULES_MAX 256
#define TG_RULE_ID_MAX 128
#define TG_RULE_CONDITIONS_MAX 32
#define TG_RULE_GLOBS_MAX 16
/* Steps of one regular expression on one text, as those of a schema. */
#define TG_RULE_REGEX_STEPS_MAX 1000000
/* Seconds of cooldownMs: a year; milliseconds of debounceMs: an hour. */
#define TG_RULE_COOLDOWN_S_MAX 31622400
#define TG_RULE_DEBOUNCE_MS_MAX 3600000
#define TG_RULE_DEBOUNCE_MS 500

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

/* What becomes of files. */
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
    void *code; /* NULL: there is none */
    unsigned weight;
} tg_rule_pattern_t;

typedef struct {
    tg_str_t field;
    tg_rule_op_t op;
    tg_str_t value; /* raw; absent where it is a text */
    tg_str_t text;
    tg_rule_pattern_t pattern;
} tg_rule_condition_t;

/* Slices live as long as the rule; texts that are not there are absent. */
typedef struct {
    const tg_alloc_t *alloc;
    const tg_schema_regex_engine_t *regex;
    char *memory;
    tg_str_t raw; /* all of it */
    tg_str_t id;
    tg_str_t description;
    tg_str_t secret; /* what a webhook is signed with */
    int is_enabled;
    int needs_approval;
    int64_t cooldown_ms;

    tg_trigger_type_t trigger;
    tg_str_t type;
    tg_str_t source;
    tg_rule_pattern_t pattern; /* of type:source */
    tg_str_t expression;
    tg_str_t zone; /* empty: that of the system */
    tg_cron_t cron;
    int is_missed_skipped; /* what was missed is not made up for */
    tg_str_t path;
    tg_str_t globs[TG_RULE_GLOBS_MAX];
    unsigned nglobs;
    unsigned events; /* TG_FILE_… */
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
 * Reads one, which is valid JSON: TG_OK; TG_INVALID: why says where and what to
 * write; TG_NOMEM.  Nothing of raw is needed afterwards.  regex may be NULL:
 * then there are no patterns.
 */
int tg_rule_parse(const tg_alloc_t *alloc, tg_str_t raw,
                  const tg_schema_regex_engine_t *regex, tg_rule_t **rule,
                  tg_buf_t *why);
void tg_rule_free(tg_rule_t *rule);

/* The operator of this name, TG_RULE_OPS: there is none. */
tg_rule_op_t tg_rule_find_operator(tg_str_t name);

/* Is text a number, as conditions that compare need it? */
int tg_rule_is_number(tg_str_t text);

/* Compiles a pattern: TG_OK; TG_INVALID: why says what is wrong; TG_NOMEM. */
int tg_rule_pattern_compile(const tg_alloc_t *alloc,
                            const tg_schema_regex_engine_t *regex,
                            tg_str_t text, tg_rule_pattern_t *pattern,
                            tg_buf_t *why);

/*
 * Is it about an event (a trigger that is about events), and: do its
 * conditions hold?  TG_OK; TG_MISSING: no; TG_LIMIT: a pattern took more than
 * its bound; TG_NOMEM.
 */
int tg_rule_match_event(const tg_rule_t *rule, tg_str_t event);
int tg_rule_check_conditions(const tg_rule_t *rule, tg_str_t event);

/*
 * Warns of event types, event sources and fields that no event of the rule has,
 * in a message for each that begins with the member of the rule.
 */
typedef void (*tg_rule_lint_warn_pt)(void *ctx, const char *message);
void tg_rule_lint(const tg_rule_t *rule, tg_rule_lint_warn_pt warn, void *ctx);

/* Is a file, by its path below the rule's, one of its globs? */
int tg_rule_match_file(const tg_rule_t *rule, tg_str_t path);

/* Appends "trigger":{…},"action":{…}, without what nobody else may know. */
void tg_rule_write_json(tg_buf_t *json, const tg_rule_t *rule);

#endif
