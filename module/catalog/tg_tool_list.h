/*
 * The tools that an MCP server announced, as a catalogue: a snapshot that
 * never changes, and that lives as long as somebody holds it.
 */
#ifndef TG_TOOL_LIST_H
#define TG_TOOL_LIST_H

#include "catalog/tg_catalog.h"

/* More than any model can be told of; a list beyond it is a fault. */
#define TG_TOOL_LIST_TOOLS_MAX 65536
#define TG_TOOL_LIST_BYTES_MAX 67108864u

/* Tools of one list that are told of; who mends one sees the others then. */
#define TG_TOOL_LIST_REPORTS_MAX 16

/*
 * Is told of tools that are listed with repairs, or left out: of the first
 * TG_TOOL_LIST_REPORTS_MAX of a list.  name is an escaped body, or absent; why
 * is plain text (tg_tool_repair.h).
 */
typedef struct {
    int (*is_pattern)(tg_str_t text); /* see tg_tool_repair_t */
    void (*on_repair)(void *ctx, tg_str_t name, tg_str_t why, int is_left_out);
    void *ctx;
} tg_tool_list_check_t;

/*
 * Writes the raw array `tools` as clients of both eras can read it.  TG_OK,
 * or TG_NOMEM.
 */
int tg_tool_list_repair(tg_str_t array, const tg_tool_list_check_t *check,
                        tg_buf_t *out);

/* The same in steps. */
typedef struct tg_tool_list_repair_s tg_tool_list_repair_t;

/* Begins to repair an array, which outlives the steps; NULL: no memory. */
tg_tool_list_repair_t *tg_tool_list_repair_begin(
    const tg_alloc_t *alloc, tg_str_t array, const tg_tool_list_check_t *check);

/*
 * Repairs so many bytes, and one tool: TG_AGAIN; TG_OK, and the whole array is
 * in out, which is initialised; or TG_NOMEM.
 */
int tg_tool_list_repair_step(tg_tool_list_repair_t *steps, size_t bytes,
                             tg_buf_t *out);

/* After the last step, or before it; steps may be NULL. */
void tg_tool_list_repair_end(tg_tool_list_repair_t *steps);

/* The steps in which a list is read; the host looks at none of it. */
typedef struct {
    tg_catalog_t *tools; /* NULL: nothing is read */
    const tg_alloc_t *alloc;
    tg_str_t array;
    tg_json_cursor_t rest;
    size_t n;                  /* elements */
    size_t size;               /* of all names and entries */
    tg_catalog_entry_t *entry; /* the next free one; NULL: they are counted */
    char *names;               /* the room for names that is left */
    size_t nleft_out;
    int is_filled;
} tg_tool_list_reader_t;

/*
 * Begins to read a list in steps, as tg_tool_list_parse() does: TG_OK,
 * TG_INVALID, TG_LIMIT or TG_NOMEM.  The array must live until it is read.
 */
int tg_tool_list_read_begin(tg_tool_list_reader_t *reader,
                            const tg_alloc_t *alloc, uint64_t seed,
                            tg_str_t array);

/*
 * Reads on, up to so many bytes and one tool.  TG_AGAIN: there are more; TG_OK,
 * with the snapshot held once; or as tg_tool_list_parse().  After all but
 * TG_AGAIN nothing is read any more.
 */
int tg_tool_list_read_step(tg_tool_list_reader_t *reader, size_t bytes,
                           tg_catalog_t **tools, size_t *nleft_out);

/* Forgets what was read so far. */
void tg_tool_list_read_stop(tg_tool_list_reader_t *reader);

/*
 * Reads the raw array `tools` of tools/list, which may be freed afterwards.
 * seed is a random number where somebody else names the tools.
 * Elements that are no tool, and a tool whose name was there before, are
 * left out and counted.  TG_OK, with the snapshot held once; TG_INVALID when it
 * is no array; TG_LIMIT when nobody can want so many; TG_NOMEM.
 */
int tg_tool_list_parse(const tg_alloc_t *alloc, uint64_t seed, tg_str_t array,
                       tg_catalog_t **tools, size_t *nleft_out);

#endif
