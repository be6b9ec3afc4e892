/* For tg_tool_repair_schema.c and tg_tool_repair_keyword.c only. */
#ifndef TG_TOOL_REPAIR_IMPL_H
#define TG_TOOL_REPAIR_IMPL_H

#include "catalog/tg_tool_repair.h"

typedef enum {
    TG_KEYWORD_NONE,    /* unknown keyword: any value */
    TG_KEYWORD_ANY,     /* any value, including null */
    TG_KEYWORD_SCHEMA,  /* a schema */
    TG_KEYWORD_ITEMS,   /* a schema or a list of schemas */
    TG_KEYWORD_MAP,     /* an object of schemas */
    TG_KEYWORD_NAMES,   /* an object of any values */
    TG_KEYWORD_LIST,    /* a list of schemas */
    TG_KEYWORD_STRINGS, /* a list of strings: `required` */
    TG_KEYWORD_TYPE,
    TG_KEYWORD_ENUM,
    TG_KEYWORD_NUMBER,
    TG_KEYWORD_BOOLEAN,
    TG_KEYWORD_STRING,
    TG_KEYWORD_PATTERN,
    TG_KEYWORD_REF,
    TG_KEYWORD_ID,       /* an id that references may name */
    TG_KEYWORD_NULLABLE, /* OpenAPI's `nullable`, valid only with `type` */
    TG_KEYWORD_REMOVED   /* a keyword that the MCP SDK's compiler rejects */
} tg_keyword_type_t;

typedef struct {
    tg_tool_repair_t *repair;
    tg_tool_schema_type_t kind;
    tg_str_t root;
    tg_json_cursor_t json;
    tg_buf_t *out;
    int is_bad; /* 1: there is a mistake that cannot be repaired */
    /* 1: there are ids, so references may have targets that are not searched */
    int has_ids;
    int is_dangling; /* 1: a reference has no known target */
} tg_schema_repair_t;

/* Returns the type of a keyword's value; key is an escaped body. */
tg_keyword_type_t tg_keyword_get_type(tg_str_t key);

/* Checks a raw value that the walk does not enter. */
int tg_schema_repair_is_valid_value(tg_schema_repair_t *walk,
                                    tg_keyword_type_t kind, tg_str_t raw);

/* Checks an escaped pattern; in input schemas all are accepted. */
int tg_schema_repair_is_pattern(const tg_schema_repair_t *walk, tg_str_t body);

int tg_is_empty_array(tg_str_t raw);

#endif
