/*
 * Loads schemas from files, which may refer to other files.
 *
 * A relative $ref refers to a file relative to the schema's own file, by file:
 * URIs that are built internally.  Such a file must be a regular file of at
 * most TG_SCHEMA_MAX_BYTES.  A schema from standard input has no folder, so
 * that it cannot refer to files in this way.  Further schemas are found by
 * their $id, wherever their files are.
 */
#ifndef TG_CLI_SCHEMA_LOADER_H
#define TG_CLI_SCHEMA_LOADER_H

#include "schema/tg_schema.h"

typedef struct {
    const char *path;
    const char *const *extra_paths; /* paths of further schemas */
    size_t nextra_paths;            /* at most TG_CLI_SCHEMAS_MAX */
    int is_format_asserted;
} tg_cli_schema_files_t;

/* Loads and compiles a schema.  Returns NULL after reporting the error. */
tg_schema_t *tg_cli_schema_load(const tg_cli_schema_files_t *files);

#endif
