/*
 * Options of a feature: values that directives set, that a worker sends and the
 * runner reads.
 *
 * Each feature has one table of members (base/tg_json_fields.h). A member that
 * a directive sets has an option. The table drives the directives and their
 * inheritance (nginx/config/ngx_tg_spec.h), the JSON that goes to the runner,
 * and the reader of this JSON.
 */
#ifndef TG_SPEC_H
#define TG_SPEC_H

#include "base/tg_json_fields.h"

/* Value of an option that no directive has set. */
#define TG_SPEC_UNSET INT64_MIN

/* How a directive's argument is written. */
typedef enum {
    TG_SPEC_SIZE,        /* a number, with a unit k, m or g */
    TG_SPEC_NUMBER,      /* an integer */
    TG_SPEC_TIME,        /* a time, stored in ms */
    TG_SPEC_TIME_OR_OFF, /* a time, or `off`, stored as 0 */
    TG_SPEC_WORD,        /* one of the member's words */
    TG_SPEC_NUMBERS /* numbers from 0 to 255; the member has the type BITS */
} tg_spec_syntax_t;

/* The directives of a member. */
typedef struct tg_spec_option_s {
    const char *directive; /* name in a tool's block */
    const char *inherited; /* name of the default of a server; NULL: none */
    tg_spec_syntax_t syntax;
    int64_t min;     /* least value of a directive, if not that of the member */
    int64_t initial; /* value without a directive; 0: of an absent member */
    const char *noun;     /* what the argument is, in an error message */
    const char *expected; /* what to write instead, in an error message */
} tg_spec_option_t;

/* Unsets all options of a struct. */
void tg_spec_init(const tg_json_field_t *fields, void *object);

/* Checks whether a directive has set an option. */
int tg_spec_is_set(const tg_json_field_t *field, const void *object);

/* Sets each option that is not set to its value without a directive. */
void tg_spec_set_defaults(const tg_json_field_t *fields, void *object);

/* Returns the directive of the first option that is set, or NULL. */
const char *tg_spec_find_set(const tg_json_field_t *fields, const void *object);

/* Sets each option that is not set in `object` as it is in `from`. */
void tg_spec_inherit(const tg_json_field_t *fields, void *object,
                     const void *from);

/* Adds the options that are set to a JSON object. */
void tg_spec_write(const tg_json_field_t *fields, const void *object,
                   tg_buf_t *json);

#endif
