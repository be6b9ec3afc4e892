/*
 * Reads JSON objects by a table. A row describes one member: its name, type and
 * bounds, and its place in the caller's struct. Members without a row are
 * ignored; of members with equal names the last one counts.
 */
#ifndef TG_JSON_FIELDS_H
#define TG_JSON_FIELDS_H

#include "base/tg_json.h"

/* Type of a member, and the type of the struct's field that gets its value. */
typedef enum {
    TG_FIELD_RAW,     /* tg_str_t: any raw value */
    TG_FIELD_STRING,  /* tg_str_t: a raw string */
    TG_FIELD_OBJECT,  /* tg_str_t: a raw object */
    TG_FIELD_STRINGS, /* tg_str_t: a raw array of at least `min` strings */
    TG_FIELD_INT,     /* int64_t: an integer from `min` to `max` */
    TG_FIELD_WORD,    /* int64_t: the index of a string in `words` */
    TG_FIELD_FLAG,    /* int64_t: 1 if true, 0 for any other value */
    TG_FIELD_BOOL,    /* int64_t: 1 for true, 0 for false */
    TG_FIELD_BITS     /* tg_field_bits_t: an array of integers from 0 to 255 */
} tg_field_type_t;

typedef struct {
    int64_t is_set;
    uint32_t bits[8];
} tg_field_bits_t;

typedef struct {
    const char *name; /* NULL: the end of the table */
    tg_field_type_t type;
    int is_required;
    size_t offset; /* of the value in the struct */
    int64_t min;
    int64_t max;
    int64_t absent; /* value of an absent INT, WORD or FLAG */
    const char *const *words;
    const char *why; /* message if the value is invalid */

    /* The directive that sets the value (spec/tg_spec.h); NULL: none. */
    const struct tg_spec_option_s *option;
} tg_json_field_t;

#define TG_JSON_FIELDS_MAX 32

#define TG_FIELD_AT(type, member) .offset = offsetof(type, member)

/* Initializers of a row with the message that follows from its type. */
#define TG_FIELD(struct_type, text, field_type, member)                        \
    .name = text, .type = (field_type), TG_FIELD_AT(struct_type, member)
#define TG_STRING_FIELD(struct_type, text, member)                             \
    TG_FIELD(struct_type, text, TG_FIELD_STRING, member),                      \
        .why = text " must be a string"
#define TG_OBJECT_FIELD(struct_type, text, member)                             \
    TG_FIELD(struct_type, text, TG_FIELD_OBJECT, member),                      \
        .why = text " must be an object"
#define TG_STRINGS_FIELD(struct_type, text, member)                            \
    TG_FIELD(struct_type, text, TG_FIELD_STRINGS, member),                     \
        .why = text " must be an array of strings"
#define TG_ARGV_FIELD(struct_type, text, member)                               \
    TG_FIELD(struct_type, text, TG_FIELD_STRINGS, member),                     \
        .is_required = 1, .min = 1,                                            \
        .why = text " must be an array of at least one string"
/* `least` and `most` are macros of plain digits, for the message. */
#define TG_INT_FIELD(struct_type, text, member, least, most)                   \
    TG_FIELD(struct_type, text, TG_FIELD_INT, member),                         \
        .min = (least), .max = (most),                                         \
        .why = text " must be an integer from " TG_FIELD_TEXT(                 \
            least) " to " TG_FIELD_TEXT(most)
#define TG_INT_FROM_FIELD(struct_type, text, member, least)                    \
    TG_FIELD(struct_type, text, TG_FIELD_INT, member),                         \
        .min = (least), .max = INT64_MAX,                                      \
        .why = text " must be an integer from " TG_FIELD_TEXT(least)
#define TG_FIELD_TEXT(number) TG_FIELD_TEXT_OF(number)
#define TG_FIELD_TEXT_OF(number) #number

/* Stores raw or absent values in the table's order. TG_INVALID: no object. */
int tg_json_split_fields(const tg_json_field_t *fields, tg_str_t text,
                         tg_str_t *values);

/* Checks a raw value and stores it in the struct. TG_OK or TG_INVALID. */
int tg_json_store_field(const tg_json_field_t *field, tg_str_t raw,
                        void *object);

/* Checks and stores values. On TG_INVALID *why is the row's message. */
int tg_json_store_fields(const tg_json_field_t *fields, const tg_str_t *values,
                         void *object, const char **why);

int tg_json_read_fields(const tg_json_field_t *fields, tg_str_t text,
                        void *object, const char **why);

size_t tg_json_count_fields(const tg_json_field_t *fields);

/* Adds the struct's value as a member; types up to STRINGS stay raw. */
void tg_json_add_field(tg_buf_t *json, const tg_json_field_t *field,
                       const void *object);

/* Returns 0 if `raw` is absent, -1 if it is not an array of strings. */
int tg_json_count_strings(tg_str_t raw);

#endif
