/*
 * The output of `toolgate status NAME`: all information about a tool, method
 * or MCP server.
 */
#include "cli/tg_cli_status.h"

#include "base/tg_utf8.h"
#include "cli/tg_cli_output.h"

/* --- tools --- */

/*
 * Appends the histogram of call durations, a line for each bucket that is not
 * empty.
 */
static void
tg_cli_append_histogram(tg_buf_t *out, struct json_object *status,
                        struct json_object *tool)
{
    struct json_object *n, *bound, *before;
    size_t i;

    before = NULL;

    for (i = 0; (n = tg_cli_json_get_element(tool, "times", i)) != NULL; i++) {
        bound = tg_cli_json_get_element(status, "times_ms", i);

        if (json_object_get_uint64(n) != 0) {
            tg_cli_append_label(out, "");
            tg_buf_append_uint(out, json_object_get_uint64(n));
            tg_buf_append_cstr(out, bound != NULL ? " took up to "
                                                  : " took more than ");
            tg_cli_append_duration(out, json_object_get_double(
                                            bound != NULL ? bound : before));
            tg_buf_append_char(out, '\n');
        }

        before = bound;
    }
}

static void
tg_cli_append_latency(tg_buf_t *out, struct json_object *status,
                      struct json_object *tool)
{
    struct json_object *n;
    uint64_t all;
    double ms;
    size_t i;

    ms = tg_cli_status_estimate_p95(status, tool);

    if (ms < 0) {
        return;
    }

    for (i = 0, all = 0;
         (n = tg_cli_json_get_element(tool, "times", i)) != NULL; i++)
    {
        all += json_object_get_uint64(n);
    }

    tg_cli_append_label(out, "mean");
    tg_cli_append_duration(out, (double) tg_cli_json_get_uint(tool, "ms")
                                    / (double) all);
    tg_buf_append_char(out, '\n');
    tg_cli_append_label(out, "95%");
    tg_cli_append_duration(out, (double) (uint64_t) (ms + 0.5));
    tg_buf_append_char(out, '\n');
    tg_cli_append_histogram(out, status, tool);
}

/* Appends the numbers of failed calls by reason, or 0. */
static void
tg_cli_cell_append_failures(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    size_t len;

    len = out->len;
    tg_cli_cell_append_counts(out, cell);

    if (out->len == len
        && tg_cli_json_get_member(cell->row, cell->member, json_type_object)
               != NULL)
    {
        tg_buf_append_char(out, '0');
    }
}

static void
tg_cli_append_tool_details(tg_buf_t *out, struct json_object *status,
                           struct json_object *server, struct json_object *tool)
{
    static const tg_cli_column_t calls[] = {
        { "server", tg_cli_cell_append_parent_text, "server" },
        { "calls", tg_cli_cell_append_uint, "calls" },
        { "now", tg_cli_cell_append_uint, "in_flight" },
        { "wait", tg_cli_cell_append_uint, "queued" },
        { NULL, NULL, NULL },
    };
    static const tg_cli_column_t totals[] = {
        { "in", tg_cli_cell_append_bytes, "bytes_in" },
        { "out", tg_cli_cell_append_bytes, "bytes_out" },
        { "failed", tg_cli_cell_append_failures, "ends" },
        { NULL, NULL, NULL },
    };

    tg_cli_append_label(out, tg_cli_json_get_text(tool, "type"));
    tg_cli_append_visible(out, tg_cli_json_get_text(tool, "name"));
    tg_buf_append_char(out, '\n');
    tg_cli_append_fields(out, calls, server, tool);
    tg_cli_append_latency(out, status, tool);
    tg_cli_append_fields(out, totals, server, tool);
}

/* --- MCP servers --- */

static void
tg_cli_append_mcp_server_details(tg_buf_t *out, struct json_object *server,
                                 struct json_object *mcp)
{
    static const tg_cli_column_t columns[] = {
        { "mcp_server", tg_cli_cell_append_text, "name" },
        { "server", tg_cli_cell_append_parent_text, "server" },
        { "state", tg_cli_cell_append_text, "state" },
        { "processes", tg_cli_cell_append_uint, "running" },
        { "restarts", tg_cli_cell_append_uint, "restarts" },
        { NULL, NULL, NULL },
    };
    struct json_object *clash, *tool;
    const char *error, *other;
    size_t i;

    tg_cli_append_fields(out, columns, server, mcp);

    for (i = 0; (clash = tg_cli_json_get_element(mcp, "clashes", i)) != NULL;
         i++) {
        other = tg_cli_json_get_text(clash, "mcp_server");
        tg_cli_append_label(out, i == 0 ? "left out" : "");
        tg_cli_append_visible(out, tg_cli_json_get_text(clash, "tool"));
        tg_buf_append_cstr(out, ", as ");
        tg_cli_append_visible(out, other[0] != '\0' ? other : "the config");
        tg_buf_append_cstr(out, " has ");
        tg_cli_append_visible(out, tg_cli_json_get_text(clash, "name"));
        tg_buf_append_char(out, '\n');
    }

    for (i = 0; (tool = tg_cli_json_get_element(mcp, "unchecked", i)) != NULL;
         i++) {
        tg_cli_append_label(out, i == 0 ? "unchecked" : "");
        tg_cli_append_visible(out, tg_cli_json_get_text(tool, "name"));
        tg_buf_append_cstr(out, ", ");
        tg_cli_append_visible(out, tg_cli_json_get_text(tool, "why"));
        tg_buf_append_char(out, '\n');
    }

    error = tg_cli_json_get_text(mcp, "error");

    if (error[0] != '\0') {
        tg_buf_append_cstr(out, "\nlast error:\n\n");
        tg_utf8_append_visible(out, tg_str_from_cstr(error), 0);
        tg_cli_append_missing_newline(out);
    }
}

/* --- all entries of a name --- */

static int
tg_cli_json_has_name(struct json_object *object, const char *name)
{
    return strcmp(tg_cli_json_get_text(object, "name"), name) == 0;
}

size_t
tg_cli_status_append_details(tg_buf_t *out, struct json_object *status,
                             const char *name)
{
    struct json_object *server, *object;
    size_t i, k, n;

    n = 0;

    for (i = 0;
         (server = tg_cli_json_get_element(status, "servers", i)) != NULL; i++)
    {
        for (k = 0;
             (object = tg_cli_json_get_element(server, "tools", k)) != NULL;
             k++) {
            if (tg_cli_json_has_name(object, name)) {
                tg_buf_append_cstr(out, n++ == 0 ? "" : "\n");
                tg_cli_append_tool_details(out, status, server, object);
            }
        }

        for (k = 0; (object = tg_cli_json_get_element(server, "mcp_servers", k))
                    != NULL;
             k++)
        {
            if (tg_cli_json_has_name(object, name)) {
                tg_buf_append_cstr(out, n++ == 0 ? "" : "\n");
                tg_cli_append_mcp_server_details(out, server, object);
            }
        }
    }

    return n;
}
