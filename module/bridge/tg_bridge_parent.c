#include "bridge/tg_bridge.h"

#include <stdarg.h>
#include <stdio.h>

int
tg_parent_is_welcome(void *host)
{
    const tg_bridge_t *bridge;

    bridge = host;

    return tg_uv_conn_backlog(&bridge->agent) <= TG_BRIDGE_AGENT_BACKLOG;
}

/* --- why there is no parent: for the agent's model, and for the log --- */

/* Told once until it is another. */
static __attribute__((format(printf, 2, 3))) void
tg_parent_why(tg_bridge_t *bridge, const char *format, ...)
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

/* "Toolgate", at the beginning of a sentence. */
static const char *
tg_parent_title(const tg_bridge_t *bridge, char who[40])
{
    (void) snprintf(who, 40, "%s", tg_parent_name(bridge));
    who[0] = who[0] == 't' ? 'T' : who[0];

    return who;
}

static void
tg_parent_not_running(tg_bridge_t *bridge, int err)
{
    char who[40], remedy[TG_UV_WHY];
    const char *what;

    what = err == UV_ENOENT             ? "there is no socket"
           : bridge->place.port == NULL ? "nobody listens on the socket"
                                        : "nobody listens on";
    tg_uv_place_start(&bridge->place, remedy);

    if (!bridge->parent.caller.dialect->has_handshake) {
        (void) snprintf(remedy, sizeof(remedy),
                        "Start it again, and the agent with it.");
    }

    tg_parent_why(bridge, "%s is not running: %s %s. %s",
                  tg_parent_title(bridge, who), what, bridge->label, remedy);
}

static void
tg_parent_unreachable(tg_bridge_t *bridge, int err)
{
    char who[40], rights[TG_UV_WHY];
    const char *why;

    why = tg_uv_tls_why(bridge->place.tls);
    (void) tg_parent_title(bridge, who);

    if (why[0] != '\0') {
        tg_parent_why(bridge, "%s cannot be reached at %s: %s.", who,
                      bridge->label, why);

    } else if (err == UV_EACCES || err == UV_EPERM) {
        tg_uv_place_rights(&bridge->place, rights);
        tg_parent_why(bridge,
                      "%s cannot be reached: no permission for the socket %s. "
                      "%s",
                      who, bridge->label, rights);

    } else if (err == UV_ENOENT || err == UV_ECONNREFUSED) {
        tg_parent_not_running(bridge, err);

    } else {
        tg_parent_why(bridge, "%s cannot be reached at the socket %s: %s.", who,
                      bridge->label, uv_strerror(err));
    }
}

void
tg_parent_missing(tg_bridge_t *bridge)
{
    if (!tg_bridge_requests_wait(bridge, 0)) {
        return;
    }

    /* It takes connections; the rest is not known. */
    if (bridge->mcp.state != TG_MCP_AWAY || bridge->why[0] == '\0') {
        tg_parent_why(bridge,
                      "%s takes connections at the socket %s but does not "
                      "answer. Look into its log, restart it, then try again.",
                      tg_parent_name(bridge), bridge->label);
    }

    tg_bridge_requests_fail(bridge);
}

/* --- where it is --- */

/* Which of the usual places has one may have changed. */
static void
tg_parent_look(tg_bridge_t *bridge)
{
    int is_there;

    if (bridge->options->socket == NULL) {
        bridge->place.text = tg_uv_place_default(&is_there);
    }

    tg_bridge_printable(bridge->label, sizeof(bridge->label),
                        tg_str_c(bridge->place.text));
}

/* --- of use, or not --- */

void
tg_parent_give_up(tg_bridge_t *bridge, const char *text)
{
    tg_parent_why(bridge,
                  "What listens on the socket %s is no usable MCP server: %s",
                  bridge->label, text);
    tg_mcp_client_lose(&bridge->mcp);
    tg_uv_client_refuse(&bridge->parent);
}

