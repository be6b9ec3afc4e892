/*
 * The tables of `toolgate status` and `toolgate ps`.
 */
#include "cli/tg_cli_status.h"

#include "base/tg_utf8.h"

/* --- cells --- */

static void
tg_cli_cells_append_uint(tg_buf_t *cells, uint64_t value)
{
    tg_buf_append_uint(cells, value);
    tg_buf_append_char(cells, '\t');
}

/* Appends a cell with a process id, or "-" for 0. */
static void
tg_cli_cells_append_pid(tg_buf_t *cells, uint64_t pid)
{
    if (pid != 0) {
        tg_cli_cells_append_uint(cells, pid);
    } else {
        tg_buf_append_cstr(cells, "-\t");
    }
}

void
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

static void
tg_cli_cells_append_byte_size(tg_buf_t *cells, uint64_t bytes)
{
    tg_cli_append_byte_size(cells, bytes);
    tg_buf_append_char(cells, '\t');
}

static void
tg_cli_cells_append_tool_name(tg_buf_t *cells, struct json_object *entry)
{
    tg_utf8_append_visible(
        cells, tg_str_from_cstr(tg_cli_json_get_text(entry, "name")), 1);
    tg_buf_append_cstr(
        cells, strcmp(tg_cli_json_get_text(entry, "type"), "method") == 0
                   ? " (method)\t"
                   : "\t");
}

/* --- tools --- */

static uint64_t
tg_cli_tool_count_ended_calls(struct json_object *tool)
{
    struct json_object *n;
    uint64_t sum;
    size_t i;

    for (i = 0, sum = 0;
         (n = tg_cli_json_get_element(tool, "times", i)) != NULL; i++)
    {
        sum += json_object_get_uint64(n);
    }

    return sum;
}

/*
 * The call of rank 95 % lies between the bounds of its bucket.  The sum of all
 * durations narrows the bounds: the calls from that rank on took at least as
 * long each, and the longest call took at least the mean.  Between the bounds
 * the calls are assumed to be distributed evenly.
 */
double
tg_cli_status_estimate_p95(struct json_object *status, struct json_object *tool)
{
    struct json_object *bucket, *bound;
    uint64_t all, rank, before, n;
    double low, high, sum;
    size_t i;

    all = tg_cli_tool_count_ended_calls(tool);
    rank = (all * 95 + 99) / 100;
    sum = (double) tg_cli_json_get_uint(tool, "ms");

    if (all == 0) {
        return -1;
    }

    for (i = 0, before = 0, n = 0, low = 0;
         (bucket = tg_cli_json_get_element(tool, "times", i)) != NULL; i++)
    {
        n = json_object_get_uint64(bucket);

        if (before + n >= rank) {
            break;
        }

        before += n;
        low = json_object_get_double(
            tg_cli_json_get_element(status, "times_ms", i));
    }

    high = sum / (double) (all - rank + 1);
    bound = tg_cli_json_get_element(status, "times_ms", i);

    if (bound != NULL && json_object_get_double(bound) < high) {
        high = json_object_get_double(bound);
    }

    if (rank == all && sum / (double) all > low) {
        low = sum / (double) all;
    }

    /* Counters that are not read atomically may be inconsistent. */
    return high < low || n == 0
               ? low
               : low
                     + (high - low) * ((double) (rank - before) - 0.5)
                           / (double) n;
}

static void
tg_cli_cells_append_p95(tg_buf_t *cells, struct json_object *status,
                        struct json_object *tool)
{
    double ms;

    ms = tg_cli_status_estimate_p95(status, tool);

    if (ms < 0) {
        tg_buf_append_char(cells, '-');
    } else {
        /* Durations are counted in whole milliseconds. */
        tg_cli_append_duration(cells, (double) (uint64_t) (ms + 0.5));
    }

    tg_buf_append_char(cells, '\t');
}

