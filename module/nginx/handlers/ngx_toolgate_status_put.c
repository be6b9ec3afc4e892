/*
 * What `toolgate.status` answers; docs/protocols.md has an example.
 */
#include "nginx/handlers/ngx_toolgate_status.h"

static const ngx_uint_t ngx_toolgate_status_times[] = NGX_TOOLGATE_TIMES;

#define NGX_TOOLGATE_STATUS_NTIMES                                             \
    (sizeof(ngx_toolgate_status_times) / sizeof(ngx_toolgate_status_times[0]))

/* What is written of one server. */
typedef struct {
    ngx_toolgate_status_t *status;
    ngx_toolgate_srv_conf_t *scf; /* NULL: of all servers */
    tg_buf_t *json;
    ngx_uint_t n;
} ngx_toolgate_status_list_t;

static void
ngx_toolgate_status_number(tg_buf_t *json, const char *member, uint64_t value)
{
    tg_buf_text(json, member);
    tg_buf_uint(json, value);
}

static void
ngx_toolgate_status_text(tg_buf_t *json, const char *member, tg_str_t text)
{
    tg_buf_text(json, member);
    tg_json_put_string(json, text);
}

static const char *
ngx_toolgate_status_kind(tg_entry_kind_t kind)
{
    return kind == TG_ENTRY_TOOL ? "tool" : "method";
}

/* --- calls --- */

static ngx_uint_t
ngx_toolgate_status_see_call(void *data,
                             const ngx_toolgate_running_about_t *about)
{
    ngx_toolgate_status_t *status = data;

    ngx_toolgate_status_call_t *call;

    if (!ngx_toolgate_status_is_known(&status->servers, about->server)) {
        return 0;
    }

    call = ngx_array_push(&status->calls);

    if (call == NULL) {
        return 1;
    }

    call->about = *about;
    call->kind = about->is_here ? TG_STR("worker") : TG_STR("runner");
    call->state = TG_STR("running");
    call->pid = TG_STR_NONE;

    return 0;
}

/* A job of a runner's: whose it is is known by the number of its call. */
static void
ngx_toolgate_status_see_job(ngx_toolgate_status_t *status, tg_str_t raw)
{
    static const char *const names[] = { "call", "kind", "state", "pid", NULL };
    ngx_toolgate_status_call_t *call;
    tg_str_t values[4];
    int64_t number;
    ngx_uint_t i;

    if (tg_json_members(raw, names, values) != TG_OK
        || tg_json_int64(values[0], &number) != TG_OK
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

        call[i].state = tg_json_body(values[2]);
        call[i].pid = values[3];

        /* What a worker runs itself, the runner counts or keeps. */
        call[i].kind = tg_json_is_text(values[1], TG_STR("place"))
                               || tg_json_is_text(values[1], TG_STR("leave"))
                           ? TG_STR("worker")
                           : tg_json_body(values[1]);

        return;
    }
}

static void
ngx_toolgate_status_see_jobs(ngx_toolgate_status_t *status)
{
    ngx_toolgate_status_runner_t *runner;
    tg_str_t jobs, job;
    tg_json_t json;
    ngx_uint_t i;

    runner = status->runners.elts;

    for (i = 0; i < status->runners.nelts; i++) {
        if (runner[i].raw.data == NULL
            || !tg_json_has(runner[i].raw, TG_STR("jobs"), TG_JSON_ARRAY,
                            &jobs))
        {
            continue;
        }

        for (tg_json_each(&json, jobs); tg_json_item(&json, &job);) {
            ngx_toolgate_status_see_job(status, job);
        }
    }
}

