/* The response of `toolgate.status`; docs/protocols.md has an example. */
#include "nginx/handlers/ngx_tg_status.h"

const ngx_uint_t ngx_tg_status_time_bounds[NGX_TG_STATUS_TIME_BOUNDS] =
    NGX_TG_DURATION_BUCKETS;

/* State while the entries of a server are written. */
typedef struct {
    ngx_tg_status_t *status;
    ngx_tg_srv_conf_t *scf; /* NULL: all servers */
    tg_buf_t *json;
    ngx_uint_t n;
} ngx_tg_status_list_writer_t;

/* --- calls --- */

static ngx_uint_t
ngx_tg_status_add_call(void *data, const ngx_tg_running_call_info_t *about)
{
    ngx_tg_status_t *status = data;

    ngx_tg_status_call_t *call;

    if (!ngx_tg_status_has_server(&status->servers, about->server)) {
        return 0;
    }

    call = ngx_array_push(&status->calls);

    if (call == NULL) {
        return 1;
    }

    call->about = *about;
    call->kind = about->runs_in_worker ? TG_STR("worker") : TG_STR("runner");
    call->state = TG_STR("running");
    call->pid = TG_STR_NONE;

    return 0;
}

/* Reads a job of a runner, and finds its call by the number. */
static void
ngx_tg_status_read_job(ngx_tg_status_t *status, tg_str_t raw)
{
    static const char *const names[] = { "call", "kind", "state", "pid", NULL };
    ngx_tg_status_call_t *call;
    tg_str_t values[4];
    int64_t number;
    ngx_uint_t i;

    if (tg_json_get_members(raw, names, values) != TG_OK
        || tg_json_parse_int64(values[0], &number) != TG_OK
        || tg_json_type(values[1]) != TG_JSON_STRING
        || tg_json_type(values[2]) != TG_JSON_STRING)
    {
        return;
    }

    call = status->calls.elts;

    for (i = 0; i < status->calls.nelts; i++) {
        if (call[i].about.number != (uint64_t) number) {
            continue;
        }

        call[i].state = tg_json_string_body(values[2]);
        call[i].pid = values[3];

        /*
         * For a call that a worker runs itself, the runner has a slot or a
         * detached job.
         */
        call[i].kind = tg_json_string_eq(values[1], TG_STR("place"))
                               || tg_json_string_eq(values[1], TG_STR("leave"))
                           ? TG_STR("worker")
                           : tg_json_string_body(values[1]);

        return;
    }
}

static void
ngx_tg_status_read_jobs(ngx_tg_status_t *status)
{
    ngx_tg_status_runner_t *runner;
    tg_str_t jobs, job;
    tg_json_cursor_t json;
    ngx_uint_t i;

    runner = status->runners.elts;

    for (i = 0; i < status->runners.nelts; i++) {
        if (runner[i].raw.data == NULL
            || !tg_json_has_member(runner[i].raw, TG_STR("jobs"), TG_JSON_ARRAY,
                                   &jobs))
        {
            continue;
        }

        for (tg_json_iter_init(&json, jobs); tg_json_iter_next(&json, &job);) {
            ngx_tg_status_read_job(status, job);
        }
    }
}

void
ngx_tg_status_read_calls(ngx_tg_status_t *status)
{
    ngx_tg_running_calls_visit(ngx_tg_status_add_call, status);
    ngx_tg_status_read_jobs(status);
}

ngx_uint_t
ngx_tg_status_count_queued(const ngx_tg_status_t *status,
                           const ngx_tg_counters_sum_t *sum)
{
    const ngx_tg_status_call_t *call;
    ngx_uint_t i, n;

    call = status->calls.elts;

    for (i = 0, n = 0; i < status->calls.nelts; i++) {
        n += call[i].about.kind == sum->kind
             && tg_str_eq(call[i].state, TG_STR("queued"))
             && tg_str_eq(call[i].about.name, sum->name)
             && tg_str_eq(call[i].about.server, sum->server);
    }

    return n;
}

