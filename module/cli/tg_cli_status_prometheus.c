/* The output of `toolgate status --prometheus`. */
#include "cli/tg_cli_status.h"

#include <stdio.h>

typedef struct tg_cli_metric_s tg_cli_metric_t;

/* Appends the samples of a metric for one element of a list. */
typedef void (*tg_cli_metric_append_pt)(tg_buf_t *out,
                                        const tg_cli_metric_t *metric,
                                        json_object *status,
                                        json_object *server,
                                        json_object *element);

struct tg_cli_metric_s {
    const char *name;
    const char *type;
    const char *help;
    /* list of each server and of the status; NULL: the server itself */
    const char *list;
    const char *member;
    tg_cli_metric_append_pt append;
};

/* --- labels --- */

/* Appends a label; before is "{" for the first label of a sample, else ",". */
static void
tg_cli_metric_append_label(tg_buf_t *out, const char *before, const char *name,
                           tg_str_t text)
{
    size_t i;

    tg_buf_append_cstr(out, before);
    tg_buf_append_cstr(out, name);
    tg_buf_append_cstr(out, "=\"");

    for (i = 0; i < text.len; i++) {
        switch (text.data[i]) {
        case '\n':
            tg_buf_append_cstr(out, "\\n");
            break;
        case '"':
        case '\\':
            tg_buf_append_char(out, '\\');
            tg_buf_append_char(out, text.data[i]);
            break;
        default:
            tg_buf_append_char(out, text.data[i]);
        }
    }

    tg_buf_append_char(out, '"');
}

static void
tg_cli_sample_append_value(tg_buf_t *out, uint64_t value)
{
    tg_buf_append_cstr(out, "} ");
    tg_buf_append_uint(out, value);
    tg_buf_append_char(out, '\n');
}

/* --- tools --- */

/* Appends the labels of a tool, without the closing brace. */
static void
tg_cli_sample_append_tool_labels(tg_buf_t *out, const char *name,
                                 const char *suffix, json_object *server,
                                 json_object *tool)
{
    tg_buf_append_cstr(out, name);
    tg_buf_append_cstr(out, suffix);
    tg_cli_metric_append_label(out, "{", "server",
                               tg_cli_json_get_text(server, "server"));
    tg_cli_metric_append_label(out, ",", "type",
                               tg_cli_json_get_text(tool, "type"));
    tg_cli_metric_append_label(out, ",", "tool",
                               tg_cli_json_get_text(tool, "name"));
}

static void
tg_cli_metric_append_tool(tg_buf_t *out, const tg_cli_metric_t *metric,
                          json_object *status, json_object *server,
                          json_object *tool)
{
    tg_cli_sample_append_tool_labels(out, metric->name, "", server, tool);
    tg_cli_sample_append_value(out, tg_cli_json_get_uint(tool, metric->member));
}

static void
tg_cli_metric_append_outcomes(tg_buf_t *out, const tg_cli_metric_t *metric,
                              json_object *status, json_object *server,
                              json_object *tool)
{
    tg_cli_json_iter_t json;
    json_object *value;
    const char *name;

    tg_cli_json_iter_init_members(&json, tg_cli_json_get(tool, metric->member));

    while (tg_cli_json_iter_next_member(&json, &name, &value)) {
        tg_cli_sample_append_tool_labels(out, metric->name, "", server, tool);
        tg_cli_metric_append_label(out, ",", "status", tg_str_from_cstr(name));
        tg_cli_sample_append_value(out, tg_cli_json_to_uint(value));
    }
}

static void
tg_cli_metric_append_durations(tg_buf_t *out, const tg_cli_metric_t *metric,
                               json_object *status, json_object *server,
                               json_object *tool)
{
    tg_cli_json_iter_t buckets, bounds;
    json_object *n, *bound;
    char le[32];
    uint64_t sum;

    sum = 0;
    tg_cli_json_iter_init(&buckets, tg_cli_json_get(tool, "times"));
    tg_cli_json_iter_init(&bounds, tg_cli_json_get(status, "times_ms"));

    while (tg_cli_json_iter_next(&buckets, &n)) {
        sum += tg_cli_json_to_uint(n);
        (void) snprintf(le, sizeof(le), "+Inf");

        if (tg_cli_json_iter_next(&bounds, &bound)) {
            (void) snprintf(le, sizeof(le), "%g",
                            json_object_get_double(bound) / 1000);
        }

        tg_cli_sample_append_tool_labels(out, metric->name, "_bucket", server,
                                         tool);
        tg_cli_metric_append_label(out, ",", "le", tg_str_from_cstr(le));
        tg_cli_sample_append_value(out, sum);
    }

    tg_cli_sample_append_tool_labels(out, metric->name, "_sum", server, tool);
    tg_buf_printf(out, "} %.3f\n",
                  (double) tg_cli_json_get_uint(tool, metric->member) / 1000);
    tg_cli_sample_append_tool_labels(out, metric->name, "_count", server, tool);
    tg_cli_sample_append_value(out, sum);
}

