/*
 * The text of toolgate_metrics, from the shared counters and the runners'
 * answers. Series that are zero are left out where zero says nothing: results
 * that did not occur, and everything but `ok` of a tool that was never called.
 */
#include "nginx/http/ngx_http_tg.h"

/* The counters of a tool, method or server, and its server. */
typedef struct {
    ngx_tg_counters_sum_t sum;
    ngx_tg_srv_conf_t *scf; /* NULL: the shared entry of all servers */
} ngx_http_tg_counted_t;

typedef struct {
    ngx_tg_status_t *status;
    tg_buf_t *out;
    ngx_array_t counted; /* ngx_http_tg_counted_t */
    ngx_tg_srv_conf_t *scf;
    ngx_uint_t is_failed;
} ngx_http_tg_metrics_t;

typedef struct ngx_http_tg_family_s ngx_http_tg_family_t;

struct ngx_http_tg_family_s {
    const char *name;
    const char *type;
    const char *help;
    void (*write)(ngx_http_tg_metrics_t *metrics,
                  const ngx_http_tg_family_t *family,
                  const ngx_http_tg_counted_t *counted);
    ngx_uint_t counter; /* counter that the family is, for write functions */
};

/* --- samples --- */

/* Appends a label; before is "{" for the first label of a sample, else ",". */
static void
ngx_http_tg_metrics_add_label(tg_buf_t *out, const char *before,
                              const char *name, tg_str_t text)
{
    size_t i;

    tg_buf_printf(out, "%s%s=\"", before, name);

    for (i = 0; i < text.len; i++) {
        if (text.data[i] == '\n') {
            tg_buf_append_cstr(out, "\\n");
            continue;
        }

        if (text.data[i] == '"' || text.data[i] == '\\') {
            tg_buf_append_char(out, '\\');
        }

        tg_buf_append_char(out, text.data[i]);
    }

    tg_buf_append_char(out, '"');
}

static void
ngx_http_tg_metrics_end_sample(tg_buf_t *out, uint64_t value)
{
    tg_buf_append_cstr(out, "} ");
    tg_buf_append_uint(out, value);
    tg_buf_append_char(out, '\n');
}

/* Begins a sample of a server, or of its tool if the counters have a name. */
static void
ngx_http_tg_metrics_begin_sample(tg_buf_t *out, const char *name,
                                 const char *suffix,
                                 const ngx_http_tg_counted_t *counted)
{
    tg_buf_append_cstr(out, name);
    tg_buf_append_cstr(out, suffix);
    ngx_http_tg_metrics_add_label(out, "{", "server", counted->sum.server);

    if (counted->sum.name.len != 0 || counted->scf == NULL) {
        ngx_http_tg_metrics_add_label(
            out, ",", "type",
            tg_str_from_cstr(tg_entry_type_name(counted->sum.kind)));
        ngx_http_tg_metrics_add_label(out, ",", "tool", counted->sum.name);
    }
}

static void
ngx_http_tg_metrics_add_sample(tg_buf_t *out, const char *name,
                               const ngx_http_tg_counted_t *counted,
                               uint64_t value)
{
    ngx_http_tg_metrics_begin_sample(out, name, "", counted);
    ngx_http_tg_metrics_end_sample(out, value);
}

/* --- servers --- */

static void
ngx_http_tg_metrics_write_connections(ngx_http_tg_metrics_t *metrics,
                                      const ngx_http_tg_family_t *family,
                                      const ngx_http_tg_counted_t *counted)
{
    ngx_uint_t i;
    uint64_t n;

    for (i = 0; i < TG_DIALECT_COUNT; i++) {
        n = counted->sum.n[NGX_TG_COUNTER_OPEN_CONNECTIONS + i];

        if (n != 0 || i == TG_DIALECT_JSONRPC) {
            ngx_http_tg_metrics_begin_sample(metrics->out, family->name, "",
                                             counted);
            ngx_http_tg_metrics_add_label(metrics->out, ",", "dialect",
                                          tg_str_from_cstr(tg_dialect_name(
                                              (tg_dialect_t) i)));
            ngx_http_tg_metrics_end_sample(metrics->out, n);
        }
    }
}

