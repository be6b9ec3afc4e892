/* Tables for people. */
#include "cli/tg_cli_table.h"

#include "base/tg_utf8.h"
#include "cli/tg_cli_output.h"

/* Smallest width of a truncated cell, in characters. */
#define TG_CLI_CELL_WIDTH_MIN 20

/* --- tables --- */

/* Control characters have been replaced before. */
static size_t
tg_cli_cell_get_width(tg_str_t cell)
{
    size_t i, n;

    for (i = 0, n = 0; i < cell.len; i++) {
        n += ((unsigned char) cell.data[i] & 0xc0) != 0x80;
    }

    return n;
}

/* Ends the cell of a column, which begins at start in the table's cells. */
static void
tg_cli_table_end_cell(tg_cli_table_t *table, size_t column, size_t start)
{
    tg_str_t cell;
    size_t width;

    cell = tg_buf_view(&table->cells);
    width = cell.len != 0 ? tg_cli_cell_get_width(tg_str_skip(cell, start)) : 0;
    table->widths[column] = width > table->widths[column]
                                ? width
                                : table->widths[column];
    tg_buf_append_char(&table->cells, '\t');
}

void
tg_cli_table_init(tg_cli_table_t *table, const tg_cli_column_t *columns)
{
    size_t i, start;

    memset(table, 0, sizeof(*table));
    table->columns = columns;
    tg_buf_init(&table->cells, tg_alloc_libc());

    for (i = 0; columns[i].head != NULL; i++) {
        start = table->cells.len;
        tg_buf_append_cstr(&table->cells,
                           columns[i].head
                               + tg_is_one_of(columns[i].head[0], "<>"));
        tg_cli_table_end_cell(table, i, start);
    }
}

void
tg_cli_table_add(tg_cli_table_t *table, json_object *parent, json_object *row)
{
    size_t i, start;

    for (i = 0; table->columns[i].head != NULL; i++) {
        const tg_cli_cell_t cell = { parent, row, table->columns[i].member };

        start = table->cells.len;
        table->columns[i].append(&table->cells, &cell);
        tg_cli_table_end_cell(table, i, start);
    }

    table->nrows++;
}

void
tg_cli_table_add_list(tg_cli_table_t *table, json_object *parent,
                      const char *name)
{
    tg_cli_json_iter_t json;
    json_object *row;

    tg_cli_json_iter_init(&json, tg_cli_json_get(parent, name));

    while (tg_cli_json_iter_next(&json, &row)) {
        tg_cli_table_add(table, parent, row);
    }
}

/* Appends a cell that starts at a column, truncated to the terminal's width. */
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
tg_cli_table_append(tg_cli_table_t *table, tg_buf_t *out)
{
    const tg_cli_column_t *column;
    const char *p, *end, *tab;
    size_t at, width;
    tg_str_t cell;
    int fill;

    if (tg_buf_has_failed(&table->cells)) {
        out->failed = 1;
        tg_buf_deinit(&table->cells);
        return;
    }

    column = table->columns;
    p = tg_buf_view(&table->cells).data;
    end = p + table->cells.len;

    for (at = 0; p < end; p = tab + 1) {
        tab = memchr(p, '\t', (size_t) (end - p));
        cell = tg_str(p, (size_t) (tab - p));
        width = table->widths[column - table->columns];
        fill = (int) (width - tg_cli_cell_get_width(cell));

        if (at != 0 && (cell.len != 0 || column[1].head != NULL)) {
            tg_buf_append_cstr(out, "  ");
        }

        if (column->head[0] == '<') {
            tg_cli_table_append_truncated(out, cell, at);
        } else {
            tg_buf_printf(out, "%*s%.*s", column->head[0] == '>' ? fill : 0, "",
                          (int) cell.len, cell.data);
        }

        column++;
        at += width + 2;

        if (column->head == NULL) {
            column = table->columns;
            at = 0;
            tg_buf_append_char(out, '\n');
        } else if (column[-1].head[0] != '>') {
            tg_buf_printf(out, "%*s", fill, "");
        }
    }

    tg_buf_deinit(&table->cells);
}

void
tg_cli_table_append_section(tg_cli_table_t *table, tg_buf_t *out)
{
    if (table->nrows != 0) {
        tg_buf_append_char(out, '\n');
        tg_cli_table_append(table, out);
    } else {
        tg_buf_deinit(&table->cells);
    }
}

