/*
 * Tools as MCP types them (Tool, in both eras): what an element of a list
 * must be so that every client can read the list that it is in.
 *
 * Clients check a list as a whole, and one wrong member of one tool costs
 * them all tools of all servers.  A member that is wrong is written as what
 * means the same, or left out; a tool that nothing helps is not listed.
 */
#ifndef TG_TOOL_REPAIR_H
#define TG_TOOL_REPAIR_H

#include "base/tg_json.h"

/* Bytes that the search for targets of "$ref" may pass, in one list. */
#define TG_TOOL_REF_BYTES_MAX 16777216u

/* The input schema of a tool that has none. */
#define TG_TOOL_NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"

/* What was repaired, a bit each; tg_tool_repair_describe() says it in words. */
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

/* The check of one tool after the other, of one list. */
typedef struct {
    /* Is a plain text a regular expression of ECMA-262?  NULL: all are. */
    int (*is_pattern)(tg_str_t text);
    size_t refs;   /* bytes of TG_TOOL_REF_BYTES_MAX that were passed */
    int has_input; /* another input schema is listed instead of its own */

    /* set by tg_tool_repair() */
    unsigned repairs;    /* 1 << TG_REPAIR_…; 0: the tool is fine as it is */
    int is_modern;       /* its outputSchema is none for the legacy era */
    tg_str_t root_union; /* "anyOf" or its like at its inputSchema's root */
    const char *why;     /* it cannot be listed; or NULL */
} tg_tool_repair_t;

/*
 * Checks a raw element of a list: NULL, or why it cannot be listed, static
 * text.  Where something is repaired, the whole tool is appended to out,
 * which else stays as it is.  Memory that ran out is told by out alone.
 */
const char *tg_tool_repair(tg_tool_repair_t *repair, tg_str_t raw,
                           tg_buf_t *out);

/* The words of one repair, static text. */
const char *tg_tool_repair_describe(tg_tool_repair_type_t repair);

/* Appends the words of all that are set, with "; " between them. */
void tg_tool_repairs_write(tg_buf_t *out, unsigned repairs);

/* --- schemas of tools --- */

typedef enum {
    TG_TOOL_SCHEMA_INPUT,
    TG_TOOL_SCHEMA_OUTPUT
} tg_tool_schema_type_t;

/*
 * Appends a raw schema, repaired where that is needed; else it is byte for
 * byte what it was.  TG_OK; TG_INVALID: no client can read it, and out is as it
 * was before.
 */
int tg_tool_schema_write_repaired(tg_tool_repair_t *repair,
                                  tg_tool_schema_type_t kind, tg_str_t raw,
                                  tg_buf_t *out);

/*
 * The keyword at the root of an input schema that some models' APIs refuse
 * (anyOf, oneOf, allOf); or absent.
 */
tg_str_t tg_tool_schema_find_union(tg_str_t raw);

/* Notes a repair. */
static inline void
tg_tool_repair_add(tg_tool_repair_t *repair, tg_tool_repair_type_t what)
{
    repair->repairs |= 1u << what;
}

#endif
