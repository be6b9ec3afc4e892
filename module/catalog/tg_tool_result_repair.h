/*
 * Repairs tool results (MCP "CallToolResult") of other servers so that every
 * client can read them.
 *
 * Clients validate a result as a whole, and one wrong member makes the whole
 * result unusable, though the tool has done its work. So a wrong member is
 * replaced by an equivalent one, or left out; an unreadable block becomes a
 * text block.
 */
#ifndef TG_TOOL_RESULT_REPAIR_H
#define TG_TOOL_RESULT_REPAIR_H

#include "base/tg_json.h"

/*
 * Maximum bytes of a result; larger ones are not repaired, as a repair is a
 * single step.
 */
#define TG_TOOL_RESULT_REPAIR_MAX 4194304u

/*
 * Checks a raw result. If something must be repaired, appends the whole result
 * to out; otherwise out stays unchanged. Returns NULL, or the reason why the
 * result cannot be read, a static text. A lack of memory is visible only in
 * out.
 */
const char *tg_tool_result_repair(tg_str_t raw, tg_buf_t *out);

/*
 * Checks quickly whether a result has only text blocks and `isError`, so that
 * it needs no repair. May return 0 for other valid results, too.
 */
int tg_tool_result_has_texts_only(tg_str_t raw);

/*
 * Appends a raw result without structuredContent. If its content is empty, a
 * text block with the JSON of structuredContent is added.
 */
void tg_tool_result_write_unstructured(tg_buf_t *out, tg_str_t raw);

/* Appends a raw result with value as its structuredContent. */
void tg_tool_result_write_structured(tg_buf_t *out, tg_str_t raw,
                                     tg_str_t value);

#endif
