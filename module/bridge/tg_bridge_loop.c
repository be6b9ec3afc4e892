/* The event loop of the bridge: setup, iteration, exit. */
#include "bridge/tg_bridge.h"

#include <signal.h>
#include <stdlib.h>

static void
tg_bridge_on_quit_timeout(tg_bridge_t *bridge)
{
    tg_uv_conn_close(&bridge->agent);
    tg_uv_client_drop_conn(&bridge->parent);
}

static void
tg_bridge_close_conns(tg_bridge_t *bridge)
{
    bridge->is_closing = 1;
    tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_QUIT, TG_BRIDGE_QUIT_TIMEOUT);

    /* An agent that has closed its side has ended its subscriptions itself. */
    if (!bridge->is_draining) {
        tg_peer_end_subscriptions(&bridge->peer, TG_STR("the bridge exits"));
    }

    tg_uv_conn_close_after_flush(&bridge->agent);
    tg_bridge_parent_shutdown(bridge);
}

static void
tg_bridge_close_handle(uv_handle_t *handle, void *ctx)
{
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

/*
 * Before the loop waits, writes output, resumes a side that was not read
 * because the other one was slow, and starts a requested exit. The end of a
 * write wakes the loop and repeats this.
 */
static void
tg_bridge_on_prepare(uv_prepare_t *prepare)
{
    tg_bridge_t *bridge;

    bridge = prepare->data;
    tg_uv_conn_flush(&bridge->agent);
    tg_uv_client_flush(&bridge->parent);

    if (bridge->is_agent_paused && tg_bridge_agent_can_read(bridge)) {
        bridge->is_agent_paused = 0;
        tg_uv_conn_resume(&bridge->agent);
    }

    tg_uv_client_resume(&bridge->parent);
    tg_bridge_mcp_update_timer(bridge);

    if (!bridge->is_quitting) {
        tg_bridge_update_hello(bridge);
    }

    if (bridge->is_draining && tg_bridge_agent_is_drained(bridge)) {
        tg_bridge_quit(bridge, 0);
    }

    if (bridge->is_quitting && !bridge->is_closing) {
        tg_bridge_close_conns(bridge);
    }

    tg_uv_conn_flush(&bridge->agent);
    tg_uv_client_flush(&bridge->parent);

    if (bridge->is_closing && !bridge->has_agent
        && bridge->parent.state == TG_UV_CLIENT_CLOSED)
    {
        bridge->has_closed_handles = 1;
        uv_walk(&bridge->loop, tg_bridge_close_handle, NULL);
    }
}

static void
tg_bridge_on_signal(uv_signal_t *handle, int number)
{
    tg_bridge_quit(handle->data, 0);
}

static int
tg_bridge_open_loop(tg_bridge_t *bridge)
{
    static const int numbers[2] = { SIGTERM, SIGINT };
    static const tg_bridge_timer_action_pt actions[TG_BRIDGE_TIMER_COUNT] = {
        [TG_BRIDGE_TIMER_HOLD] = tg_bridge_agent_release_input,
        [TG_BRIDGE_TIMER_MCP] = tg_bridge_mcp_on_timeout,
        [TG_BRIDGE_TIMER_GRACE] = tg_bridge_parent_on_grace_timeout,
        [TG_BRIDGE_TIMER_HANGUP_CHECK] = tg_bridge_agent_check_hangup,
        [TG_BRIDGE_TIMER_QUIT] = tg_bridge_on_quit_timeout,
        [TG_BRIDGE_TIMER_DRAIN] = tg_bridge_agent_on_drain_timeout,
        [TG_BRIDGE_TIMER_REFUSAL] = tg_bridge_parent_on_refusal_timeout,
        [TG_BRIDGE_TIMER_DISCOVER] = tg_bridge_requests_on_discover_timeout
    };
    int i, rc;

    bridge->actions = actions;
    rc = uv_loop_init(&bridge->loop);

    if (rc != 0) {
        return rc;
    }

    /* These functions do not allocate memory or use kernel resources. */
    tg_uv_sched_init(&bridge->sched, &bridge->loop);
    (void) uv_prepare_init(&bridge->loop, &bridge->prepare);
    bridge->prepare.data = bridge;
    (void) uv_prepare_start(&bridge->prepare, tg_bridge_on_prepare);

    for (i = 0; i < TG_BRIDGE_TIMER_COUNT; i++) {
        (void) uv_timer_init(&bridge->loop, &bridge->timers[i]);
        bridge->timers[i].data = bridge;
    }

    for (i = 0; i < 2 && rc == 0; i++) {
        (void) uv_signal_init(&bridge->loop, &bridge->signals[i]);
        bridge->signals[i].data = bridge;
        rc = uv_signal_start(&bridge->signals[i], tg_bridge_on_signal,
                             numbers[i]);
    }

    return rc;
}

/*
 * Sets the tools for the time before the parent's list is fetched: those of the
 * schema file, or none. Returns 0 or the exit status.
 */
static int
tg_bridge_init_tools(tg_bridge_t *bridge)
{
    char why[256];
    const char *file;
    size_t nleft_out;

    file = bridge->options->schema_file;

    if (file != NULL && tg_dialect_get(bridge->options->dialect)->is_sequential)
    {
        bridge->tools = tg_bridge_schema_file_load(file, why, sizeof(why));

        if (bridge->tools == NULL) {
            tg_bridge_log("cannot use the schema file %s: %s", file, why);
            return 2;
        }

        return 0;
    }

    if (tg_tool_list_parse(tg_alloc_libc(), 0, TG_STR("[]"), &bridge->tools,
                           &nleft_out)
        != TG_OK)
    {
        tg_bridge_log("out of memory");
        return 1;
    }

    return 0;
}

static void
tg_bridge_free(tg_bridge_t *bridge)
{
    tg_bridge_cancel_server_requests(bridge);
    tg_peer_deinit(&bridge->peer);
    tg_uv_client_deinit(&bridge->parent);
    tg_mcp_client_deinit(&bridge->mcp);
    tg_bridge_subscriptions_free(bridge);
    tg_buf_deinit(&bridge->info_text);
    tg_catalog_unref(bridge->tools);
    free(bridge);
}

int
tg_bridge_run(const tg_bridge_options_t *options)
{
    tg_bridge_t *bridge;
    int exit_code, rc;

    bridge = calloc(1, sizeof(*bridge));

    if (bridge == NULL) {
        tg_bridge_log("out of memory");
        return 1;
    }

    bridge->options = options;
    exit_code = tg_bridge_init_tools(bridge);

    if (exit_code != 0) {
        free(bridge);
        return exit_code;
    }

    (void) signal(SIGPIPE, SIG_IGN);
    rc = tg_bridge_open_loop(bridge);

    if (rc != 0) {
        /* The process exits; the kernel frees the handles. */
        tg_bridge_log("cannot start: %s", uv_strerror(rc));
        return 1;
    }

    tg_bridge_parent_init(bridge, &tg_bridge_parent_ops);

    if (tg_bridge_agent_init(bridge) != TG_OK) {
        tg_bridge_log("out of memory");
        return 1;
    }

    tg_bridge_parent_start(bridge);
    tg_bridge_agent_start(bridge);

    (void) uv_run(&bridge->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&bridge->loop);
    exit_code = bridge->exit_code;
    tg_bridge_free(bridge);

    return exit_code;
}