void
tg_cli_append_nonzero_counts(tg_buf_t *cells, struct json_object *ends)
{
    struct json_object_iterator it, last;
    const char *name;
    uint64_t n;
    int is_first;

    it = json_object_iter_begin(ends);
    last = json_object_iter_end(ends);

    for (is_first = 1; !json_object_iter_equal(&it, &last);
         json_object_iter_next(&it))
    {
        name = json_object_iter_peek_name(&it);
        n = json_object_get_uint64(json_object_iter_peek_value(&it));

        if (n != 0 && strcmp(name, "ok") != 0) {
            tg_buf_append_cstr(cells, is_first ? "" : ", ");
            tg_utf8_append_visible(cells, tg_str_from_cstr(name), 1);
            tg_buf_append_char(cells, ' ');
            tg_buf_append_uint(cells, n);
            is_first = 0;
        }
    }
}

static void
tg_cli_cells_append_tool(tg_buf_t *cells, struct json_object *status,
                         struct json_object *tool)
{
    struct json_object *ends;
    uint64_t all;

    all = tg_cli_tool_count_ended_calls(tool);
    ends = tg_cli_json_get_member(tool, "ends", json_type_object);
    tg_cli_cells_append_tool_name(cells, tool);
    tg_cli_cells_append_uint(cells, tg_cli_json_get_uint(tool, "calls"));
    tg_cli_cells_append_uint(cells, tg_cli_json_get_uint(tool, "in_flight"));
    tg_cli_cells_append_uint(cells, tg_cli_json_get_uint(tool, "queued"));

    if (all != 0) {
        tg_cli_append_duration(cells, (double) tg_cli_json_get_uint(tool, "ms")
                                          / (double) all);
    } else {
        tg_buf_append_char(cells, '-');
    }

    tg_buf_append_char(cells, '\t');
    tg_cli_cells_append_p95(cells, status, tool);
    tg_cli_cells_append_byte_size(cells,
                                  tg_cli_json_get_uint(tool, "bytes_in"));
    tg_cli_cells_append_byte_size(cells,
                                  tg_cli_json_get_uint(tool, "bytes_out"));

    if (ends != NULL) {
        tg_cli_append_nonzero_counts(cells, ends);
    }

    tg_buf_append_char(cells, '\n');
}

/* --- servers --- */

static void
tg_cli_append_connections(tg_buf_t *out, struct json_object *connections)
{
    struct json_object_iterator it, last;
    struct json_object *open;
    uint64_t n;

    n = tg_cli_json_get_uint(connections, "accepted");
    tg_buf_append_uint(out, n);
    tg_buf_append_cstr(out, tg_pick_plural(n, " connection so far",
                                           " connections so far"));
    open = tg_cli_json_get_member(connections, "open", json_type_object);

    if (open == NULL) {
        return;
    }

    last = json_object_iter_end(open);

    for (it = json_object_iter_begin(open); !json_object_iter_equal(&it, &last);
         json_object_iter_next(&it))
    {
        n = json_object_get_uint64(json_object_iter_peek_value(&it));

        if (n != 0) {
            tg_buf_append_cstr(out, ", ");
            tg_buf_append_uint(out, n);
            tg_buf_append_cstr(out, " open (");
            tg_utf8_append_visible(
                out, tg_str_from_cstr(json_object_iter_peek_name(&it)), 1);
            tg_buf_append_char(out, ')');
        }
    }
}

/*
 * Appends an empty line and a table, unless the table has no rows, and frees
 * the cells.
 */
static void
tg_cli_append_nonempty_table(tg_buf_t *out, tg_buf_t *cells, size_t nrows)
{
    if (nrows != 0) {
        tg_buf_append_char(out, '\n');
        tg_cli_append_table(out, tg_buf_view(cells));
    }

    out->failed |= cells->failed;
    tg_buf_deinit(cells);
}

/*
 * Appends a table of the MCP servers' tools that are left out because their
 * names are in use.
 */
