/*
 * The keywords of JSON Schema, by what their values hold, for those who walk
 * over the text of a schema.
 */
#ifndef TG_SCHEMA_KEYWORD_NAMES_H
#define TG_SCHEMA_KEYWORD_NAMES_H

#include "base/tg_json.h"

typedef enum {
    TG_SCHEMA_CONTENT_UNKNOWN = 0, /* it is no keyword */
    TG_SCHEMA_CONTENT_VALUE,       /* no schema */
    TG_SCHEMA_CONTENT_SCHEMAS,     /* one, or a list of them */
    TG_SCHEMA_CONTENT_MAP          /* schemas by names */
} tg_schema_keyword_content_t;

/* key is its escaped body. */
tg_schema_keyword_content_t tg_schema_keyword_get_content(tg_str_t key);

/*
 * The drafts (tg_schema_draft.h) in which a keyword decides something; all of
 * them where it decides nothing in any, or is no keyword.
 */
unsigned tg_schema_keyword_get_drafts(tg_str_t key);

/* All of a kind, and NULL. */
const char *const *tg_schema_keyword_list_names(
    tg_schema_keyword_content_t holds);

#endif
