/*
 * Results of tools as MCP types them (CallToolResult): what the server of
 * somebody else answers, so that every client can read it.
 *
 * Clients check a result as a whole, and one wrong member costs them all of
 * it, though the tool has done its work.  A member that is wrong is written
 * as what means the same, or left out; a block that no client can read
 * becomes a text.
 */
#ifndef TG_TOOL_RESULT_REPAIR_H
#define TG_TOOL_RESULT_REPAIR_H

#include "base/tg_json.h"

/* Bytes of a result; a larger one stays as it is, as this is one step. */
#define TG_TOOL_RESULT_REPAIR_MAX 4194304u

/*
 * Checks a raw result: NULL, or why it cannot be read, static text.  Where
 * something is repaired, the whole result is appended to out, which else stays
 * as it is.  Memory that ran out is told by out alone.
 */
const char *tg_tool_result_repair(tg_str_t raw, tg_buf_t *out);

/*
 * Checks in one pass whether a valid result has texts and `isError` alone, so
 * that nothing in it needs repair.  It may return 0 for other right results.
 */
int tg_tool_result_has_texts_only(tg_str_t raw);

/*
 * Appends a raw result without its structuredContent, which its texts have:
 * where they are none, its JSON becomes one.
 */
void tg_tool_result_write_unstructured(tg_buf_t *out, tg_str_t raw);

/* Appends a raw result with a raw value as its structuredContent. */
void tg_tool_result_write_structured(tg_buf_t *out, tg_str_t raw,
                                     tg_str_t value);

#endif
