/*
 * Makes one schema of a file and those beside it that its `$ref`s lead to:
 * they go into its `$defs` under their names, and references lead there.  So
 * who is shown the schema, and has no files, has all of it.
 */
#ifndef TG_SCHEMA_BUNDLE_H
#define TG_SCHEMA_BUNDLE_H

#include "base/tg_json.h"

/* Files that belong to one schema, itself included. */
#define TG_SCHEMA_BUNDLE_MAX_FILES 64

typedef struct {
    const tg_alloc_t *alloc;
    tg_str_t name; /* of the schema's own file, without its folder */
    /*
     * The text of another file of that folder, a valid JSON text that lives
     * until the bundle is made: TG_OK; TG_INVALID, and the host has said why;
     * or TG_NOMEM.  name ends where the bundle is made, too.
     */
    int (*fetch)(void *ctx, tg_str_t name, tg_str_t *raw);
    void *ctx;
} tg_schema_bundle_source_t;

/*
 * Appends the schema, compact: TG_OK; TG_INVALID: error says in which file what
 * is wrong, or is empty where the host has said it; TG_NOMEM.  raw must be
 * valid JSON.
 */
int tg_schema_bundle(const tg_schema_bundle_source_t *files, tg_str_t raw,
                     tg_buf_t *out, tg_buf_t *error);

#endif
