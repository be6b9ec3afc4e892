/* Repairs content blocks of tool results; for tg_tool_result_repair.c. */
#ifndef TG_TOOL_RESULT_BLOCK_H
#define TG_TOOL_RESULT_BLOCK_H

#include "catalog/tg_mcp_type.h"

/* Returns the members of the block's type, or NULL if it is unknown. */
const tg_mcp_member_t *tg_content_block_members(tg_str_t block);

int tg_content_block_is_valid(tg_str_t block);

/* Appends a raw block as an equivalent valid block, or as a text block. */
void tg_content_block_write_repaired(tg_buf_t *out, tg_str_t block);

/* Appends a text block with a string, or with the JSON of another value. */
void tg_content_block_write_text(tg_buf_t *out, tg_str_t value);

#endif
