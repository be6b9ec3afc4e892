/*
 * What the two halves of the check of tools' schemas know of each other.
 */
#ifndef TG_TOOL_REPAIR_IMPL_H
#define TG_TOOL_REPAIR_IMPL_H

#include "catalog/tg_tool_repair.h"

/* What the value of a keyword is. */
typedef enum {
    TG_KEYWORD_NONE,    /* no keyword that is known: anything */
    TG_KEYWORD_ANY,     /* any value, null too */
    TG_KEYWORD_SCHEMA,  /* a schema */
    TG_KEYWORD_ITEMS,   /* a schema, or a list of them */
    TG_KEYWORD_MAP,     /* schemas by name */
    TG_KEYWORD_NAMES,   /* anything by name */
    TG_KEYWORD_LIST,    /* a list of schemas */
    TG_KEYWORD_STRINGS, /* `required` */
    TG_KEYWORD_TYPE,
    TG_KEYWORD_ENUM,
    TG_KEYWORD_NUMBER,
    TG_KEYWORD_BOOLEAN,
    TG_KEYWORD_STRING,
    TG_KEYWORD_PATTERN,
    TG_KEYWORD_REF,
    TG_KEYWORD_ID,       /* what a reference may name */
    TG_KEYWORD_NULLABLE, /* of OpenAPI; means nothing without `type` */
    TG_KEYWORD_REMOVED   /* the SDK's compiler refuses it */
} tg_keyword_type_t;

/* The walk through one schema. */
typedef struct {
    tg_tool_repair_t *repair;
    tg_tool_schema_type_t kind;
    tg_str_t root;
    tg_json_cursor_t json;
    tg_buf_t *out;
    int is_bad;      /* something is wrong that no repair helps */
    int has_ids;     /* references may have targets that are not looked for */
    int is_dangling; /* one has none that was found */
} tg_schema_repair_t;

/* --- tg_tool_repair_keyword.c --- */

/* The kind of a keyword, an escaped body. */
tg_keyword_type_t tg_keyword_get_type(tg_str_t key);

/* Is a value that is not walked through what its keyword wants? */
int tg_schema_repair_is_valid_value(tg_schema_repair_t *walk,
                                    tg_keyword_type_t kind, tg_str_t raw);

/* Is an escaped body a regular expression, where that matters? */
int tg_schema_repair_is_pattern(const tg_schema_repair_t *walk, tg_str_t body);

int tg_is_empty_array(tg_str_t raw);

#endif