/* Appends a counter of a server, or of a tool of which a call has ended. */
static void
ngx_http_tg_metrics_write_counter(ngx_http_tg_metrics_t *metrics,
                                  const ngx_http_tg_family_t *family,
                                  const ngx_http_tg_counted_t *counted)
{
    if (counted->sum.name.len == 0
        || ngx_tg_status_count_ended(&counted->sum) != 0) {
        ngx_http_tg_metrics_add_sample(metrics->out, family->name, counted,
                                       counted->sum.n[family->counter]);
    }
}

/* --- tools --- */

static void
ngx_http_tg_metrics_write_calls(ngx_http_tg_metrics_t *metrics,
                                const ngx_http_tg_family_t *family,
                                const ngx_http_tg_counted_t *counted)
{
    ngx_uint_t i;
    uint64_t n;

    for (i = 0; i <= NGX_TG_END_MOVED; i++) {
        n = ngx_tg_status_count_ends(&counted->sum, i);

        if (n != 0 || i == 0) {
            ngx_http_tg_metrics_begin_sample(metrics->out, family->name, "",
                                             counted);
            ngx_http_tg_metrics_add_label(metrics->out, ",", "status",
                                          tg_str_from_cstr(
                                              ngx_tg_status_get_end_name(i)));
            ngx_http_tg_metrics_end_sample(metrics->out, n);
        }
    }
}

/* Checks whether a tool was ever called. */
static ngx_uint_t
ngx_http_tg_counted_is_used(const ngx_http_tg_counted_t *counted)
{
    return counted->sum.n[NGX_TG_COUNTER_STARTED] != 0;
}

static void
ngx_http_tg_metrics_write_in_flight(ngx_http_tg_metrics_t *metrics,
                                    const ngx_http_tg_family_t *family,
                                    const ngx_http_tg_counted_t *counted)
{
    if (ngx_http_tg_counted_is_used(counted)) {
        ngx_http_tg_metrics_add_sample(metrics->out, family->name, counted,
                                       counted->sum.in_flight);
    }
}

static void
ngx_http_tg_metrics_write_queued(ngx_http_tg_metrics_t *metrics,
                                 const ngx_http_tg_family_t *family,
                                 const ngx_http_tg_counted_t *counted)
{
    if (ngx_http_tg_counted_is_used(counted)) {
        ngx_http_tg_metrics_add_sample(
            metrics->out, family->name, counted,
            ngx_tg_status_count_queued(metrics->status, &counted->sum));
    }
}

static void
ngx_http_tg_metrics_write_durations(ngx_http_tg_metrics_t *metrics,
                                    const ngx_http_tg_family_t *family,
                                    const ngx_http_tg_counted_t *counted)
{
    const uint64_t *n;
    tg_buf_t *out;
    ngx_uint_t i;
    uint64_t sum;

    if (ngx_tg_status_count_ended(&counted->sum) == 0) {
        return;
    }

    out = metrics->out;
    n = counted->sum.n;

    for (i = 0, sum = 0; i <= NGX_TG_STATUS_TIME_BOUNDS; i++) {
        sum += n[NGX_TG_COUNTER_DURATION_BUCKET + i];
        ngx_http_tg_metrics_begin_sample(out, family->name, "_bucket", counted);

        if (i == NGX_TG_STATUS_TIME_BOUNDS) {
            tg_buf_append_cstr(out, ",le=\"+Inf\"");
        } else {
            tg_buf_printf(out, ",le=\"%g\"",
                          (double) ngx_tg_status_time_bounds[i] / 1000);
        }

        ngx_http_tg_metrics_end_sample(out, sum);
    }

    ngx_http_tg_metrics_begin_sample(out, family->name, "_sum", counted);
    tg_buf_printf(out, "} %.3f\n",
                  (double) n[NGX_TG_COUNTER_DURATION_MS] / 1000);
    ngx_http_tg_metrics_begin_sample(out, family->name, "_count", counted);
    ngx_http_tg_metrics_end_sample(out, sum);
}

static const ngx_http_tg_family_t ngx_http_tg_server_families[] = {
    { "toolgate_connections", "gauge", "Clients that are connected.",
      ngx_http_tg_metrics_write_connections, 0 },
    { "toolgate_accepted_connections_total", "counter",
      "Clients that have connected.", ngx_http_tg_metrics_write_counter,
      NGX_TG_COUNTER_ACCEPTED },
    { "toolgate_unknown_calls_total", "counter",
      "Calls of unknown tools and methods.", ngx_http_tg_metrics_write_counter,
      NGX_TG_COUNTER_UNKNOWN_CALLS },
    { NULL, NULL, NULL, NULL, 0 },
};

