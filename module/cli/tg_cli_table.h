/*
 * Tables for people, and access to members of JSON objects.
 */
#ifndef TG_CLI_TABLE_H
#define TG_CLI_TABLE_H

#include "base/tg_json.h"

/* --- members of valid JSON objects --- */

/*
 * The functions below return 0 or an absent string if the object is absent or
 * has no such member.
 */

tg_str_t tg_cli_json_get_member(tg_str_t object, const char *name,
                                tg_json_type_t type);
uint64_t tg_cli_json_get_uint(tg_str_t object, const char *name);
int tg_cli_json_get_bool(tg_str_t object, const char *name);

/* Returns the escaped text of a string. */
tg_str_t tg_cli_json_get_text(tg_str_t object, const char *name);

/* Checks whether a member is this text. */
int tg_cli_json_has_text(tg_str_t object, const char *name, const char *text);

/* Appends the text of a string; control characters remain. */
void tg_cli_json_append_text(tg_buf_t *out, tg_str_t object, const char *name);

/* Starts an iteration of a list, with tg_json_iter_next(). */
void tg_cli_json_iter_init(tg_json_cursor_t *json, tg_str_t object,
                           const char *name);

/* Starts an iteration of an object's members. */
void tg_cli_json_members_init(tg_json_cursor_t *json, tg_str_t object,
                              const char *name);

/* Reads the next member with a number.  Returns 0 after the last member. */
int tg_cli_json_next_number(tg_json_cursor_t *json, tg_str_t *key,
                            uint64_t *number);

/* Returns the value of a raw number; 0 for another or an absent value. */
uint64_t tg_cli_json_parse_uint(tg_str_t raw);
double tg_cli_json_parse_double(tg_str_t raw);

/* --- cells --- */

/* A cell of a table: a member of the row's object. */
typedef struct {
    tg_str_t parent; /* object that contains the list of rows */
    tg_str_t row;
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

/* Appends a duration in ms. */
void tg_cli_cell_append_ms(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends a text member of the parent. */
void tg_cli_cell_append_parent_text(tg_buf_t *out, const tg_cli_cell_t *cell);

/*
 * Appends the members of an object whose values are not 0, except "ok", as
 * `timeout 2`.
 */
void tg_cli_cell_append_counts(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends an escaped text without control characters. */
void tg_cli_append_visible(tg_buf_t *out, tg_str_t body);

/* Appends the first line of an escaped text, without control characters. */
void tg_cli_append_first_line(tg_buf_t *out, tg_str_t body);

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
void tg_cli_table_add(tg_cli_table_t *table, tg_str_t parent, tg_str_t row);

/* Adds each element of a list of parent. */
void tg_cli_table_add_list(tg_cli_table_t *table, tg_str_t parent,
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
                          tg_str_t parent, tg_str_t object);

/* Begins a line with a label, padded to the column of the values. */
void tg_cli_append_label(tg_buf_t *out, const char *label);

#endif
