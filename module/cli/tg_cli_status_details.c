/* The output of `toolgate status NAME`. */
#include "cli/tg_cli_status.h"

#include "base/tg_utf8.h"
#include "cli/tg_cli_output.h"

#include <stdio.h>

/* --- tools --- */

/* Appends a line for each bucket of durations that is not empty. */
static void
tg_cli_append_histogram(tg_buf_t *out, json_object *status, json_object *tool)
{
    tg_cli_json_iter_t buckets, bounds;
    json_object *n, *bound, *before;

    before = NULL;
    tg_cli_json_iter_init(&buckets, tg_cli_json_get(tool, "times"));
    tg_cli_json_iter_init(&bounds, tg_cli_json_get(status, "times_ms"));

    for (/* void */; tg_cli_json_iter_next(&buckets, &n); before = bound) {
        bound = tg_cli_json_iter_next(&bounds, &bound) ? bound : NULL;

        if (tg_cli_json_to_uint(n) != 0) {
            tg_cli_append_label(out, "");
            tg_buf_append_uint(out, tg_cli_json_to_uint(n));
            tg_buf_append_cstr(out, bound != NULL ? " took up to "
                                                  : " took more than ");
            tg_cli_append_duration(out, json_object_get_double(
                                            bound != NULL ? bound : before));
            tg_buf_append_char(out, '\n');
        }
    }
}

static void
tg_cli_append_latency(tg_buf_t *out, json_object *status, json_object *tool)
{
    double ms;

    ms = tg_cli_status_estimate_p95(status, tool);

    if (ms < 0) {
        return;
    }

    tg_cli_append_label(out, "mean");
    tg_cli_append_duration(out, tg_cli_status_compute_mean(tool));
    tg_buf_append_char(out, '\n');
    tg_cli_append_label(out, "95%");
    tg_cli_append_duration(out, (double) (uint64_t) (ms + 0.5));
    tg_buf_append_char(out, '\n');
    tg_cli_append_histogram(out, status, tool);
}

static void
tg_cli_cell_append_failures(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    size_t len;

    len = out->len;
    tg_cli_cell_append_counts(out, cell);

    if (out->len == len
        && tg_cli_json_get_object(cell->row, cell->member) != NULL) {
        tg_buf_append_char(out, '0');
    }
}

static void
tg_cli_append_tool_details(tg_buf_t *out, json_object *status,
                           json_object *server, json_object *tool)
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
    char label[32];
    tg_str_t type;

    type = tg_cli_json_get_text(tool, "type");
    (void) snprintf(label, sizeof(label), "%.*s",
                    type.len != 0 ? (int) type.len : 4,
                    type.len != 0 ? type.data : "tool");
    tg_cli_append_label(out, label);
    tg_cli_append_member(out, tool, "name");
    tg_buf_append_char(out, '\n');
    tg_cli_append_fields(out, calls, server, tool);
    tg_cli_append_latency(out, status, tool);
    tg_cli_append_fields(out, totals, server, tool);
}

/* --- MCP servers --- */

static void
tg_cli_append_mcp_server_details(tg_buf_t *out, json_object *server,
                                 json_object *mcp)
{
    static const tg_cli_column_t columns[] = {
        { "mcp_server", tg_cli_cell_append_text, "name" },
        { "server", tg_cli_cell_append_parent_text, "server" },
        { "state", tg_cli_cell_append_text, "state" },
        { "processes", tg_cli_cell_append_uint, "running" },
        { "restarts", tg_cli_cell_append_uint, "restarts" },
        { NULL, NULL, NULL },
    };
    const char *label;
    tg_cli_json_iter_t json;
    json_object *item;
    tg_str_t other, error;

    tg_cli_append_fields(out, columns, server, mcp);
    tg_cli_json_iter_init(&json, tg_cli_json_get(mcp, "clashes"));

    for (label = "omitted"; tg_cli_json_iter_next(&json, &item); label = "") {
        other = tg_cli_json_get_text(item, "mcp_server");
        tg_cli_append_label(out, label);
        tg_cli_append_member(out, item, "tool");
        tg_buf_append_cstr(out, ", as ");
        tg_cli_append_visible(out,
                              other.len != 0 ? other : TG_STR("the config"));
        tg_buf_append_cstr(out, " has ");
        tg_cli_append_member(out, item, "name");
        tg_buf_append_char(out, '\n');
    }

    tg_cli_json_iter_init(&json, tg_cli_json_get(mcp, "unchecked"));

    for (label = "unchecked"; tg_cli_json_iter_next(&json, &item); label = "") {
        tg_cli_append_label(out, label);
        tg_cli_append_member(out, item, "name");
        tg_buf_append_cstr(out, ", ");
        tg_cli_append_member(out, item, "why");
        tg_buf_append_char(out, '\n');
    }

    error = tg_cli_json_get_text(mcp, "error");

    if (error.len != 0) {
        tg_buf_append_cstr(out, "\nlast error:\n\n");
        tg_utf8_append_visible(out, error, 0);
        tg_cli_append_missing_newline(out);
    }
}

/* --- all entries of a name --- */

size_t
tg_cli_status_append_details(tg_buf_t *out, json_object *status,
                             const char *name)
{
    tg_cli_json_iter_t servers, json;
    json_object *server, *object;
    size_t n;

    n = 0;
    tg_cli_json_iter_init(&servers, tg_cli_json_get(status, "servers"));

    while (tg_cli_json_iter_next(&servers, &server)) {
        tg_cli_json_iter_init(&json, tg_cli_json_get(server, "tools"));

        while (tg_cli_json_iter_next(&json, &object)) {
            if (tg_cli_json_has_text(object, "name", name)) {
                tg_buf_append_cstr(out, n++ == 0 ? "" : "\n");
                tg_cli_append_tool_details(out, status, server, object);
            }
        }

        tg_cli_json_iter_init(&json, tg_cli_json_get(server, "mcp_servers"));

        while (tg_cli_json_iter_next(&json, &object)) {
            if (tg_cli_json_has_text(object, "name", name)) {
                tg_buf_append_cstr(out, n++ == 0 ? "" : "\n");
                tg_cli_append_mcp_server_details(out, server, object);
            }
        }
    }

    return n;
}
