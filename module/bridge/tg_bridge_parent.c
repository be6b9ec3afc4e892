/* The parent: its connection, its errors, and how long requests wait. */
#include "bridge/tg_bridge.h"

#include <stdarg.h>
#include <stdio.h>

int
tg_bridge_parent_can_read(void *host)
{
    const tg_bridge_t *bridge;

    bridge = host;

    return tg_uv_conn_get_backlog(&bridge->agent)
           <= TG_BRIDGE_AGENT_BACKLOG_MAX;
}

/* The error text, for the agent's model and for the log. */

/* Sets the error text, and logs it if it has changed. */
static __attribute__((format(printf, 2, 3))) void
tg_bridge_parent_set_error(tg_bridge_t *bridge, const char *format, ...)
{
    char text[sizeof(bridge->why)];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    if (strcmp(bridge->why, text) != 0) {
        memcpy(bridge->why, text, strlen(text) + 1);
        tg_bridge_log("%s", text);
    }
}

static const char *
tg_bridge_parent_copy_title(const tg_bridge_t *bridge, char who[40])
{
    (void) snprintf(who, 40, "%s", tg_bridge_parent_get_name(bridge));
    who[0] = who[0] == 't' ? 'T' : who[0];

    return who;
}

static void
tg_bridge_parent_set_not_running(tg_bridge_t *bridge, int err)
{
    char who[40], remedy[TG_UV_ERROR_SIZE];
    const char *what;

    what = err == UV_ENOENT                ? "there is no socket"
           : bridge->endpoint.port == NULL ? "no process listens on the socket"
                                           : "no process listens on";
    tg_uv_endpoint_write_start_hint(&bridge->endpoint, remedy);

    if (!bridge->parent.caller.dialect->has_handshake) {
        (void) snprintf(remedy, sizeof(remedy),
                        "Restart it, and then the agent.");
    }

    tg_bridge_parent_set_error(bridge, "%s is not running: %s %s. %s",
                               tg_bridge_parent_copy_title(bridge, who), what,
                               bridge->label, remedy);
}

static void
tg_bridge_parent_set_unreachable(tg_bridge_t *bridge, int err)
{
    char who[40], rights[TG_UV_ERROR_SIZE];
    const char *why;

    why = tg_uv_tls_ctx_get_error(bridge->endpoint.tls);
    (void) tg_bridge_parent_copy_title(bridge, who);

    if (why[0] != '\0') {
        tg_bridge_parent_set_error(bridge, "%s cannot be reached at %s: %s.",
                                   who, bridge->label, why);

    } else if (err == UV_EACCES || err == UV_EPERM) {
        tg_uv_endpoint_write_access_hint(&bridge->endpoint, rights);
        tg_bridge_parent_set_error(
            bridge,
            "%s cannot be reached: no permission for the socket %s. "
            "%s",
            who, bridge->label, rights);

    } else if (err == UV_ENOENT || err == UV_ECONNREFUSED) {
        tg_bridge_parent_set_not_running(bridge, err);

    } else {
        tg_bridge_parent_set_error(bridge,
                                   "%s cannot be reached at the socket %s: %s.",
                                   who, bridge->label, uv_strerror(err));
    }
}

void
tg_bridge_parent_on_grace_timeout(tg_bridge_t *bridge)
{
    if (!tg_bridge_requests_has_unsent(bridge, 0)) {
        return;
    }

    /* The parent accepts connections, but does not answer. */
    if (bridge->mcp.state != TG_MCP_DISCONNECTED || bridge->why[0] == '\0') {
        tg_bridge_parent_set_error(
            bridge,
            "%s accepts connections on the socket %s but does not answer. "
            "Check its log, restart it, then try again.",
            tg_bridge_parent_get_name(bridge), bridge->label);
    }

    tg_bridge_requests_fail_unsent(bridge);
}

/* Updates the default socket, which may have been created since. */
static void
tg_bridge_parent_find_socket(tg_bridge_t *bridge)
{
    int is_there;

    if (bridge->options->socket == NULL) {
        bridge->endpoint.text = tg_uv_endpoint_get_default(&is_there);
    }

    tg_bridge_copy_visible(bridge->label, sizeof(bridge->label),
                           tg_str_from_cstr(bridge->endpoint.text));
}

