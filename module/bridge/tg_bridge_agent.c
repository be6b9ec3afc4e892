#include "bridge/tg_bridge.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

/* --- core's peer --- */

static void
tg_agent_call(void *host, tg_peer_t *peer, tg_request_t *request)
{
    tg_bridge_t *bridge;

    bridge = host;
    bridge->is_settled = 1;
    tg_bridge_request_take(bridge, request, 0, 0);
}

static void
tg_agent_cancel(void *host, tg_call_t *call)
{
    tg_bridge_request_cancel(call->host);
}

static void
tg_agent_log(void *host, const char *text)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->options->is_debug) {
        tg_bridge_log("agent: %s", text);
    }
}

/* The agent knows now why there is no runner. */
static void
tg_agent_refused(void *host, const char *why)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->peer.refusal.len != 0) {
        tg_bridge_timer_start(bridge, TG_TIMER_REFUSE, TG_BRIDGE_REFUSED);
    }
}

static int
tg_agent_is_slice_over(void *host)
{
    tg_bridge_t *bridge;

    bridge = host;

    return tg_uv_conn_slice_is_over(&bridge->agent, bridge->peer.serving);
}

static int
tg_agent_list(void *host, tg_peer_t *peer, tg_request_t *request)
{
    tg_bridge_t *bridge;

    bridge = host;
    bridge->is_settled = 1;

    return tg_list_asked(bridge, request);
}

static const tg_peer_ops_t tg_agent_peer_ops = {
    .call = tg_agent_call,
    .is_turn_over = tg_agent_is_slice_over,
    .cancel = tg_agent_cancel,
    .log = tg_agent_log,
    .refused = tg_agent_refused,
    .list = tg_agent_list,
    .is_proxy = 1,
    .told = tg_bridge_told
};

/* --- stdio --- */

static uint64_t
tg_agent_clock(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

int
tg_agent_is_welcome(const tg_bridge_t *bridge)
{
    return !bridge->is_held
           && (!bridge->parent.has_conn
               || tg_uv_conn_backlog(&bridge->parent.conn)
                      <= TG_BRIDGE_BACKLOG);
}

/* events: 0, or POLLRDHUP where the end of what is read counts, too. */
static int
tg_agent_has_hung_up(int fd, short events)
{
    struct pollfd end;

    end.fd = fd;
    end.events = events;
    end.revents = 0;

    return poll(&end, 1, 0) == 1;
}

/* Answers what was asked before stdin ended, if somebody reads the answers. */
static void
tg_agent_drain(tg_bridge_t *bridge)
{
    if (tg_agent_has_hung_up(STDOUT_FILENO, 0)) {
        tg_bridge_quit(bridge, 0);
        return;
    }

    if (!bridge->is_draining) {
        bridge->is_draining = 1;
        tg_bridge_timer_start(bridge, TG_TIMER_DRAIN, TG_BRIDGE_DRAIN);
    }

    tg_bridge_timer_start(bridge, TG_TIMER_WATCH, TG_BRIDGE_WATCH);
}

void
tg_agent_watch(tg_bridge_t *bridge)
{
    if (bridge->agent.state != TG_UV_OPEN) {
        return;
    }

    if (bridge->is_draining || tg_agent_has_hung_up(STDIN_FILENO, POLLRDHUP)) {
        tg_agent_drain(bridge);
    } else if (bridge->agent.is_paused) {
        tg_bridge_timer_start(bridge, TG_TIMER_WATCH, TG_BRIDGE_WATCH);
    }
}

int
tg_agent_is_drained(const tg_bridge_t *bridge)
{
    return bridge->agent.is_eof && bridge->agent.in_buf.len == 0
           && bridge->peer.ncalls == 0
           && tg_uv_conn_backlog(&bridge->agent) == 0;
}

void
tg_agent_on_drain_timeout(tg_bridge_t *bridge)
{
    tg_bridge_requests_cancel(bridge,
                              "The input of toolgate-bridge has ended, and the "
                              "call did not end soon after that; it was "
                              "cancelled.");
    tg_bridge_quit(bridge, 0);
}

static int
tg_agent_input(void *host, const char *data, size_t len, size_t *consumed)
{
    tg_bridge_t *bridge;
    int rc;

    bridge = host;
    rc = TG_LIMIT;
    *consumed = 0;

    bridge->is_stopped = !tg_agent_is_welcome(bridge);

    if (!bridge->is_stopped) {
        bridge->peer.now_ms = tg_agent_clock();
        rc = tg_peer_input(&bridge->peer, data, len, consumed);

        if (bridge->options->is_debug) {
            tg_bridge_trace("agent  ->", TG_FRAME_LINE,
                            tg_str(data, *consumed));
        }
    }

    if (rc == TG_LIMIT && !tg_bridge_timer_runs(bridge, TG_TIMER_WATCH)) {
        tg_bridge_timer_start(bridge, TG_TIMER_WATCH, TG_BRIDGE_WATCH);
    }

    return rc;
}

static void
tg_agent_eof(void *host)
{
    tg_bridge_t *bridge;
    tg_uv_conn_t *agent;

    bridge = host;
    agent = &bridge->agent;
    tg_agent_drain(bridge);

    /* The last line counts without its newline, too. */
    if (agent->in_buf.len != 0 && !bridge->is_quitting) {
        tg_buf_char(&agent->in_buf, '\n');
        agent->is_paused = 1;
        tg_uv_conn_resume(agent);
    }
}

static void
tg_agent_written(void *host, size_t len)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->options->is_debug) {
        tg_bridge_trace("agent  <-", TG_FRAME_LINE,
                        tg_str(bridge->peer.out.data, len));
    }

    tg_uv_drop(&bridge->peer.out, len);
}

