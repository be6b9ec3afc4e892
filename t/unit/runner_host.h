/* A host for jobs in a test: a peer, and a loop that waits for conditions. */
#ifndef RUNNER_HOST_H
#define RUNNER_HOST_H

#include "protocol_help.h"

#include "protocol/tg_peer.h"
#include "runner/exec/tg_exec.h"
#include "runner/files/tg_files.h"
#include "runner/http/tg_http_job.h"
#include "runner/output/tg_relayed_call.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_mcp_resource_watch.h"
#include "runner/mcp/tg_mcp_subscriber.h"
#include "runner/jobs/tg_slot_job.h"
#include "runner/jobs/tg_job_detach.h"
#include "runner/jobs/tg_job_call.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>

#define HOST_DEADLINE_MS 120000
#define HOST_CALLS 4096
#define HOST_METHODS 19

typedef struct {
    uv_loop_t loop;
    tg_jobs_t jobs;
    tg_programs_t programs;
    tg_mcp_servers_t servers;
    tg_http_pool_t http;
    tg_files_t files;
    tg_catalog_t *catalog;
    tg_catalog_entry_t entries[HOST_METHODS];
    tg_server_info_t info;
    tg_peer_t peer;
    tg_peer_t *at; /* the peer that gets requests */
    tg_buf_t line; /* the last result */
    tg_buf_t text;
    uv_timer_t deadline;
    unsigned next_id;
    int is_late;
    int is_blocked; /* may_start() refuses */
    int is_deaf;    /* can_notify() refuses */
    int nidle;
    void (*on_notified)(void); /* runs once after the next output */
} host_t;

static host_t host;

/* A second type of job, `wait`, which the test ends; it is stopped twice. */
static tg_job_t *host_waiting[HOST_CALLS]; /* in the order of their start */
static unsigned host_nwaiting;
static int host_nstopped;
static void (*host_on_start)(tg_job_t *job); /* runs once when a job starts */

static inline int
host_wait_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    job->work = malloc(1);

    return job->work != NULL ? TG_OK : TG_NOMEM;
}

static inline int
host_wait_start(tg_job_t *job)
{
    void (*on_start)(tg_job_t * job);

    on_start = host_on_start;
    host_on_start = NULL;
    host_waiting[host_nwaiting++] = job;

    if (on_start != NULL) {
        on_start(job);
    }

    return 0;
}

static inline void
host_wait_stop(tg_job_t *job)
{
    host_nstopped++;
}

static inline void
host_wait_free(tg_job_t *job)
{
    free(job->work);
}

static const tg_job_type_t host_wait_type = {
    .name = "wait",
    .timeout_ms = 60000,
    .read = host_wait_read,
    .start = host_wait_start,
    .stop = host_wait_stop,
    .free = host_wait_free,
};

/* Ends the i-th started job, with a result if a client waits. */
static inline void
host_wait_end(unsigned i)
{
    if (host_waiting[i]->state == TG_JOB_RUNNING) {
        HELP_BUFFER(json);

        tg_buf_append_cstr(&json, "{\"text\":\"done\"}");
        tg_job_on_work_ended(host_waiting[i]);
        tg_job_respond(host_waiting[i], &json);
        tg_job_set_ending(host_waiting[i]);
    }

    tg_job_set_done(host_waiting[i]);
}

static const struct {
    const char *name;
    const tg_job_type_t *type;
    void *owner; /* of jobs of this type */
    void (*handle)(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request);
    void (*handle_mcp)(tg_mcp_servers_t *servers, tg_peer_t *peer,
                       tg_request_t *request);
} host_methods[HOST_METHODS] = {
    { .name = "exec", .type = &tg_exec_job_type, .owner = &host.programs },
    { .name = "wait", .type = &host_wait_type, .owner = &host.programs },
    { .name = "release", .handle = tg_jobs_detach_call },
    { .name = "adopt", .handle = tg_jobs_attach_call },
    { .name = "leave", .handle = tg_relayed_call_register },
    { .name = "tell", .handle = tg_relayed_call_update_progress },
    { .name = "finish", .handle = tg_relayed_call_finish },
    { .name = "place", .type = &tg_slot_job_type, .owner = &host.programs },
    { .name = "mcp_watch", .handle_mcp = tg_mcp_servers_subscribe },
    { .name = "mcp_leave", .handle_mcp = tg_mcp_servers_shutdown_conn },
    { .name = "mcp_call", .type = &tg_mcp_job_type, .owner = &host.servers },
    { .name = "mcp_subscribe", .handle_mcp = tg_mcp_servers_watch_resource },
    { .name = "mcp_unsubscribe",
      .handle_mcp = tg_mcp_servers_unwatch_resource },
    { .name = "http", .type = &tg_http_job_type, .owner = &host.http },
    { .name = "file", .type = &tg_file_job_type, .owner = &host.files },
    { .name = "files", .type = &tg_file_list_job_type, .owner = &host.files },
    { .name = "messages", .type = &tg_messages_job_type, .owner = &host.files },
    { .name = "file_watch",
      .type = &tg_file_watch_job_type,
      .owner = &host.files },
    { .name = "files_watch",
      .type = &tg_file_list_watch_job_type,
      .owner = &host.files },
};

