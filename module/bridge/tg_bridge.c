/* Timers, exit, and the state of the agent and the parent. */
#include "bridge/tg_bridge.h"

static void
tg_bridge_on_timer(uv_timer_t *timer)
{
    tg_bridge_t *bridge;

    bridge = timer->data;
    bridge->actions[timer - bridge->timers](bridge);
}

void
tg_bridge_timer_start(tg_bridge_t *bridge, tg_bridge_timer_t timer, uint64_t ms)
{
    (void) uv_timer_start(&bridge->timers[timer], tg_bridge_on_timer, ms, 0);
}

void
tg_bridge_timer_stop(tg_bridge_t *bridge, tg_bridge_timer_t timer)
{
    (void) uv_timer_stop(&bridge->timers[timer]);
}

int
tg_bridge_timer_is_active(const tg_bridge_t *bridge, tg_bridge_timer_t timer)
{
    return uv_is_active((const uv_handle_t *) &bridge->timers[timer]);
}

void
tg_bridge_quit(tg_bridge_t *bridge, int exit_code)
{
    int i;

    /* An error of the last output sets the exit status, too. */
    bridge->exit_code = bridge->exit_code != 0 ? bridge->exit_code : exit_code;

    if (bridge->is_quitting) {
        return;
    }

    bridge->is_quitting = 1;

    for (i = 0; i < TG_BRIDGE_TIMER_COUNT; i++) {
        tg_bridge_timer_stop(bridge, (tg_bridge_timer_t) i);
    }
}

void
tg_bridge_quit_nomem(tg_bridge_t *bridge)
{
    tg_bridge_log("out of memory");
    tg_bridge_quit(bridge, 1);
}

void
tg_bridge_agent_release_input(tg_bridge_t *bridge)
{
    bridge->is_agent_held = 0;
    bridge->has_assumed_caps |= !bridge->has_parent_info;
    tg_bridge_timer_stop(bridge, TG_BRIDGE_TIMER_HOLD);
}

const char *
tg_bridge_parent_get_name(const tg_bridge_t *bridge)
{
    static const char *const names[TG_DIALECT_COUNT] = {
        [TG_DIALECT_IPC] = "the parent process",
        [TG_DIALECT_JSONRPC] = "Toolgate",
        [TG_DIALECT_RELAY] = "the runner",
    };

    return names[bridge->options->dialect];
}

int
tg_bridge_parent_is_open(const tg_bridge_t *bridge)
{
    return bridge->parent.state == TG_UV_CLIENT_OPEN;
}

void
tg_bridge_parent_fetch_list(tg_bridge_t *bridge)
{
    if (tg_mcp_client_fetch_list(&bridge->mcp, uv_now(&bridge->loop)) != TG_OK)
    {
        tg_bridge_quit_nomem(bridge);
    }
}
