/* Connections of workers, their methods, and log messages. */
#include "runner/main/tg_worker_conn.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "runner/exec/tg_exec.h"
#include "runner/http/tg_http_job.h"
#include "runner/output/tg_relayed_call.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_mcp_resource_watch.h"
#include "runner/mcp/tg_mcp_server_request.h"
#include "runner/mcp/tg_mcp_subscriber.h"
#include "runner/jobs/tg_slot_job.h"
#include "runner/output/tg_output_pager_job.h"
#include "runner/output/tg_output_store_job.h"
#include "runner/jobs/tg_job_detach.h"
#include "runner/jobs/tg_job_call.h"
#include "runner/jobs/tg_job_status.h"
#include "runner/main/tg_runner_socket.h"
#include "protocol/tg_peer.h"

#include <stdlib.h>
#include <unistd.h>

struct tg_worker_conn_s {
    tg_workers_t *workers;
    LIST_ENTRY(tg_worker_conn_s) link;
    tg_uv_conn_t conn;
    tg_peer_t peer;
    int is_logging; /* writes the runner's messages to NGINX's log */
};

static void
tg_worker_handle_log(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    ((tg_worker_conn_t *) peer->host)->is_logging = 1;
    tg_log_flush_held();
    tg_peer_respond_true(peer, request);
}

static void
tg_worker_handle_status(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    const tg_workers_t *workers = ((tg_worker_conn_t *) peer->host)->workers;
    const struct {
        const char *key;
        uint64_t value;
    } members[] = {
        { "{\"pid\":", (uint64_t) getpid() },
        { ",\"version\":", TG_RUNNER_VERSION },
        { ",\"running\":", jobs->nrunning },
        { ",\"queued\":", jobs->nqueued },
        { ",\"connections\":", workers->n },
        { ",\"started\":", jobs->nstarted },
        { ",\"held\":", jobs->ndetached },
        { ",\"servers\":", workers->servers.n },
        { ",\"instances\":", workers->servers.nrunning },
        { ",\"tasks\":", tg_tasks_count_running(&workers->tasks) },
        { ",\"spilled\":", workers->output_store.nwritten },
    };
    tg_buf_t json;
    size_t i;

    tg_buf_init(&json, tg_alloc_libc());

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        tg_buf_append_cstr(&json, members[i].key);
        tg_buf_append_uint(&json, members[i].value);
    }

    tg_jobs_write_json(&json, jobs);
    tg_buf_append_cstr(&json, ",\"stores\":[");
    tg_tasks_write_json(&json, &workers->tasks);
    tg_buf_append_cstr(&json, "]}");
    tg_peer_respond_json(peer, request, &json);
    tg_buf_deinit(&json);
}

/* Methods, each with a job type and its host, or with a handler. */
#define TG_WORKER_HOST(member) offsetof(tg_workers_t, member)
static const struct {
    const char *name;
    const tg_job_type_t *type;
    size_t host;
    void (*handle)(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request);
    void (*handle_mcp)(tg_mcp_servers_t *servers, tg_peer_t *peer,
                       tg_request_t *request);
    void (*handle_task)(tg_tasks_t *tasks, tg_peer_t *peer,
                        tg_request_t *request);
} tg_worker_methods[] = {
    { "exec", &tg_exec_job_type, .host = TG_WORKER_HOST(programs) },
    { "http", &tg_http_job_type, .host = TG_WORKER_HOST(http) },
    { "file", &tg_file_job_type, .host = TG_WORKER_HOST(files) },
    { "files", &tg_file_list_job_type, .host = TG_WORKER_HOST(files) },
    { "messages", &tg_messages_job_type, .host = TG_WORKER_HOST(files) },
    { "file_watch", &tg_file_watch_job_type, .host = TG_WORKER_HOST(files) },
    { "files_watch", &tg_file_list_watch_job_type,
      .host = TG_WORKER_HOST(files) },
    { "mcp_call", &tg_mcp_job_type, .host = TG_WORKER_HOST(servers) },
    { "output", &tg_output_pager_job_type,
      .host = TG_WORKER_HOST(output_store) },
    { "place", .type = &tg_slot_job_type },
    { "store_output", .type = &tg_output_store_job_type },
    { "task", &tg_task_job_type, .host = TG_WORKER_HOST(tasks) },
    { "task_open", .handle_task = tg_tasks_configure },
    { "task_stop", .handle_task = tg_tasks_on_nginx_exit },
    { "release", .handle = tg_jobs_detach_call },
    { "adopt", .handle = tg_jobs_attach_call },
    { "leave", .handle = tg_relayed_call_register },
    { "tell", .handle = tg_relayed_call_update_progress },
    { "finish", .handle = tg_relayed_call_finish },
    { "mcp_watch", .handle_mcp = tg_mcp_servers_subscribe },
    { "mcp_unwatch", .handle_mcp = tg_mcp_servers_unsubscribe },
    { "mcp_leave", .handle_mcp = tg_mcp_servers_shutdown_conn },
    { "mcp_subscribe", .handle_mcp = tg_mcp_servers_watch_resource },
    { "mcp_unsubscribe", .handle_mcp = tg_mcp_servers_unwatch_resource },
    { "told", .handle_mcp = tg_mcp_server_request_on_response },
    { "status", .handle = tg_worker_handle_status },
    { "log", .handle = tg_worker_handle_log },
};

