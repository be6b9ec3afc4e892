/* Tables for people. */
#ifndef TG_CLI_TABLE_H
#define TG_CLI_TABLE_H

#include "cli/tg_cli_json.h"

/* --- cells --- */

/* A cell of a table: a member of the row's object. */
typedef struct {
    json_object *parent; /* object that contains the list of rows */
    json_object *row;
    const char *member;
} tg_cli_cell_t;

/* Appends the text of a cell, without control characters. */
typedef void (*tg_cli_cell_append_pt)(tg_buf_t *out, const tg_cli_cell_t *cell);

void tg_cli_cell_append_text(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_cell_append_first_line(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_cell_append_uint(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_cell_append_bytes(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends a text, or "-" if it is absent or empty. */
void tg_cli_cell_append_optional_text(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends a number, or "-" if it is 0 or absent. */
void tg_cli_cell_append_optional_uint(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends a duration in ms, or "-" if it is 0 or absent. */
void tg_cli_cell_append_optional_ms(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_cell_append_ms(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_cell_append_parent_text(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends the members that are not 0, except "ok": `timeout 2`. */
void tg_cli_cell_append_counts(tg_buf_t *out, const tg_cli_cell_t *cell);
void tg_cli_append_visible(tg_buf_t *out, tg_str_t text);

/* Appends the text of a member without control characters. */
void tg_cli_append_member(tg_buf_t *out, json_object *object, const char *name);

/* Appends the first line of a text, without control characters. */
void tg_cli_append_first_line(tg_buf_t *out, tg_str_t text);

/* Appends a duration: `1.5 s`. */
void tg_cli_append_duration(tg_buf_t *out, double ms);

/* --- tables --- */

#define TG_CLI_TABLE_COLUMNS_MAX 16

/*
 * A head with > is flush right; the last column may have one with <, and then
 * ends at the terminal's width.
 */
typedef struct {
    const char *head; /* NULL: end of the columns */
    tg_cli_cell_append_pt append;
    const char *member;
} tg_cli_column_t;

typedef struct {
    const tg_cli_column_t *columns;
    size_t widths[TG_CLI_TABLE_COLUMNS_MAX];
    size_t nrows;
    tg_buf_t cells; /* each with a tab at its end */
} tg_cli_table_t;

void tg_cli_table_init(tg_cli_table_t *table, const tg_cli_column_t *columns);
void tg_cli_table_add(tg_cli_table_t *table, json_object *parent,
                      json_object *row);
void tg_cli_table_add_list(tg_cli_table_t *table, json_object *parent,
                           const char *name);

/* Appends a table to the output, and frees it. */
void tg_cli_table_append(tg_cli_table_t *table, tg_buf_t *out);

/* Appends an empty line and the table, unless it has no rows; frees it. */
void tg_cli_table_append_section(tg_cli_table_t *table, tg_buf_t *out);

/* Appends a line `label value` for each column whose cell is not empty. */
void tg_cli_append_fields(tg_buf_t *out, const tg_cli_column_t *columns,
                          json_object *parent, json_object *object);

/* Begins a line with a label, padded to the column of the values. */
void tg_cli_append_label(tg_buf_t *out, const char *label);

#endif
