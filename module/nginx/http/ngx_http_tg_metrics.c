/*
 * The text of toolgate_metrics, from the shared counters and the runners'
 * answers. Series that are zero are left out where zero says nothing: results
 * that did not occur, and everything but `ok` of a tool that was never called.
 */
#include "nginx/http/ngx_http_tg_metrics.h"

/* --- samples --- */

void
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

void
ngx_http_tg_metrics_end_sample(tg_buf_t *out, uint64_t value)
{
    tg_buf_append_cstr(out, "} ");
    tg_buf_append_uint(out, value);
    tg_buf_append_char(out, '\n');
}

void
ngx_http_tg_metrics_add_header(tg_buf_t *out, const char *name,
                               const char *type, const char *help)
{
    tg_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
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

/* --- clients and logs --- */

static void
ngx_http_tg_metrics_write_client(void *data, const ngx_tg_counters_sum_t *sum)
{
    tg_buf_t *out = data;

    tg_buf_append_cstr(out, "toolgate_client_calls_total");
    ngx_http_tg_metrics_add_label(out, "{", "server", sum->server);
    ngx_http_tg_metrics_add_label(out, ",", "client", sum->name);
    ngx_http_tg_metrics_end_sample(out, sum->n[NGX_TG_COUNTER_COUNT]);
}

static void
ngx_http_tg_metrics_write_log(void *data, const ngx_tg_counters_sum_t *sum)
{
    tg_buf_t *out = data;

    tg_buf_append_cstr(out, "toolgate_log_lost_total");
    ngx_http_tg_metrics_add_label(out, "{", "log", sum->name);
    ngx_http_tg_metrics_end_sample(out, sum->n[NGX_TG_COUNTER_COUNT]);
}

static void
ngx_http_tg_metrics_write_named(ngx_http_tg_metrics_t *metrics)
{
    ngx_tg_srv_conf_t **scf;
    ngx_uint_t i;

    scf = metrics->status->servers.elts;
    ngx_http_tg_metrics_add_header(metrics->out, "toolgate_client_calls_total",
                                   "counter",
                                   "Calls that have started, by the name of "
                                   "the client.");

    for (i = 0; i < metrics->status->servers.nelts; i++) {
        ngx_tg_counters_visit_named(ngx_tg_server_get_label(scf[i]),
                                    NGX_TG_COUNTED_CLIENT,
                                    ngx_http_tg_metrics_write_client,
                                    metrics->out);
    }

    ngx_http_tg_metrics_add_header(metrics->out, "toolgate_log_lost_total",
                                   "counter",
                                   "Lines and records of calls that could not "
                                   "be written.");
    ngx_tg_counters_visit_named(TG_STR(""), NGX_TG_COUNTED_LOG,
                                ngx_http_tg_metrics_write_log, metrics->out);
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
    ngx_http_tg_metrics_write_named(&metrics);
    ngx_http_tg_metrics_write_imports(&metrics);
    ngx_http_tg_metrics_write_runners(&metrics);
    out->failed |= metrics.is_failed;
}