static const ngx_http_tg_family_t ngx_http_tg_tool_families[] = {
    { "toolgate_calls_total", "counter", "Calls that have ended, by result.",
      ngx_http_tg_metrics_write_calls, 0 },
    { "toolgate_calls_in_flight", "gauge", "Calls that have not ended.",
      ngx_http_tg_metrics_write_in_flight, 0 },
    { "toolgate_calls_queued", "gauge", "Calls in flight that are queued.",
      ngx_http_tg_metrics_write_queued, 0 },
    { "toolgate_call_received_bytes_total", "counter",
      "Request bytes of calls that have ended.",
      ngx_http_tg_metrics_write_counter, NGX_TG_COUNTER_BYTES_IN },
    { "toolgate_call_sent_bytes_total", "counter",
      "Response bytes of calls that have ended.",
      ngx_http_tg_metrics_write_counter, NGX_TG_COUNTER_BYTES_OUT },
    { "toolgate_call_duration_seconds", "histogram",
      "Duration of calls, including the time in the queue.",
      ngx_http_tg_metrics_write_durations, 0 },
    { NULL, NULL, NULL, NULL, 0 },
};

/* --- lists in JSON: MCP servers and runners --- */

/* A number, the length of a list, or whether a state is good, of an element. */
typedef struct {
    const char *name;
    const char *type;
    const char *help;
    const char *member;
} ngx_http_tg_json_family_t;

static const ngx_http_tg_json_family_t ngx_http_tg_mcp_families[] = {
    { "toolgate_mcp_server_ready", "gauge",
      "Whether a process of the MCP server is ready.", "state" },
    { "toolgate_mcp_server_processes", "gauge", "Processes of the MCP server.",
      "running" },
    { "toolgate_mcp_server_restarts_total", "counter",
      "Number of restarts of the MCP server.", "restarts" },
    { "toolgate_mcp_server_clashes", "gauge",
      "Tools of the MCP server that are left out because their names are in "
      "use.",
      "clashes" },
    { "toolgate_mcp_server_unchecked", "gauge",
      "Tools of the MCP server whose schemas are not checked (at most 100).",
      "unchecked" },
    { NULL, NULL, NULL, NULL },
};

static const ngx_http_tg_json_family_t ngx_http_tg_runner_families[] = {
    { "toolgate_runner_programs", "gauge", "Jobs that have a slot.",
      "running" },
    { "toolgate_runner_queued", "gauge", "Jobs that wait for a slot.",
      "queued" },
    { "toolgate_runner_tasks", "gauge", "Tasks that run.", "tasks" },
    { NULL, NULL, NULL, NULL },
};

static void
ngx_http_tg_metrics_add_header(tg_buf_t *out, const char *name,
                               const char *type, const char *help)
{
    tg_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static uint64_t
ngx_http_tg_metrics_read_value(tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t item;
    int64_t number;
    uint64_t n;

    switch (tg_json_type(raw)) {
    case TG_JSON_ARRAY:
        n = 0;

        for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &item);) {
            n++;
        }

        return n;
    case TG_JSON_STRING:
        return tg_json_string_eq(raw, TG_STR("ready")) ? 1 : 0;
    default:
        return tg_json_parse_int64(raw, &number) == TG_OK && number > 0
                   ? (uint64_t) number
                   : 0;
    }
}

/* Appends a family's samples of the MCP servers of one server. */
static void
ngx_http_tg_metrics_write_mcp_servers(ngx_http_tg_metrics_t *metrics,
                                      const ngx_http_tg_json_family_t *family,
                                      tg_str_t server, tg_str_t status)
{
    static const char *const keys[] = { "name", NULL };
    tg_json_cursor_t json;
    tg_str_t list, item, name, raw;
    tg_buf_t text;

    if (!tg_json_has_member(status, TG_STR("mcp_servers"), TG_JSON_ARRAY,
                            &list)) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());

    for (tg_json_iter_init(&json, list); tg_json_iter_next(&json, &item);) {
        if (tg_json_get_members(item, keys, &name) != TG_OK
            || tg_json_type(name) != TG_JSON_STRING
            || tg_json_get_member(item, tg_str_from_cstr(family->member), &raw)
                   != TG_OK)
        {
            raw = TG_STR_NONE;
        }

        tg_buf_truncate(&text, 0);
        tg_json_append_unescaped(&text, tg_json_string_body(name));
        tg_buf_append_cstr(metrics->out, family->name);
        ngx_http_tg_metrics_add_label(metrics->out, "{", "server", server);
        ngx_http_tg_metrics_add_label(metrics->out, ",", "mcp_server",
                                      tg_buf_view(&text));
        ngx_http_tg_metrics_end_sample(metrics->out,
                                       ngx_http_tg_metrics_read_value(raw));
    }

    metrics->is_failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