/*
 * Appends the client of a call: process and user, unless it came over TCP, and
 * its name.
 */
static void
ngx_tg_status_write_client(tg_buf_t *json,
                           const ngx_tg_running_call_info_t *about)
{
    if (about->pid == 0 && about->identity.name_len == 0) {
        return;
    }

    tg_json_begin_member(json, "client");
    tg_json_begin_object(json);

    if (about->pid != 0) {
        tg_json_add_int(json, "pid", about->pid);
        tg_json_add_uint(json, "uid", about->uid);
    }

    ngx_tg_client_identity_write_json(json, &about->identity);
    tg_buf_append_char(json, '}');
}

static void
ngx_tg_status_write_calls(ngx_tg_status_t *status, tg_buf_t *json)
{
    const ngx_tg_status_call_t *call;
    ngx_uint_t i;

    call = status->calls.elts;
    tg_buf_append_cstr(json, ",\"calls\":[");

    for (i = 0; i < status->calls.nelts; i++, call++) {
        tg_json_begin_object(json);
        tg_json_add_uint(json, "id", call->about.number);
        tg_json_add_string(json, "server", call->about.server);
        tg_json_add_cstr(json, "type",
                         tg_entry_type_name(call->about.kind));
        tg_json_add_string(json, "name", call->about.name);
        tg_json_add_string(json, "kind", call->kind);
        tg_json_add_string(json, "state", call->state);
        tg_json_add_uint(json, "ms", call->about.age);
        tg_json_add_compact(json, "pid", call->pid);
        tg_json_add_uint(json, "worker", (uint64_t) call->about.worker);

        ngx_tg_status_write_client(json, &call->about);
        tg_buf_append_char(json, '}');
    }

    tg_buf_append_char(json, ']');
}

/* --- counters --- */

uint64_t
ngx_tg_status_count_ended(const ngx_tg_counters_sum_t *sum)
{
    uint64_t ended;
    ngx_uint_t i;

    for (i = 0, ended = 0; i <= NGX_TG_STATUS_TIME_BOUNDS; i++) {
        ended += sum->n[NGX_TG_COUNTER_DURATION_BUCKET + i];
    }

    return ended;
}

uint64_t
ngx_tg_status_count_ends(const ngx_tg_counters_sum_t *sum, ngx_uint_t reason)
{
    uint64_t ended, failed;
    ngx_uint_t i;

    if (reason == NGX_TG_END_MOVED) {
        return sum->n[NGX_TG_COUNTER_KILLED];
    }

    if (reason != 0) {
        return sum->n[NGX_TG_COUNTER_END_STATUS + reason - 1];
    }

    ended = ngx_tg_status_count_ended(sum);

    for (i = 1, failed = 0; i < NGX_TG_END_MOVED; i++) {
        failed += sum->n[NGX_TG_COUNTER_END_STATUS + i - 1];
    }

    /*
     * The counters are read one after the other, so the failures may be newer.
     */
    return ended > failed ? ended - failed : 0;
}

const char *
ngx_tg_status_get_end_name(ngx_uint_t reason)
{
    return reason == NGX_TG_END_MOVED ? "killed"
                                      : ngx_tg_end_reason_get_name(reason);
}

static void
ngx_tg_status_write_ends(tg_buf_t *json, const ngx_tg_counters_sum_t *sum)
{
    ngx_uint_t i;

    tg_json_add_uint(json, "calls",
                     ngx_tg_status_count_ended(sum)
                         + sum->n[NGX_TG_COUNTER_KILLED] + sum->in_flight);
    tg_json_add_uint(json, "in_flight", sum->in_flight);
    tg_json_begin_member(json, "ends");
    tg_json_begin_object(json);

    for (i = 0; i <= NGX_TG_END_MOVED; i++) {
        tg_json_add_uint(json, ngx_tg_status_get_end_name(i),
                         ngx_tg_status_count_ends(sum, i));
    }

    tg_buf_append_char(json, '}');
}