void
tg_cli_append_label(tg_buf_t *out, const char *label)
{
    tg_buf_printf(out, "%-10s ", label);
}

void
tg_cli_append_fields(tg_buf_t *out, const tg_cli_column_t *columns,
                     json_object *parent, json_object *object)
{
    size_t start, len;

    for (/* void */; columns->head != NULL; columns++) {
        const tg_cli_cell_t cell = { parent, object, columns->member };

        start = out->len;
        tg_cli_append_label(out, columns->head);
        len = out->len;
        columns->append(out, &cell);

        if (out->len == len) {
            tg_buf_truncate(out, start);
        } else {
            tg_buf_append_char(out, '\n');
        }
    }
}


void
tg_cli_append_visible(tg_buf_t *out, tg_str_t text)
{
    tg_utf8_append_visible(out, text, 1);
}

void
tg_cli_append_member(tg_buf_t *out, json_object *object, const char *name)
{
    tg_cli_append_visible(out, tg_cli_json_get_text(object, name));
}

void
tg_cli_append_first_line(tg_buf_t *out, tg_str_t text)
{
    size_t len;

    len = tg_str_find_char(text, "\r\n");
    tg_cli_append_visible(out, tg_str(text.data, len));

    while (len < text.len && tg_is_one_of(text.data[len], "\r\n")) {
        len++;
    }

    tg_buf_append_cstr(out, len < text.len ? "…" : "");
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

static void
tg_cli_append_byte_size(tg_buf_t *out, uint64_t bytes)
{
    static const char units[] = " kMGT";
    double value;
    size_t i;

    if (bytes < 1000) {
        tg_buf_append_uint(out, bytes);
        return;
    }

    value = (double) bytes;

    for (i = 0; value >= 999.5 && units[i + 1] != '\0'; i++) {
        value /= 1000;
    }

    tg_buf_printf(out, value < 9.95 ? "%.1f %cB" : "%.0f %cB", value, units[i]);
}

void
tg_cli_cell_append_text(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_cli_append_member(out, cell->row, cell->member);
}

void
tg_cli_cell_append_first_line(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_cli_append_first_line(out,
                             tg_cli_json_get_text(cell->row, cell->member));
}

void
tg_cli_cell_append_optional_text(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_str_t text;

    text = tg_cli_json_get_text(cell->row, cell->member);
    tg_cli_append_visible(out, text.len != 0 ? text : TG_STR("-"));
}

void
tg_cli_cell_append_parent_text(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_cli_append_member(out, cell->parent, cell->member);
}

void
tg_cli_cell_append_uint(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_buf_append_uint(out, tg_cli_json_get_uint(cell->row, cell->member));
}

void
tg_cli_cell_append_optional_uint(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    if (tg_cli_json_get_uint(cell->row, cell->member) != 0) {
        tg_cli_cell_append_uint(out, cell);
    } else {
        tg_buf_append_char(out, '-');
    }
}

void
tg_cli_cell_append_bytes(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_cli_append_byte_size(out, tg_cli_json_get_uint(cell->row, cell->member));
}

void
tg_cli_cell_append_ms(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_cli_append_duration(out, (double) tg_cli_json_get_uint(cell->row,
                                                              cell->member));
}

void
tg_cli_cell_append_optional_ms(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    if (tg_cli_json_get_uint(cell->row, cell->member) != 0) {
        tg_cli_cell_append_ms(out, cell);
    } else {
        tg_buf_append_char(out, '-');
    }
}

void
tg_cli_cell_append_counts(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_cli_json_iter_t json;
    const char *comma, *name;
    json_object *value;
    uint64_t n;

    tg_cli_json_iter_init_members(&json,
                                  tg_cli_json_get(cell->row, cell->member));
    comma = "";

    while (tg_cli_json_iter_next_member(&json, &name, &value)) {
        n = tg_cli_json_to_uint(value);

        if (n != 0 && strcmp(name, "ok") != 0) {
            tg_buf_append_cstr(out, comma);
            tg_cli_append_visible(out, tg_str_from_cstr(name));
            tg_buf_append_char(out, ' ');
            tg_buf_append_uint(out, n);
            comma = ", ";
        }
    }
}