static void
tg_cli_append_name_clashes(tg_buf_t *out, struct json_object *server)
{
    struct json_object *mcp, *clash;
    const char *other;
    tg_buf_t cells;
    size_t i, k, n;

    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells, "LEFT OUT\tMCP SERVER\tNAME\tWHICH HAS\n");
    n = 0;

    for (i = 0;
         (mcp = tg_cli_json_get_element(server, "mcp_servers", i)) != NULL; i++)
    {
        for (k = 0;
             (clash = tg_cli_json_get_element(mcp, "clashes", k)) != NULL; k++)
        {
            n++;
            other = tg_cli_json_get_text(clash, "mcp_server");
            tg_cli_cells_append_text(&cells,
                                     tg_cli_json_get_text(clash, "tool"), '\t');
            tg_cli_cells_append_text(&cells, tg_cli_json_get_text(mcp, "name"),
                                     '\t');
            tg_cli_cells_append_text(&cells,
                                     tg_cli_json_get_text(clash, "name"), '\t');
            tg_cli_cells_append_text(&cells,
                                     other[0] != '\0' ? other : "the config",
                                     '\n');
        }
    }

    tg_cli_append_nonempty_table(out, &cells, n);
}

/*
 * Appends a table of the MCP servers' tools that are listed in a member, with
 * the reason for each.
 */
static void
tg_cli_append_tool_warnings(tg_buf_t *out, struct json_object *server,
                            const char *member, const char *key,
                            const char *head)
{
    struct json_object *mcp, *tool;
    const char *name;
    tg_buf_t cells;
    size_t i, k, n;

    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells, head);
    tg_buf_append_cstr(&cells, "\tMCP SERVER\tWHY\n");
    n = 0;

    for (i = 0;
         (mcp = tg_cli_json_get_element(server, "mcp_servers", i)) != NULL; i++)
    {
        for (k = 0; (tool = tg_cli_json_get_element(mcp, member, k)) != NULL;
             k++) {
            n++;
            name = tg_cli_json_get_text(tool, key);
            tg_cli_cells_append_text(&cells, name[0] != '\0' ? name : "-",
                                     '\t');
            tg_cli_cells_append_text(&cells, tg_cli_json_get_text(mcp, "name"),
                                     '\t');
            tg_cli_cells_append_text(&cells, tg_cli_json_get_text(tool, "why"),
                                     '\n');
        }
    }

    tg_cli_append_nonempty_table(out, &cells, n);
}

static void
tg_cli_append_mcp_servers(tg_buf_t *out, struct json_object *server)
{
    struct json_object *mcp;
    tg_buf_t cells;
    size_t i;

    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells,
                       "MCP SERVER\tSTATE\t>PROCESSES\t>RESTARTS\t<LAST "
                       "ERROR\n");

    for (i = 0;
         (mcp = tg_cli_json_get_element(server, "mcp_servers", i)) != NULL; i++)
    {
        tg_cli_cells_append_text(&cells, tg_cli_json_get_text(mcp, "name"),
                                 '\t');
        tg_cli_cells_append_text(&cells, tg_cli_json_get_text(mcp, "state"),
                                 '\t');
        tg_cli_cells_append_uint(&cells, tg_cli_json_get_uint(mcp, "running"));
        tg_cli_cells_append_uint(&cells, tg_cli_json_get_uint(mcp, "restarts"));
        tg_cli_cells_append_first_line(&cells,
                                       tg_cli_json_get_text(mcp, "error"),
                                       '\n');
    }

    tg_cli_append_nonempty_table(out, &cells, i);
    tg_cli_append_name_clashes(out, server);
    tg_cli_append_tool_warnings(out, server, "unchecked", "name",
                                "NOT CHECKED");
    tg_cli_append_tool_warnings(out, server, "left_out", "tool", "NOT LISTED");
    tg_cli_append_tool_warnings(out, server, "repaired", "tool", "REPAIRED");
}

/* Rows of tools that are left out of the table without --all. */
typedef struct {
    int is_all;
    size_t nuncalled; /* tools that were never called */
    size_t ninternal; /* methods that directives define */
} tg_cli_hidden_rows_t;

/* Checks whether a tool's row is left out, and counts the row. */
static int
tg_cli_hidden_rows_filter(tg_cli_hidden_rows_t *rows, struct json_object *tool)
{
    if (rows->is_all) {
        return 0;
    }

    if (json_object_get_boolean(
            tg_cli_json_get_member(tool, "internal", json_type_boolean)))
    {
        rows->ninternal++;
        return 1;
    }

    if (tg_cli_json_get_uint(tool, "calls") == 0) {
        rows->nuncalled++;
        return 1;
    }

    return 0;
}

