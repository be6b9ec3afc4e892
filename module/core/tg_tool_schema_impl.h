/*
 * What the two halves of the check of tools' schemas know of each other.
 */
#ifndef TG_TOOL_SCHEMA_IMPL_H
#define TG_TOOL_SCHEMA_IMPL_H

#include "core/tg_tool_repair.h"

/* What the value of a keyword is. */
typedef enum {
    TG_WORD_NONE,    /* no keyword that is known: anything */
    TG_WORD_ANY,     /* any value, null too */
    TG_WORD_SCHEMA,  /* a schema */
    TG_WORD_ITEMS,   /* a schema, or a list of them */
    TG_WORD_MAP,     /* schemas by name */
    TG_WORD_NAMES,   /* anything by name */
    TG_WORD_LIST,    /* a list of schemas */
    TG_WORD_STRINGS, /* `required` */
    TG_WORD_TYPE,
    TG_WORD_ENUM,
    TG_WORD_NUMBER,
    TG_WORD_BOOLEAN,
    TG_WORD_STRING,
    TG_WORD_PATTERN,
    TG_WORD_REF,
    TG_WORD_ID,       /* what a reference may name */
    TG_WORD_NULLABLE, /* of OpenAPI; means nothing without `type` */
    TG_WORD_GONE      /* the SDK's compiler refuses it */
} tg_word_kind_t;

/* The walk through one schema. */
typedef struct {
    tg_tool_repair_t *repair;
    tg_tool_schema_t kind;
    tg_str_t root;
    tg_json_t json;
    tg_buf_t *out;
    int is_bad;      /* something is wrong that no repair helps */
    int has_ids;     /* references may have targets that are not looked for */
    int is_dangling; /* one has none that was found */
} tg_walk_t;

/* --- tg_tool_word.c --- */

/* The kind of a keyword, an escaped body. */
tg_word_kind_t tg_word_kind(tg_str_t key);

/* Is a value that is not walked through what its keyword wants? */
int tg_word_fits(tg_walk_t *walk, tg_word_kind_t kind, tg_str_t raw);

/* Is an escaped body a regular expression, where that matters? */
int tg_word_is_pattern(const tg_walk_t *walk, tg_str_t body);

int tg_is_empty_array(tg_str_t raw);

#endif