static inline void
host_on_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    size_t i;

    i = (size_t) (request->entry - host.entries);

    if (host_methods[i].type != NULL) {
        tg_jobs_handle_call(&host.jobs, host_methods[i].type,
                            host_methods[i].owner, peer, request);
    } else if (host_methods[i].handle_mcp != NULL) {
        host_methods[i].handle_mcp(&host.servers, peer, request);
    } else {
        host_methods[i].handle(&host.jobs, peer, request);
    }
}

static inline void
host_on_cancel(void *ctx, tg_call_t *call)
{
    tg_jobs_cancel_call(call);
}

static inline int
host_may_start(void *ctx, tg_peer_t *peer)
{
    return !host.is_blocked;
}

static inline int
host_can_notify(void *ctx, tg_peer_t *peer)
{
    return !host.is_deaf;
}

static inline void
host_notified(void *ctx, tg_peer_t *peer)
{
    void (*on_notified)(void);

    on_notified = host.on_notified;
    host.on_notified = NULL;

    if (on_notified != NULL) {
        on_notified();
    }
}

static inline void
host_idle(void *ctx)
{
    host.nidle++;
}

static const tg_peer_ops_t host_peer_ops = {
    .call = host_on_call,
    .cancel = host_on_cancel,
};

static const tg_jobs_ops_t host_jobs_ops = {
    .can_start = host_may_start,
    .can_respond = host_may_start,
    .can_notify = host_can_notify,
    .notified = host_notified,
    .idle = host_idle,
};

static inline void
host_peer_init(tg_peer_t *peer)
{
    (void) tg_peer_init(peer, tg_alloc_libc(), &host_peer_ops, &host,
                        TG_DIALECT_JSONRPC, host.catalog, &host.info, 1 << 26,
                        HOST_CALLS);
}

static inline int
host_catalog_init(void)
{
    int i;

    host.catalog = tg_catalog_new(tg_alloc_libc());

    for (i = 0; host.catalog != NULL && i < HOST_METHODS; i++) {
        host.entries[i].kind = TG_ENTRY_METHOD;
        host.entries[i].output = TG_OUTPUT_JSON;
        host.entries[i].name = tg_str_from_cstr(host_methods[i].name);

        if (tg_catalog_add(host.catalog, &host.entries[i]) != TG_OK) {
            return TG_NOMEM;
        }
    }

    return host.catalog != NULL ? tg_catalog_seal(host.catalog) : TG_NOMEM;
}

int
help_begin(void)
{
    memset(&host, 0, sizeof(host));
    (void) signal(SIGPIPE, SIG_IGN);
    if (uv_loop_init(&host.loop) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) == -1
        || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1
        || tg_programs_init(&host.programs, &host.loop) != 0)
    {
        return -1;
    }

    tg_jobs_init(&host.jobs, &host.loop, &host_jobs_ops, &host);
    tg_mcp_servers_init(&host.servers, &host.jobs, &host.programs, NULL);
    tg_http_pool_init(&host.http, &host.jobs.sched);
    tg_files_init(&host.files, &host.loop);

    if (host_catalog_init() != TG_OK) {
        return -1;
    }

    tg_buf_init(&host.line, tg_alloc_libc());
    tg_buf_init(&host.text, tg_alloc_libc());
    uv_timer_init(&host.loop, &host.deadline);
    host_peer_init(&host.peer);
    host.at = &host.peer;

    return 0;
}