static void
tg_agent_closed(void *host, int err)
{
    tg_bridge_t *bridge;

    bridge = host;
    bridge->has_agent = 0;

    /* Without quitting; an agent that went away is no news. */
    if (err != 0 && err != UV_EPIPE && err != UV_ECONNRESET) {
        tg_bridge_log("stdin or stdout cannot be used: %s", uv_strerror(err));
        tg_bridge_quit(bridge, 1);
    }

    tg_bridge_quit(bridge, 0);
}

static const tg_uv_conn_ops_t tg_agent_conn_ops = {
    .input = tg_agent_input,
    .eof = tg_agent_eof,
    .written = tg_agent_written,
    .closed = tg_agent_closed,
};

void
tg_agent_init(tg_bridge_t *bridge)
{
    tg_buf_init(&bridge->info_text, tg_alloc_libc());
    bridge->info.name = tg_str_c(bridge->options->name != NULL
                                     ? bridge->options->name
                                     : "toolgate-bridge");
    bridge->info.version = TG_STR(TG_VERSION);
    bridge->info.has_list_changed = 1;
    bridge->info.has_broadcasts = 1;

    /* What the parent pushes through the bridge. */
    if (bridge->parent.caller.dialect->experimental != NULL) {
        bridge->info.experimental = tg_str_c(
            bridge->parent.caller.dialect->experimental);
    }

    tg_peer_init(&bridge->peer, tg_alloc_libc(), &tg_agent_peer_ops, bridge,
                 TG_DIALECT_JSONRPC, bridge->tools, &bridge->info,
                 TG_BRIDGE_FRAME_MAX, TG_BRIDGE_CALLS_MAX);
    bridge->peer.frame.limit = TG_BRIDGE_AGENT_MAX;
    /* Nothing but MCP comes on stdio: not even its first error has a null. */
    bridge->peer.is_mcp = 1;
    tg_uv_conn_init(&bridge->agent, &bridge->sched, &tg_agent_conn_ops, bridge,
                    &bridge->peer.out);
}

void
tg_agent_start(tg_bridge_t *bridge)
{
    bridge->has_agent = 1;

    if (bridge->is_held) {
        tg_bridge_timer_start(bridge, TG_TIMER_HOLD, TG_BRIDGE_HOLD);
    }

    /* When it fails, its last callback says so. */
    (void) tg_uv_conn_open(&bridge->agent, STDIN_FILENO, STDOUT_FILENO);
}