/* Appends an object with the members that handlers have about a server. */
static void
ngx_http_tg_metrics_read_handlers(const ngx_tg_srv_conf_t *scf, tg_buf_t *json)
{
    const ngx_tg_handler_t *const *handler;
    ngx_tg_main_conf_t *mcf;

    mcf = ngx_tg_cycle_get_main_conf(ngx_cycle);
    tg_buf_truncate(json, 0);
    tg_buf_append_cstr(json, "{\"\":0");

    for (handler = mcf->handlers; *handler != NULL; handler++) {
        if ((*handler)->write_status != NULL) {
            (*handler)->write_status(scf, json);
        }
    }

    tg_buf_append_char(json, '}');
}

static void
ngx_http_tg_metrics_write_imports(ngx_http_tg_metrics_t *metrics)
{
    const ngx_http_tg_json_family_t *family;
    ngx_tg_srv_conf_t **scf;
    tg_buf_t json;
    ngx_uint_t i;

    scf = metrics->status->servers.elts;
    tg_buf_init(&json, tg_alloc_libc());

    for (family = ngx_http_tg_mcp_families; family->name != NULL; family++) {
        ngx_http_tg_metrics_add_header(metrics->out, family->name, family->type,
                                       family->help);

        for (i = 0; i < metrics->status->servers.nelts; i++) {
            ngx_http_tg_metrics_read_handlers(scf[i], &json);
            ngx_http_tg_metrics_write_mcp_servers(
                metrics, family, ngx_tg_server_get_label(scf[i]),
                tg_buf_view(&json));
        }
    }

    metrics->is_failed |= tg_buf_has_failed(&json);
    tg_buf_deinit(&json);
}

/* --- runners --- */

static void
ngx_http_tg_metrics_begin_runner(tg_buf_t *out, const char *name,
                                 const ngx_tg_status_runner_t *runner)
{
    tg_buf_append_cstr(out, name);
    ngx_http_tg_metrics_add_label(
        out, "{", "state_dir",
        ngx_tg_str_from_ngx(ngx_tg_runner_get_state_dir(runner->runner)));
}

static void
ngx_http_tg_metrics_write_jobs(ngx_http_tg_metrics_t *metrics,
                               const ngx_tg_status_runner_t *runner)
{
    tg_json_cursor_t json;
    tg_str_t kinds, key, raw;

    if (!tg_json_has_member(runner->raw, TG_STR("kinds"), TG_JSON_OBJECT,
                            &kinds)) {
        return;
    }

    tg_json_iter_init_members(&json, kinds);

    while (tg_json_iter_next_member(&json, &key, &raw)) {
        ngx_http_tg_metrics_begin_runner(metrics->out, "toolgate_runner_jobs",
                                         runner);
        ngx_http_tg_metrics_add_label(metrics->out, ",", "kind", key);
        ngx_http_tg_metrics_end_sample(metrics->out,
                                       ngx_http_tg_metrics_read_value(raw));
    }
}

