/*
 * The tools that an MCP server announced, as a catalog: an immutable,
 * reference-counted snapshot.
 */
#ifndef TG_TOOL_LIST_H
#define TG_TOOL_LIST_H

#include "catalog/tg_catalog.h"

/* Limits of a list, in tools and in bytes; more is treated as an error. */
#define TG_TOOL_LIST_TOOLS_MAX 65536
#define TG_TOOL_LIST_BYTES_MAX 67108864u

/*
 * Maximum number of repaired tools per list that are reported. The others are
 * reported after the first ones are fixed.
 */
#define TG_TOOL_LIST_REPORTS_MAX 16

/* Configuration and observer of a list's repair. */
typedef struct {
    /* Checks a regular expression; see tg_tool_repair_t. */
    int (*is_pattern)(tg_str_t text);
    /*
     * Receives a repaired tool, or one that is left out; for the first
     * TG_TOOL_LIST_REPORTS_MAX tools of a list.  name is an escaped body, or
     * absent; why is plain text (tg_tool_repair.h).
     */
    void (*on_repair)(void *ctx, tg_str_t name, tg_str_t why, int is_left_out);
    void *ctx;
} tg_tool_list_check_t;

/*
 * Writes the raw array `tools` so that clients of both MCP eras can read it.
 * Returns TG_OK or TG_NOMEM.
 */
int tg_tool_list_repair(tg_str_t array, const tg_tool_list_check_t *check,
                        tg_buf_t *out);

/* State of a repair in steps. */
typedef struct tg_tool_list_repair_s tg_tool_list_repair_t;

/*
 * Starts to repair an array in steps. array and check must outlive the steps.
 * Returns NULL if there is no memory.
 */
tg_tool_list_repair_t *tg_tool_list_repair_begin(
    const tg_alloc_t *alloc, tg_str_t array, const tg_tool_list_check_t *check);

/*
 * Repairs about `bytes` bytes, at least one tool. Returns TG_AGAIN if there is
 * more to do; TG_OK with the whole array in out, an initialized buffer; or
 * TG_NOMEM.
 */
int tg_tool_list_repair_step(tg_tool_list_repair_t *steps, size_t bytes,
                             tg_buf_t *out);

/* Ends the repair, completed or not, and frees steps, which may be NULL. */
void tg_tool_list_repair_end(tg_tool_list_repair_t *steps);

/* State of reading a list in steps; private to tg_tool_list.c. */
typedef struct {
    tg_catalog_t *tools; /* NULL: not reading */
    const tg_alloc_t *alloc;
    tg_str_t array;
    tg_json_cursor_t rest;
    size_t n;    /* number of elements */
    size_t size; /* bytes for all names and entries */
    /* next free entry; NULL: elements are being counted */
    tg_catalog_entry_t *entry;
    char *names; /* unused memory for names */
    size_t nleft_out;
    int is_filled;
} tg_tool_list_reader_t;

/*
 * Starts to read a list in steps. The array must stay valid until the end.
 * Returns TG_OK, TG_INVALID if array is not an array, TG_LIMIT if it is too
 * large, or TG_NOMEM.
 */
int tg_tool_list_read_begin(tg_tool_list_reader_t *reader,
                            const tg_alloc_t *alloc, uint64_t seed,
                            tg_str_t array);

/*
 * Reads about `bytes` bytes, at least one tool. Returns TG_AGAIN if there is
 * more to do; TG_OK with one reference to the catalog in *tools; TG_LIMIT if
 * the list is too large; or TG_NOMEM. After any code but TG_AGAIN the reader is
 * idle.
 */
int tg_tool_list_read_step(tg_tool_list_reader_t *reader, size_t bytes,
                           tg_catalog_t **tools, size_t *nleft_out);

/* Stops reading and frees what was read. */
void tg_tool_list_read_stop(tg_tool_list_reader_t *reader);

/*
 * Reads the raw array `tools` of a tools/list result to a catalog, which does
 * not refer to the array afterwards. seed should be random if the names are
 * untrusted. Elements that are not tools, and tools with duplicate names, are
 * left out and counted in *nleft_out. Returns TG_OK and one reference in
 * *tools; TG_INVALID if array is not an array; TG_LIMIT if it is too large; or
 * TG_NOMEM.
 */
int tg_tool_list_parse(const tg_alloc_t *alloc, uint64_t seed, tg_str_t array,
                       tg_catalog_t **tools, size_t *nleft_out);

#endif