ngx_uint_t
ngx_tg_status_is_entry_internal(const ngx_tg_srv_conf_t *scf,
                                const ngx_tg_counters_sum_t *sum)
{
    const tg_catalog_entry_t *entry;
    const ngx_tg_tool_t *tool;

    entry = scf != NULL ? tg_catalog_find(scf->catalog, sum->kind, sum->name)
                        : NULL;

    if (entry == NULL) {
        return 0;
    }

    tool = entry->host;

    return tool->is_internal;
}

static void
ngx_tg_status_write_entry(void *data, const ngx_tg_counters_sum_t *sum)
{
    ngx_tg_status_list_writer_t *list = data;

    tg_buf_t *json;
    ngx_uint_t i;

    json = list->json;

    /*
     * Skip an entry without a name: it is the server itself, or has never been
     * called.
     */
    if (sum->name.len == 0
        && (sum->server.len != 0 || sum->n[NGX_TG_COUNTER_STARTED] == 0))
    {
        return;
    }

    tg_buf_printf(json, "%s{\"type\":\"%s\"", list->n++ == 0 ? "" : ",",
                  tg_entry_type_name(sum->kind));
    tg_json_add_string(json, "name", sum->name);

    if (ngx_tg_status_is_entry_internal(list->scf, sum)) {
        tg_json_add_bool(json, "internal", 1);
    }

    ngx_tg_status_write_ends(json, sum);
    tg_json_add_uint(json, "queued",
                     ngx_tg_status_count_queued(list->status, sum));
    tg_json_add_uint(json, "bytes_in", sum->n[NGX_TG_COUNTER_BYTES_IN]);
    tg_json_add_uint(json, "bytes_out", sum->n[NGX_TG_COUNTER_BYTES_OUT]);
    tg_json_add_uint(json, "ms", sum->n[NGX_TG_COUNTER_DURATION_MS]);
    tg_buf_append_cstr(json, ",\"times\":[");

    for (i = 0; i <= NGX_TG_STATUS_TIME_BOUNDS; i++) {
        tg_json_begin_element(json);
        tg_buf_append_uint(json, sum->n[NGX_TG_COUNTER_DURATION_BUCKET + i]);
    }

    tg_buf_append_cstr(json, "]}");
}

static void
ngx_tg_status_write_server(void *data, const ngx_tg_counters_sum_t *sum)
{
    tg_buf_t *json = data;

    ngx_uint_t i;

    if (sum->name.len != 0) {
        return;
    }

    tg_json_add_uint(json, "unknown", sum->n[NGX_TG_COUNTER_UNKNOWN_CALLS]);
    tg_json_begin_member(json, "connections");
    tg_json_begin_object(json);
    tg_json_add_uint(json, "accepted", sum->n[NGX_TG_COUNTER_ACCEPTED]);
    tg_buf_append_cstr(json, ",\"open\":{");

    for (i = 0; i < TG_DIALECT_COUNT; i++) {
        tg_json_add_uint(json, tg_dialect_name((tg_dialect_t) i),
                         sum->n[NGX_TG_COUNTER_OPEN_CONNECTIONS + i]);
    }

    tg_buf_append_cstr(json, "}}");
}

void
ngx_tg_status_create_counters(ngx_tg_srv_conf_t *scf)
{
    const tg_catalog_entry_t *entry;
    ngx_tg_tool_t *tool;
    size_t i;

    for (i = 0; i < tg_catalog_size(scf->catalog); i++) {
        entry = tg_catalog_get_entry(scf->catalog, i);
        tool = entry->host;

        if (tool->counters == NULL && !tool->is_builtin) {
            tool->counters = ngx_tg_counters_find(scf, entry);
        }
    }
}