static ngx_uint_t
ngx_toolgate_status_queued(const ngx_toolgate_status_t *status,
                           const ngx_toolgate_sum_t *sum)
{
    const ngx_toolgate_status_call_t *call;
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

/* Who called: its process, unless it came over TCP, and what it is called. */
static void
ngx_toolgate_status_put_client(tg_buf_t *json,
                               const ngx_toolgate_running_about_t *about)
{
    size_t start;

    if (about->pid == 0 && about->identity.name_len == 0) {
        return;
    }

    tg_buf_text(json, ",\"client\":");
    start = json->len;

    if (about->pid != 0) {
        tg_buf_printf(json, ",\"pid\":%d,\"uid\":%u", (int) about->pid,
                      (unsigned) about->uid);
    }

    ngx_toolgate_identity_append(json, &about->identity);
    tg_buf_char(json, '}');

    if (!tg_buf_failed(json)) {
        json->data[start] = '{';
    }
}

static void
ngx_toolgate_status_put_calls(ngx_toolgate_status_t *status, tg_buf_t *json)
{
    const ngx_toolgate_status_call_t *call;
    ngx_uint_t i;

    call = status->calls.elts;
    tg_buf_text(json, ",\"calls\":[");

    for (i = 0; i < status->calls.nelts; i++, call++) {
        ngx_toolgate_status_number(json, i == 0 ? "{\"id\":" : ",{\"id\":",
                                   call->about.number);
        ngx_toolgate_status_text(json, ",\"server\":", call->about.server);
        tg_buf_printf(json, ",\"type\":\"%s\"",
                      ngx_toolgate_status_kind(call->about.kind));
        ngx_toolgate_status_text(json, ",\"name\":", call->about.name);
        ngx_toolgate_status_text(json, ",\"kind\":", call->kind);
        ngx_toolgate_status_text(json, ",\"state\":", call->state);
        ngx_toolgate_status_number(json, ",\"ms\":", call->about.age);
        tg_json_put_member(json, ",\"pid\":", call->pid);
        ngx_toolgate_status_number(json, ",\"worker\":",
                                   (uint64_t) call->about.worker);

        ngx_toolgate_status_put_client(json, &call->about);
        tg_buf_char(json, '}');
    }

    tg_buf_char(json, ']');
}

/* --- numbers --- */

static void
ngx_toolgate_status_put_ends(tg_buf_t *json, const ngx_toolgate_sum_t *sum)
{
    uint64_t ok, failed;
    ngx_uint_t i;

    for (i = 0, ok = 0; i <= NGX_TOOLGATE_STATUS_NTIMES; i++) {
        ok += sum->n[NGX_TOOLGATE_N_TIME + i];
    }

    for (i = 1, failed = 0; i < NGX_TOOLGATE_END_MOVED; i++) {
        failed += sum->n[NGX_TOOLGATE_N_END + i - 1];
    }

    ngx_toolgate_status_number(
        json,
        ",\"calls\":", ok + sum->n[NGX_TOOLGATE_N_KILLED] + sum->in_flight);
    ngx_toolgate_status_number(json, ",\"in_flight\":", sum->in_flight);
    /* Read one after the other, they may be of two moments. */
    ngx_toolgate_status_number(json, ",\"ends\":{\"ok\":",
                               ok > failed ? ok - failed : 0);

    for (i = 1; i < NGX_TOOLGATE_END_MOVED; i++) {
        tg_buf_printf(json, ",\"%s\":", ngx_toolgate_end_name(i));
        tg_buf_uint(json, sum->n[NGX_TOOLGATE_N_END + i - 1]);
    }

    ngx_toolgate_status_number(json,
                               ",\"killed\":", sum->n[NGX_TOOLGATE_N_KILLED]);
    tg_buf_char(json, '}');
}

/* Has a directive such as task_methods made it, and no block of the config? */
static ngx_uint_t
ngx_toolgate_status_is_internal(const ngx_toolgate_srv_conf_t *scf,
                                const ngx_toolgate_sum_t *sum)
{
    const tg_entry_t *entry;
    const ngx_toolgate_tool_t *tool;

    entry = scf != NULL ? tg_catalogue_get(scf->catalogue, sum->kind, sum->name)
                        : NULL;

    if (entry == NULL) {
        return 0;
    }

    tool = entry->host;

    return tool->is_internal;
}

static void
ngx_toolgate_status_put_entry(void *data, const ngx_toolgate_sum_t *sum)
{
    ngx_toolgate_status_list_t *list = data;

    tg_buf_t *json;
    ngx_uint_t i;

    json = list->json;

    /* The server itself; or what has no name, and never was. */
    if (sum->name.len == 0
        && (sum->server.len != 0 || sum->n[NGX_TOOLGATE_N_BEGUN] == 0))
    {
        return;
    }

    tg_buf_printf(json, "%s{\"type\":\"%s\"", list->n++ == 0 ? "" : ",",
                  ngx_toolgate_status_kind(sum->kind));
    ngx_toolgate_status_text(json, ",\"name\":", sum->name);

    if (ngx_toolgate_status_is_internal(list->scf, sum)) {
        tg_buf_text(json, ",\"internal\":true");
    }

    ngx_toolgate_status_put_ends(json, sum);
    ngx_toolgate_status_number(json, ",\"queued\":",
                               ngx_toolgate_status_queued(list->status, sum));
    ngx_toolgate_status_number(json, ",\"bytes_in\":",
                               sum->n[NGX_TOOLGATE_N_BYTES_IN]);
    ngx_toolgate_status_number(json, ",\"bytes_out\":",
                               sum->n[NGX_TOOLGATE_N_BYTES_OUT]);
    ngx_toolgate_status_number(json, ",\"ms\":", sum->n[NGX_TOOLGATE_N_MS]);
    tg_buf_text(json, ",\"times\":[");

    for (i = 0; i <= NGX_TOOLGATE_STATUS_NTIMES; i++) {
        ngx_toolgate_status_number(json, i == 0 ? "" : ",",
                                   sum->n[NGX_TOOLGATE_N_TIME + i]);
    }

    tg_buf_text(json, "]}");
}

static void
ngx_toolgate_status_put_server(void *data, const ngx_toolgate_sum_t *sum)
{
    tg_buf_t *json = data;

    ngx_uint_t i;

    if (sum->name.len != 0) {
        return;
    }

    ngx_toolgate_status_number(json,
                               ",\"unknown\":", sum->n[NGX_TOOLGATE_N_UNKNOWN]);
    ngx_toolgate_status_number(json, ",\"connections\":{\"accepted\":",
                               sum->n[NGX_TOOLGATE_N_ACCEPTED]);
    tg_buf_text(json, ",\"open\":{");

    for (i = 0; i < TG_DIALECT_END; i++) {
        tg_buf_printf(json, "%s\"%s\":", i == 0 ? "" : ",",
                      tg_dialect_name((tg_dialect_t) i));
        tg_buf_uint(json, sum->n[NGX_TOOLGATE_N_OPEN + i]);
    }

    tg_buf_text(json, "}}");
}

/* Also what was never called is there, with zeros. */
static void
ngx_toolgate_status_enter(ngx_toolgate_srv_conf_t *scf)
{
    const tg_entry_t *entry;
    ngx_toolgate_tool_t *tool;
    size_t i;

    for (i = 0; i < tg_catalogue_size(scf->catalogue); i++) {
        entry = tg_catalogue_at(scf->catalogue, i);
        tool = entry->host;

        if (tool->counters == NULL && !tool->is_own) {
            tool->counters = ngx_toolgate_counters(scf, entry);
        }
    }
}

static void
ngx_toolgate_status_put_servers(ngx_toolgate_status_t *status, tg_buf_t *json)
{
    const ngx_toolgate_handler_t *const *handler;
    ngx_toolgate_status_list_t list;
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_srv_conf_t **scf;
    tg_str_t server;
    ngx_uint_t i;

    mcf = ngx_stream_cycle_get_module_main_conf(ngx_cycle,
                                                ngx_stream_toolgate_module);
    scf = status->servers.elts;
    tg_buf_text(json, ",\"servers\":[");

    for (i = 0; i < status->servers.nelts; i++) {
        ngx_toolgate_status_enter(scf[i]);
        server = ngx_toolgate_server_name(scf[i]);
        ngx_toolgate_status_text(
            json, i == 0 ? "{\"server\":" : ",{\"server\":", server);
        ngx_toolgate_status_text(json, ",\"name\":", scf[i]->info.name);
        ngx_toolgate_numbers_see(server, ngx_toolgate_status_put_server, json);
        tg_buf_text(json, ",\"tools\":[");
        list.status = status;
        list.scf = scf[i];
        list.json = json;
        list.n = 0;
        ngx_toolgate_numbers_see(server, ngx_toolgate_status_put_entry, &list);
        tg_buf_char(json, ']');

        for (handler = mcf->handlers; *handler != NULL; handler++) {
            if ((*handler)->tell != NULL) {
                (*handler)->tell(scf[i], json);
            }
        }

        tg_buf_char(json, '}');
    }

    tg_buf_text(json, "],\"others\":[");
    list.status = status;
    list.scf = NULL;
    list.json = json;
    list.n = 0;
    ngx_toolgate_numbers_see(TG_STR(""), ngx_toolgate_status_put_entry, &list);
    tg_buf_char(json, ']');
}

/* --- runners --- */

static void
ngx_toolgate_status_put_runners(const ngx_toolgate_status_t *status,
                                tg_buf_t *json)
{
    static const char *const names[] = { "pid",    "version",     "running",
                                         "queued", "connections", "started",
                                         "held",   "tasks",       "kinds",
                                         NULL };
    ngx_toolgate_status_runner_t *runner;
    tg_str_t values[9];
    ngx_uint_t i, k;

    runner = status->runners.elts;
    tg_buf_text(json, ",\"runners\":[");

    for (i = 0; i < status->runners.nelts; i++) {
        ngx_toolgate_status_text(
            json, i == 0 ? "{\"state_dir\":" : ",{\"state_dir\":",
            ngx_toolgate_str(ngx_toolgate_runner_dir(runner[i].runner)));
        tg_buf_printf(json, ",\"state\":\"%s\"",
                      !runner[i].is_there          ? "absent"
                      : runner[i].raw.data != NULL ? "up"
                                                   : "silent");

        if (runner[i].raw.data != NULL
            && tg_json_members(runner[i].raw, names, values) == TG_OK)
        {
            for (k = 0; names[k] != NULL; k++) {
                if (values[k].data != NULL) {
                    tg_buf_printf(json, ",\"%s\":", names[k]);
                    tg_buf_str(json, values[k]);
                }
            }
        }

        tg_buf_char(json, '}');
    }

    tg_buf_char(json, ']');
}

void
ngx_toolgate_status_put(ngx_toolgate_status_t *status, tg_buf_t *json)
{
    const ngx_time_t *now;
    ngx_uint_t i;

    now = ngx_timeofday();
    ngx_toolgate_running_see(ngx_toolgate_status_see_call, status);
    ngx_toolgate_status_see_jobs(status);

    tg_buf_text(json, "{\"version\":\"" TG_VERSION "\",\"time\":\"");
    tg_buf_time(json, (uint64_t) now->sec * 1000 + now->msec);
    ngx_toolgate_status_number(json, "\",\"workers\":",
                               ngx_toolgate_numbers_workers());
    tg_buf_text(json, ",\"times_ms\":[");

    for (i = 0; i < NGX_TOOLGATE_STATUS_NTIMES; i++) {
        ngx_toolgate_status_number(json, i == 0 ? "" : ",",
                                   ngx_toolgate_status_times[i]);
    }

    tg_buf_char(json, ']');
    ngx_toolgate_status_put_servers(status, json);
    ngx_toolgate_status_put_runners(status, json);
    ngx_toolgate_status_put_calls(status, json);
    tg_buf_char(json, '}');
}
