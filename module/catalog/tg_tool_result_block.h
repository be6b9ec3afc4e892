/*
 * A block of a tool's result, as MCP types it (ContentBlock), so that every
 * client can read it: for tg_tool_result_repair.c.
 */
#ifndef TG_TOOL_RESULT_BLOCK_H
#define TG_TOOL_RESULT_BLOCK_H

#include "catalog/tg_mcp_type.h"

/* The members of a block's type; NULL: it has none that clients know. */
const tg_mcp_member_t *tg_content_block_members(tg_str_t block);

/* May a raw block stay as it is? */
int tg_content_block_is_valid(tg_str_t block);

/* Appends a raw block as what means the same, or as a text. */
void tg_content_block_write_repaired(tg_buf_t *out, tg_str_t block);

/* Appends a block of the text that a value is, or of its JSON. */
void tg_content_block_write_text(tg_buf_t *out, tg_str_t value);

#endif