/* --- connections, MCP servers, runners --- */

/* Appends a sample with a number of an object of a server. */
static void
tg_cli_metric_append_server_value(tg_buf_t *out, const tg_cli_metric_t *metric,
                                  json_object *server, json_object *object)
{
    tg_buf_append_cstr(out, metric->name);
    tg_cli_metric_append_label(out, "{", "server",
                               tg_cli_json_get_text(server, "server"));
    tg_cli_sample_append_value(out,
                               tg_cli_json_get_uint(object, metric->member));
}

static void
tg_cli_metric_append_accepted(tg_buf_t *out, const tg_cli_metric_t *metric,
                              json_object *status, json_object *server,
                              json_object *element)
{
    tg_cli_metric_append_server_value(
        out, metric, server, tg_cli_json_get_object(server, "connections"));
}

static void
tg_cli_metric_append_unknown_calls(tg_buf_t *out, const tg_cli_metric_t *metric,
                                   json_object *status, json_object *server,
                                   json_object *element)
{
    tg_cli_metric_append_server_value(out, metric, server, server);
}

/* Appends a sample for each member, whose name is the label `by`. */
static void
tg_cli_metric_append_by_label(tg_buf_t *out, const tg_cli_metric_t *metric,
                              json_object *object, const char *label,
                              tg_str_t value, const char *by)
{
    tg_cli_json_iter_t json;
    json_object *member;
    const char *name;

    tg_cli_json_iter_init_members(&json,
                                  tg_cli_json_get(object, metric->member));

    while (tg_cli_json_iter_next_member(&json, &name, &member)) {
        tg_buf_append_cstr(out, metric->name);
        tg_cli_metric_append_label(out, "{", label, value);
        tg_cli_metric_append_label(out, ",", by, tg_str_from_cstr(name));
        tg_cli_sample_append_value(out, tg_cli_json_to_uint(member));
    }
}

static void
tg_cli_metric_append_open_conns(tg_buf_t *out, const tg_cli_metric_t *metric,
                                json_object *status, json_object *server,
                                json_object *element)
{
    tg_cli_metric_append_by_label(
        out, metric, tg_cli_json_get_object(server, "connections"), "server",
        tg_cli_json_get_text(server, "server"), "dialect");
}

/* Number, length of a list, or 1 if the state is "ready", else 0. */
static void
tg_cli_metric_append_mcp_server(tg_buf_t *out, const tg_cli_metric_t *metric,
                                json_object *status, json_object *server,
                                json_object *mcp)
{
    json_object *list;
    tg_str_t state;
    uint64_t value;

    list = tg_cli_json_get(mcp, metric->member);
    state = tg_cli_json_get_text(mcp, metric->member);
    value = state.len != 0 ? (uint64_t) tg_str_eq(state, TG_STR("ready"))
                           : tg_cli_json_get_uint(mcp, metric->member);

    if (json_object_is_type(list, json_type_array)) {
        value = json_object_array_length(list);
    }

    tg_buf_append_cstr(out, metric->name);
    tg_cli_metric_append_label(out, "{", "server",
                               tg_cli_json_get_text(server, "server"));
    tg_cli_metric_append_label(out, ",", "mcp_server",
                               tg_cli_json_get_text(mcp, "name"));
    tg_cli_sample_append_value(out, value);
}

static void
tg_cli_metric_append_runner(tg_buf_t *out, const tg_cli_metric_t *metric,
                            json_object *status, json_object *server,
                            json_object *runner)
{
    tg_str_t state;

    state = tg_cli_json_get_text(runner, metric->member);
    tg_buf_append_cstr(out, metric->name);
    tg_cli_metric_append_label(out, "{", "state_dir",
                               tg_cli_json_get_text(runner, "state_dir"));
    tg_cli_sample_append_value(
        out, state.len != 0 ? (uint64_t) tg_str_eq(state, TG_STR("up"))
                            : tg_cli_json_get_uint(runner, metric->member));
}

static void
tg_cli_metric_append_runner_jobs(tg_buf_t *out, const tg_cli_metric_t *metric,
                                 json_object *status, json_object *server,
                                 json_object *runner)
{
    tg_cli_metric_append_by_label(out, metric, runner, "state_dir",
                                  tg_cli_json_get_text(runner, "state_dir"),
                                  "kind");
}

/* --- all metrics --- */

