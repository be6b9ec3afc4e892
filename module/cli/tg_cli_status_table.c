/* The tables of `toolgate status` and `toolgate ps`. */
#include "cli/tg_cli_status.h"

/* --- tools --- */

static void
tg_cli_cell_append_tool_name(tg_buf_t *cells, const tg_cli_cell_t *cell)
{
    tg_cli_append_member(cells, cell->row, "name");

    if (tg_cli_json_get_text(cell->row, "type").len != 0
        && !tg_cli_json_has_text(cell->row, "type", "tool"))
    {
        tg_buf_append_cstr(cells, " (");
        tg_cli_append_member(cells, cell->row, "type");
        tg_buf_append_char(cells, ')');
    }
}

static uint64_t
tg_cli_tool_count_ended_calls(json_object *tool)
{
    tg_cli_json_iter_t json;
    json_object *n;
    uint64_t sum;

    sum = 0;
    tg_cli_json_iter_init(&json, tg_cli_json_get(tool, "times"));

    while (tg_cli_json_iter_next(&json, &n)) {
        sum += tg_cli_json_to_uint(n);
    }

    return sum;
}

/*
 * The sum of all durations narrows the bounds of the bucket with rank 95 %:
 * later calls took at least as long, and the longest at least the mean.
 * Between the bounds the calls are assumed to be distributed evenly.
 */
