/*
 * The output of `toolgate status --prometheus`: text format, version 0.0.4.
 * All samples of a metric follow its description.
 */
#include "cli/tg_cli_status.h"

#include <stdio.h>

typedef struct tg_cli_metric_s tg_cli_metric_t;

/* Appends the samples of a metric for one element of a list. */
typedef void (*tg_cli_metric_append_pt)(tg_buf_t *out,
                                        const tg_cli_metric_t *metric,
                                        struct json_object *status,
                                        struct json_object *server,
                                        struct json_object *element);

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
                           const char *value)
{
    tg_buf_append_cstr(out, before);
    tg_buf_append_cstr(out, name);
    tg_buf_append_cstr(out, "=\"");

    for (; *value != '\0'; value++) {
        switch (*value) {
        case '\n':
            tg_buf_append_cstr(out, "\\n");
            break;
        case '"':
        case '\\':
            tg_buf_append_char(out, '\\');
            tg_buf_append_char(out, *value);
            break;
        default:
            tg_buf_append_char(out, *value);
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
                                 const char *suffix, struct json_object *server,
                                 struct json_object *tool)
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
                          struct json_object *status,
                          struct json_object *server, struct json_object *tool)
{
    tg_cli_sample_append_tool_labels(out, metric->name, "", server, tool);
    tg_cli_sample_append_value(out, tg_cli_json_get_uint(tool, metric->member));
}

static void
tg_cli_metric_append_outcomes(tg_buf_t *out, const tg_cli_metric_t *metric,
                              struct json_object *status,
                              struct json_object *server,
                              struct json_object *tool)
{
    struct json_object_iterator it, last;
    struct json_object *ends;

    ends = tg_cli_json_get_member(tool, metric->member, json_type_object);

    if (ends == NULL) {
        return;
    }

    last = json_object_iter_end(ends);

    for (it = json_object_iter_begin(ends); !json_object_iter_equal(&it, &last);
         json_object_iter_next(&it))
    {
        tg_cli_sample_append_tool_labels(out, metric->name, "", server, tool);
        tg_cli_metric_append_label(out, ",", "status",
                                   json_object_iter_peek_name(&it));
        tg_cli_sample_append_value(out, json_object_get_uint64(
                                            json_object_iter_peek_value(&it)));
    }
}

static void
tg_cli_metric_append_durations(tg_buf_t *out, const tg_cli_metric_t *metric,
                               struct json_object *status,
                               struct json_object *server,
                               struct json_object *tool)
{
    struct json_object *n, *time;
    char le[32];
    uint64_t sum;
    size_t i;

    for (i = 0, sum = 0;
         (n = tg_cli_json_get_element(tool, "times", i)) != NULL; i++)
    {
        sum += json_object_get_uint64(n);
        time = tg_cli_json_get_element(status, "times_ms", i);
        (void) snprintf(le, sizeof(le), "%g",
                        time != NULL ? json_object_get_double(time) / 1000 : 0);
        tg_cli_sample_append_tool_labels(out, metric->name, "_bucket", server,
                                         tool);
        tg_cli_metric_append_label(out, ",", "le", time != NULL ? le : "+Inf");
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
                                  struct json_object *server,
                                  struct json_object *object)
{
    tg_buf_append_cstr(out, metric->name);
    tg_cli_metric_append_label(out, "{", "server",
                               tg_cli_json_get_text(server, "server"));
    tg_cli_sample_append_value(out,
                               tg_cli_json_get_uint(object, metric->member));
}

static void
tg_cli_metric_append_accepted(tg_buf_t *out, const tg_cli_metric_t *metric,
                              struct json_object *status,
                              struct json_object *server,
                              struct json_object *element)
{
    tg_cli_metric_append_server_value(
        out, metric, server,
        tg_cli_json_get_member(server, "connections", json_type_object));
}

static void
tg_cli_metric_append_unknown_calls(tg_buf_t *out, const tg_cli_metric_t *metric,
                                   struct json_object *status,
                                   struct json_object *server,
                                   struct json_object *element)
{
    tg_cli_metric_append_server_value(out, metric, server, server);
}

/*
 * Appends a sample for each member of an object; the member's name is the
 * label `by`.
 */
static void
tg_cli_metric_append_by_label(tg_buf_t *out, const tg_cli_metric_t *metric,
                              struct json_object *object, const char *label,
                              const char *value, const char *by)
{
    struct json_object_iterator it, last;
    struct json_object *numbers;

    numbers = tg_cli_json_get_member(object, metric->member, json_type_object);

    if (numbers == NULL) {
        return;
    }

    last = json_object_iter_end(numbers);

    for (it = json_object_iter_begin(numbers);
         !json_object_iter_equal(&it, &last); json_object_iter_next(&it))
    {
        tg_buf_append_cstr(out, metric->name);
        tg_cli_metric_append_label(out, "{", label, value);
        tg_cli_metric_append_label(out, ",", by,
                                   json_object_iter_peek_name(&it));
        tg_cli_sample_append_value(out, json_object_get_uint64(
                                            json_object_iter_peek_value(&it)));
    }
}

static void
tg_cli_metric_append_open_conns(tg_buf_t *out, const tg_cli_metric_t *metric,
                                struct json_object *status,
                                struct json_object *server,
                                struct json_object *element)
{
    tg_cli_metric_append_by_label(
        out, metric,
        tg_cli_json_get_member(server, "connections", json_type_object),
        "server", tg_cli_json_get_text(server, "server"), "dialect");
}

/*
 * Appends a sample: the member's number; the length of a list; or 1 if the
 * state is "ready", else 0.
 */
static void
tg_cli_metric_append_mcp_server(tg_buf_t *out, const tg_cli_metric_t *metric,
                                struct json_object *status,
                                struct json_object *server,
                                struct json_object *mcp)
{
    struct json_object *list;
    const char *state;
    uint64_t value;

    list = tg_cli_json_get_member(mcp, metric->member, json_type_array);
    state = tg_cli_json_get_text(mcp, metric->member);

    if (list != NULL) {
        value = json_object_array_length(list);
    } else {
        value = state[0] != '\0' ? strcmp(state, "ready") == 0
                                 : tg_cli_json_get_uint(mcp, metric->member);
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
                            struct json_object *status,
                            struct json_object *server,
                            struct json_object *runner)
{
    const char *state;

    state = tg_cli_json_get_text(runner, metric->member);
    tg_buf_append_cstr(out, metric->name);
    tg_cli_metric_append_label(out, "{", "state_dir",
                               tg_cli_json_get_text(runner, "state_dir"));
    tg_cli_sample_append_value(
        out, state[0] != '\0' ? strcmp(state, "up") == 0
                              : tg_cli_json_get_uint(runner, metric->member));
}

static void
tg_cli_metric_append_runner_jobs(tg_buf_t *out, const tg_cli_metric_t *metric,
                                 struct json_object *status,
                                 struct json_object *server,
                                 struct json_object *runner)
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
    { "toolgate_runner_queued", "gauge", "Jobs that wait for a process.",
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
                     struct json_object *status)
{
    struct json_object *server, *element;
    size_t i, k;

    tg_cli_metric_append_header(out, metric->name, metric->type, metric->help);

    /* Elements that do not belong to a server. */
    for (k = 0; metric->list != NULL
                && (element = tg_cli_json_get_element(status, metric->list, k))
                       != NULL;
         k++)
    {
        metric->append(out, metric, status, NULL, element);
    }

    for (i = 0;
         (server = tg_cli_json_get_element(status, "servers", i)) != NULL; i++)
    {
        if (metric->list == NULL) {
            metric->append(out, metric, status, server, NULL);
            continue;
        }

        for (k = 0; (element = tg_cli_json_get_element(server, metric->list, k))
                    != NULL;
             k++)
        {
            metric->append(out, metric, status, server, element);
        }
    }
}

void
tg_cli_status_append_prometheus(tg_buf_t *out, struct json_object *status)
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
