/*
 * A block of a tool's result, as MCP types it (ContentBlock), so that every
 * client can read it: for tg_result_repair.c.
 */
#ifndef TG_BLOCK_REPAIR_H
#define TG_BLOCK_REPAIR_H

#include "core/tg_mcp_type.h"

/* The members of a block's type; NULL: it has none that clients know. */
const tg_mcp_member_t *tg_block_members(tg_str_t block);

/* May a raw block stay as it is? */
int tg_block_is_right(tg_str_t block);

/* Appends a raw block as what means the same, or as a text. */
void tg_block_put(tg_buf_t *out, tg_str_t block);

/* Appends a block of the text that a value is, or of its JSON. */
void tg_block_put_text(tg_buf_t *out, tg_str_t value);

#endif
