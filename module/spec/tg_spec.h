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
    TG_SPEC_SIZE_OR_OFF, /* a size, or `off`, stored as 0 */
    TG_SPEC_NUMBER,      /* an integer */
    TG_SPEC_TIME,        /* a time, stored in ms */
    TG_SPEC_TIME_OR_OFF, /* a time, or `off`, stored as 0 */
    TG_SPEC_WORD,        /* one of the member's words, stored as its index */
    TG_SPEC_FLAG,  /* `on` or `off`, or a parameter without a value: 1 or 0 */
    TG_SPEC_TEXT,  /* a text, stored as a JSON string */
    TG_SPEC_TEXTS, /* may occur more than once, stored as an array of strings */
    TG_SPEC_LIST,  /* words and commas, stored as an array of strings */
    TG_SPEC_RATE,  /* `Nr/s` or `Nr/m`, stored as thousandths per minute */
    TG_SPEC_NUMBERS /* numbers from 0 to 255; the member has the type BITS */
} tg_spec_syntax_t;

/*
 * The directives of a member. A row with `parameter` belongs to the directive
 * of the row before it: its value is written after the directive's argument.
 */
typedef struct tg_spec_option_s {
    const char *directive; /* name in a block; NULL: none */
    const char *inherited; /* name of the default of a server; NULL: none */
    const char *parameter; /* `NAME=`, or a whole word for TG_SPEC_FLAG */
    tg_spec_syntax_t syntax;
    int64_t min;     /* least value of a directive, if not that of the member */
    int64_t max;     /* largest value, if not 0 and not that of the member */
    int64_t initial; /* value without a directive; 0: of an absent member */
    /*
     * What the argument is, and what to write instead, in the error message; %V
     * is the directive's name. NULL: derived from syntax and bounds; of a
     * parameter, as for the directive. Empty noun: the whole directive.
     */
    const char *noun;
    const char *expected;
} tg_spec_option_t;

/* Initializers of a row's option: in a block, and with a server's default. */
#define TG_OPTION(name, ...)                                                   \
    .option = &(const tg_spec_option_t)                                        \
    {                                                                          \
        .directive = (name), __VA_ARGS__                                       \
    }
#define TG_TOOL_OPTION(name, ...)                                              \
    TG_OPTION(name, .inherited = "tool_" name, __VA_ARGS__)
#define TG_PARAMETER(text, ...)                                                \
    .option = &(const tg_spec_option_t)                                        \
    {                                                                          \
        .parameter = (text), __VA_ARGS__                                       \
    }
/* Name of a member that only directives have, not the JSON. */
#define TG_SPEC_NOT_JSON ""

/* Unsets all options of a struct. */
void tg_spec_init(const tg_json_field_t *fields, void *object);

/* Checks whether a directive has set an option. */
int tg_spec_is_set(const tg_json_field_t *field, const void *object);

/* Sets each option that is not set to its value without a directive. */
void tg_spec_set_defaults(const tg_json_field_t *fields, void *object);

/*
 * Sets the parameters of the directive of a row that are not set to their
 * values without a directive.
 */
void tg_spec_set_parameter_defaults(const tg_json_field_t *field, void *object);

/* Returns the directive of the first option that is set, or NULL. */
const char *tg_spec_find_set(const tg_json_field_t *fields, const void *object);

/* Sets each option that is not set in `object` as it is in `from`. */
void tg_spec_inherit(const tg_json_field_t *fields, void *object,
                     const void *from);

/* Adds the options that are set to a JSON object. */
void tg_spec_write(const tg_json_field_t *fields, const void *object,
                   tg_buf_t *json);

#endif