void
tg_bridge_parent_reject(tg_bridge_t *bridge, const char *text)
{
    tg_bridge_parent_set_error(
        bridge, "The server on the socket %s is not a usable MCP server: %s",
        bridge->label, text);
    tg_mcp_client_on_disconnect(&bridge->mcp);
    tg_uv_client_reject_conn(&bridge->parent);
}

void
tg_bridge_parent_on_handshake_timeout(tg_bridge_t *bridge)
{
    tg_bridge_parent_on_grace_timeout(bridge);
    tg_uv_client_drop_conn(&bridge->parent);
}

void
tg_bridge_parent_on_list_ready(tg_bridge_t *bridge)
{
    if (bridge->why[0] != '\0') {
        tg_bridge_log("connected to %s", bridge->label);
        bridge->why[0] = '\0';
    }

    bridge->has_list = 1;
    tg_bridge_timer_stop(bridge, TG_BRIDGE_TIMER_GRACE);
}

void
tg_bridge_parent_on_connect_attempt(void *host)
{
    tg_bridge_t *bridge;

    bridge = host;
    bridge->shutdown_reason[0] = '\0';
    tg_bridge_parent_find_socket(bridge);
}

int
tg_bridge_parent_start_handshake(void *host)
{
    tg_bridge_t *bridge;

    bridge = host;

    /* `initialize` lacks the agent's capabilities; they are sent later. */
    if (tg_bridge_send_hello(bridge, 0) != TG_OK
        || tg_mcp_client_start(&bridge->mcp, uv_now(&bridge->loop)) != TG_OK)
    {
        return TG_NOMEM;
    }

    if (bridge->mcp.state == TG_MCP_OPEN) {
        bridge->why[0] = '\0';
        tg_bridge_parent_on_list_ready(bridge);
        tg_uv_client_complete_handshake(&bridge->parent);
    }

    return TG_OK;
}

void
tg_bridge_parent_on_open(void *host)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->parent.caller.dialect->has_unpaged_list
        && tg_bridge_requests_has_unsent(bridge, 1))
    {
        tg_bridge_parent_fetch_list(bridge);
    }

    tg_bridge_agent_release_input(bridge);
    tg_bridge_forward_on_open(bridge);
}

void
tg_bridge_parent_on_trace(void *host, int is_theirs, tg_str_t bytes)
{
    const tg_bridge_t *bridge;

    bridge = host;

    if (bridge->options->is_debug) {
        tg_bridge_log_messages(is_theirs ? "parent ->" : "parent <-",
                               bridge->parent.caller.dialect->framing, bytes);
    }
}

/* Sets the error: a runner has one agent, so the bridge exits, too. */
static void
tg_bridge_parent_set_runner_gone(tg_bridge_t *bridge, int err)
{
    int is_told;

    if (!bridge->is_runner_shut_down) {
        tg_bridge_log("the runner closed the connection%s%s",
                      err != 0 ? ": " : "", err != 0 ? uv_strerror(err) : "");
    }

    is_told = bridge->shutdown_reason[0] != '\0';
    (void) snprintf(bridge->why, sizeof(bridge->why),
                    "The runner has closed the connection%s%s%s; nothing was "
                    "executed.",
                    is_told ? " (its reason: " : "", bridge->shutdown_reason,
                    is_told ? ")" : "");
}

/* Sets the error text before requests are failed with it. */
void
tg_bridge_parent_on_disconnect(void *host)
{
    tg_bridge_t *bridge;
    int err, was_open;

    bridge = host;
    err = bridge->parent.err == UV_EOF ? 0 : bridge->parent.err;
    was_open = bridge->mcp.state == TG_MCP_OPEN;
    bridge->has_list = 0;
    tg_sched_dequeue(&bridge->sched.sched, &bridge->reader);
    tg_mcp_client_on_disconnect(&bridge->mcp);
    tg_bridge_cancel_server_requests(bridge);

    if (err == UV_ENOMEM) {
        tg_bridge_quit_nomem(bridge);

    } else if (!was_open) {
        /* EAGAIN: the parent runs, but its queue of connections is full. */
        if (err != 0 && (err != UV_EAGAIN || !bridge->parent.is_persistent)) {
            tg_bridge_parent_set_unreachable(bridge, err);
        }

    } else if (bridge->parent.caller.dialect->shutdown != NULL) {
        tg_bridge_parent_set_runner_gone(bridge, err);

    } else if (bridge->parent.is_persistent
               && (!bridge->parent.is_drained || bridge->options->is_debug))
    {
        tg_bridge_parent_set_error(
            bridge, "lost the connection to %s (%s); reconnecting",
            tg_bridge_parent_get_name(bridge), bridge->label);
    }
}

