/*
 * `toolgate status --prometheus`: the text format, version 0.0.4.  All samples
 * of a metric stand together, below what it is.
 */
#include "client/tg_cli_status.h"

#include <stdio.h>

typedef struct tg_cli_metric_s tg_cli_metric_t;

/* Appends a metric's samples about one element of a list. */
typedef void (*tg_cli_metric_put_pt)(tg_buf_t *out,
                                     const tg_cli_metric_t *metric,
                                     struct json_object *status,
                                     struct json_object *server,
                                     struct json_object *element);

struct tg_cli_metric_s {
    const char *name;
    const char *type;
    const char *help;
    const char *list; /* of a server, else of all; NULL: the server itself */
    const char *member;
    tg_cli_metric_put_pt put;
};

/* --- labels --- */

/* The first label of a sample, or another one. */
static void
tg_cli_label(tg_buf_t *out, const char *before, const char *name,
             const char *value)
{
    tg_buf_text(out, before);
    tg_buf_text(out, name);
    tg_buf_text(out, "=\"");

    for (; *value != '\0'; value++) {
        switch (*value) {
        case '\n':
            tg_buf_text(out, "\\n");
            break;
        case '"':
        case '\\':
            tg_buf_char(out, '\\');
            tg_buf_char(out, *value);
            break;
        default:
            tg_buf_char(out, *value);
        }
    }

    tg_buf_char(out, '"');
}

static void
tg_cli_sample_end(tg_buf_t *out, uint64_t value)
{
    tg_buf_text(out, "} ");
    tg_buf_uint(out, value);
    tg_buf_char(out, '\n');
}

/* --- tools --- */

/* The labels of a tool; they are left open. */
static void
tg_cli_sample_tool(tg_buf_t *out, const char *name, const char *suffix,
                   struct json_object *server, struct json_object *tool)
{
    tg_buf_text(out, name);
    tg_buf_text(out, suffix);
    tg_cli_label(out, "{", "server", tg_cli_member_text(server, "server"));
    tg_cli_label(out, ",", "type", tg_cli_member_text(tool, "type"));
    tg_cli_label(out, ",", "tool", tg_cli_member_text(tool, "name"));
}

static void
tg_cli_metric_tool(tg_buf_t *out, const tg_cli_metric_t *metric,
                   struct json_object *status, struct json_object *server,
                   struct json_object *tool)
{
    tg_cli_sample_tool(out, metric->name, "", server, tool);
    tg_cli_sample_end(out, tg_cli_member_uint(tool, metric->member));
}

static void
tg_cli_metric_ends(tg_buf_t *out, const tg_cli_metric_t *metric,
                   struct json_object *status, struct json_object *server,
                   struct json_object *tool)
{
    struct json_object_iterator it, last;
    struct json_object *ends;

    ends = tg_cli_member(tool, metric->member, json_type_object);

    if (ends == NULL) {
        return;
    }

    last = json_object_iter_end(ends);

    for (it = json_object_iter_begin(ends); !json_object_iter_equal(&it, &last);
         json_object_iter_next(&it))
    {
        tg_cli_sample_tool(out, metric->name, "", server, tool);
        tg_cli_label(out, ",", "status", json_object_iter_peek_name(&it));
        tg_cli_sample_end(out, json_object_get_uint64(
                                   json_object_iter_peek_value(&it)));
    }
}

static void
tg_cli_metric_times(tg_buf_t *out, const tg_cli_metric_t *metric,
                    struct json_object *status, struct json_object *server,
                    struct json_object *tool)
{
    struct json_object *n, *time;
    char le[32];
    uint64_t sum;
    size_t i;

    for (i = 0, sum = 0; (n = tg_cli_member_at(tool, "times", i)) != NULL; i++)
    {
        sum += json_object_get_uint64(n);
        time = tg_cli_member_at(status, "times_ms", i);
        (void) snprintf(le, sizeof(le), "%g",
                        time != NULL ? json_object_get_double(time) / 1000 : 0);
        tg_cli_sample_tool(out, metric->name, "_bucket", server, tool);
        tg_cli_label(out, ",", "le", time != NULL ? le : "+Inf");
        tg_cli_sample_end(out, sum);
    }

    tg_cli_sample_tool(out, metric->name, "_sum", server, tool);
    tg_buf_printf(out, "} %.3f\n",
                  (double) tg_cli_member_uint(tool, metric->member) / 1000);
    tg_cli_sample_tool(out, metric->name, "_count", server, tool);
    tg_cli_sample_end(out, sum);
}