/* Appends how many rows are not shown, and how to see them. */
static void
tg_cli_append_hidden_rows(tg_buf_t *out, const tg_cli_hidden_rows_t *rows)
{
    if (rows->nuncalled + rows->ninternal == 0) {
        return;
    }

    tg_buf_append_cstr(out, "not shown: ");

    if (rows->nuncalled != 0) {
        tg_buf_printf(out, "%zu without calls", rows->nuncalled);
    }

    if (rows->ninternal != 0) {
        tg_buf_printf(out, "%s%zu internal %s",
                      rows->nuncalled != 0 ? ", " : "", rows->ninternal,
                      tg_pick_plural(rows->ninternal, "method", "methods"));
    }

    tg_buf_append_cstr(out, "; --all shows them\n");
}

static void
tg_cli_append_server(tg_buf_t *out, struct json_object *status,
                     struct json_object *server, int is_all)
{
    tg_cli_hidden_rows_t rows = { .is_all = is_all };
    struct json_object *tool;
    tg_buf_t cells;
    size_t i;

    tg_buf_append_char(out, '\n');
    tg_utf8_append_visible(
        out, tg_str_from_cstr(tg_cli_json_get_text(server, "server")), 1);
    tg_buf_append_cstr(out, " (");
    tg_utf8_append_visible(
        out, tg_str_from_cstr(tg_cli_json_get_text(server, "name")), 1);
    tg_buf_append_cstr(out, "): ");
    tg_cli_append_connections(out, tg_cli_json_get_member(server, "connections",
                                                          json_type_object));
    tg_buf_append_cstr(out, "\n\n");

    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells,
                       "TOOL\t>CALLS\t>NOW\t>WAIT\t>MEAN\t>95%\t>IN\t>OUT\t"
                       "FAILED\n");

    for (i = 0; (tool = tg_cli_json_get_element(server, "tools", i)) != NULL;
         i++) {
        if (!tg_cli_hidden_rows_filter(&rows, tool)) {
            tg_cli_cells_append_tool(&cells, status, tool);
        }
    }

    tg_cli_append_table(out, tg_buf_view(&cells));
    tg_cli_append_hidden_rows(out, &rows);
    out->failed |= cells.failed;
    tg_buf_deinit(&cells);
    tg_cli_append_mcp_servers(out, server);
}

/* --- runners --- */

static void
tg_cli_cells_append_job_counts(tg_buf_t *cells, struct json_object *kinds)
{
    if (kinds != NULL) {
        tg_cli_append_nonzero_counts(cells, kinds);
    }

    tg_buf_append_char(cells, '\n');
}

static void
tg_cli_append_runners(tg_buf_t *out, struct json_object *status)
{
    struct json_object *runner;
    tg_buf_t cells;
    size_t i;

    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells,
                       "RUNNER\tSTATE\t>PID\t>PROGRAMS\t>WAIT\t>SO FAR\t"
                       ">TASKS\tJOBS\n");

    for (i = 0;
         (runner = tg_cli_json_get_element(status, "runners", i)) != NULL; i++)
    {
        tg_cli_cells_append_text(&cells,
                                 tg_cli_json_get_text(runner, "state_dir"),
                                 '\t');
        tg_cli_cells_append_text(&cells, tg_cli_json_get_text(runner, "state"),
                                 '\t');
        tg_cli_cells_append_pid(&cells, tg_cli_json_get_uint(runner, "pid"));
        tg_cli_cells_append_uint(&cells,
                                 tg_cli_json_get_uint(runner, "running"));
        tg_cli_cells_append_uint(&cells,
                                 tg_cli_json_get_uint(runner, "queued"));
        tg_cli_cells_append_uint(&cells,
                                 tg_cli_json_get_uint(runner, "started"));
        tg_cli_cells_append_uint(&cells, tg_cli_json_get_uint(runner, "tasks"));
        tg_cli_cells_append_job_counts(
            &cells, tg_cli_json_get_member(runner, "kinds", json_type_object));
    }

    if (i != 0) {
        tg_buf_append_char(out, '\n');
        tg_cli_append_table(out, tg_buf_view(&cells));
    }

    out->failed |= cells.failed;
    tg_buf_deinit(&cells);
}

