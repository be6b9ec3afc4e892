/*
 * A tool of another MCP server as one of ours: which patterns choose it, its
 * name under a prefix, and what clients are told of it.
 */
#ifndef TG_FOREIGN_H
#define TG_FOREIGN_H

#include "core/tg_catalogue.h"

/* Does a name fit a pattern?  `*` is any characters, `?` is one. */
int tg_glob(tg_str_t pattern, tg_str_t name);

/* NULL, or what to write instead of a pattern, static text. */
const char *tg_glob_check(tg_str_t pattern);

/*
 * A name, plain text, under a prefix, as all agents take one: what they do
 * not take becomes `_`, and a long name ends in a hash of the whole.  room
 * has TG_NAME_AGENT_MAX bytes.
 */
tg_str_t tg_foreign_name(tg_str_t prefix, tg_str_t name, char *room);

/*
 * Appends what clients are told of a raw tool: all that its server says,
 * token by token, but its name, and what else instead has.
 */
void tg_foreign_put(tg_buf_t *out, tg_str_t raw, const tg_entry_t *instead);

#endif