static void
ngx_tg_status_write_servers(ngx_tg_status_t *status, tg_buf_t *json)
{
    const ngx_tg_handler_t *const *handler;
    ngx_tg_status_list_writer_t list;
    ngx_tg_main_conf_t *mcf;
    ngx_tg_srv_conf_t **scf;
    tg_str_t server;
    ngx_uint_t i;

    mcf = ngx_tg_cycle_get_main_conf(ngx_cycle);
    scf = status->servers.elts;
    tg_buf_append_cstr(json, ",\"servers\":[");

    for (i = 0; i < status->servers.nelts; i++) {
        ngx_tg_status_create_counters(scf[i]);
        server = ngx_tg_server_get_label(scf[i]);
        tg_json_begin_object(json);
        tg_json_add_string(json, "server", server);
        tg_json_add_string(json, "name", scf[i]->info.name);
        ngx_tg_counters_visit(server, ngx_tg_status_write_server, json);
        tg_buf_append_cstr(json, ",\"tools\":[");
        list.status = status;
        list.scf = scf[i];
        list.json = json;
        list.n = 0;
        ngx_tg_counters_visit(server, ngx_tg_status_write_entry, &list);
        tg_buf_append_char(json, ']');

        for (handler = mcf->handlers; *handler != NULL; handler++) {
            if ((*handler)->write_status != NULL) {
                (*handler)->write_status(scf[i], json);
            }
        }

        tg_buf_append_char(json, '}');
    }

    tg_buf_append_cstr(json, "],\"others\":[");
    list.status = status;
    list.scf = NULL;
    list.json = json;
    list.n = 0;
    ngx_tg_counters_visit(TG_STR(""), ngx_tg_status_write_entry, &list);
    tg_buf_append_char(json, ']');
}

/* --- runners --- */

static void
ngx_tg_status_write_runners(const ngx_tg_status_t *status, tg_buf_t *json)
{
    static const char *const names[] = { "pid",    "version",     "running",
                                         "queued", "connections", "started",
                                         "held",   "tasks",       "kinds",
                                         NULL };
    ngx_tg_status_runner_t *runner;
    tg_str_t values[9];
    ngx_uint_t i, k;

    runner = status->runners.elts;
    tg_buf_append_cstr(json, ",\"runners\":[");

    for (i = 0; i < status->runners.nelts; i++) {
        tg_json_begin_object(json);
        tg_json_add_string(json, "state_dir",
                           ngx_tg_str_from_ngx(
                               ngx_tg_runner_get_state_dir(runner[i].runner)));
        tg_json_add_cstr(json, "state",
                         !runner[i].is_reachable      ? "absent"
                         : runner[i].raw.data != NULL ? "up"
                                                      : "silent");

        if (runner[i].raw.data != NULL
            && tg_json_get_members(runner[i].raw, names, values) == TG_OK)
        {
            for (k = 0; names[k] != NULL; k++) {
                tg_json_add_raw(json, names[k], values[k]);
            }
        }

        tg_buf_append_char(json, '}');
    }

    tg_buf_append_char(json, ']');
}

void
ngx_tg_status_write_json(ngx_tg_status_t *status, tg_buf_t *json)
{
    const ngx_time_t *now;
    ngx_uint_t i;

    now = ngx_timeofday();
    ngx_tg_status_read_calls(status);

    tg_buf_append_cstr(json, "{\"version\":\"" TG_VERSION "\",\"time\":\"");
    tg_buf_append_time(json, (uint64_t) now->sec * 1000 + now->msec);
    tg_buf_append_char(json, '"');
    tg_json_add_uint(json, "workers", ngx_tg_counters_count_workers());
    tg_buf_append_cstr(json, ",\"times_ms\":[");

    for (i = 0; i < NGX_TG_STATUS_TIME_BOUNDS; i++) {
        tg_json_begin_element(json);
        tg_buf_append_uint(json, ngx_tg_status_time_bounds[i]);
    }

    tg_buf_append_char(json, ']');
    ngx_tg_status_write_servers(status, json);
    ngx_tg_status_write_runners(status, json);
    ngx_tg_status_write_calls(status, json);
    tg_buf_append_char(json, '}');
}
