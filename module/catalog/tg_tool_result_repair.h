/*
 * Repairs tool results (MCP "CallToolResult") of other servers. Clients
 * validate a result as a whole, and one wrong member makes it unusable, though
 * the tool has done its work. So a wrong member is replaced by an equivalent
 * one, or left out; an unreadable block becomes a text block.
 */
#ifndef TG_TOOL_RESULT_REPAIR_H
#define TG_TOOL_RESULT_REPAIR_H

#include "base/tg_json.h"

/* Larger results are not repaired, as a repair is a single step. */
#define TG_TOOL_RESULT_REPAIR_MAX 4194304u

/*
 * Checks a raw result. If it needs repair, appends the whole result to out.
 * Returns NULL, or a static text: why it cannot be read. Only out shows a lack
 * of memory.
 */
const char *tg_tool_result_repair(tg_str_t raw, tg_buf_t *out);

/* Returns 1 for a result with only text blocks, which needs no repair. */
int tg_tool_result_has_texts_only(tg_str_t raw);

/* Moves structuredContent to a text block if there is no other content. */
void tg_tool_result_write_unstructured(tg_buf_t *out, tg_str_t raw);

/* Appends a raw result with value as its structuredContent. */
void tg_tool_result_write_structured(tg_buf_t *out, tg_str_t raw,
                                     tg_str_t value);

#endif
