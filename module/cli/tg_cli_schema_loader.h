/*
 * Loads schemas from files. A relative $ref refers to a regular file of at
 * most TG_SCHEMA_MAX_BYTES, relative to the schema's own file. Further schemas
 * are found by their $id.
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
