/*
 * Tables for people, and access to members of JSON objects.
 */
#ifndef TG_CLI_TABLE_H
#define TG_CLI_TABLE_H

#include "base/tg_buf.h"

#include <json-c/json.h>

/* --- members of JSON objects --- */

/*
 * Parses valid JSON.  The caller calls json_object_put() on the value.
 * Returns NULL if there is no memory.
 */
struct json_object *tg_cli_json_parse(tg_str_t raw);

/*
 * The functions below return 0, "" or NULL if the object is NULL or has no
 * such member.
 */

uint64_t tg_cli_json_get_uint(struct json_object *object, const char *name);
int tg_cli_json_get_bool(struct json_object *object, const char *name);
const char *tg_cli_json_get_text(struct json_object *object, const char *name);
struct json_object *tg_cli_json_get_member(struct json_object *object,
                                           const char *name,
                                           enum json_type type);

/*
 * Returns element i of a member that is an array, or NULL after the last one.
 */
struct json_object *tg_cli_json_get_element(struct json_object *object,
                                            const char *name, size_t i);

/* --- cells --- */

/* A cell of a table: a member of the row's object. */
typedef struct {
    struct json_object *parent; /* object that contains the list of rows */
    struct json_object *row;
    const char *member;
} tg_cli_cell_t;

/* Appends the text of a cell, without control characters. */
typedef void (*tg_cli_cell_append_pt)(tg_buf_t *out, const tg_cli_cell_t *cell);

void tg_cli_cell_append_text(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_cell_append_first_line(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_cell_append_uint(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_cell_append_bytes(tg_buf_t *out, const tg_cli_cell_t *cell);

/* "-" for an absent or empty text */
void tg_cli_cell_append_optional_text(tg_buf_t *out, const tg_cli_cell_t *cell);

/* "-" for 0, as of an absent member */
void tg_cli_cell_append_optional_uint(tg_buf_t *out, const tg_cli_cell_t *cell);

/* A duration in ms; "-" for 0 */
void tg_cli_cell_append_optional_ms(tg_buf_t *out, const tg_cli_cell_t *cell);

/* A duration in ms */
void tg_cli_cell_append_ms(tg_buf_t *out, const tg_cli_cell_t *cell);

/* A text member of the parent */
void tg_cli_cell_append_parent_text(tg_buf_t *out, const tg_cli_cell_t *cell);

/*
 * The members of an object whose values are not 0, except "ok": `timeout 2`
 */
void tg_cli_cell_append_counts(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends text without control characters. */
void tg_cli_append_visible(tg_buf_t *out, const char *text);

/* Appends the first line of text, without control characters. */
void tg_cli_append_first_line(tg_buf_t *out, const char *text);

/* Appends a duration: `1.5 s`. */
void tg_cli_append_duration(tg_buf_t *out, double ms);

/* --- tables --- */

/*
 * A column.  A head that begins with > makes the column flush right; a head
 * that begins with < makes the column, the last one, end at the width of the
 * terminal.
 */
typedef struct {
    const char *head; /* NULL: end of the columns */
    tg_cli_cell_append_pt append;
    const char *member;
} tg_cli_column_t;

typedef struct {
    const tg_cli_column_t *columns;
    size_t nrows;
    tg_buf_t cells;
} tg_cli_table_t;

void tg_cli_table_init(tg_cli_table_t *table, const tg_cli_column_t *columns);
void tg_cli_table_add(tg_cli_table_t *table, struct json_object *parent,
                      struct json_object *row);

/* Adds each element of a list of parent. */
void tg_cli_table_add_list(tg_cli_table_t *table, struct json_object *parent,
                           const char *name);

/* Appends a table to the output, and frees it. */
void tg_cli_table_append(tg_cli_table_t *table, tg_buf_t *out);

/*
 * Appends an empty line and a table, unless the table has no rows, and frees
 * it.
 */
void tg_cli_table_append_section(tg_cli_table_t *table, tg_buf_t *out);

/*
 * Appends a line `label      value` for each column whose cell is not empty.
 */
void tg_cli_append_fields(tg_buf_t *out, const tg_cli_column_t *columns,
                          struct json_object *parent,
                          struct json_object *object);

/* Begins a line with a label, padded to the column of the values. */
void tg_cli_append_label(tg_buf_t *out, const char *label);

#endif