static void
ngx_http_tg_metrics_write_runners(ngx_http_tg_metrics_t *metrics)
{
    const ngx_http_tg_json_family_t *family;
    const ngx_tg_status_runner_t *runner;
    tg_str_t raw;
    ngx_uint_t i, n;

    runner = metrics->status->runners.elts;
    n = metrics->status->runners.nelts;
    ngx_http_tg_metrics_add_header(metrics->out, "toolgate_runner_up", "gauge",
                                   "Whether the runner answers.");

    for (i = 0; i < n; i++) {
        ngx_http_tg_metrics_begin_runner(metrics->out, "toolgate_runner_up",
                                         &runner[i]);
        ngx_http_tg_metrics_end_sample(metrics->out,
                                       runner[i].raw.data != NULL);
    }

    for (family = ngx_http_tg_runner_families; family->name != NULL; family++) {
        ngx_http_tg_metrics_add_header(metrics->out, family->name, family->type,
                                       family->help);

        for (i = 0; i < n; i++) {
            if (runner[i].raw.data == NULL
                || tg_json_get_member(runner[i].raw,
                                      tg_str_from_cstr(family->member), &raw)
                       != TG_OK)
            {
                continue;
            }

            ngx_http_tg_metrics_begin_runner(metrics->out, family->name,
                                             &runner[i]);
            ngx_http_tg_metrics_end_sample(metrics->out,
                                           ngx_http_tg_metrics_read_value(raw));
        }
    }

    ngx_http_tg_metrics_add_header(metrics->out, "toolgate_runner_jobs",
                                   "gauge", "Jobs of the runner, by kind.");

    for (i = 0; i < n; i++) {
        if (runner[i].raw.data != NULL) {
            ngx_http_tg_metrics_write_jobs(metrics, &runner[i]);
        }
    }
}

/* --- all metrics --- */

/* Keeps the counters of an entry, unless nobody wants to know of it. */
static void
ngx_http_tg_metrics_add_counted(void *data, const ngx_tg_counters_sum_t *sum)
{
    ngx_http_tg_metrics_t *metrics = data;

    ngx_http_tg_counted_t *counted;

    if (sum->n[NGX_TG_COUNTER_STARTED] == 0
        && (metrics->scf == NULL
            || (sum->name.len != 0
                && ngx_tg_status_is_entry_internal(metrics->scf, sum))))
    {
        return;
    }

    counted = ngx_array_push(&metrics->counted);

    if (counted == NULL) {
        metrics->is_failed = 1;
        return;
    }

    counted->sum = *sum;
    counted->scf = metrics->scf;
}

static void
ngx_http_tg_metrics_write_families(ngx_http_tg_metrics_t *metrics,
                                   const ngx_http_tg_family_t *family,
                                   ngx_uint_t is_server)
{
    const ngx_http_tg_counted_t *counted;
    ngx_uint_t i;

    counted = metrics->counted.elts;

    for (; family->name != NULL; family++) {
        ngx_http_tg_metrics_add_header(metrics->out, family->name, family->type,
                                       family->help);

        for (i = 0; i < metrics->counted.nelts; i++) {
            if ((counted[i].scf != NULL && counted[i].sum.name.len == 0)
                == (is_server != 0))
            {
                family->write(metrics, family, &counted[i]);
            }
        }
    }
}

void
ngx_http_tg_write_metrics(ngx_tg_status_t *status, tg_buf_t *out)
{
    ngx_http_tg_metrics_t metrics;
    ngx_tg_srv_conf_t **scf;
    ngx_uint_t i;

    ngx_memzero(&metrics, sizeof(metrics));
    metrics.status = status;
    metrics.out = out;

    if (ngx_array_init(&metrics.counted, status->pool, 64,
                       sizeof(ngx_http_tg_counted_t))
        != NGX_OK)
    {
        out->failed = 1;
        return;
    }

    ngx_tg_status_read_calls(status);
    ngx_tg_counters_visit(TG_STR(""), ngx_http_tg_metrics_add_counted,
                          &metrics);
    scf = status->servers.elts;

    for (i = 0; i < status->servers.nelts; i++) {
        metrics.scf = scf[i];
        ngx_tg_status_create_counters(scf[i]);
        ngx_tg_counters_visit(ngx_tg_server_get_label(scf[i]),
                              ngx_http_tg_metrics_add_counted, &metrics);
    }

    ngx_http_tg_metrics_add_header(out, "toolgate_info", "gauge",
                                   "The version of Toolgate; the value is "
                                   "always 1.");
    tg_buf_append_cstr(out, "toolgate_info{version=\"" TG_VERSION "\"} 1\n");
    ngx_http_tg_metrics_add_header(out, "toolgate_workers", "gauge",
                                   "NGINX workers that are running.");
    tg_buf_printf(out, "toolgate_workers %u\n",
                  (unsigned) ngx_tg_counters_count_workers());
    ngx_http_tg_metrics_write_families(&metrics, ngx_http_tg_server_families,
                                       1);
    ngx_http_tg_metrics_write_families(&metrics, ngx_http_tg_tool_families, 0);
    ngx_http_tg_metrics_write_imports(&metrics);
    ngx_http_tg_metrics_write_runners(&metrics);
    out->failed |= metrics.is_failed;
}
