/*
 * Schemas that the user has in files, which may refer to other files.
 *
 * A relative $ref leads from the file that it is in, through file: URIs that
 * nobody has to write; what those name must be regular files, of which
 * TG_SCHEMA_MAX_BYTES are read.  A schema from standard input is nowhere, so
 * that it cannot refer to files this way.  Further schemas are known by their
 * $id, wherever they are.
 */
#ifndef TG_CLI_SCHEMA_LOADER_H
#define TG_CLI_SCHEMA_LOADER_H

#include "schema/tg_schema.h"

typedef struct {
    const char *path;
    const char *const *extra_paths; /* paths of further schemas */
    size_t nextra_paths;            /* TG_CLI_SCHEMAS_MAX at most */
    int is_format_asserted;
} tg_cli_schema_files_t;

/* NULL when it has said what is wrong. */
tg_schema_t *tg_cli_schema_load(const tg_cli_schema_files_t *files);

#endif
