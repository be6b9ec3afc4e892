/* The supported drafts of JSON Schema. */
#ifndef TG_SCHEMA_DRAFT_H
#define TG_SCHEMA_DRAFT_H

#include "base/tg_json.h"

/* Drafts as bits, for sets of the drafts that support a keyword. */
typedef enum {
    TG_SCHEMA_DRAFT_4 = 1 << 0,
    TG_SCHEMA_DRAFT_6 = 1 << 1,
    TG_SCHEMA_DRAFT_7 = 1 << 2,
    TG_SCHEMA_DRAFT_2019 = 1 << 3,
    TG_SCHEMA_DRAFT_2020 = 1 << 4,
    /* In these drafts `$ref` hides its siblings, and an id may be an anchor. */
    TG_SCHEMA_DRAFTS_UNTIL_7 = TG_SCHEMA_DRAFT_4 | TG_SCHEMA_DRAFT_6
                               | TG_SCHEMA_DRAFT_7
} tg_schema_draft_t;

/* Returns the draft of a metaschema, whose URI may end with "#", or 0. */
unsigned tg_schema_draft_from_uri(tg_str_t uri);

/* Returns the draft of a schema: 2020-12 without `$schema`, 0 if unknown. */
unsigned tg_schema_draft_detect(tg_str_t schema);

/* Returns the name of a draft for messages, for example "draft 7". */
const char *tg_schema_draft_get_name(unsigned draft);

#endif