/* --- connections, MCP servers, runners --- */

/* A number of an object of a server. */
static void
tg_cli_metric_server(tg_buf_t *out, const tg_cli_metric_t *metric,
                     struct json_object *server, struct json_object *object)
{
    tg_buf_text(out, metric->name);
    tg_cli_label(out, "{", "server", tg_cli_member_text(server, "server"));
    tg_cli_sample_end(out, tg_cli_member_uint(object, metric->member));
}

static void
tg_cli_metric_accepted(tg_buf_t *out, const tg_cli_metric_t *metric,
                       struct json_object *status, struct json_object *server,
                       struct json_object *element)
{
    tg_cli_metric_server(out, metric, server,
                         tg_cli_member(server, "connections",
                                       json_type_object));
}

static void
tg_cli_metric_unknown(tg_buf_t *out, const tg_cli_metric_t *metric,
                      struct json_object *status, struct json_object *server,
                      struct json_object *element)
{
    tg_cli_metric_server(out, metric, server, server);
}

/* A number by each name of a member that is an object. */
static void
tg_cli_metric_by(tg_buf_t *out, const tg_cli_metric_t *metric,
                 struct json_object *object, const char *label,
                 const char *value, const char *by)
{
    struct json_object_iterator it, last;
    struct json_object *numbers;

    numbers = tg_cli_member(object, metric->member, json_type_object);

    if (numbers == NULL) {
        return;
    }

    last = json_object_iter_end(numbers);

    for (it = json_object_iter_begin(numbers);
         !json_object_iter_equal(&it, &last); json_object_iter_next(&it))
    {
        tg_buf_text(out, metric->name);
        tg_cli_label(out, "{", label, value);
        tg_cli_label(out, ",", by, json_object_iter_peek_name(&it));
        tg_cli_sample_end(out, json_object_get_uint64(
                                   json_object_iter_peek_value(&it)));
    }
}

static void
tg_cli_metric_open(tg_buf_t *out, const tg_cli_metric_t *metric,
                   struct json_object *status, struct json_object *server,
                   struct json_object *element)
{
    tg_cli_metric_by(out, metric,
                     tg_cli_member(server, "connections", json_type_object),
                     "server", tg_cli_member_text(server, "server"), "dialect");
}

/* A number; of a list, how many; of the state, whether it is ready. */
static void
tg_cli_metric_mcp(tg_buf_t *out, const tg_cli_metric_t *metric,
                  struct json_object *status, struct json_object *server,
                  struct json_object *mcp)
{
    struct json_object *list;
    const char *state;
    uint64_t value;

    list = tg_cli_member(mcp, metric->member, json_type_array);
    state = tg_cli_member_text(mcp, metric->member);

    if (list != NULL) {
        value = json_object_array_length(list);
    } else {
        value = state[0] != '\0' ? strcmp(state, "ready") == 0
                                 : tg_cli_member_uint(mcp, metric->member);
    }

    tg_buf_text(out, metric->name);
    tg_cli_label(out, "{", "server", tg_cli_member_text(server, "server"));
    tg_cli_label(out, ",", "mcp_server", tg_cli_member_text(mcp, "name"));
    tg_cli_sample_end(out, value);
}

static void
tg_cli_metric_runner(tg_buf_t *out, const tg_cli_metric_t *metric,
                     struct json_object *status, struct json_object *server,
                     struct json_object *runner)
{
    const char *state;

    state = tg_cli_member_text(runner, metric->member);
    tg_buf_text(out, metric->name);
    tg_cli_label(out, "{", "state_dir",
                 tg_cli_member_text(runner, "state_dir"));
    tg_cli_sample_end(out, state[0] != '\0'
                               ? strcmp(state, "up") == 0
                               : tg_cli_member_uint(runner, metric->member));
}

static void
tg_cli_metric_kinds(tg_buf_t *out, const tg_cli_metric_t *metric,
                    struct json_object *status, struct json_object *server,
                    struct json_object *runner)
{
    tg_cli_metric_by(out, metric, runner, "state_dir",
                     tg_cli_member_text(runner, "state_dir"), "kind");
}

/* --- all --- */

