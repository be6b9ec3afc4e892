/* The parts of toolgate_metrics that are made of JSON: MCP servers, runners. */
#include "nginx/http/ngx_http_tg_metrics.h"

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
    { "toolgate_runner_stored_output_bytes_total", "counter",
      "Bytes of large outputs that were written to disk.", "spilled" },
    { NULL, NULL, NULL, NULL },
};

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

/* Appends a label with the text of a raw JSON string. */
static void
ngx_http_tg_metrics_add_json_label(tg_buf_t *out, const char *before,
                                   const char *name, tg_str_t raw)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, tg_json_string_body(raw));
    ngx_http_tg_metrics_add_label(out, before, name, tg_buf_view(&text));
    out->failed |= text.failed;
    tg_buf_deinit(&text);
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

    if (!tg_json_has_member(status, TG_STR("mcp_servers"), TG_JSON_ARRAY,
                            &list)) {
        return;
    }

    for (tg_json_iter_init(&json, list); tg_json_iter_next(&json, &item);) {
        if (tg_json_get_members(item, keys, &name) != TG_OK
            || tg_json_type(name) != TG_JSON_STRING
            || tg_json_get_member(item, tg_str_from_cstr(family->member), &raw)
                   != TG_OK)
        {
            raw = TG_STR_NONE;
        }

        tg_buf_append_cstr(metrics->out, family->name);
        ngx_http_tg_metrics_add_label(metrics->out, "{", "server", server);
        ngx_http_tg_metrics_add_json_label(metrics->out, ",", "mcp_server",
                                           name);
        ngx_http_tg_metrics_end_sample(metrics->out,
                                       ngx_http_tg_metrics_read_value(raw));
    }
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

void
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

/* Numbers of task stores: their type, and the labels that their name has. */
static const struct {
    const char *name;
    const char *help;
    const char *type;
    const char *label;
    const char *state_label;
} ngx_http_tg_store_families[] = {
    { "toolgate_tasks_total", "Tasks that have reached a state, by agent.",
      "task", "agent", "state" },
    { "toolgate_rule_firings_total", "Firings of rules, by result.", "rule",
      "rule", "status" },
    { "toolgate_webhook_requests_total", "Requests of webhooks, by result.",
      "webhook", "rule", "result" },
};

/* Appends a family's samples of a task store. */
static void
ngx_http_tg_metrics_write_store(tg_buf_t *out, ngx_uint_t family,
                                tg_str_t store)
{
    static const char *const keys[] = { "type", "name", "state", "n", NULL };
    tg_json_cursor_t json;
    tg_str_t location, list, item, values[4];

    if (!tg_json_has_member(store, TG_STR("store"), TG_JSON_STRING, &location)
        || !tg_json_has_member(store, TG_STR("stats"), TG_JSON_ARRAY, &list))
    {
        return;
    }

    for (tg_json_iter_init(&json, list); tg_json_iter_next(&json, &item);) {
        if (tg_json_get_members(item, keys, values) != TG_OK
            || !tg_json_string_eq(
                values[0],
                tg_str_from_cstr(ngx_http_tg_store_families[family].type)))
        {
            continue;
        }

        tg_buf_append_cstr(out, ngx_http_tg_store_families[family].name);
        ngx_http_tg_metrics_add_json_label(out, "{", "store", location);
        ngx_http_tg_metrics_add_json_label(
            out, ",", ngx_http_tg_store_families[family].label, values[1]);
        ngx_http_tg_metrics_add_json_label(
            out, ",", ngx_http_tg_store_families[family].state_label,
            values[2]);
        ngx_http_tg_metrics_end_sample(
            out, ngx_http_tg_metrics_read_value(values[3]));
    }
}

static void
ngx_http_tg_metrics_write_stores(ngx_http_tg_metrics_t *metrics)
{
    const ngx_tg_status_runner_t *runner;
    tg_json_cursor_t json;
    tg_str_t list, item;
    ngx_uint_t i, k;

    runner = metrics->status->runners.elts;

    for (k = 0; k < sizeof(ngx_http_tg_store_families)
                        / sizeof(ngx_http_tg_store_families[0]);
         k++)
    {
        ngx_http_tg_metrics_add_header(
            metrics->out, ngx_http_tg_store_families[k].name, "counter",
            ngx_http_tg_store_families[k].help);

        for (i = 0; i < metrics->status->runners.nelts; i++) {
            if (runner[i].raw.data == NULL
                || !tg_json_has_member(runner[i].raw, TG_STR("stores"),
                                       TG_JSON_ARRAY, &list))
            {
                continue;
            }

            for (tg_json_iter_init(&json, list);
                 tg_json_iter_next(&json, &item);) {
                ngx_http_tg_metrics_write_store(metrics->out, k, item);
            }
        }
    }
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

void
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

    ngx_http_tg_metrics_write_stores(metrics);
}
