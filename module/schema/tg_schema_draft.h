/*
 * The drafts of JSON Schema that are known.
 */
#ifndef TG_SCHEMA_DRAFT_H
#define TG_SCHEMA_DRAFT_H

#include "base/tg_json.h"

/* As bits; each keyword has those that know it. */
typedef enum {
    TG_SCHEMA_DRAFT_4 = 1 << 0,
    TG_SCHEMA_DRAFT_6 = 1 << 1,
    TG_SCHEMA_DRAFT_7 = 1 << 2,
    TG_SCHEMA_DRAFT_2019 = 1 << 3,
    TG_SCHEMA_DRAFT_2020 = 1 << 4,
    /* Here `$ref` hides what stands beside it, and an id may be an anchor. */
    TG_SCHEMA_DRAFTS_UNTIL_7 = TG_SCHEMA_DRAFT_4 | TG_SCHEMA_DRAFT_6
                               | TG_SCHEMA_DRAFT_7
} tg_schema_draft_t;

/* The draft whose schema has this URI, also with an empty fragment; or 0. */
unsigned tg_schema_draft_from_uri(tg_str_t uri);

/*
 * The draft of a schema, raw, by its `$schema`: 2020-12 where it has none, and
 * 0 where that names something else.
 */
unsigned tg_schema_draft_detect(tg_str_t schema);

/* What people call it. */
const char *tg_schema_draft_get_name(unsigned draft);

#endif
