/*
 * Schemas that the user has in files, which may refer to other files.
 *
 * A relative $ref leads from the file that it is in, through file: URIs that
 * nobody has to write; what those name must be regular files, of which
 * TG_SCHEMA_BYTES are read.  A schema from standard input is nowhere, so that
 * it cannot refer to files this way.
 */
#ifndef TG_CLI_SCHEMA_H
#define TG_CLI_SCHEMA_H

#include "schema/tg_schema.h"

/* NULL when it has said what is wrong. */
tg_schema_t *tg_cli_schema_load(const char *path, int is_format_asserted);

#endif