#define TG_WORKER_METHODS                                                      \
    (sizeof(tg_worker_methods) / sizeof(tg_worker_methods[0]))

static void
tg_worker_on_call(void *host, tg_peer_t *peer, tg_request_t *request)
{
    tg_workers_t *workers;
    size_t i;

    workers = ((tg_worker_conn_t *) host)->workers;
    i = (size_t) (request->entry - workers->entries);

    if (tg_worker_methods[i].type != NULL) {
        tg_jobs_handle_call(&workers->jobs, tg_worker_methods[i].type,
                            (char *) workers + tg_worker_methods[i].host, peer,
                            request);
    } else if (tg_worker_methods[i].handle_mcp != NULL) {
        tg_worker_methods[i].handle_mcp(&workers->servers, peer, request);
    } else if (tg_worker_methods[i].handle_task != NULL) {
        tg_worker_methods[i].handle_task(&workers->tasks, peer, request);
    } else {
        tg_worker_methods[i].handle(&workers->jobs, peer, request);
    }
}

static void
tg_worker_on_cancel(void *host, tg_call_t *call)
{
    tg_jobs_cancel_call(call);
}

static int
tg_worker_is_slice_over(void *host)
{
    tg_worker_conn_t *worker;

    worker = host;

    return tg_uv_conn_is_slice_over(&worker->conn, worker->peer.frame_size);
}

static const tg_peer_ops_t tg_worker_peer_ops = {
    .call = tg_worker_on_call,
    .cancel = tg_worker_on_cancel,
    .is_slice_over = tg_worker_is_slice_over,
};

/* --- one connection --- */

static int
tg_worker_on_input(void *host, const char *data, size_t len, size_t *consumed)
{
    tg_worker_conn_t *worker;
    uv_timeval64_t now;

    worker = host;

    if (uv_gettimeofday(&now) == 0) {
        worker->peer.now_ms = (uint64_t) now.tv_sec * 1000
                              + (uint64_t) now.tv_usec / 1000;
    }

    return tg_peer_handle_input(&worker->peer, data, len, consumed);
}

static void
tg_workers_check_idle(void *host)
{
    tg_workers_t *workers;

    workers = host;

    if (tg_workers_is_idle(workers)) {
        workers->idle(workers->host);
    }
}

static void
tg_worker_on_closed(void *host, int err)
{
    tg_workers_t *workers;
    tg_worker_conn_t *worker;

    worker = host;
    workers = worker->workers;
    LIST_REMOVE(worker, link);
    workers->n--;
    tg_relayed_calls_on_peer_closed(&workers->jobs, &worker->peer);
    tg_mcp_servers_on_peer_closed(&workers->servers, &worker->peer);
    tg_tasks_on_peer_closed(&workers->tasks, &worker->peer);
    tg_peer_deinit(&worker->peer);
    free(worker);
    tg_workers_check_idle(workers);
}

