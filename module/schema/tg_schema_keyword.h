/*
 * The keywords of JSON Schema by the content of their values, for code that
 * walks over the text of a schema.
 */
#ifndef TG_SCHEMA_KEYWORD_H
#define TG_SCHEMA_KEYWORD_H

#include "base/tg_json.h"

typedef enum {
    TG_SCHEMA_CONTENT_UNKNOWN = 0, /* not a keyword */
    TG_SCHEMA_CONTENT_VALUE,       /* a value without schemas */
    TG_SCHEMA_CONTENT_SCHEMAS,     /* one schema or a list of schemas */
    TG_SCHEMA_CONTENT_MAP          /* an object of schemas by name */
} tg_schema_keyword_content_t;

/* Returns the content of a keyword's value; key is its escaped body. */
tg_schema_keyword_content_t tg_schema_keyword_get_content(tg_str_t key);

/* Returns the drafts in which a keyword is a rule, or all if there is none. */
unsigned tg_schema_keyword_get_drafts(tg_str_t key);

/* Returns the most similar keyword, or NULL. Prefers those without schemas. */
const char *tg_schema_keyword_suggest(tg_str_t key);

#endif
