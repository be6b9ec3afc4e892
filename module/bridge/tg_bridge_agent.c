/* The agent: its connection on stdio and its tg_peer_t. */
#include "bridge/tg_bridge.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

static void
tg_bridge_agent_on_call(void *host, tg_peer_t *peer, tg_request_t *request)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (request->reply.kind == TG_ENTRY_METHOD) {
        tg_bridge_forward(bridge, request);
        return;
    }

    bridge->has_agent_asked = 1;
    tg_bridge_request_accept(bridge, request, TG_BRIDGE_CALL, 0);
}

static void
tg_bridge_agent_on_cancel(void *host, tg_call_t *call)
{
    tg_bridge_request_cancel(call->host);
}

static void
tg_bridge_agent_on_log(void *host, const char *text)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->options->is_debug) {
        tg_bridge_log("agent: %s", text);
    }
}

/* The agent now knows why there is no runner: wait for its next request. */
static void
tg_bridge_agent_on_refused(void *host, const char *why)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->peer.refusal.len != 0) {
        tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_REFUSAL,
                              TG_BRIDGE_NEXT_REFUSAL_TIMEOUT);
    }
}

static int
tg_bridge_agent_is_slice_over(void *host)
{
    tg_bridge_t *bridge;

    bridge = host;

    return tg_uv_conn_is_slice_over(&bridge->agent, bridge->peer.frame_size);
}

static int
tg_bridge_agent_on_list(void *host, tg_peer_t *peer, tg_request_t *request)
{
    tg_bridge_t *bridge;

    bridge = host;
    bridge->has_agent_asked = 1;

    return tg_bridge_list_handle_request(bridge, request);
}

static int
tg_bridge_agent_on_discover(void *host, tg_peer_t *peer, tg_request_t *request)
{
    return tg_bridge_forward_discover(host, request);
}

static int
tg_bridge_agent_on_listen(void *host, tg_peer_t *peer, tg_request_t *request)
{
    return tg_bridge_listen(host, request);
}

/* A subscriptions/listen of the agent begins or ends to need a resource. */
static void
tg_bridge_agent_on_subscribe(void *host, tg_str_t uri, int is_on)
{
    tg_bridge_subscription_set(host, uri, 0, is_on);
}

static const tg_peer_ops_t tg_bridge_agent_peer_ops = {
    .call = tg_bridge_agent_on_call,
    .is_slice_over = tg_bridge_agent_is_slice_over,
    .cancel = tg_bridge_agent_on_cancel,
    .log = tg_bridge_agent_on_log,
    .on_refused = tg_bridge_agent_on_refused,
    .list = tg_bridge_agent_on_list,
    .discover = tg_bridge_agent_on_discover,
    .listen = tg_bridge_agent_on_listen,
    .on_subscribe = tg_bridge_agent_on_subscribe,
    .is_proxy = 1,
    .on_response = tg_bridge_on_agent_response
};

static uint64_t
tg_bridge_get_realtime_ms(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

int
tg_bridge_agent_can_read(const tg_bridge_t *bridge)
{
    return !bridge->is_agent_held
           && (!bridge->parent.has_conn
               || tg_uv_conn_get_backlog(&bridge->parent.conn)
                      <= TG_BRIDGE_PARENT_BACKLOG_MAX);
}

/* Checks for the end of the connection; events may be POLLRDHUP. */
static int
tg_bridge_fd_has_hung_up(int fd, short events)
{
    struct pollfd end;

    end.fd = fd;
    end.events = events;
    end.revents = 0;

    return poll(&end, 1, 0) == 1;
}

/* Answers the requests before the end of stdin, unless stdout is closed. */
static void
tg_bridge_agent_drain(tg_bridge_t *bridge)
{
    if (tg_bridge_fd_has_hung_up(STDOUT_FILENO, 0)) {
        tg_bridge_quit(bridge, 0);
        return;
    }

    if (!bridge->is_draining) {
        bridge->is_draining = 1;
        tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_DRAIN,
                              TG_BRIDGE_DRAIN_TIMEOUT);
    }

    tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_HANGUP_CHECK,
                          TG_BRIDGE_HANGUP_CHECK_INTERVAL);
}

void
tg_bridge_agent_check_hangup(tg_bridge_t *bridge)
{
    if (bridge->agent.state != TG_UV_CONN_OPEN) {
        return;
    }

    if (bridge->is_draining
        || tg_bridge_fd_has_hung_up(STDIN_FILENO, POLLRDHUP)) {
        tg_bridge_agent_drain(bridge);
    } else if (bridge->agent.is_paused) {
        tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_HANGUP_CHECK,
                              TG_BRIDGE_HANGUP_CHECK_INTERVAL);
    }
}

int
tg_bridge_agent_is_drained(const tg_bridge_t *bridge)
{
    return bridge->agent.is_eof && bridge->agent.in_buf.len == 0
           && bridge->peer.ncalls == 0
           && tg_uv_conn_get_backlog(&bridge->agent) == 0;
}

void
tg_bridge_agent_on_drain_timeout(tg_bridge_t *bridge)
{
    tg_bridge_requests_cancel(bridge,
                              "The call was cancelled: the input of "
                              "toolgate-bridge ended, and the call did not "
                              "complete soon after that.");
    tg_bridge_quit(bridge, 0);
}

