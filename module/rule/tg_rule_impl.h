/*
 * What the files that read a rule share.
 *
 *   tg_rule_reader.c     members of any of its objects
 *   tg_rule_read.c       all of it, its action
 *   tg_rule_trigger.c    its trigger
 *   tg_rule_condition.c  its conditions
 *   tg_rule_match.c            what it makes of an event
 */
#ifndef TG_RULE_IMPL_H
#define TG_RULE_IMPL_H

#include "base/tg_json.h"
#include "rule/tg_rule.h"

typedef struct {
    tg_rule_t *rule;
    char *at; /* where the next text goes */
    tg_buf_t *why;
} tg_rule_reader_t;

/* Writes what is wrong: TG_INVALID. */
int tg_rule_reader_fail(const tg_rule_reader_t *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * A member of that name, raw: what is absent leaves the result alone.  TG_OK
 * or TG_INVALID.
 */
int tg_rule_reader_read_text(tg_rule_reader_t *reader, const char *name,
                             tg_str_t raw, tg_str_t *text);
int tg_rule_reader_read_bool(tg_rule_reader_t *reader, const char *name,
                             tg_str_t raw, int *flag);
int tg_rule_reader_read_number(tg_rule_reader_t *reader, const char *name,
                               tg_str_t raw, int64_t min, int64_t max,
                               int64_t *number);

/* As tg_rule_pattern_compile(), for a member of that name. */
int tg_rule_reader_compile_pattern(tg_rule_reader_t *reader, const char *name,
                                   tg_str_t text, tg_rule_pattern_t *pattern);

/* These members of a rule: TG_OK, or as tg_rule_reader_compile_pattern(). */
int tg_rule_reader_read_conditions(tg_rule_reader_t *reader, tg_str_t raw);
int tg_rule_reader_read_trigger(tg_rule_reader_t *reader, tg_str_t raw);

#endif