void
tg_parent_silent(tg_bridge_t *bridge)
{
    tg_parent_missing(bridge);
    tg_uv_client_drop(&bridge->parent);
}

/* Everything passes now, and nothing is known against the parent. */
void
tg_parent_listed(tg_bridge_t *bridge)
{
    if (bridge->why[0] != '\0') {
        tg_bridge_log("connected to %s", bridge->label);
        bridge->why[0] = '\0';
    }

    bridge->is_listed = 1;
    tg_bridge_timer_stop(bridge, TG_TIMER_GRACE);
}

/* --- the connection --- */

void
tg_parent_on_attempt(void *host)
{
    tg_bridge_t *bridge;

    bridge = host;
    bridge->goodbye[0] = '\0';
    tg_parent_look(bridge);
}

int
tg_parent_on_greet(void *host)
{
    tg_bridge_t *bridge;

    bridge = host;

    /* What the agent can be asked follows: `initialize` says nothing of it. */
    if (tg_bridge_hello(bridge, 0) != TG_OK
        || tg_mcp_client_start(&bridge->mcp, uv_now(&bridge->loop)) != TG_OK)
    {
        return TG_NOMEM;
    }

    if (bridge->mcp.state == TG_MCP_OPEN) {
        bridge->why[0] = '\0';
        tg_parent_listed(bridge);
        tg_uv_client_greeted(&bridge->parent);
    }

    return TG_OK;
}

void
tg_parent_on_open(void *host)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->parent.caller.dialect->is_listed_whole
        && tg_bridge_requests_wait(bridge, 1))
    {
        tg_parent_list(bridge);
    }

    tg_agent_release(bridge);
}

void
tg_parent_trace(void *host, int is_theirs, tg_str_t bytes)
{
    const tg_bridge_t *bridge;

    bridge = host;

    if (bridge->options->is_debug) {
        tg_bridge_trace(is_theirs ? "parent ->" : "parent <-",
                        bridge->parent.caller.dialect->framing, bytes);
    }
}

/* A runner is there for one agent: the bridge goes with it. */
static void
tg_parent_gone(tg_bridge_t *bridge, int err)
{
    int is_told;

    if (!bridge->is_ended) {
        tg_bridge_log("the runner closed the connection%s%s",
                      err != 0 ? ": " : "", err != 0 ? uv_strerror(err) : "");
    }

    is_told = bridge->goodbye[0] != '\0';
    (void) snprintf(bridge->why, sizeof(bridge->why),
                    "The runner has gone%s%s%s; nothing was executed.",
                    is_told ? " (it said: " : "", bridge->goodbye,
                    is_told ? ")" : "");
}

/* Why there is none any more, before anybody is told. */
void
tg_parent_on_end(void *host)
{
    tg_bridge_t *bridge;
    int err, was_open;

    bridge = host;
    err = bridge->parent.err == UV_EOF ? 0 : bridge->parent.err;
    was_open = bridge->mcp.state == TG_MCP_OPEN;
    bridge->is_listed = 0;
    tg_source_leave(&bridge->sched.sched, &bridge->reader);
    tg_mcp_client_lose(&bridge->mcp);
    tg_bridge_unask_all(bridge);

    if (err == UV_ENOMEM) {
        tg_bridge_no_memory(bridge);

    } else if (!was_open) {
        /* EAGAIN: it runs, but its queue of connections is full. */
        if (err != 0 && (err != UV_EAGAIN || !bridge->parent.is_kept)) {
            tg_parent_unreachable(bridge, err);
        }

    } else if (bridge->parent.caller.dialect->shutdown != NULL) {
        tg_parent_gone(bridge, err);

    } else if (bridge->parent.is_kept
               && (!bridge->parent.is_drained || bridge->options->is_debug))
    {
        tg_parent_why(bridge,
                      "the connection to %s (%s) was lost and is opened again",
                      tg_parent_name(bridge), bridge->label);
    }
}

