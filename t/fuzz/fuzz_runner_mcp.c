/*
 * What an MCP server sends, and what workers ask meanwhile.  No program is
 * started: the transport is one of the test's own, which opens at once and
 * ends when the input says so.
 *
 * Input: how; then lines.  What begins with `w` a worker sends, `+` is a call
 * with that name, `-` cancels the call of that number, `!` ends the server,
 * and all others the server sends.
 */
#include "help.h"

#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_question.h"
#include "runner/mcp/tg_watch.h"
#include "runner/tg_job_call.h"
#include "runner/tg_log.h"

#include <stdlib.h>

#define MCP_KEY "key-000000000000"
#define MCP_METHODS 5

typedef struct {
    uv_loop_t loop;
    tg_jobs_t jobs;
    tg_programs_t programs;
    tg_servers_t servers;
    tg_catalogue_t *catalogue;
    tg_entry_t entries[MCP_METHODS];
    tg_info_t info;
    tg_peer_t peer;
    unsigned how;
    unsigned nstarts;
    unsigned ncalls; /* of `+` */
    int has_started; /* the loop is there */
} mcp_t;

static mcp_t mcp;

int __real_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);
int __wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);

/* What waits for no more than a start is not waited for. */
int
__wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                      uint64_t repeat)
{
    return __real_uv_timer_start(timer, cb,
                                 timeout <= TG_INSTANCE_RETRY_MIN ? 0 : timeout,
                                 repeat);
}

/* --- the transport --- */

static tg_failure_t
mcp_open(tg_instance_t *instance, tg_buf_t *why)
{
    if (++mcp.nstarts > 8) {
        tg_buf_text(why, "no more");
        tg_instance_hold(instance);
        return TG_FAILURE_PROGRAM;
    }

    tg_instance_hold(instance);
    instance->has_conn = 1;
    tg_instance_opened(instance);

    return TG_FAILURE_NONE;
}

static void
mcp_flush(tg_instance_t *instance)
{
    tg_caller_written(&instance->caller, instance->caller.out.len);
    tg_buf_reset(&instance->caller.out, 65536);
}

static size_t
mcp_backlog(const tg_instance_t *instance)
{
    return instance->caller.out.len;
}

static void
mcp_explain(const tg_instance_t *instance, tg_buf_t *text)
{
    tg_buf_text(text, " ended");
}

/* Not from here: when the loop comes round. */
static void
mcp_close(tg_instance_t *instance, int is_now)
{
    instance->has_conn = 0;
}

static const tg_transport_t mcp_transport = {
    .open = mcp_open,
    .flush = mcp_flush,
    .backlog = mcp_backlog,
    .explain = mcp_explain,
    .close = mcp_close,
};

/* --- the host --- */

static void
mcp_watch(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_watch_begin(&mcp.servers, peer, request);
}

static void
mcp_call(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_job_call(jobs, &tg_mcp_job_kind, &mcp.servers, peer, request);
}

static void
mcp_leave(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_watch_leave(&mcp.servers, peer, request);
}

static void
mcp_unwatch(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_watch_end(&mcp.servers, peer, request);
}

static void
mcp_told(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_question_told(&mcp.servers, peer, request);
}

static const struct {
    const char *name;
    void (*serve)(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request);
} mcp_methods[MCP_METHODS] = {
    { "mcp_watch", mcp_watch }, { "mcp_call", mcp_call },
    { "mcp_leave", mcp_leave }, { "mcp_unwatch", mcp_unwatch },
    { "mcp_told", mcp_told },
};

static void
mcp_on_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    mcp_methods[request->entry - mcp.entries].serve(&mcp.jobs, peer, request);
}

static void
mcp_on_cancel(void *ctx, tg_call_t *call)
{
    tg_job_call_cancel(call);
}

static int
mcp_may(void *ctx, tg_peer_t *peer)
{
    return 1;
}

static void
mcp_told_peer(void *ctx, tg_peer_t *peer)
{
}

static void
mcp_idle(void *ctx)
{
}

static void
mcp_start(void)
{
    static const tg_jobs_ops_t ops = { mcp_may, mcp_may, mcp_told_peer,
                                       mcp_idle };
    size_t i;

    if (mcp.has_started) {
        return;
    }

    FUZZ(tg_log_set_level("emerg") == 0);
    FUZZ(uv_loop_init(&mcp.loop) == 0);
    FUZZ(tg_programs_init(&mcp.programs, &mcp.loop) == 0);
    tg_jobs_init(&mcp.jobs, &mcp.loop, &ops, &mcp);
    mcp.catalogue = tg_catalogue_new(tg_alloc_libc());

    for (i = 0; i < MCP_METHODS; i++) {
        mcp.entries[i].kind = TG_ENTRY_METHOD;
        mcp.entries[i].output = TG_OUTPUT_JSON;
        mcp.entries[i].name = tg_str_c(mcp_methods[i].name);
        FUZZ(tg_catalogue_add(mcp.catalogue, &mcp.entries[i]) == TG_OK);
    }

    FUZZ(tg_catalogue_seal(mcp.catalogue) == TG_OK);
    mcp.has_started = 1;
}

/* --- what happens --- */

