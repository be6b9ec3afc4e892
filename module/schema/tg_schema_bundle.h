/*
 * Bundles a schema file and the files that its `$ref`s lead to into one schema,
 * for clients, which have no access to the files. The other files become
 * members of `$defs`, and the references are rewritten.
 */
#ifndef TG_SCHEMA_BUNDLE_H
#define TG_SCHEMA_BUNDLE_H

#include "base/tg_json.h"

/* Maximum number of files in one bundle, including the main file. */
#define TG_SCHEMA_BUNDLE_MAX_FILES 64

typedef struct {
    const tg_alloc_t *alloc;
    tg_str_t name; /* name of the main file, without its folder */
    /*
     * Stores the text of another file of the folder: valid JSON, valid until
     * tg_schema_bundle() returns. TG_INVALID: the host has reported the error.
     */
    int (*fetch)(void *ctx, tg_str_t name, tg_str_t *raw);
    void *ctx;
} tg_schema_bundle_source_t;

/*
 * Appends the bundled schema, compact; raw is the main file, valid JSON.
 * TG_INVALID: error names the file and the mistake, or is empty if the host has
 * reported it.
 */
int tg_schema_bundle(const tg_schema_bundle_source_t *files, tg_str_t raw,
                     tg_buf_t *out, tg_buf_t *error);

#endif