static void
tg_cli_status_append_tables(tg_buf_t *out, struct json_object *status,
                            int is_all)
{
    struct json_object *server;
    uint64_t n;
    size_t i;

    tg_buf_append_cstr(out, "toolgate ");
    tg_utf8_append_visible(
        out, tg_str_from_cstr(tg_cli_json_get_text(status, "version")), 1);
    tg_buf_append_cstr(out, ", ");
    n = tg_cli_json_get_uint(status, "workers");
    tg_buf_append_uint(out, n);
    tg_buf_append_cstr(out, tg_pick_plural(n, " worker\n", " workers\n"));

    for (i = 0;
         (server = tg_cli_json_get_element(status, "servers", i)) != NULL; i++)
    {
        tg_cli_append_server(out, status, server, is_all);
    }

    tg_cli_append_runners(out, status);
}

void
tg_cli_status_append_summary(tg_buf_t *out, struct json_object *status)
{
    tg_cli_status_append_tables(out, status, 0);
}

void
tg_cli_status_append_full(tg_buf_t *out, struct json_object *status)
{
    tg_cli_status_append_tables(out, status, 1);
}

/* --- calls --- */

/*
 * Appends a cell with the known data of a client: `4711 (uid 1000) codex 1.2
 * via toolgate-bridge/1.0`.
 */
static void
tg_cli_cells_append_client(tg_buf_t *cells, struct json_object *client)
{
    static const struct {
        const char *key;
        const char *before;
    } parts[] = { { "name", " " }, { "version", " " }, { "via", " via " } };
    const char *text;
    size_t i, start;

    start = cells->len;

    if (client != NULL && tg_cli_json_get_uint(client, "pid") != 0) {
        tg_buf_printf(cells, "%llu (uid %llu)",
                      (unsigned long long) tg_cli_json_get_uint(client, "pid"),
                      (unsigned long long) tg_cli_json_get_uint(client, "uid"));
    }

    for (i = 0; client != NULL && i < sizeof(parts) / sizeof(parts[0]); i++) {
        text = tg_cli_json_get_text(client, parts[i].key);

        if (text[0] != '\0') {
            tg_buf_append_cstr(cells,
                               cells->len != start ? parts[i].before : "");
            tg_utf8_append_visible(cells, tg_str_from_cstr(text), 1);
        }
    }

    tg_buf_append_cstr(cells, cells->len == start ? "-\t" : "\t");
}

static void
tg_cli_cells_append_call(tg_buf_t *cells, struct json_object *call)
{
    struct json_object *client;

    client = tg_cli_json_get_member(call, "client", json_type_object);
    tg_cli_cells_append_uint(cells, tg_cli_json_get_uint(call, "id"));
    tg_cli_append_duration(cells, (double) tg_cli_json_get_uint(call, "ms"));
    tg_buf_append_char(cells, '\t');
    tg_cli_cells_append_text(cells, tg_cli_json_get_text(call, "state"), '\t');
    tg_cli_cells_append_text(cells, tg_cli_json_get_text(call, "kind"), '\t');
    tg_cli_cells_append_pid(cells, tg_cli_json_get_uint(call, "pid"));

    tg_cli_cells_append_client(cells, client);

    tg_cli_cells_append_tool_name(cells, call);
    tg_cli_cells_append_text(cells, tg_cli_json_get_text(call, "server"), '\n');
}

void
tg_cli_status_append_calls(tg_buf_t *out, struct json_object *status)
{
    struct json_object *call;
    tg_buf_t cells;
    size_t i;

    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells,
                       ">ID\t>AGE\tSTATE\tKIND\t>PID\tCLIENT\tTOOL\tSERVER\n");

    for (i = 0; (call = tg_cli_json_get_element(status, "calls", i)) != NULL;
         i++) {
        tg_cli_cells_append_call(&cells, call);
    }

    tg_cli_append_table(out, tg_buf_view(&cells));
    out->failed |= cells.failed;
    tg_buf_deinit(&cells);
}