unsigned
help_end(void)
{
    unsigned left;

    left = 0;
    tg_mcp_servers_on_peer_closed(&host.servers, &host.peer);
    tg_peer_deinit(&host.peer);
    tg_mcp_servers_shutdown(&host.servers);

    while (host.jobs.njobs != 0 || !tg_mcp_servers_is_empty(&host.servers)) {
        uv_run(&host.loop, UV_RUN_ONCE);
    }

    tg_http_pool_close(&host.http);
    tg_files_close(&host.files);
    tg_programs_close(&host.programs);
    tg_jobs_close(&host.jobs);
    uv_close((uv_handle_t *) &host.deadline, NULL);
    uv_run(&host.loop, UV_RUN_DEFAULT);
    tg_programs_deinit(&host.programs);
    tg_catalog_unref(host.catalog);
    tg_buf_deinit(&host.line);
    tg_buf_deinit(&host.text);

    if (uv_loop_close(&host.loop) != 0) {
        fprintf(stderr, "handles are left in the loop\n");
        left++;
    }

    tg_process_tree_kill_all();

    return left;
}

static inline void
host_on_deadline(uv_timer_t *timer)
{
    host.is_late = 1;
}

static inline void
host_on_tick(uv_timer_t *timer)
{
}

/* Runs the loop until is_so(ctx), checked at least every 10 ms. */
static inline int
host_until(int (*is_so)(void *ctx), void *ctx)
{
    uv_timer_t tick;

    host.is_late = 0;
    uv_timer_init(&host.loop, &tick);
    uv_timer_start(&tick, host_on_tick, 10, 10);
    uv_timer_start(&host.deadline, host_on_deadline, HOST_DEADLINE_MS, 0);

    while (!is_so(ctx) && !host.is_late) {
        uv_run(&host.loop, UV_RUN_ONCE);
    }

    uv_timer_stop(&host.deadline);
    uv_close((uv_handle_t *) &tick, NULL);
    uv_run(&host.loop, UV_RUN_NOWAIT);

    return !host.is_late;
}

static inline void
host_feed(const char *text, size_t len)
{
    size_t consumed;

    CU_ASSERT(tg_peer_handle_input(host.at, text, len, &consumed) == TG_OK);
    CU_ASSERT(consumed == len);
}

/* Sends a request with params, a JSON object, and returns its id. */
static inline unsigned
host_request(const char *method, const char *params)
{
    HELP_BUFFER(text);

    tg_buf_printf(&text,
                  "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\","
                  "\"params\":%s}\n",
                  ++host.next_id, method, params);
    host_feed(text.data, text.len);

    return host.next_id;
}

static inline unsigned
host_send(const char *params)
{
    return host_request("exec", params);
}

static inline void
host_cancel(unsigned id)
{
    char text[128];
    int n;

    n = snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\","
                 "\"params\":{\"id\":%u}}\n",
                 id);
    host_feed(text, (size_t) n);
}

static inline int
host_has_line(void *ctx)
{
    return host.at->out.len != 0
           && memchr(host.at->out.data, '\n', host.at->out.len) != NULL;
}

/* Waits for the next result and stores it as host.line. */
static inline int
host_recv(void)
{
    char *end;

    tg_buf_reset(&host.line, 0);

    if (!host_until(host_has_line, NULL)) {
        CU_FAIL("no result arrived");
        return 0;
    }

    end = memchr(host.at->out.data, '\n', host.at->out.len);
    tg_buf_append(&host.line, host.at->out.data,
                  (size_t) (end - host.at->out.data));
    tg_buf_consume(&host.at->out, host.line.len + 1);

    /* Allows reading the line as a string. */
    tg_buf_append_char(&host.line, '\0');
    tg_buf_truncate(&host.line, host.line.len - 1);

    return 1;
}

static inline int
host_exec(const char *params)
{
    (void) host_send(params);

    return host_recv();
}

/* Returns the params of a shell script; `more` has further members. */
static inline const char *
host_sh(const char *script, const char *more)
{
    static char text[8192];
    HELP_BUFFER(buf);

    tg_buf_append_cstr(&buf,
                       "{\"tool\":\"tool\",\"argv\":[\"/bin/sh\",\"-c\",");
    tg_json_write_string(&buf, tg_str_from_cstr(script));
    tg_buf_printf(&buf, "]%s}", more);
    snprintf(text, sizeof(text), "%.*s", (int) buf.len, buf.data);

    return text;
}