static void
tg_worker_on_drained(void *host)
{
    tg_worker_conn_t *worker;

    worker = host;
    tg_jobs_on_peer_drained(&worker->workers->jobs);
}

static const tg_uv_conn_ops_t tg_worker_conn_ops = {
    .input = tg_worker_on_input,
    .drained = tg_worker_on_drained,
    .closed = tg_worker_on_closed,
};

static int
tg_workers_add_conn(tg_workers_t *workers, tg_worker_conn_t *worker)
{
    if (tg_peer_init(&worker->peer, tg_alloc_libc(), &tg_worker_peer_ops,
                     worker, TG_DIALECT_JSONRPC, workers->catalog,
                     &workers->info, TG_JOB_FRAME_MAX, TG_WORKER_CALLS_MAX)
        != TG_OK)
    {
        return -1;
    }

    worker->workers = workers;
    LIST_INSERT_HEAD(&workers->list, worker, link);
    workers->n++;
    tg_uv_conn_init(&worker->conn, &workers->jobs.sched, &tg_worker_conn_ops,
                    worker, &worker->peer.out);

    return 0;
}

int
tg_workers_accept(tg_workers_t *workers, uv_stream_t *listener)
{
    tg_worker_conn_t *worker;
    pid_t pid;
    uid_t uid;

    worker = calloc(1, sizeof(*worker));

    if (worker == NULL || tg_workers_add_conn(workers, worker) != 0) {
        free(worker);
        return -1;
    }

    if (tg_uv_conn_accept(&worker->conn, listener) != 0) {
        return 0;
    }

    if (tg_uv_conn_get_peer_cred(&worker->conn, &pid, &uid) != 0
        || (uid != geteuid() && uid != 0))
    {
        tg_log(TG_LOG_WARN, "refused a connection of another user");
        tg_uv_conn_close(&worker->conn);

    } else if (workers->n > TG_WORKERS_MAX) {
        tg_log(TG_LOG_WARN, "refused a connection, as %d are open",
               TG_WORKERS_MAX);
        tg_uv_conn_close(&worker->conn);
    }

    return 0;
}

/* --- conditions for jobs --- */

static size_t
tg_worker_get_backlog(const tg_peer_t *peer)
{
    return tg_uv_conn_get_backlog(&((tg_worker_conn_t *) peer->host)->conn);
}

static int
tg_worker_can_start(void *host, tg_peer_t *peer)
{
    return tg_worker_get_backlog(peer) < TG_WORKER_START_BACKLOG;
}

static int
tg_worker_can_notify(void *host, tg_peer_t *peer)
{
    return tg_worker_get_backlog(peer) < TG_WORKER_NOTIFY_BACKLOG;
}

static int
tg_worker_can_respond(void *host, tg_peer_t *peer)
{
    return tg_worker_get_backlog(peer) < TG_WORKER_RESPONSE_BACKLOG;
}

static void
tg_worker_flush(void *host, tg_peer_t *peer)
{
    tg_worker_conn_t *worker;

    worker = peer->host;
    tg_uv_conn_flush(&worker->conn);
}

static const tg_jobs_ops_t tg_workers_jobs_ops = {
    .can_start = tg_worker_can_start,
    .can_respond = tg_worker_can_respond,
    .can_notify = tg_worker_can_notify,
    .notified = tg_worker_flush,
    .idle = tg_workers_check_idle,
};

/* --- all connections --- */

static int
tg_workers_build_catalog(tg_workers_t *workers)
{
    tg_catalog_entry_t *entry;
    size_t i;

    workers->info.name = TG_STR("toolgate-runner");
    workers->info.version = TG_STR(TG_VERSION);
    workers->catalog = tg_catalog_new(tg_alloc_libc());

    for (i = 0; workers->catalog != NULL && i < TG_WORKER_METHODS; i++) {
        entry = &workers->entries[i];
        entry->kind = TG_ENTRY_METHOD;
        entry->output = TG_OUTPUT_JSON;
        entry->name = tg_str_from_cstr(tg_worker_methods[i].name);

        if (tg_catalog_add(workers->catalog, entry) != TG_OK) {
            return TG_NOMEM;
        }
    }

    return workers->catalog != NULL ? tg_catalog_seal(workers->catalog)
                                    : TG_NOMEM;
}

