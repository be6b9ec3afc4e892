/*
 * A tool of another MCP server as one of ours: which patterns choose it, its
 * name under a prefix, and what clients are told of it.
 */
#ifndef TG_IMPORTED_TOOL_H
#define TG_IMPORTED_TOOL_H

#include "catalog/tg_catalog.h"

/* Does a name fit a pattern?  `*` is any characters, `?` is one. */
int tg_glob_match(tg_str_t pattern, tg_str_t name);

/* NULL, or what to write instead of a pattern, static text. */
const char *tg_glob_check(tg_str_t pattern);

/*
 * A name, plain text, under a prefix, as all agents take one: what they do
 * not take becomes `_`, and a long name ends in a hash of the whole.  room
 * has TG_NAME_AGENT_MAX bytes.
 */
tg_str_t tg_imported_tool_make_name(tg_str_t prefix, tg_str_t name, char *room);

/*
 * Appends what clients are told of a raw tool: all that its server says,
 * token by token, but its name, and what else instead has.
 */
void tg_imported_tool_write_json(tg_buf_t *out, tg_str_t raw,
                                 const tg_catalog_entry_t *instead);

#endif
