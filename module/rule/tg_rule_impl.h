/*
 * Shared by the files that parse rules. Readers of members return TG_OK or
 * TG_INVALID; `name` is for the error message.
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
 * Decodes a raw string into the rule's memory. parent, such as "trigger.", and
 * name are for the error message. TG_OK or TG_INVALID.
 */
int tg_rule_reader_decode(tg_rule_reader_t *reader, const char *parent,
                          const char *name, tg_str_t *text);

/*
 * Reads an object by a table, and decodes its strings. TG_OK, TG_INVALID, or
 * TG_MISSING without a message: raw is not an object.
 */
int tg_rule_reader_read_members(tg_rule_reader_t *reader, const char *parent,
                                const tg_json_field_t *fields, tg_str_t raw,
                                void *object);

/* Compiles the pattern of a member; see tg_rule_pattern_compile(). */
int tg_rule_reader_compile_pattern(tg_rule_reader_t *reader, const char *name,
                                   tg_str_t text, tg_rule_pattern_t *pattern);

int tg_rule_reader_read_conditions(tg_rule_reader_t *reader, tg_str_t raw);

int tg_rule_reader_read_trigger(tg_rule_reader_t *reader, tg_str_t raw);

#endif