static const tg_cli_metric_t tg_cli_metrics[] = {
    { "toolgate_connections", "gauge", "Clients that are connected.", NULL,
      "open", tg_cli_metric_append_open_conns },
    { "toolgate_accepted_connections_total", "counter",
      "Clients that have connected.", NULL, "accepted",
      tg_cli_metric_append_accepted },
    { "toolgate_unknown_calls_total", "counter",
      "Calls of unknown tools and methods.", NULL, "unknown",
      tg_cli_metric_append_unknown_calls },
    { "toolgate_calls_total", "counter", "Calls that have ended, by result.",
      "tools", "ends", tg_cli_metric_append_outcomes },
    { "toolgate_calls_in_flight", "gauge", "Calls that have not ended.",
      "tools", "in_flight", tg_cli_metric_append_tool },
    { "toolgate_calls_queued", "gauge", "Calls in flight that are queued.",
      "tools", "queued", tg_cli_metric_append_tool },
    { "toolgate_call_received_bytes_total", "counter",
      "Request bytes of calls that have ended.", "tools", "bytes_in",
      tg_cli_metric_append_tool },
    { "toolgate_call_sent_bytes_total", "counter",
      "Response bytes of calls that have ended.", "tools", "bytes_out",
      tg_cli_metric_append_tool },
    { "toolgate_call_duration_seconds", "histogram",
      "Duration of calls, including the time in the queue.", "tools", "ms",
      tg_cli_metric_append_durations },
    { "toolgate_mcp_server_ready", "gauge",
      "Whether a process of the MCP server is ready.", "mcp_servers", "state",
      tg_cli_metric_append_mcp_server },
    { "toolgate_mcp_server_processes", "gauge", "Processes of the MCP server.",
      "mcp_servers", "running", tg_cli_metric_append_mcp_server },
    { "toolgate_mcp_server_restarts_total", "counter",
      "Number of restarts of the MCP server.", "mcp_servers", "restarts",
      tg_cli_metric_append_mcp_server },
    { "toolgate_mcp_server_clashes", "gauge",
      "Tools of the MCP server that are left out because their names are in "
      "use.",
      "mcp_servers", "clashes", tg_cli_metric_append_mcp_server },
    { "toolgate_mcp_server_unchecked", "gauge",
      "Tools of the MCP server whose schemas are not checked (at most 100).",
      "mcp_servers", "unchecked", tg_cli_metric_append_mcp_server },
    { "toolgate_runner_up", "gauge", "Whether the runner answers.", "runners",
      "state", tg_cli_metric_append_runner },
    { "toolgate_runner_programs", "gauge", "Jobs that have a slot.", "runners",
      "running", tg_cli_metric_append_runner },
    { "toolgate_runner_queued", "gauge", "Jobs that wait for a slot.",
      "runners", "queued", tg_cli_metric_append_runner },
    { "toolgate_runner_tasks", "gauge", "Tasks that run.", "runners", "tasks",
      tg_cli_metric_append_runner },
    { "toolgate_runner_jobs", "gauge", "Jobs of the runner, by kind.",
      "runners", "kinds", tg_cli_metric_append_runner_jobs },
};

#define TG_CLI_NMETRICS (sizeof(tg_cli_metrics) / sizeof(tg_cli_metrics[0]))

static void
tg_cli_metric_append_header(tg_buf_t *out, const char *name, const char *type,
                            const char *help)
{
    tg_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
tg_cli_metric_append(tg_buf_t *out, const tg_cli_metric_t *metric,
                     json_object *status)
{
    tg_cli_json_iter_t servers, json;
    json_object *server, *element;

    tg_cli_metric_append_header(out, metric->name, metric->type, metric->help);

    /* Elements that do not belong to a server. */
    tg_cli_json_iter_init(&json, tg_cli_json_get(status, metric->list != NULL
                                                             ? metric->list
                                                             : ""));

    while (tg_cli_json_iter_next(&json, &element)) {
        metric->append(out, metric, status, NULL, element);
    }

    tg_cli_json_iter_init(&servers, tg_cli_json_get(status, "servers"));

    while (tg_cli_json_iter_next(&servers, &server)) {
        if (metric->list == NULL) {
            metric->append(out, metric, status, server, NULL);
            continue;
        }

        tg_cli_json_iter_init(&json, tg_cli_json_get(server, metric->list));

        while (tg_cli_json_iter_next(&json, &element)) {
            metric->append(out, metric, status, server, element);
        }
    }
}

void
tg_cli_status_append_prometheus(tg_buf_t *out, json_object *status)
{
    size_t i;

    tg_cli_metric_append_header(out, "toolgate_info", "gauge",
                                "The version of Toolgate; the value is "
                                "always 1.");
    tg_buf_append_cstr(out, "toolgate_info");
    tg_cli_metric_append_label(out, "{", "version",
                               tg_cli_json_get_text(status, "version"));
    tg_cli_sample_append_value(out, 1);
    tg_cli_metric_append_header(out, "toolgate_workers", "gauge",
                                "NGINX workers that are running.");
    tg_buf_append_cstr(out, "toolgate_workers ");
    tg_buf_append_uint(out, tg_cli_json_get_uint(status, "workers"));
    tg_buf_append_char(out, '\n');

    for (i = 0; i < TG_CLI_NMETRICS; i++) {
        tg_cli_metric_append(out, &tg_cli_metrics[i], status);
    }
}
