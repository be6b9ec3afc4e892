/* Import of another MCP server's tool: its patterns, name and listing. */
#ifndef TG_IMPORTED_TOOL_H
#define TG_IMPORTED_TOOL_H

#include "base/tg_glob.h"
#include "catalog/tg_catalog.h"

/* Returns NULL if the pattern is valid, or what to write, a static text. */
const char *tg_glob_check(tg_str_t pattern);

/*
 * Makes a name of prefix and name that all agents accept: other characters
 * become `_`, and a hash replaces the end of a long name. room, which holds the
 * result, must have TG_NAME_AGENT_MAX bytes.
 */
tg_str_t tg_imported_tool_make_name(tg_str_t prefix, tg_str_t name, char *room);

/*
 * Appends a raw tool, with the members that are set in `instead` replaced; only
 * members of `_meta` are, not all of it.
 */
void tg_imported_tool_write_json(tg_buf_t *out, tg_str_t raw,
                                 const tg_catalog_entry_t *instead);

#endif