/* Returns a raw member of the last result, or an absent slice. */
static inline tg_str_t
host_result(const char *key)
{
    tg_str_t result, value;

    if (tg_json_get_member(tg_buf_view(&host.line), TG_STR("result"), &result)
            != TG_OK
        || tg_json_get_member(result, tg_str_from_cstr(key), &value) != TG_OK)
    {
        return TG_STR_NONE;
    }

    return value;
}

static inline int
host_is(const char *key, const char *raw)
{
    return tg_str_eq(host_result(key), tg_str_from_cstr(raw));
}

/* Compares a string member of the last result, decoded. */
static inline int
host_is_text(const char *key, const char *text)
{
    tg_str_t value;

    value = host_result(key);

    return tg_json_type(value) == TG_JSON_STRING
           && tg_json_body_eq_text(tg_json_string_body(value),
                                   tg_str_from_cstr(text));
}

/* Waits for the next result and compares its text. */
#define HOST_RECV_TEXT(text)                                                   \
    do {                                                                       \
        CU_ASSERT(host_recv());                                                \
        CU_ASSERT(host_is_text("text", text));                                 \
    } while (0)

/* Returns a decoded string member, valid until the next call. */
static inline const char *
host_text(const char *key)
{
    tg_str_t value;

    tg_buf_truncate(&host.text, 0);
    value = host_result(key);

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_json_append_unescaped(&host.text, tg_json_string_body(value));
    }

    tg_buf_append_char(&host.text, '\0');

    return host.text.data;
}

static inline int
host_no_slot(void *ctx)
{
    return host.jobs.nrunning == 0;
}

/* Says whether all programs have ended, except those that wait for adoption. */
static inline int
host_no_exec(void *ctx)
{
    const tg_job_t *job;
    unsigned n;

    n = 0;

    TAILQ_FOREACH(job, &host.jobs.detached, detached)
    {
        n += job->has_answer && job->nhandles == 0;
    }

    return host.jobs.njobs == n;
}

/* Returns the program of an exec job. */
static inline const tg_program_t *
host_program(const tg_job_t *job)
{
    return &((const tg_exec_t *) job->work)->program;
}

/* Says whether the program has ended while its outputs are still open. */
static inline int
host_is_draining(void *ctx)
{
    const tg_job_t *job;

    job = TAILQ_FIRST(&host.jobs.slots);

    return job != NULL && job->state == TG_JOB_RUNNING && job->ended_at != 0;
}

/* Says whether a process has exited, reaped or not. */
static inline int
host_has_exited(pid_t pid)
{
    char path[64], text[512], *p;
    FILE *file;
    size_t n;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "r");

    if (file == NULL) {
        return 1;
    }

    n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    p = strrchr(text, ')');

    return p == NULL || p[2] == 'Z' || p[2] == 'X';
}

static inline int
host_pid_has_exited(void *ctx)
{
    return host_has_exited(*(pid_t *) ctx);
}

static inline int
host_is_file(void *ctx)
{
    return access(ctx, F_OK) == 0;
}

/*
 * Eight processes that ignore SIGTERM, fork all the time: slowly first, at full
 * speed from 0.2 s before the grace time ends, when the lock has content; and
 * each create a session; they exit before their zombies use up all process ids.
 * %s: what the main process does first at SIGTERM, a file that all lock, and a
 * file that says that they have started.
 */
#define HOST_BOMB                                                              \
    "exec perl -MPOSIX -e '$SIG{TERM} = q(IGNORE); "                           \
    "sub end { $SIG{TERM} = q(IGNORE); %s; select undef, undef, undef, 1.8; "  \
    "syswrite F, 1; sleep 1000 } open F, q(>), q(%s); flock F, 2; "            \
    "for (1 .. 8) { next if fork; "                                            \
    "for ($n = 600; $n > 0;) { setsid; _exit 0 if fork; "                      \
    "if (-s F) { $n-- } else { select undef, undef, undef, 0.02 } } "          \
    "_exit 0 } $SIG{TERM} = \\&end; open G, q(>), q(%s); sleep 1000'"

#endif