int
tg_workers_init(tg_workers_t *workers, uv_loop_t *loop, const char *state_dir,
                void (*idle)(void *host), void *host)
{
    int rc;

    memset(workers, 0, sizeof(*workers));
    workers->idle = idle;
    workers->host = host;
    rc = tg_workers_build_catalog(workers) == TG_OK ? 0 : UV_ENOMEM;

    if (rc == 0) {
        rc = tg_programs_init(&workers->programs, loop);
    }

    if (rc != 0) {
        tg_catalog_unref(workers->catalog);
        return rc;
    }

    tg_jobs_init(&workers->jobs, loop, &tg_workers_jobs_ops, workers);
    tg_files_init(&workers->files, loop);
    tg_http_pool_init(&workers->http, &workers->jobs.sched);
    tg_output_store_init(&workers->output_store, loop, state_dir);
    workers->programs.output_store = &workers->output_store;
    workers->jobs.output_store = &workers->output_store;
    tg_mcp_servers_init(&workers->servers, &workers->jobs, &workers->programs,
                        state_dir);
    workers->servers.http = &workers->http;
    tg_tasks_init(&workers->tasks, &workers->jobs, &workers->programs,
                  &workers->http, state_dir);

    return 0;
}

int
tg_workers_log(void *ctx, tg_log_level_t level, const char *text)
{
    tg_workers_t *workers;
    tg_worker_conn_t *worker;
    tg_buf_t json, line;

    workers = ctx;
    worker = LIST_FIRST(&workers->list);

    while (worker != NULL
           && (!worker->is_logging || worker->conn.state != TG_UV_CONN_OPEN
               || !tg_worker_can_notify(workers, &worker->peer)))
    {
        worker = LIST_NEXT(worker, link);
    }

    if (worker == NULL) {
        return -1;
    }

    /* Messages may contain paths with any bytes. */
    tg_buf_init(&line, tg_alloc_libc());
    tg_buf_init(&json, tg_alloc_libc());
    tg_utf8_append_visible(&line, tg_str_from_cstr(text), 1);
    tg_buf_printf(&json, "{\"level\":%d,\"text\":", level);
    tg_json_write_string(&json, tg_buf_view(&line));
    tg_buf_append_char(&json, '}');
    tg_peer_notify(&worker->peer, TG_STR("log"), tg_buf_view(&json));
    tg_uv_conn_flush(&worker->conn);
    tg_buf_deinit(&line);
    tg_buf_deinit(&json);

    return 0;
}

int
tg_workers_is_idle(const tg_workers_t *workers)
{
    return workers->n == 0 && workers->jobs.njobs == 0;
}

int
tg_workers_is_empty(const tg_workers_t *workers)
{
    return tg_workers_is_idle(workers)
           && tg_mcp_servers_is_empty(&workers->servers)
           && tg_tasks_is_empty(&workers->tasks);
}

void
tg_workers_close_all(tg_workers_t *workers)
{
    tg_worker_conn_t *worker;

    for (worker = LIST_FIRST(&workers->list); worker != NULL;
         worker = LIST_NEXT(worker, link))
    {
        tg_uv_conn_close(&worker->conn);
    }

    tg_jobs_drop_detached(&workers->jobs);
    tg_mcp_servers_shutdown(&workers->servers);
    tg_tasks_shutdown(&workers->tasks);
}

void
tg_workers_close(tg_workers_t *workers)
{
    tg_files_close(&workers->files);
    tg_http_pool_close(&workers->http);
    tg_output_store_close(&workers->output_store);
    tg_programs_close(&workers->programs);
    tg_jobs_close(&workers->jobs);
}

void
tg_workers_deinit(tg_workers_t *workers)
{
    tg_programs_deinit(&workers->programs);
    tg_catalog_unref(workers->catalog);
}