void
tg_parent_on_refuse_timeout(tg_bridge_t *bridge)
{
    tg_bridge_quit(bridge, bridge->code);
}

/*
 * The bridge ends with its runner.  Clients that start do not all survive a
 * server that exits before it was asked for its tools, so that one is told why
 * first.
 */
static void
tg_parent_end(tg_bridge_t *bridge)
{
    bridge->code = bridge->is_ended ? 0 : 1;

    if (bridge->is_settled) {
        tg_bridge_quit(bridge, bridge->code);
        return;
    }

    bridge->peer.refusal = tg_str_c(bridge->why);
    tg_agent_release(bridge);
    tg_bridge_timer_start(bridge, TG_TIMER_REFUSE,
                          bridge->peer.is_legacy || bridge->peer.is_modern
                              ? TG_BRIDGE_REFUSED
                              : TG_BRIDGE_REFUSE);
}

void
tg_parent_on_lost(void *host, int was_open)
{
    tg_bridge_t *bridge;
    uint64_t now;
    int is_over;

    bridge = host;

    if (bridge->parent.caller.dialect->shutdown != NULL) {
        tg_bridge_requests_fail(bridge);
        tg_parent_end(bridge);
        return;
    }

    if (tg_bridge_requests_wait(bridge, 0)
        && !tg_bridge_timer_runs(bridge, TG_TIMER_GRACE))
    {
        tg_bridge_timer_start(bridge, TG_TIMER_GRACE, bridge->options->grace);
    }

    now = uv_now(&bridge->loop);

    if (was_open) {
        bridge->grace_until = now + bridge->options->grace;
        return;
    }

    tg_agent_release(bridge);
    is_over = bridge->parent.err != UV_EAGAIN
              && (!bridge->parent.is_kept || now >= bridge->grace_until);

    if (is_over) {
        tg_bridge_requests_fail(bridge);
    }
}

/* --- its beginning and its end --- */

void
tg_parent_leave(tg_bridge_t *bridge)
{
    if (bridge->parent.state != TG_UV_CLIENT_OPEN || bridge->is_ended
        || bridge->parent.caller.dialect->shutdown == NULL)
    {
        tg_uv_client_drop(&bridge->parent);
    } else {
        (void) tg_caller_shutdown(&bridge->parent.caller,
                                  TG_STR("the agent has gone"));
    }

    tg_uv_client_close(&bridge->parent);
}

void
tg_parent_init(tg_bridge_t *bridge, const tg_uv_client_ops_t *ops)
{
    const tg_dialect_row_t *dialect;
    tg_uv_client_t *parent;

    bridge->place = bridge->options->place;
    tg_parent_look(bridge);
    parent = &bridge->parent;
    dialect = tg_dialect(bridge->options->dialect);
    parent->place = &bridge->place;
    parent->patience = TG_BRIDGE_CONNECT;
    parent->is_kept = dialect->has_handshake;
    parent->is_patient = dialect->has_handshake;
    parent->is_awaited = dialect->has_handshake;
    tg_uv_client_init(parent, &bridge->sched, ops, bridge,
                      bridge->options->dialect, TG_BRIDGE_PARENT_FRAME_MAX);
    tg_mcp_client_init(&bridge->mcp, tg_alloc_libc(), &parent->caller,
                       dialect->has_handshake ? TG_MCP_GREETS : TG_MCP_BARE,
                       TG_STR(TG_MCP_INFO("toolgate-bridge")));
    bridge->mcp.check = &tg_list_check;
    bridge->mcp.has_slices = 1;
    (void) uv_random(NULL, NULL, &bridge->mcp.seed, sizeof(bridge->mcp.seed), 0,
                     NULL);
}

void
tg_parent_start(tg_bridge_t *bridge)
{
    if (!bridge->parent.caller.dialect->is_sequential) {
        bridge->is_held = 1;
        tg_uv_client_connect(&bridge->parent);
    }
}
