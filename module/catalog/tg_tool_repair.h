/*
 * Repairs tools (MCP "Tool", both eras). Clients validate a list as a whole:
 * one wrong member of one tool makes all tools of all servers unusable. So a
 * wrong member is replaced by an equivalent one, or left out. A tool that
 * cannot be repaired is not listed.
 */
#ifndef TG_TOOL_REPAIR_H
#define TG_TOOL_REPAIR_H

#include "base/tg_json.h"

/* Maximum bytes that the search for targets of "$ref" may read, per list. */
#define TG_TOOL_REF_BYTES_MAX 16777216u

/* Input schema for a tool without one. */
#define TG_TOOL_NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"

/* Types of repairs; a set has one bit for each, 1 << TYPE. */
typedef enum {
    TG_REPAIR_NULL,
    TG_REPAIR_EMPTY,
    TG_REPAIR_DUPLICATE,
    TG_REPAIR_TITLE,
    TG_REPAIR_DESCRIPTION,
    TG_REPAIR_ICONS,
    TG_REPAIR_ANNOTATIONS,
    TG_REPAIR_EXECUTION,
    TG_REPAIR_META,
    TG_REPAIR_INPUT,
    TG_REPAIR_TYPE,
    TG_REPAIR_SCHEMA_URI,
    TG_REPAIR_BOOLEAN,
    TG_REPAIR_PROPERTY,
    TG_REPAIR_PROPERTIES,
    TG_REPAIR_REQUIRED,
    TG_REPAIR_OUTPUT,
    TG_REPAIR_MODERN,
    TG_REPAIR_COUNT
} tg_tool_repair_type_t;

typedef struct {
    /* Checks plain text for an ECMA-262 pattern. NULL: all are valid. */
    int (*is_pattern)(tg_str_t text);
    size_t refs;   /* bytes read so far; see TG_TOOL_REF_BYTES_MAX */
    int has_input; /* 1: the list will have another input schema */

    /* Results of tg_tool_repair(). */
    unsigned repairs; /* bits 1 << TG_REPAIR_*; 0: nothing to repair */
    /* 1: the outputSchema is invalid for the legacy era */
    int is_modern;
    /* "anyOf", "oneOf" or "allOf" at the root of the inputSchema, or absent */
    tg_str_t root_union;
    /* reason why the tool cannot be listed, or NULL */
    const char *why;
} tg_tool_repair_t;

/*
 * Checks a raw element. If it needs repair, appends the whole tool to out.
 * Returns NULL, or a static text: why it cannot be listed. Only out shows a
 * lack of memory.
 */
const char *tg_tool_repair(tg_tool_repair_t *repair, tg_str_t raw,
                           tg_buf_t *out);

/* Appends the descriptions, separated by "; ". */
void tg_tool_repairs_write(tg_buf_t *out, unsigned repairs);

typedef enum {
    TG_TOOL_SCHEMA_INPUT,
    TG_TOOL_SCHEMA_OUTPUT
} tg_tool_schema_type_t;

/* Appends a raw schema, repaired if needed. TG_INVALID: it cannot be. */
int tg_tool_schema_write_repaired(tg_tool_repair_t *repair,
                                  tg_tool_schema_type_t kind, tg_str_t raw,
                                  tg_buf_t *out);

/* Returns anyOf, oneOf or allOf, which some model APIs reject at the root. */
tg_str_t tg_tool_schema_find_union(tg_str_t raw);

static inline void
tg_tool_repair_add(tg_tool_repair_t *repair, tg_tool_repair_type_t what)
{
    repair->repairs |= 1u << what;
}

#endif
