/* The tools of an MCP server, as an immutable, reference-counted catalog. */
#ifndef TG_TOOL_LIST_H
#define TG_TOOL_LIST_H

#include "catalog/tg_catalog.h"

/* Limits of a list, in tools and in bytes. */
#define TG_TOOL_LIST_TOOLS_MAX 65536
#define TG_TOOL_LIST_BYTES_MAX 67108864u

/* Repairs of a list that are reported at once. */
#define TG_TOOL_LIST_REPORTS_MAX 16

typedef struct {
    /* Checks a regular expression; see tg_tool_repair_t. */
    int (*is_pattern)(tg_str_t text);
    /*
     * Receives the first TG_TOOL_LIST_REPORTS_MAX tools that are repaired or
     * left out. name is an escaped body, or absent; why is plain text.
     */
    void (*on_repair)(void *ctx, tg_str_t name, tg_str_t why, int is_left_out);
    void *ctx;
} tg_tool_list_check_t;

/* Writes the raw array `tools` so that clients of both MCP eras can read it. */
int tg_tool_list_repair(tg_str_t array, const tg_tool_list_check_t *check,
                        tg_buf_t *out);

typedef struct tg_tool_list_repair_s tg_tool_list_repair_t;

/* Begins a repair; array and check must outlive it. NULL: no memory. */
tg_tool_list_repair_t *tg_tool_list_repair_begin(
    const tg_alloc_t *alloc, tg_str_t array, const tg_tool_list_check_t *check);

/* Repairs about `bytes` bytes. TG_AGAIN: call again; TG_OK: out is complete. */
int tg_tool_list_repair_step(tg_tool_list_repair_t *steps, size_t bytes,
                             tg_buf_t *out);

/* Ends the repair at any time and frees steps, which may be NULL. */
void tg_tool_list_repair_end(tg_tool_list_repair_t *steps);

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

/* Begins to read an array, which must stay valid. TG_LIMIT: too large. */
int tg_tool_list_read_begin(tg_tool_list_reader_t *reader,
                            const tg_alloc_t *alloc, uint64_t seed,
                            tg_str_t array);

/*
 * Reads about `bytes` bytes, at least one tool. TG_AGAIN: there is more to do;
 * TG_OK: *tools is one reference; TG_LIMIT: the list is too large. After all
 * codes but TG_AGAIN the reader is idle.
 */
int tg_tool_list_read_step(tg_tool_list_reader_t *reader, size_t bytes,
                           tg_catalog_t **tools, size_t *nleft_out);

void tg_tool_list_read_stop(tg_tool_list_reader_t *reader);

/*
 * Reads the raw array `tools` at once and does not refer to it afterwards. seed
 * should be random if the names are untrusted. *nleft_out counts elements that
 * are not tools or have duplicate names. TG_OK: *tools is one reference;
 * TG_INVALID: not an array; TG_LIMIT: it is too large.
 */
int tg_tool_list_parse(const tg_alloc_t *alloc, uint64_t seed, tg_str_t array,
                       tg_catalog_t **tools, size_t *nleft_out);

#endif
