/*
 * Tables for people, and access to members of JSON objects.
 */
#include "cli/tg_cli_status.h"

#include "base/tg_utf8.h"
#include "cli/tg_cli_output.h"

#define TG_CLI_TABLE_COLUMNS_MAX 16

/* --- members of JSON objects --- */

struct json_object *
tg_cli_json_parse(tg_str_t raw)
{
    struct json_object *value;
    struct json_tokener *tokener;

    tokener = json_tokener_new();
    value = tokener != NULL
                ? json_tokener_parse_ex(tokener, raw.data, (int) raw.len)
                : NULL;

    if (tokener != NULL) {
        json_tokener_free(tokener);
    }

    return value;
}

struct json_object *
tg_cli_json_get_member(struct json_object *object, const char *name,
                       enum json_type type)
{
    struct json_object *value;

    return json_object_is_type(object, json_type_object)
                   && json_object_object_get_ex(object, name, &value)
                   && json_object_is_type(value, type)
               ? value
               : NULL;
}

uint64_t
tg_cli_json_get_uint(struct json_object *object, const char *name)
{
    struct json_object *value;

    value = tg_cli_json_get_member(object, name, json_type_int);

    return value != NULL ? json_object_get_uint64(value) : 0;
}

const char *
tg_cli_json_get_text(struct json_object *object, const char *name)
{
    struct json_object *value;

    value = tg_cli_json_get_member(object, name, json_type_string);

    return value != NULL ? json_object_get_string(value) : "";
}

struct json_object *
tg_cli_json_get_element(struct json_object *object, const char *name, size_t i)
{
    struct json_object *array;

    array = tg_cli_json_get_member(object, name, json_type_array);

    return array != NULL && i < json_object_array_length(array)
               ? json_object_array_get_idx(array, i)
               : NULL;
}

/* --- tables --- */

typedef struct {
    size_t width;
    int is_right_aligned;
    int is_truncated;
} tg_cli_table_column_t;

/* Smallest width of a truncated cell, in characters. */
#define TG_CLI_CELL_WIDTH_MIN 20

/*
 * Returns the width of a cell in characters; control characters have been
 * replaced before.
 */
static size_t
tg_cli_cell_get_width(tg_str_t cell)
{
    size_t i, n;

    for (i = 0, n = 0; i < cell.len; i++) {
        n += ((unsigned char) cell.data[i] & 0xc0) != 0x80;
    }

    return n;
}

/*
 * Removes and returns the first cell; *is_last is set if the cell ends its
 * row.
 */
static tg_str_t
tg_cli_cells_read_next(tg_str_t *cells, int *is_last)
{
    tg_str_t cell;
    size_t n;

    for (n = 0;
         n < cells->len && cells->data[n] != '\t' && cells->data[n] != '\n';
         n++)
    {
    }

    cell = tg_str(cells->data, n);
    *is_last = n == cells->len || cells->data[n] == '\n';
    n += n != cells->len;
    *cells = tg_str(cells->data + n, cells->len - n);

    return cell;
}

static void
tg_cli_table_measure_columns(tg_cli_table_column_t *columns, tg_str_t cells)
{
    size_t i, width;
    tg_str_t cell;
    int is_last, is_head;

    for (i = 0, is_head = 1; cells.len != 0; i = is_last ? 0 : i + 1) {
        cell = tg_cli_cells_read_next(&cells, &is_last);
        width = tg_cli_cell_get_width(cell);

        if (i < TG_CLI_TABLE_COLUMNS_MAX) {
            if (is_head && cell.len != 0
                && (cell.data[0] == '>' || cell.data[0] == '<')) {
                columns[i].is_right_aligned = cell.data[0] == '>';
                columns[i].is_truncated = cell.data[0] == '<';
                width--;
            }

            columns[i].width = width > columns[i].width ? width
                                                        : columns[i].width;
        }

        is_head &= !is_last;
    }
}

/*
 * Appends a cell that starts at a column, truncated to the terminal's width.
 */
static void
tg_cli_table_append_truncated(tg_buf_t *out, tg_str_t cell, size_t column)
{
    size_t room, width;

    width = tg_cli_terminal_get_width();
    room = width > column + TG_CLI_CELL_WIDTH_MIN ? width - column
                                                  : TG_CLI_CELL_WIDTH_MIN;

    if (width == 0 || tg_cli_cell_get_width(cell) <= room) {
        tg_buf_append_str(out, cell);
    } else {
        tg_buf_append(out, cell.data, tg_utf8_prefix_len(cell, room - 1));
        tg_buf_append_cstr(out, "…");
    }
}

void
tg_cli_append_table(tg_buf_t *out, tg_str_t cells)
{
    tg_cli_table_column_t columns[TG_CLI_TABLE_COLUMNS_MAX];
    tg_str_t cell;
    size_t i, at;
    int is_last, is_head, fill;

    memset(columns, 0, sizeof(columns));
    tg_cli_table_measure_columns(columns, cells);

    for (i = at = 0, is_head = 1; cells.len != 0; i = is_last ? 0 : i + 1) {
        cell = tg_cli_cells_read_next(&cells, &is_last);

        if (i >= TG_CLI_TABLE_COLUMNS_MAX) {
            continue;
        }

        if (is_head && (columns[i].is_right_aligned || columns[i].is_truncated))
        {
            cell = tg_str(cell.data + 1, cell.len - 1);
        }

        at = i == 0 ? 0 : at + columns[i - 1].width + 2;
        fill = (int) (columns[i].width - tg_cli_cell_get_width(cell));
        tg_buf_append_cstr(out,
                           i == 0 || (is_last && cell.len == 0) ? "" : "  ");

        if (columns[i].is_right_aligned) {
            tg_buf_printf(out, "%*s", fill, "");
        }

        if (columns[i].is_truncated) {
            tg_cli_table_append_truncated(out, cell, at);
        } else {
            tg_buf_append_str(out, cell);
        }

        if (is_last) {
            tg_buf_append_char(out, '\n');
        } else if (!columns[i].is_right_aligned) {
            tg_buf_printf(out, "%*s", fill, "");
        }

        is_head &= !is_last;
    }
}

/* --- cells --- */

void
tg_cli_cells_append_text(tg_buf_t *cells, const char *text, char end)
{
    tg_utf8_append_visible(cells, tg_str_from_cstr(text), 1);
    tg_buf_append_char(cells, end);
}

void
tg_cli_cells_append_first_line(tg_buf_t *cells, const char *text, char end)
{
    size_t len;

    len = strcspn(text, "\r\n");
    tg_utf8_append_visible(cells, tg_str(text, len), 1);
    tg_buf_append_cstr(cells, text[len + strspn(text + len, "\r\n")] != '\0'
                                  ? "…"
                                  : "");
    tg_buf_append_char(cells, end);
}

void
tg_cli_append_duration(tg_buf_t *cells, double ms)
{
    if (ms < 1000) {
        tg_buf_printf(cells, ms < 10 ? "%.2g ms" : "%.0f ms", ms);
    } else if (ms < 60000) {
        tg_buf_printf(cells, "%.1f s", ms / 1000);
    } else if (ms < 3600000) {
        tg_buf_printf(cells, ms < 600000 ? "%.2g min" : "%.0f min", ms / 60000);
    } else if (ms < 172800000) {
        tg_buf_printf(cells, ms < 36000000 ? "%.2g h" : "%.0f h", ms / 3600000);
    } else {
        tg_buf_printf(cells, "%.0f days", ms / 86400000);
    }
}
