/*
 * Declarations shared by the files that parse rules.
 *
 *   tg_rule_reader.c     typed members of an object, patterns
 *   tg_rule_read.c       whole rule and its action
 *   tg_rule_trigger.c    trigger
 *   tg_rule_condition.c  conditions
 *   tg_rule_match.c      matching of events and conditions, JSON output
 */
#ifndef TG_RULE_IMPL_H
#define TG_RULE_IMPL_H

#include "base/tg_json.h"
#include "rule/tg_rule.h"

typedef struct {
    tg_rule_t *rule;
    char *at; /* position for the next text in the rule's memory */
    tg_buf_t *why;
} tg_rule_reader_t;

/* Appends an error message to reader->why. Returns TG_INVALID. */
int tg_rule_reader_fail(const tg_rule_reader_t *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Reads a string member into the rule's memory. name is for the error message.
 * An absent raw leaves *text unchanged. TG_OK or TG_INVALID.
 */
int tg_rule_reader_read_text(tg_rule_reader_t *reader, const char *name,
                             tg_str_t raw, tg_str_t *text);

/*
 * Reads a boolean member. name is for the error message. An absent raw leaves
 * *flag unchanged. TG_OK or TG_INVALID.
 */
int tg_rule_reader_read_bool(tg_rule_reader_t *reader, const char *name,
                             tg_str_t raw, int *flag);

/*
 * Reads an integer from min to max. name is for the error message. An absent
 * raw leaves *number unchanged. TG_OK or TG_INVALID.
 */
int tg_rule_reader_read_number(tg_rule_reader_t *reader, const char *name,
                               tg_str_t raw, int64_t min, int64_t max,
                               int64_t *number);

/*
 * Compiles the pattern of a member. name is for the error message. Return
 * values: see tg_rule_pattern_compile().
 */
int tg_rule_reader_compile_pattern(tg_rule_reader_t *reader, const char *name,
                                   tg_str_t text, tg_rule_pattern_t *pattern);

/* Reads the conditions of a rule. TG_OK, TG_INVALID or TG_NOMEM. */
int tg_rule_reader_read_conditions(tg_rule_reader_t *reader, tg_str_t raw);

/* Reads the trigger of a rule. TG_OK, TG_INVALID or TG_NOMEM. */
int tg_rule_reader_read_trigger(tg_rule_reader_t *reader, tg_str_t raw);

#endif