static const tg_cli_metric_t tg_cli_metrics[] = {
    { "toolgate_connections", "gauge", "Clients that are connected.", NULL,
      "open", tg_cli_metric_open },
    { "toolgate_accepted_connections_total", "counter",
      "Clients that have connected.", NULL, "accepted",
      tg_cli_metric_accepted },
    { "toolgate_unknown_calls_total", "counter",
      "Calls of tools and methods that there are not.", NULL, "unknown",
      tg_cli_metric_unknown },
    { "toolgate_calls_total", "counter", "Calls that have ended, by how.",
      "tools", "ends", tg_cli_metric_ends },
    { "toolgate_calls_in_flight", "gauge", "Calls that have not ended.",
      "tools", "in_flight", tg_cli_metric_tool },
    { "toolgate_calls_queued", "gauge",
      "Calls in flight that wait for their turn.", "tools", "queued",
      tg_cli_metric_tool },
    { "toolgate_call_received_bytes_total", "counter",
      "Bytes of requests of calls that have ended.", "tools", "bytes_in",
      tg_cli_metric_tool },
    { "toolgate_call_sent_bytes_total", "counter",
      "Bytes of answers of calls that have ended.", "tools", "bytes_out",
      tg_cli_metric_tool },
    { "toolgate_call_duration_seconds", "histogram",
      "What calls took, waiting included.", "tools", "ms",
      tg_cli_metric_times },
    { "toolgate_mcp_server_ready", "gauge",
      "Whether a process of the MCP server is ready.", "mcp_servers", "state",
      tg_cli_metric_mcp },
    { "toolgate_mcp_server_processes", "gauge", "Processes of the MCP server.",
      "mcp_servers", "running", tg_cli_metric_mcp },
    { "toolgate_mcp_server_restarts_total", "counter",
      "How often the MCP server was started again.", "mcp_servers", "restarts",
      tg_cli_metric_mcp },
    { "toolgate_mcp_server_clashes", "gauge",
      "Tools of the MCP server that are left out, as others have their names.",
      "mcp_servers", "clashes", tg_cli_metric_mcp },
    { "toolgate_mcp_server_unchecked", "gauge",
      "Tools of the MCP server whose schemas are not checked (at most 100).",
      "mcp_servers", "unchecked", tg_cli_metric_mcp },
    { "toolgate_runner_up", "gauge", "Whether the runner answers.", "runners",
      "state", tg_cli_metric_runner },
    { "toolgate_runner_programs", "gauge", "Jobs that have a slot.", "runners",
      "running", tg_cli_metric_runner },
    { "toolgate_runner_queued", "gauge", "Jobs that wait for one.", "runners",
      "queued", tg_cli_metric_runner },
    { "toolgate_runner_tasks", "gauge", "Tasks that run.", "runners", "tasks",
      tg_cli_metric_runner },
    { "toolgate_runner_jobs", "gauge", "Jobs of the runner, by kind.",
      "runners", "kinds", tg_cli_metric_kinds },
};

#define TG_CLI_NMETRICS (sizeof(tg_cli_metrics) / sizeof(tg_cli_metrics[0]))

static void
tg_cli_metric_head(tg_buf_t *out, const char *name, const char *type,
                   const char *help)
{
    tg_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
tg_cli_metric_put(tg_buf_t *out, const tg_cli_metric_t *metric,
                  struct json_object *status)
{
    struct json_object *server, *element;
    size_t i, k;

    tg_cli_metric_head(out, metric->name, metric->type, metric->help);

    /* Of no server. */
    for (k = 0;
         metric->list != NULL
         && (element = tg_cli_member_at(status, metric->list, k)) != NULL;
         k++)
    {
        metric->put(out, metric, status, NULL, element);
    }

    for (i = 0; (server = tg_cli_member_at(status, "servers", i)) != NULL; i++)
    {
        if (metric->list == NULL) {
            metric->put(out, metric, status, server, NULL);
            continue;
        }

        for (k = 0;
             (element = tg_cli_member_at(server, metric->list, k)) != NULL; k++)
        {
            metric->put(out, metric, status, server, element);
        }
    }
}

void
tg_cli_status_put_metrics(tg_buf_t *out, struct json_object *status)
{
    size_t i;

    tg_cli_metric_head(out, "toolgate_info", "gauge",
                       "Which version it is; always 1.");
    tg_buf_text(out, "toolgate_info");
    tg_cli_label(out, "{", "version", tg_cli_member_text(status, "version"));
    tg_cli_sample_end(out, 1);
    tg_cli_metric_head(out, "toolgate_workers", "gauge",
                       "Workers of NGINX that are there.");
    tg_buf_text(out, "toolgate_workers ");
    tg_buf_uint(out, tg_cli_member_uint(status, "workers"));
    tg_buf_char(out, '\n');

    for (i = 0; i < TG_CLI_NMETRICS; i++) {
        tg_cli_metric_put(out, &tg_cli_metrics[i], status);
    }
}
