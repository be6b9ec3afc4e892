#include "runner_world.h"

#include "runner/mcp/tg_mcp_resource_watch.h"
#include "runner/mcp/tg_mcp_server_request.h"
#include "runner/mcp/tg_mcp_subscriber.h"
#include "runner/jobs/tg_job_call.h"
#include "runner/logging/tg_log.h"

world_t world;

/* --- the host --- */

static void
world_watch(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_mcp_servers_subscribe(&world.servers, peer, request);
}

static void
world_call(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_jobs_handle_call(jobs, &tg_mcp_job_type, &world.servers, peer, request);
}

static void
world_detach(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_mcp_servers_shutdown_conn(&world.servers, peer, request);
}

static void
world_unwatch(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_mcp_servers_unsubscribe(&world.servers, peer, request);
}

static void
world_subscribe(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_mcp_servers_watch_resource(&world.servers, peer, request);
}

static void
world_unsubscribe(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_mcp_servers_unwatch_resource(&world.servers, peer, request);
}

static void
world_notify(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_mcp_server_request_on_response(&world.servers, peer, request);
}

static const struct {
    const char *name;
    void (*handle)(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request);
} world_methods[WORLD_METHODS] = {
    { "mcp_watch", world_watch },
    { "mcp_call", world_call },
    { "mcp_leave", world_detach },
    { "mcp_unwatch", world_unwatch },
    { "mcp_told", world_notify },
    { "mcp_subscribe", world_subscribe },
    { "mcp_unsubscribe", world_unsubscribe },
};

static void
world_on_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    world_methods[request->entry - world.entries].handle(&world.jobs, peer,
                                                         request);
}

static void
world_on_cancel(void *ctx, tg_call_t *call)
{
    tg_jobs_cancel_call(call);
}

static int
world_may(void *ctx, tg_peer_t *peer)
{
    return 1;
}

static void
world_notified(void *ctx, tg_peer_t *peer)
{
}

static void
world_idle(void *ctx)
{
}

static void
world_start(void)
{
    static const tg_jobs_ops_t ops = { world_may, world_may, world_may,
                                       world_notified, world_idle };
    size_t i;

    if (world.has_started) {
        return;
    }

    FUZZ(tg_log_set_level("emerg") == 0);
    FUZZ(uv_loop_init(&world.loop) == 0);
    FUZZ(tg_programs_init(&world.programs, &world.loop) == 0);
    tg_jobs_init(&world.jobs, &world.loop, &ops, &world);
    world.catalog = tg_catalog_new(tg_alloc_libc());

    for (i = 0; i < WORLD_METHODS; i++) {
        world.entries[i].kind = TG_ENTRY_METHOD;
        world.entries[i].output = TG_OUTPUT_JSON;
        world.entries[i].name = tg_str_from_cstr(world_methods[i].name);
        FUZZ(tg_catalog_add(world.catalog, &world.entries[i]) == TG_OK);
    }

    FUZZ(tg_catalog_seal(world.catalog) == TG_OK);
    world.has_started = 1;
}

/* --- the worker --- */

static void
world_send(tg_str_t line)
{
    size_t consumed;
    HELP_BUFFER(text);

    tg_buf_append_str(&text, line);
    tg_buf_append_char(&text, '\n');
    (void) tg_peer_handle_input(&world.peer, text.data, text.len, &consumed);
}

/* Sends a worker's message with a number and a word in it. */
static void
world_send_text(const char *before, unsigned id, const char *between,
                tg_str_t word, const char *after)
{
    HELP_BUFFER(text);

    tg_buf_printf(&text, "%s%lu%s", before, (unsigned long) id, between);
    tg_buf_append_str(&text, word);
    tg_buf_append_cstr(&text, after);
    world_send(tg_buf_view(&text));
}

tg_mcp_server_t *
world_server(void)
{
    return tg_mcp_server_find(&world.servers, TG_STR(WORLD_KEY));
}

void
world_run(void)
{
    if (world.iterate != NULL) {
        world.iterate();
    }

    (void) uv_run(&world.loop, UV_RUN_NOWAIT);
}

int
world_run_line(tg_str_t line)
{
    tg_str_t rest;

    rest = tg_str(line.data + (line.len != 0), line.len - (line.len != 0));

    switch (line.len != 0 ? line.data[0] : '\0') {
    case 'w':
        world_send(rest);
        return 1;
    case '+':
        if (world.ncalls++ < 16) {
            world_send_text(
                "{\"jsonrpc\":\"2.0\",\"id\":", 1000 + world.ncalls,
                ",\"method\":\"mcp_call\",\"params\":{\"tool\":\"t\","
                "\"key\":\"" WORLD_KEY "\",\"instance\":\"conn:1\","
                "\"capabilities\":{\"elicitation\":{}},\"name\":\"",
                rest, "\"}}");
        }

        return 1;
    case '-':
        world_send_text("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\","
                        "\"params\":{\"id\":",
                        1000 + (rest.len != 0 ? rest.data[0] % 16u : 0), "",
                        TG_STR(""), "}}");
        return 1;
    default:
        return 0;
    }
}

void
world_begin(const char *spec, void (*iterate)(void))
{
    static const tg_peer_ops_t ops = { .call = world_on_call,
                                       .cancel = world_on_cancel };
    HELP_BUFFER(watch);

    world_start();
    world.iterate = iterate;
    world.ncalls = 0;
    tg_mcp_servers_init(&world.servers, &world.jobs, &world.programs, NULL);
    world.servers.http = &world.http;
    FUZZ(tg_peer_init(&world.peer, tg_alloc_libc(), &ops, &world,
                      TG_DIALECT_JSONRPC, world.catalog, &world.info, 1 << 20,
                      64)
         == TG_OK);
    tg_buf_printf(&watch,
                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcp_watch\","
                  "\"params\":{\"key\":\"" WORLD_KEY "\",\"server\":\"s\","
                  "\"spec\":{%s,\"roots\":[],\"share\":\"connection\"}}}",
                  spec);
    world_send(tg_buf_view(&watch));
}

void
world_end(void)
{
    unsigned iterations;

    tg_mcp_servers_on_peer_closed(&world.servers, &world.peer);
    tg_peer_deinit(&world.peer);
    tg_mcp_servers_shutdown(&world.servers);

    for (iterations = 0;
         world.jobs.njobs != 0 || !tg_mcp_servers_is_empty(&world.servers);
         iterations++)
    {
        FUZZ(iterations < 1000);
        world_run();
    }

    FUZZ(world.jobs.bytes == 0 && world.servers.nrunning == 0
         && world.servers.n == 0 && TAILQ_EMPTY(&world.jobs.without_slot));
}
