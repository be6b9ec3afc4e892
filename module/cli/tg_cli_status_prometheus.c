/* The output of `toolgate status --prometheus`. */
#include "cli/tg_cli_status.h"

#include <stdio.h>

/* A label of a sample: a text of the server or of the list's element. */
typedef struct {
    const char *name; /* NULL: end of the labels */
    const char *member;
    int is_of_server;
} tg_cli_label_t;

typedef struct {
    const char *name;
    const char *type;
    const char *help;
    /* list of each server and of the status; NULL: the server itself */
    const char *list;
    const tg_cli_label_t *labels;
    const char *object; /* object that has the member; NULL: the element */
    const char *member;
    /* label for the names in the member, which is an object; or NULL */
    const char *by;
} tg_cli_metric_t;

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

/* --- samples --- */

/* Appends the labels of an element, without the closing brace. */
static void
tg_cli_metric_append_labels(tg_buf_t *out, const tg_cli_metric_t *metric,
                            const char *suffix, json_object *server,
                            json_object *element)
{
    const tg_cli_label_t *label;

    tg_buf_append_cstr(out, metric->name);
    tg_buf_append_cstr(out, suffix);

    for (label = metric->labels; label->name != NULL; label++) {
        tg_cli_metric_append_label(
            out, label == metric->labels ? "{" : ",", label->name,
            tg_cli_json_get_text(label->is_of_server ? server : element,
                                 label->member));
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

        tg_cli_metric_append_labels(out, metric, "_bucket", server, tool);
        tg_cli_metric_append_label(out, ",", "le", tg_str_from_cstr(le));
        tg_cli_sample_append_value(out, sum);
    }

    tg_cli_metric_append_labels(out, metric, "_sum", server, tool);
    tg_buf_printf(out, "} %.3f\n",
                  (double) tg_cli_json_get_uint(tool, metric->member) / 1000);
    tg_cli_metric_append_labels(out, metric, "_count", server, tool);
    tg_cli_sample_append_value(out, sum);
}

/* Returns a number, the length of a list, or whether a state is good. */
static uint64_t
tg_cli_sample_get_value(json_object *value)
{
    tg_str_t state;

    state = tg_cli_json_to_text(value);

    return state.data != NULL ? (uint64_t) (tg_str_eq(state, TG_STR("ready"))
                                            || tg_str_eq(state, TG_STR("up")))
           : json_object_is_type(value, json_type_array)
               ? json_object_array_length(value)
               : tg_cli_json_to_uint(value);
}

static void
tg_cli_metric_append_samples(tg_buf_t *out, const tg_cli_metric_t *metric,
                             json_object *status, json_object *server,
                             json_object *element)
{
    json_object *object, *value;
    tg_cli_json_iter_t iter;
    const char *name;

    object = metric->object != NULL ? tg_cli_json_get(element, metric->object)
                                    : element;
    object = tg_cli_json_get(object, metric->member);

    if (strcmp(metric->type, "histogram") == 0) {
        tg_cli_metric_append_durations(out, metric, status, server, element);
        return;
    }

    if (metric->by == NULL) {
        tg_cli_metric_append_labels(out, metric, "", server, element);
        tg_cli_sample_append_value(out, tg_cli_sample_get_value(object));
        return;
    }

    tg_cli_json_iter_init_members(&iter, object);

    while (tg_cli_json_iter_next_member(&iter, &name, &value)) {
        tg_cli_metric_append_labels(out, metric, "", server, element);
        tg_cli_metric_append_label(out, ",", metric->by,
                                   tg_str_from_cstr(name));
        tg_cli_sample_append_value(out, tg_cli_json_to_uint(value));
    }
}

/* --- all metrics --- */

static const tg_cli_label_t tg_cli_server_labels[] = {
    { "server", "server", 1 },
    { NULL, NULL, 0 },
};

static const tg_cli_label_t tg_cli_tool_labels[] = {
    { "server", "server", 1 },
    { "type", "type", 0 },
    { "tool", "name", 0 },
    { NULL, NULL, 0 },
};

static const tg_cli_label_t tg_cli_mcp_server_labels[] = {
    { "server", "server", 1 },
    { "mcp_server", "name", 0 },
    { NULL, NULL, 0 },
};

static const tg_cli_label_t tg_cli_runner_labels[] = {
    { "state_dir", "state_dir", 0 },
    { NULL, NULL, 0 },
};