static int
tg_bridge_agent_on_input(void *host, const char *data, size_t len,
                         size_t *consumed)
{
    tg_bridge_t *bridge;
    int rc;

    bridge = host;
    rc = TG_LIMIT;
    *consumed = 0;

    bridge->is_agent_paused = !tg_bridge_agent_can_read(bridge);

    if (!bridge->is_agent_paused) {
        bridge->peer.now_ms = tg_bridge_get_realtime_ms();
        rc = tg_peer_handle_input(&bridge->peer, data, len, consumed);

        if (bridge->options->is_debug) {
            tg_bridge_log_messages("agent  ->", TG_FRAME_LINE,
                                   tg_str(data, *consumed));
        }
    }

    if (rc == TG_LIMIT
        && !tg_bridge_timer_is_active(bridge, TG_BRIDGE_TIMER_HANGUP_CHECK))
    {
        tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_HANGUP_CHECK,
                              TG_BRIDGE_HANGUP_CHECK_INTERVAL);
    }

    return rc;
}

static void
tg_bridge_agent_on_eof(void *host)
{
    tg_bridge_t *bridge;
    tg_uv_conn_t *agent;

    bridge = host;
    agent = &bridge->agent;
    tg_bridge_agent_drain(bridge);

    /* A last line without a newline is a message, too. */
    if (agent->in_buf.len != 0 && !bridge->is_quitting) {
        tg_buf_append_char(&agent->in_buf, '\n');
        agent->is_paused = 1;
        tg_uv_conn_resume(agent);
    }
}

static void
tg_bridge_agent_on_written(void *host, size_t len)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->options->is_debug) {
        tg_bridge_log_messages("agent  <-", TG_FRAME_LINE,
                               tg_str(bridge->peer.out.data, len));
    }

    tg_uv_output_drop(&bridge->peer.out, len);
}

static void
tg_bridge_agent_on_closed(void *host, int err)
{
    tg_bridge_t *bridge;

    bridge = host;
    bridge->has_agent = 0;

    /* An agent that has gone is not an error. */
    if (err != 0 && err != UV_EPIPE && err != UV_ECONNRESET) {
        tg_bridge_log("cannot use stdin or stdout: %s", uv_strerror(err));
        tg_bridge_quit(bridge, 1);
    }

    tg_bridge_quit(bridge, 0);
}

static const tg_uv_conn_ops_t tg_bridge_agent_conn_ops = {
    .input = tg_bridge_agent_on_input,
    .eof = tg_bridge_agent_on_eof,
    .written = tg_bridge_agent_on_written,
    .closed = tg_bridge_agent_on_closed,
};

static const tg_str_t tg_bridge_assumed_capabilities = TG_STR_INIT(
    "{\"tools\":{\"listChanged\":true},"
    "\"prompts\":{\"listChanged\":true},"
    "\"resources\":{\"subscribe\":true,\"listChanged\":true},"
    "\"completions\":{}}");

int
tg_bridge_agent_init(tg_bridge_t *bridge)
{
    int rc;

    tg_buf_init(&bridge->info_text, tg_alloc_libc());
    bridge->info.name = tg_str_from_cstr(bridge->options->name != NULL
                                             ? bridge->options->name
                                             : "toolgate-bridge");
    bridge->info.version = TG_STR(TG_VERSION);
    bridge->info.has_list_changed = 1;
    bridge->info.has_broadcasts = 1;

    /* Until the parent says what it has, the agent hears what it may have. */
    if (bridge->parent.caller.dialect->has_handshake) {
        bridge->info.proxied_capabilities = tg_bridge_assumed_capabilities;
        tg_bridge_parent_read_capabilities(bridge,
                                           tg_bridge_assumed_capabilities);
    }

    /* Notifications that the parent sends through the bridge. */
    if (bridge->parent.caller.dialect->experimental != NULL) {
        bridge->info.experimental = tg_str_from_cstr(
            bridge->parent.caller.dialect->experimental);
    }

    rc = tg_peer_init(&bridge->peer, tg_alloc_libc(), &tg_bridge_agent_peer_ops,
                      bridge, TG_DIALECT_JSONRPC, bridge->tools, &bridge->info,
                      TG_BRIDGE_AGENT_FRAME_OUT_MAX, TG_BRIDGE_CALLS_MAX);

    if (rc != TG_OK) {
        return rc;
    }

    bridge->peer.frame.limit = TG_BRIDGE_AGENT_FRAME_IN_MAX;
    /* Only MCP runs on stdio: even the first error must not have a null id. */
    bridge->peer.is_mcp = 1;
    tg_uv_conn_init(&bridge->agent, &bridge->sched, &tg_bridge_agent_conn_ops,
                    bridge, &bridge->peer.out);

    return TG_OK;
}

void
tg_bridge_agent_start(tg_bridge_t *bridge)
{
    bridge->has_agent = 1;

    if (bridge->is_agent_held) {
        tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_HOLD,
                              TG_BRIDGE_HOLD_TIMEOUT);
    }

    /* A failure is reported by the closed() callback. */
    (void) tg_uv_conn_open_fds(&bridge->agent, STDIN_FILENO, STDOUT_FILENO);
}