/* Every instance has the test's transport, and what was closed is gone. */
static void
mcp_look(tg_server_t *server)
{
    tg_instance_t *instance, *next;

    for (instance = TAILQ_FIRST(&server->instances); instance != NULL;
         instance = next)
    {
        next = TAILQ_NEXT(instance, place);
        instance->transport = &mcp_transport;

        if (instance->state == TG_INSTANCE_ENDING) {
            tg_instance_release(instance);
        }
    }
}

static void
mcp_run(void)
{
    tg_server_t *server, *next;
    tg_server_list_t *const lists[] = { &mcp.servers.list,
                                        &mcp.servers.leaving };
    int i;

    for (i = 0; i < 2; i++) {
        for (server = TAILQ_FIRST(lists[i]); server != NULL; server = next) {
            next = TAILQ_NEXT(server, place);
            mcp_look(server);
        }
    }

    (void) uv_run(&mcp.loop, UV_RUN_NOWAIT);
}

static void
mcp_send(tg_str_t line)
{
    size_t consumed;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_str(&text, line);
    tg_buf_char(&text, '\n');
    (void) tg_peer_input(&mcp.peer, text.data, text.len, &consumed);
    tg_buf_deinit(&text);
}

/* What a worker says, with a number and a word in it. */
static void
mcp_say(const char *before, unsigned id, const char *between, tg_str_t word,
        const char *after)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_text(&text, before);
    tg_buf_uint(&text, id);
    tg_buf_text(&text, between);
    tg_buf_str(&text, word);
    tg_buf_text(&text, after);
    mcp_send(tg_buf_view(&text));
    tg_buf_deinit(&text);
}

/* The newest that is open: that of the calls, once there are some. */
static tg_instance_t *
mcp_instance(void)
{
    tg_instance_t *instance, *open;
    const tg_server_t *server;

    server = tg_server_find(&mcp.servers, TG_STR(MCP_KEY));
    open = NULL;

    if (server != NULL) {
        TAILQ_FOREACH(instance, &server->instances, place)
        {
            open = instance->has_conn ? instance : open;
        }
    }

    return open;
}

static void
mcp_hear(tg_str_t line)
{
    tg_instance_t *instance;
    size_t consumed;
    tg_buf_t text;

    instance = mcp_instance();

    if (instance == NULL) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_str(&text, line);
    tg_buf_char(&text, '\n');
    (void) tg_instance_input(instance, text.data, text.len, &consumed);
    tg_buf_deinit(&text);
}

static void
mcp_line(tg_str_t line)
{
    tg_str_t rest;

    rest = tg_str(line.data + (line.len != 0), line.len - (line.len != 0));

    switch (line.len != 0 ? line.data[0] : '\0') {
    case 'w':
        mcp_send(rest);
        break;
    case '+':
        if (mcp.ncalls++ < 16) {
            mcp_say("{\"jsonrpc\":\"2.0\",\"id\":", 1000 + mcp.ncalls,
                    ",\"method\":\"mcp_call\",\"params\":{\"tool\":\"t\","
                    "\"key\":\"" MCP_KEY "\",\"instance\":\"conn:1\","
                    "\"capabilities\":{\"elicitation\":{}},\"name\":\"",
                    rest, "\"}}");
        }

        break;
    case '-':
        mcp_say("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\","
                "\"params\":{\"id\":",
                1000 + (rest.len != 0 ? rest.data[0] % 16u : 0), "", TG_STR(""),
                "}}");
        break;
    case '!':
        if (mcp_instance() != NULL) {
            tg_instance_lost(mcp_instance());
        }

        break;
    default:
        mcp_hear(line);
    }

    mcp_run();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const tg_peer_ops_t ops = { .call = mcp_on_call,
                                       .cancel = mcp_on_cancel };
    static const char watch[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcp_watch\",\"params\":{"
        "\"key\":\"" MCP_KEY "\",\"server\":\"s\",\"spec\":{"
        "\"pass\":\"127.0.0.1:9\",\"roots\":[],\"share\":\"connection\"}}}";
    unsigned turns;
    fuzz_in_t in;

    mcp_start();
    mcp.nstarts = 0;
    mcp.ncalls = 0;
    tg_servers_init(&mcp.servers, &mcp.jobs, &mcp.programs, NULL);
    tg_peer_init(&mcp.peer, tg_alloc_libc(), &ops, &mcp, TG_DIALECT_JSONRPC,
                 mcp.catalogue, &mcp.info, 1 << 20, 64);
    in = fuzz_in(data, size);
    mcp.how = fuzz_byte(&in);
    mcp_send(TG_STR(watch));

    /* One is started for the list alone, the calls have another. */
    if (mcp.how % 2 == 0) {
        mcp_line(TG_STR("+echo"));
    }

    mcp_run();

    while (in.pos != in.end) {
        mcp_line(fuzz_until_newline(&in));
    }

    tg_watch_gone(&mcp.servers, &mcp.peer);
    tg_peer_deinit(&mcp.peer);
    tg_servers_drop(&mcp.servers);

    for (turns = 0; mcp.jobs.njobs != 0 || !tg_servers_is_empty(&mcp.servers);
         turns++)
    {
        FUZZ(turns < 1000);
        mcp_run();
    }

    FUZZ(mcp.jobs.bytes == 0 && mcp.servers.nrunning == 0 && mcp.servers.n == 0
         && TAILQ_EMPTY(&mcp.jobs.elsewhere));

    return 0;
}