static const tg_cli_metric_t tg_cli_metrics[] = {
#define TG_CLI_METRIC_OF_TOOL "tools", tg_cli_tool_labels, NULL
#define TG_CLI_METRIC_OF_MCP_SERVER                                            \
    "mcp_servers", tg_cli_mcp_server_labels, NULL
#define TG_CLI_METRIC_OF_RUNNER "runners", tg_cli_runner_labels, NULL
    { "toolgate_connections", "gauge", "Clients that are connected.", NULL,
      tg_cli_server_labels, "connections", "open", "dialect" },
    { "toolgate_accepted_connections_total", "counter",
      "Clients that have connected.", NULL, tg_cli_server_labels, "connections",
      "accepted", NULL },
    { "toolgate_unknown_calls_total", "counter",
      "Calls of unknown tools and methods.", NULL, tg_cli_server_labels, NULL,
      "unknown", NULL },
    { "toolgate_calls_total", "counter", "Calls that have ended, by result.",
      TG_CLI_METRIC_OF_TOOL, "ends", "status" },
    { "toolgate_calls_in_flight", "gauge", "Calls that have not ended.",
      TG_CLI_METRIC_OF_TOOL, "in_flight", NULL },
    { "toolgate_calls_queued", "gauge", "Calls in flight that are queued.",
      TG_CLI_METRIC_OF_TOOL, "queued", NULL },
    { "toolgate_call_received_bytes_total", "counter",
      "Request bytes of calls that have ended.", TG_CLI_METRIC_OF_TOOL,
      "bytes_in", NULL },
    { "toolgate_call_sent_bytes_total", "counter",
      "Response bytes of calls that have ended.", TG_CLI_METRIC_OF_TOOL,
      "bytes_out", NULL },
    { "toolgate_call_duration_seconds", "histogram",
      "Duration of calls, including the time in the queue.",
      TG_CLI_METRIC_OF_TOOL, "ms", NULL },
    { "toolgate_mcp_server_ready", "gauge",
      "Whether a process of the MCP server is ready.",
      TG_CLI_METRIC_OF_MCP_SERVER, "state", NULL },
    { "toolgate_mcp_server_processes", "gauge", "Processes of the MCP server.",
      TG_CLI_METRIC_OF_MCP_SERVER, "running", NULL },
    { "toolgate_mcp_server_restarts_total", "counter",
      "Number of restarts of the MCP server.", TG_CLI_METRIC_OF_MCP_SERVER,
      "restarts", NULL },
    { "toolgate_mcp_server_clashes", "gauge",
      "Tools of the MCP server that are left out because their names are in "
      "use.",
      TG_CLI_METRIC_OF_MCP_SERVER, "clashes", NULL },
    { "toolgate_mcp_server_unchecked", "gauge",
      "Tools of the MCP server whose schemas are not checked (at most 100).",
      TG_CLI_METRIC_OF_MCP_SERVER, "unchecked", NULL },
    { "toolgate_runner_up", "gauge", "Whether the runner answers.",
      TG_CLI_METRIC_OF_RUNNER, "state", NULL },
    { "toolgate_runner_programs", "gauge", "Jobs that have a slot.",
      TG_CLI_METRIC_OF_RUNNER, "running", NULL },
    { "toolgate_runner_queued", "gauge", "Jobs that wait for a slot.",
      TG_CLI_METRIC_OF_RUNNER, "queued", NULL },
    { "toolgate_runner_tasks", "gauge", "Tasks that run.",
      TG_CLI_METRIC_OF_RUNNER, "tasks", NULL },
    { "toolgate_runner_jobs", "gauge", "Jobs of the runner, by kind.",
      TG_CLI_METRIC_OF_RUNNER, "kinds", "kind" },
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
        tg_cli_metric_append_samples(out, metric, status, NULL, element);
    }

    tg_cli_json_iter_init(&servers, tg_cli_json_get(status, "servers"));

    while (tg_cli_json_iter_next(&servers, &server)) {
        if (metric->list == NULL) {
            tg_cli_metric_append_samples(out, metric, status, server, server);
            continue;
        }

        tg_cli_json_iter_init(&json, tg_cli_json_get(server, metric->list));

        while (tg_cli_json_iter_next(&json, &element)) {
            tg_cli_metric_append_samples(out, metric, status, server, element);
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
