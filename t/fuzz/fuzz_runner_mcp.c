/*
 * Fuzzes the messages of an MCP server and of workers. No program is started:
 * the test has its own transport, which opens at once and ends when the input
 * says so.
 *
 * Input: options; then lines. A line that begins with `w` comes from a worker,
 * `+` calls the tool of that name, `-` cancels the call of that number, `!`
 * ends the server; the server sends all other lines.
 */
#include "runner_world.h"

static unsigned mcp_nstarts;

int __real_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);
int __wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);

/* Timers that only delay a start expire at once. */
int
__wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                      uint64_t repeat)
{
    return __real_uv_timer_start(
        timer, cb, timeout <= TG_MCP_CONN_RETRY_MIN_MS ? 0 : timeout, repeat);
}

/* --- the transport --- */

static tg_failure_t
mcp_open(tg_mcp_conn_t *mcp_conn, tg_buf_t *why)
{
    if (++mcp_nstarts > 8) {
        tg_buf_append_cstr(why, "no more");
        tg_mcp_conn_ref_handle(mcp_conn);
        return TG_FAILURE_PROGRAM;
    }

    tg_mcp_conn_ref_handle(mcp_conn);
    mcp_conn->has_conn = 1;
    tg_mcp_conn_on_opened(mcp_conn);

    return TG_FAILURE_NONE;
}

static void
mcp_flush(tg_mcp_conn_t *mcp_conn)
{
    tg_caller_count_written(&mcp_conn->caller, mcp_conn->caller.out.len);
    tg_buf_reset(&mcp_conn->caller.out, 65536);
}

static size_t
mcp_backlog(const tg_mcp_conn_t *mcp_conn)
{
    return mcp_conn->caller.out.len;
}

static void
mcp_explain(const tg_mcp_conn_t *mcp_conn, tg_buf_t *text)
{
    tg_buf_append_cstr(text, " ended");
}

/* Closes the connection in the next loop iteration, not from here. */
static void
mcp_close(tg_mcp_conn_t *mcp_conn, int is_now)
{
    mcp_conn->has_conn = 0;
}

static const tg_mcp_transport_t mcp_transport = {
    .open = mcp_open,
    .flush = mcp_flush,
    .backlog = mcp_backlog,
    .append_reason = mcp_explain,
    .close = mcp_close,
};

/* --- commands --- */

/* Gives each connection the test's transport and finishes closed ones. */
static void
mcp_update_conns(tg_mcp_server_t *server)
{
    tg_mcp_conn_t *mcp_conn, *next;

    for (mcp_conn = TAILQ_FIRST(&server->mcp_conns); mcp_conn != NULL;
         mcp_conn = next)
    {
        next = TAILQ_NEXT(mcp_conn, link);
        mcp_conn->transport = &mcp_transport;

        if (mcp_conn->state == TG_MCP_CONN_ENDING) {
            tg_mcp_conn_unref_handle(mcp_conn);
        }
    }
}

static void
mcp_iterate(void)
{
    tg_mcp_server_t *server, *next;
    tg_mcp_server_list_t *const lists[] = { &world.servers.list,
                                            &world.servers.leaving };
    int i;

    for (i = 0; i < 2; i++) {
        for (server = TAILQ_FIRST(lists[i]); server != NULL; server = next) {
            next = TAILQ_NEXT(server, link);
            mcp_update_conns(server);
        }
    }
}

/* Returns the newest open connection, which serves the calls, if any. */
static tg_mcp_conn_t *
mcp_newest_conn(void)
{
    tg_mcp_conn_t *mcp_conn, *open;
    const tg_mcp_server_t *server;

    server = world_server();
    open = NULL;

    if (server != NULL) {
        TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
        {
            open = mcp_conn->has_conn ? mcp_conn : open;
        }
    }

    return open;
}

static void
mcp_receive(tg_str_t line)
{
    tg_mcp_conn_t *mcp_conn;
    size_t consumed;
    HELP_BUFFER(text);

    mcp_conn = mcp_newest_conn();

    if (mcp_conn == NULL) {
        return;
    }

    tg_buf_append_str(&text, line);
    tg_buf_append_char(&text, '\n');
    (void) tg_mcp_conn_on_input(mcp_conn, text.data, text.len, &consumed);
}

static void
mcp_line(tg_str_t line)
{
    if (!world_run_line(line)) {
        if (line.len == 0 || line.data[0] != '!') {
            mcp_receive(line);
        } else if (mcp_newest_conn() != NULL) {
            tg_mcp_conn_on_lost(mcp_newest_conn());
        }
    }

    world_run();
}

FUZZ_TARGET(in)
{
    mcp_nstarts = 0;
    world_begin("\"pass\":\"127.0.0.1:9\"", mcp_iterate);

    /* One connection is started only for the list; calls use another. */
    if (fuzz_byte(&in) % 2 == 0) {
        mcp_line(TG_STR("+echo"));
    }

    world_run();

    while (in.pos != in.end) {
        mcp_line(fuzz_until_newline(&in));
    }

    world_end();
}
