/*
 * `toolgate status NAME`: all that is known of one tool, method or MCP server.
 */
#include "client/tg_cli_status.h"

#include "base/tg_utf8.h"
#include "client/tg_cli_text.h"

/* Begins a line: a label, and blanks up to its value. */
static void
tg_cli_put_label(tg_buf_t *out, const char *label)
{
    tg_buf_printf(out, "%-10s ", label);
}

static void
tg_cli_put_text_line(tg_buf_t *out, const char *label, const char *text)
{
    tg_cli_put_label(out, label);
    tg_utf8_put_visible(out, tg_str_c(text), 1);
    tg_buf_char(out, '\n');
}

static void
tg_cli_put_uint_line(tg_buf_t *out, const char *label,
                     struct json_object *object, const char *member)
{
    tg_cli_put_label(out, label);
    tg_buf_uint(out, tg_cli_member_uint(object, member));
    tg_buf_char(out, '\n');
}

/* --- tools --- */

/* How many calls took how long, a bucket that has some a line. */
static void
tg_cli_put_times(tg_buf_t *out, struct json_object *status,
                 struct json_object *tool)
{
    struct json_object *n, *bound, *before;
    size_t i;

    before = NULL;

    for (i = 0; (n = tg_cli_member_at(tool, "times", i)) != NULL; i++) {
        bound = tg_cli_member_at(status, "times_ms", i);

        if (json_object_get_uint64(n) != 0) {
            tg_cli_put_label(out, "");
            tg_buf_uint(out, json_object_get_uint64(n));
            tg_buf_text(out,
                        bound != NULL ? " took up to " : " took more than ");
            tg_cli_put_time(out, json_object_get_double(
                                     bound != NULL ? bound : before));
            tg_buf_char(out, '\n');
        }

        before = bound;
    }
}

static void
tg_cli_put_latency(tg_buf_t *out, struct json_object *status,
                   struct json_object *tool)
{
    struct json_object *n;
    uint64_t all;
    double ms;
    size_t i;

    ms = tg_cli_status_percentile(status, tool);

    if (ms < 0) {
        return;
    }

    for (i = 0, all = 0; (n = tg_cli_member_at(tool, "times", i)) != NULL; i++)
    {
        all += json_object_get_uint64(n);
    }

    tg_cli_put_label(out, "mean");
    tg_cli_put_time(out,
                    (double) tg_cli_member_uint(tool, "ms") / (double) all);
    tg_buf_char(out, '\n');
    tg_cli_put_label(out, "95%");
    tg_cli_put_time(out, (double) (uint64_t) (ms + 0.5));
    tg_buf_char(out, '\n');
    tg_cli_put_times(out, status, tool);
}

static void
tg_cli_put_named_tool(tg_buf_t *out, struct json_object *status,
                      struct json_object *server, struct json_object *tool)
{
    struct json_object *ends;
    size_t len;

    tg_cli_put_text_line(out, tg_cli_member_text(tool, "type"),
                         tg_cli_member_text(tool, "name"));
    tg_cli_put_text_line(out, "server", tg_cli_member_text(server, "server"));
    tg_cli_put_uint_line(out, "calls", tool, "calls");
    tg_cli_put_uint_line(out, "now", tool, "in_flight");
    tg_cli_put_uint_line(out, "wait", tool, "queued");
    tg_cli_put_latency(out, status, tool);
    tg_cli_put_label(out, "in");
    tg_cli_put_bytes(out, tg_cli_member_uint(tool, "bytes_in"));
    tg_buf_char(out, '\n');
    tg_cli_put_label(out, "out");
    tg_cli_put_bytes(out, tg_cli_member_uint(tool, "bytes_out"));
    tg_buf_char(out, '\n');
    ends = tg_cli_member(tool, "ends", json_type_object);

    if (ends != NULL) {
        tg_cli_put_label(out, "failed");
        len = out->len;
        tg_cli_put_ends(out, ends);
        tg_buf_text(out, out->len == len ? "0\n" : "\n");
    }
}

/* --- MCP servers --- */

static void
tg_cli_put_named_mcp(tg_buf_t *out, struct json_object *server,
                     struct json_object *mcp)
{
    struct json_object *clash, *tool;
    const char *error, *other;
    size_t i;

    tg_cli_put_text_line(out, "mcp_server", tg_cli_member_text(mcp, "name"));
    tg_cli_put_text_line(out, "server", tg_cli_member_text(server, "server"));
    tg_cli_put_text_line(out, "state", tg_cli_member_text(mcp, "state"));
    tg_cli_put_uint_line(out, "processes", mcp, "running");
    tg_cli_put_uint_line(out, "restarts", mcp, "restarts");

    for (i = 0; (clash = tg_cli_member_at(mcp, "clashes", i)) != NULL; i++) {
        other = tg_cli_member_text(clash, "mcp_server");
        tg_cli_put_label(out, i == 0 ? "left out" : "");
        tg_cli_cell_text(out, tg_cli_member_text(clash, "tool"), ',');
        tg_buf_text(out, " as ");
        tg_utf8_put_visible(out,
                            tg_str_c(other[0] != '\0' ? other : "the config"),
                            1);
        tg_buf_text(out, " has ");
        tg_cli_cell_text(out, tg_cli_member_text(clash, "name"), '\n');
    }

    for (i = 0; (tool = tg_cli_member_at(mcp, "unchecked", i)) != NULL; i++) {
        tg_cli_put_label(out, i == 0 ? "unchecked" : "");
        tg_cli_cell_text(out, tg_cli_member_text(tool, "name"), ',');
        tg_buf_char(out, ' ');
        tg_cli_cell_text(out, tg_cli_member_text(tool, "why"), '\n');
    }

    error = tg_cli_member_text(mcp, "error");

    if (error[0] != '\0') {
        tg_buf_text(out, "\nlast error:\n\n");
        tg_utf8_put_visible(out, tg_str_c(error), 0);
        tg_cli_end_line(out);
    }
}

/* --- all of a name --- */

static int
tg_cli_is_named(struct json_object *object, const char *name)
{
    return strcmp(tg_cli_member_text(object, "name"), name) == 0;
}

size_t
tg_cli_status_put_named(tg_buf_t *out, struct json_object *status,
                        const char *name)
{
    struct json_object *server, *object;
    size_t i, k, n;

    n = 0;

    for (i = 0; (server = tg_cli_member_at(status, "servers", i)) != NULL; i++)
    {
        for (k = 0; (object = tg_cli_member_at(server, "tools", k)) != NULL;
             k++) {
            if (tg_cli_is_named(object, name)) {
                tg_buf_text(out, n++ == 0 ? "" : "\n");
                tg_cli_put_named_tool(out, status, server, object);
            }
        }

        for (k = 0;
             (object = tg_cli_member_at(server, "mcp_servers", k)) != NULL; k++)
        {
            if (tg_cli_is_named(object, name)) {
                tg_buf_text(out, n++ == 0 ? "" : "\n");
                tg_cli_put_named_mcp(out, server, object);
            }
        }
    }

    return n;
}