double
tg_cli_status_estimate_p95(json_object *status, json_object *tool)
{
    tg_cli_json_iter_t buckets, bounds;
    json_object *bucket, *bound;
    uint64_t all, rank, before, n;
    double low, high, sum;

    all = tg_cli_tool_count_ended_calls(tool);
    rank = (all * 95 + 99) / 100;
    sum = (double) tg_cli_json_get_uint(tool, "ms");

    if (all == 0) {
        return -1;
    }

    tg_cli_json_iter_init(&buckets, tg_cli_json_get(tool, "times"));
    tg_cli_json_iter_init(&bounds, tg_cli_json_get(status, "times_ms"));
    before = n = 0;
    low = 0;
    bound = NULL;

    while (tg_cli_json_iter_next(&buckets, &bucket)) {
        /* The last bucket has no bound. */
        bound = tg_cli_json_iter_next(&bounds, &bound) ? bound : NULL;
        n = tg_cli_json_to_uint(bucket);

        if (before + n >= rank) {
            break;
        }

        before += n;
        low = json_object_get_double(bound);
    }

    high = sum / (double) (all - rank + 1);

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
tg_cli_cell_append_p95(tg_buf_t *cells, const tg_cli_cell_t *cell)
{
    double ms;

    ms = tg_cli_status_estimate_p95(cell->parent, cell->row);

    if (ms < 0) {
        tg_buf_append_char(cells, '-');
    } else {
        /* Durations are counted in whole milliseconds. */
        tg_cli_append_duration(cells, (double) (uint64_t) (ms + 0.5));
    }
}

double
tg_cli_status_compute_mean(json_object *tool)
{
    uint64_t all;

    all = tg_cli_tool_count_ended_calls(tool);

    return all != 0 ? (double) tg_cli_json_get_uint(tool, "ms") / (double) all
                    : -1;
}

static void
tg_cli_cell_append_mean(tg_buf_t *cells, const tg_cli_cell_t *cell)
{
    double ms;

    ms = tg_cli_status_compute_mean(cell->row);

    if (ms < 0) {
        tg_buf_append_char(cells, '-');
    } else {
        tg_cli_append_duration(cells, ms);
    }
}

/* --- servers --- */

static void
tg_cli_append_connections(tg_buf_t *out, json_object *connections)
{
    tg_cli_json_iter_t json;
    const char *dialect;
    json_object *value;
    uint64_t n;

    n = tg_cli_json_get_uint(connections, "accepted");
    tg_buf_append_uint(out, n);
    tg_buf_append_cstr(out, tg_pick_plural(n, " connection so far",
                                           " connections so far"));
    tg_cli_json_iter_init_members(&json, tg_cli_json_get(connections, "open"));

    while (tg_cli_json_iter_next_member(&json, &dialect, &value)) {
        n = tg_cli_json_to_uint(value);

        if (n != 0) {
            tg_buf_append_cstr(out, ", ");
            tg_buf_append_uint(out, n);
            tg_buf_append_cstr(out, " open (");
            tg_cli_append_visible(out, tg_str_from_cstr(dialect));
            tg_buf_append_char(out, ')');
        }
    }
}

static void
tg_cli_cell_append_name_user(tg_buf_t *cells, const tg_cli_cell_t *cell)
{
    tg_str_t other;

    other = tg_cli_json_get_text(cell->row, cell->member);
    tg_cli_append_visible(cells, other.len != 0 ? other : TG_STR("the config"));
}

/* Appends a table of a list that each MCP server has. */
static void
tg_cli_append_mcp_server_lists(tg_buf_t *out, json_object *server,
                               const char *list, const tg_cli_column_t *columns)
{
    tg_cli_json_iter_t json;
    tg_cli_table_t table;
    json_object *mcp;

    tg_cli_table_init(&table, columns);
    tg_cli_json_iter_init(&json, tg_cli_json_get(server, "mcp_servers"));

    while (tg_cli_json_iter_next(&json, &mcp)) {
        tg_cli_table_add_list(&table, mcp, list);
    }

    tg_cli_table_append_section(&table, out);
}

static void
tg_cli_append_mcp_servers(tg_buf_t *out, json_object *server)
{
    static const tg_cli_column_t servers[] = {
        { "MCP SERVER", tg_cli_cell_append_text, "name" },
        { "STATE", tg_cli_cell_append_text, "state" },
        { ">PROCESSES", tg_cli_cell_append_uint, "running" },
        { ">RESTARTS", tg_cli_cell_append_uint, "restarts" },
        { "<LAST ERROR", tg_cli_cell_append_first_line, "error" },
        { NULL, NULL, NULL },
    };
    static const tg_cli_column_t clashes[] = {
        { "OMITTED", tg_cli_cell_append_text, "tool" },
        { "MCP SERVER", tg_cli_cell_append_parent_text, "name" },
        { "NAME", tg_cli_cell_append_text, "name" },
        { "USED BY", tg_cli_cell_append_name_user, "mcp_server" },
        { NULL, NULL, NULL },
    };
    static const struct {
        const char *list;
        tg_cli_column_t columns[4];
    } warnings[] = {
#define TG_CLI_WARNING_COLUMNS(head, member)                                   \
    {                                                                          \
        { head, tg_cli_cell_append_optional_text, member },                    \
        { "MCP SERVER", tg_cli_cell_append_parent_text, "name" },              \
        { "WHY", tg_cli_cell_append_text, "why" },                             \
        { NULL, NULL, NULL },                                                  \
    }
        { "unchecked", TG_CLI_WARNING_COLUMNS("NOT CHECKED", "name") },
        { "left_out", TG_CLI_WARNING_COLUMNS("NOT LISTED", "tool") },
        { "repaired", TG_CLI_WARNING_COLUMNS("REPAIRED", "tool") },
#undef TG_CLI_WARNING_COLUMNS
    };
    tg_cli_table_t table;
    size_t i;

    tg_cli_table_init(&table, servers);
    tg_cli_table_add_list(&table, server, "mcp_servers");
    tg_cli_table_append_section(&table, out);
    tg_cli_append_mcp_server_lists(out, server, "clashes", clashes);

    for (i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++) {
        tg_cli_append_mcp_server_lists(out, server, warnings[i].list,
                                       warnings[i].columns);
    }
}

/* Rows that the table omits without --all. */
typedef struct {
    int is_all;
    size_t nuncalled; /* tools that were never called */
    size_t ninternal; /* methods that directives define */
} tg_cli_hidden_rows_t;

static int
tg_cli_hidden_rows_filter(tg_cli_hidden_rows_t *rows, json_object *tool)
{
    if (rows->is_all) {
        return 0;
    }

    if (tg_cli_json_is_true(tool, "internal")) {
        rows->ninternal++;
        return 1;
    }

    if (tg_cli_json_get_uint(tool, "calls") == 0) {
        rows->nuncalled++;
        return 1;
    }

    return 0;
}

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
tg_cli_append_server(tg_buf_t *out, json_object *status, json_object *server,
                     int is_all)
{
    static const tg_cli_column_t columns[] = {
        { "TOOL", tg_cli_cell_append_tool_name, NULL },
        { ">CALLS", tg_cli_cell_append_uint, "calls" },
        { ">NOW", tg_cli_cell_append_uint, "in_flight" },
        { ">WAIT", tg_cli_cell_append_uint, "queued" },
        { ">MEAN", tg_cli_cell_append_mean, NULL },
        { ">95%", tg_cli_cell_append_p95, NULL },
        { ">IN", tg_cli_cell_append_bytes, "bytes_in" },
        { ">OUT", tg_cli_cell_append_bytes, "bytes_out" },
        { "FAILED", tg_cli_cell_append_counts, "ends" },
        { NULL, NULL, NULL },
    };
    tg_cli_hidden_rows_t rows = { .is_all = is_all };
    tg_cli_json_iter_t json;
    tg_cli_table_t table;
    json_object *tool;

    tg_buf_append_char(out, '\n');
    tg_cli_append_member(out, server, "server");
    tg_buf_append_cstr(out, " (");
    tg_cli_append_member(out, server, "name");
    tg_buf_append_cstr(out, "): ");
    tg_cli_append_connections(out,
                              tg_cli_json_get_object(server, "connections"));
    tg_buf_append_cstr(out, "\n\n");
    tg_cli_table_init(&table, columns);
    tg_cli_json_iter_init(&json, tg_cli_json_get(server, "tools"));

    while (tg_cli_json_iter_next(&json, &tool)) {
        if (!tg_cli_hidden_rows_filter(&rows, tool)) {
            tg_cli_table_add(&table, status, tool);
        }
    }

    tg_cli_table_append(&table, out);
    tg_cli_append_hidden_rows(out, &rows);
    tg_cli_append_mcp_servers(out, server);
}

/* --- runners --- */

static void
tg_cli_append_runners(tg_buf_t *out, json_object *status)
{
    static const tg_cli_column_t columns[] = {
        { "RUNNER", tg_cli_cell_append_text, "state_dir" },
        { "STATE", tg_cli_cell_append_text, "state" },
        { ">PID", tg_cli_cell_append_optional_uint, "pid" },
        { ">PROGRAMS", tg_cli_cell_append_uint, "running" },
        { ">WAIT", tg_cli_cell_append_uint, "queued" },
        { ">STARTED", tg_cli_cell_append_uint, "started" },
        { ">TASKS", tg_cli_cell_append_uint, "tasks" },
        { "JOBS", tg_cli_cell_append_counts, "kinds" },
        { NULL, NULL, NULL },
    };
    tg_cli_table_t table;

    tg_cli_table_init(&table, columns);
    tg_cli_table_add_list(&table, status, "runners");
    tg_cli_table_append_section(&table, out);
}

static void
tg_cli_status_append_tables(tg_buf_t *out, json_object *status, int is_all)
{
    tg_cli_json_iter_t json;
    json_object *server;
    uint64_t n;

    tg_buf_append_cstr(out, "toolgate ");
    tg_cli_append_member(out, status, "version");
    tg_buf_append_cstr(out, ", ");
    n = tg_cli_json_get_uint(status, "workers");
    tg_buf_append_uint(out, n);
    tg_buf_append_cstr(out, tg_pick_plural(n, " worker\n", " workers\n"));
    tg_cli_json_iter_init(&json, tg_cli_json_get(status, "servers"));

    while (tg_cli_json_iter_next(&json, &server)) {
        tg_cli_append_server(out, status, server, is_all);
    }

    tg_cli_append_runners(out, status);
}

void
tg_cli_status_append_summary(tg_buf_t *out, json_object *status)
{
    tg_cli_status_append_tables(out, status, 0);
}

void
tg_cli_status_append_full(tg_buf_t *out, json_object *status)
{
    tg_cli_status_append_tables(out, status, 1);
}

/* --- calls --- */

/* 4711 (uid 1000) codex 1.2 via toolgate-bridge/1.0 */
static void
tg_cli_cell_append_client(tg_buf_t *cells, const tg_cli_cell_t *cell)
{
    static const struct {
        const char *key;
        const char *before;
    } parts[] = { { "name", " " }, { "version", " " }, { "via", " via " } };
    json_object *client;
    tg_str_t text;
    size_t i, start;

    client = tg_cli_json_get_object(cell->row, cell->member);
    start = cells->len;

    if (tg_cli_json_get_uint(client, "pid") != 0) {
        tg_buf_printf(cells, "%llu (uid %llu)",
                      (unsigned long long) tg_cli_json_get_uint(client, "pid"),
                      (unsigned long long) tg_cli_json_get_uint(client, "uid"));
    }

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        text = tg_cli_json_get_text(client, parts[i].key);

        if (text.len != 0) {
            tg_buf_append_cstr(cells,
                               cells->len != start ? parts[i].before : "");
            tg_cli_append_visible(cells, text);
        }
    }

    tg_buf_append_cstr(cells, cells->len == start ? "-" : "");
}

void
tg_cli_status_append_calls(tg_buf_t *out, json_object *status)
{
    static const tg_cli_column_t columns[] = {
        { ">ID", tg_cli_cell_append_uint, "id" },
        { ">AGE", tg_cli_cell_append_ms, "ms" },
        { "STATE", tg_cli_cell_append_text, "state" },
        { "KIND", tg_cli_cell_append_text, "kind" },
        { ">PID", tg_cli_cell_append_optional_uint, "pid" },
        { "CLIENT", tg_cli_cell_append_client, "client" },
        { "TOOL", tg_cli_cell_append_tool_name, NULL },
        { "SERVER", tg_cli_cell_append_text, "server" },
        { NULL, NULL, NULL },
    };
    tg_cli_table_t table;

    tg_cli_table_init(&table, columns);
    tg_cli_table_add_list(&table, status, "calls");
    tg_cli_table_append(&table, out);
}
