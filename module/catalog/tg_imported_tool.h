/*
 * Import of another MCP server's tool: name patterns, the name with a prefix,
 * and the listing for clients.
 */
#ifndef TG_IMPORTED_TOOL_H
#define TG_IMPORTED_TOOL_H

#include "base/tg_glob.h"
#include "catalog/tg_catalog.h"

/*
 * Checks the syntax of a pattern for tg_glob_match(). Returns NULL, or a static
 * text that says what to write.
 */
const char *tg_glob_check(tg_str_t pattern);

/*
 * Makes the name of an imported tool: prefix and name, in a form that all
 * agents accept. Other characters become `_`, and the end of a long name is
 * replaced by a hash of the whole. The result is in room, which must have
 * TG_NAME_AGENT_MAX bytes.
 */
tg_str_t tg_imported_tool_make_name(tg_str_t prefix, tg_str_t name, char *room);

/*
 * Appends the listing of a raw tool. All its members are copied token by token,
 * except those that are set in `instead`, which replace them.
 */
void tg_imported_tool_write_json(tg_buf_t *out, tg_str_t raw,
                                 const tg_catalog_entry_t *instead);

#endif