void
tg_bridge_parent_on_refusal_timeout(tg_bridge_t *bridge)
{
    tg_bridge_quit(bridge, bridge->exit_code);
}

/*
 * Some agents fail while they start if a server exits before it was asked for
 * its tools; such an agent receives the error text first.
 */
static void
tg_bridge_quit_after_runner(tg_bridge_t *bridge)
{
    bridge->exit_code = bridge->is_runner_shut_down ? 0 : 1;

    if (bridge->has_agent_asked) {
        tg_bridge_quit(bridge, bridge->exit_code);
        return;
    }

    bridge->peer.refusal = tg_str_from_cstr(bridge->why);
    tg_bridge_agent_release_input(bridge);
    tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_REFUSAL,
                          bridge->peer.is_legacy || bridge->peer.is_modern
                              ? TG_BRIDGE_NEXT_REFUSAL_TIMEOUT
                              : TG_BRIDGE_FIRST_REFUSAL_TIMEOUT);
}

void
tg_bridge_parent_on_conn_lost(void *host, int was_open)
{
    tg_bridge_t *bridge;
    uint64_t now;
    int is_over;

    bridge = host;

    if (bridge->parent.caller.dialect->shutdown != NULL) {
        tg_bridge_requests_fail_unsent(bridge);
        tg_bridge_quit_after_runner(bridge);
        return;
    }

    if (tg_bridge_requests_has_unsent(bridge, 0)
        && !tg_bridge_timer_is_active(bridge, TG_BRIDGE_TIMER_GRACE))
    {
        tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_GRACE,
                              bridge->options->grace);
    }

    now = uv_now(&bridge->loop);

    if (was_open) {
        bridge->grace_until = now + bridge->options->grace;
        return;
    }

    tg_bridge_agent_release_input(bridge);
    is_over = bridge->parent.err != UV_EAGAIN
              && (!bridge->parent.is_persistent || now >= bridge->grace_until);

    if (is_over) {
        tg_bridge_requests_fail_unsent(bridge);
    }
}

void
tg_bridge_parent_shutdown(tg_bridge_t *bridge)
{
    if (bridge->parent.state != TG_UV_CLIENT_OPEN || bridge->is_runner_shut_down
        || bridge->parent.caller.dialect->shutdown == NULL)
    {
        tg_uv_client_drop_conn(&bridge->parent);
    } else {
        (void) tg_caller_send_shutdown(&bridge->parent.caller,
                                       TG_STR("the agent has exited"));
    }

    tg_uv_client_close(&bridge->parent);
}

void
tg_bridge_parent_init(tg_bridge_t *bridge, const tg_uv_client_ops_t *ops)
{
    const tg_dialect_row_t *dialect;
    tg_uv_client_t *parent;

    bridge->endpoint = bridge->options->endpoint;
    tg_bridge_parent_find_socket(bridge);
    parent = &bridge->parent;
    dialect = tg_dialect_get(bridge->options->dialect);
    parent->endpoint = &bridge->endpoint;
    parent->connect_timeout = TG_BRIDGE_CONNECT_TIMEOUT;
    parent->is_persistent = dialect->has_handshake;
    parent->has_endless_reconnect = dialect->has_handshake;
    parent->has_endless_connect = dialect->has_handshake;
    tg_uv_client_init(parent, &bridge->sched, ops, bridge,
                      bridge->options->dialect, TG_BRIDGE_PARENT_FRAME_MAX);
    tg_mcp_client_init(&bridge->mcp, tg_alloc_libc(), &parent->caller,
                       dialect->has_handshake ? TG_MCP_INITIALIZE_FIRST
                                              : TG_MCP_NO_HANDSHAKE,
                       TG_STR(TG_MCP_CLIENT_INFO("toolgate-bridge")));
    bridge->mcp.check = &tg_bridge_list_check;
    bridge->mcp.has_slices = 1;
    bridge->mcp.has_extensions = 1;
    (void) uv_random(NULL, NULL, &bridge->mcp.seed, sizeof(bridge->mcp.seed), 0,
                     NULL);
}

void
tg_bridge_parent_start(tg_bridge_t *bridge)
{
    if (!bridge->parent.caller.dialect->is_sequential) {
        bridge->is_agent_held = 1;
        tg_uv_client_connect(&bridge->parent);
    }
}
