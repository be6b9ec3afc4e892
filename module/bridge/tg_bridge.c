#include "bridge/tg_bridge.h"

/* --- timers --- */

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
tg_bridge_timer_runs(const tg_bridge_t *bridge, tg_bridge_timer_t timer)
{
    return uv_is_active((const uv_handle_t *) &bridge->timers[timer]);
}

/* --- the end --- */

void
tg_bridge_quit(tg_bridge_t *bridge, int code)
{
    int i;

    /* What is written last may fail, too. */
    bridge->code = bridge->code != 0 ? bridge->code : code;

    if (bridge->is_quitting) {
        return;
    }

    bridge->is_quitting = 1;

    for (i = 0; i < TG_TIMERS; i++) {
        tg_bridge_timer_stop(bridge, (tg_bridge_timer_t) i);
    }
}

void
tg_bridge_no_memory(tg_bridge_t *bridge)
{
    tg_bridge_log("out of memory");
    tg_bridge_quit(bridge, 1);
}

/* --- the two sides --- */

void
tg_agent_release(tg_bridge_t *bridge)
{
    bridge->is_held = 0;
    tg_bridge_timer_stop(bridge, TG_TIMER_HOLD);
}

const char *
tg_parent_name(const tg_bridge_t *bridge)
{
    static const char *const names[TG_DIALECT_END] = {
        [TG_DIALECT_IPC] = "the parent process",
        [TG_DIALECT_JSONRPC] = "Toolgate",
        [TG_DIALECT_RELAY] = "the runner",
    };

    return names[bridge->options->dialect];
}

int
tg_parent_is_open(const tg_bridge_t *bridge)
{
    return bridge->parent.state == TG_UV_CLIENT_OPEN;
}

void
tg_parent_list(tg_bridge_t *bridge)
{
    if (tg_mcp_client_list(&bridge->mcp, uv_now(&bridge->loop)) != TG_OK) {
        tg_bridge_no_memory(bridge);
    }
}
