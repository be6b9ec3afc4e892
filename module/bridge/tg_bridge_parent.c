#include "bridge/tg_bridge.h"

#include <stdarg.h>
#include <stdio.h>

int
tg_parent_is_welcome(const tg_bridge_t *bridge)
{
    return tg_uv_conn_backlog(&bridge->agent) <= TG_BRIDGE_BACKLOG;
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

    if (!bridge->caller.dialect->has_handshake) {
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
    if (bridge->state == TG_PARENT_GREETING
        || bridge->state == TG_PARENT_LISTING || bridge->why[0] == '\0')
    {
        tg_parent_why(bridge,
                      "%s takes connections at the socket %s but does not "
                      "answer. Look into its log, restart it, then try again.",
                      tg_parent_name(bridge), bridge->label);
    }

    tg_bridge_requests_fail(bridge, bridge->why);
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

/* --- attempts --- */

static void
tg_parent_retry(tg_bridge_t *bridge, unsigned ms)
{
    bridge->state = TG_PARENT_WAITING;
    tg_bridge_timer_start(bridge, TG_TIMER_RETRY, ms);
}

/* Many bridges lose one parent at once: they come back spread. */
static void
tg_parent_back_off(tg_bridge_t *bridge)
{
    unsigned half;

    half = bridge->retry_ms / 2;
    bridge->jitter = bridge->jitter * UINT64_C(6364136223846793005) + 1;
    tg_parent_retry(bridge, half + (unsigned) (bridge->jitter >> 33) % half);
    bridge->retry_ms = bridge->retry_ms * 2 < TG_BRIDGE_RETRY_MAX
                           ? bridge->retry_ms * 2
                           : TG_BRIDGE_RETRY_MAX;
}

static void
tg_parent_back_off_anew(tg_bridge_t *bridge)
{
    bridge->retry_ms = TG_BRIDGE_RETRY_MIN;
    tg_parent_back_off(bridge);
}

void
tg_parent_give_up(tg_bridge_t *bridge, const char *text)
{
    tg_parent_why(bridge,
                  "What listens on the socket %s is no usable MCP server: %s",
                  bridge->label, text);
    bridge->was_greeted = 0;
    tg_parent_drop(bridge);
}

void
tg_parent_silent(tg_bridge_t *bridge)
{
    if (bridge->state == TG_PARENT_GREETING) {
        tg_parent_missing(bridge);
        tg_parent_drop(bridge);
    }
}

/* --- of use --- */

/* Everything passes now, and nothing is known against the parent. */
static void
tg_parent_ready(tg_bridge_t *bridge)
{
    bridge->state = TG_PARENT_READY;
    bridge->was_greeted = 1;
    tg_bridge_timer_stop(bridge, TG_TIMER_GRACE);
    tg_bridge_requests_send(bridge);

    if (bridge->caller.dialect->is_listed_whole
        && tg_bridge_requests_wait(bridge, 1))
    {
        tg_parent_list(bridge);
    }

    tg_agent_release(bridge);
}

void
tg_parent_greeted(tg_bridge_t *bridge)
{
    bridge->state = TG_PARENT_LISTING;
    bridge->was_greeted = 1;
    tg_bridge_requests_send(bridge);
    tg_agent_release(bridge);
}

void
tg_parent_listed(tg_bridge_t *bridge)
{
    if (bridge->why[0] != '\0') {
        tg_bridge_log("connected to %s", bridge->label);
        bridge->why[0] = '\0';
    }

    tg_parent_ready(bridge);
}

/* --- the connection --- */

static void
tg_parent_on_connect(void *host, int err)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (err != 0) {
        return; /* its last callback follows */
    }

    tg_bridge_timer_stop(bridge, TG_TIMER_RETRY);
    bridge->state = TG_PARENT_GREETING;
    bridge->can = 0;

    if (tg_caller_hello(&bridge->caller, 0) != TG_OK
        || tg_mcp_client_start(&bridge->mcp, uv_now(&bridge->loop)) != TG_OK)
    {
        tg_bridge_no_memory(bridge);
    }

    if (!bridge->caller.dialect->has_handshake) {
        bridge->why[0] = '\0';
        tg_parent_ready(bridge);
    }
}

static int
tg_parent_input(void *host, const char *data, size_t len, size_t *consumed)
{
    tg_bridge_t *bridge;
    int rc;

    bridge = host;
    *consumed = 0;

    if (!tg_parent_is_welcome(bridge)) {
        return TG_LIMIT;
    }

    rc = tg_caller_input(&bridge->caller, data, len, consumed);

    if (bridge->options->is_debug) {
        tg_bridge_trace("parent ->", bridge->caller.dialect->framing,
                        tg_str(data, *consumed));
    }

    return rc;
}

static void
tg_parent_written(void *host, size_t len)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (bridge->options->is_debug) {
        tg_bridge_trace("parent <-", bridge->caller.dialect->framing,
                        tg_str(bridge->caller.out.data, len));
    }

    tg_caller_written(&bridge->caller, len);
    tg_bridge_drop(&bridge->caller.out, len);
}

/* Connected for the first call only: back to sleep, unless calls wait. */
static void
tg_parent_closed_call(tg_bridge_t *bridge, int err)
{
    bridge->state = TG_PARENT_IDLE;

    if (!bridge->was_greeted && err != 0) {
        tg_parent_unreachable(bridge, err);
        tg_bridge_requests_fail(bridge, bridge->why);

    } else if (tg_bridge_requests_wait(bridge, 0)) {
        tg_parent_back_off_anew(bridge);
    }
}

/* A runner is there for one agent: the bridge goes with it. */
static void
tg_parent_closed_for_good(tg_bridge_t *bridge, int err)
{
    char text[sizeof(bridge->goodbye) + 80];
    int is_told;

    bridge->state = TG_PARENT_IDLE;

    if (!bridge->was_greeted) {
        tg_parent_unreachable(bridge, err);

    } else if (!bridge->is_ended) {
        tg_bridge_log("the runner closed the connection%s%s",
                      err != 0 ? ": " : "", err != 0 ? uv_strerror(err) : "");
    }

    is_told = bridge->goodbye[0] != '\0';
    (void) snprintf(text, sizeof(text),
                    "The runner has gone%s%s%s; the call was not executed.",
                    is_told ? " (it said: " : "", bridge->goodbye,
                    is_told ? ")" : "");
    tg_bridge_requests_fail(bridge, text);
    tg_bridge_quit(bridge, bridge->is_ended ? 0 : 1);
}

static void
tg_parent_closed_for_now(tg_bridge_t *bridge, int err)
{
    uint64_t now, lived;

    now = uv_now(&bridge->loop);

    if (bridge->was_greeted) {
        lived = now - bridge->opened;
        bridge->grace_until = now + bridge->options->grace;

        if (!bridge->is_drained || bridge->options->is_debug) {
            tg_parent_why(bridge,
                          "the connection to %s (%s) was lost and is opened "
                          "again",
                          tg_parent_name(bridge), bridge->label);
        }

        if (bridge->is_drained && lived > TG_BRIDGE_LIVED) {
            bridge->retry_ms = TG_BRIDGE_RETRY_MIN;
            tg_parent_retry(bridge, 0);
        } else {
            tg_parent_back_off_anew(bridge);
        }

        return;
    }

    /* EAGAIN: it runs, but its queue of connections is full. */
    if (err != 0 && err != UV_EAGAIN) {
        tg_parent_unreachable(bridge, err);
    }

    tg_agent_release(bridge);

    if (now >= bridge->grace_until && err != UV_EAGAIN) {
        tg_bridge_requests_fail(bridge, bridge->why);
    }

    tg_parent_back_off(bridge);
}

static void
tg_parent_closed(void *host, int err)
{
    tg_bridge_t *bridge;

    bridge = host;
    bridge->has_parent = 0;
    err = bridge->is_late ? UV_ETIMEDOUT : err;
    tg_mcp_client_lose(&bridge->mcp);
    tg_bridge_unask_all(bridge);

    if (bridge->is_quitting) {
        return;
    }

    bridge->state = TG_PARENT_CLOSING;
    tg_caller_lose(&bridge->caller);

    if (tg_bridge_requests_wait(bridge, 0)
        && !tg_bridge_timer_runs(bridge, TG_TIMER_GRACE))
    {
        tg_bridge_timer_start(bridge, TG_TIMER_GRACE, bridge->options->grace);
    }

    if (bridge->caller.dialect->is_sequential) {
        tg_parent_closed_call(bridge, err);
    } else if (bridge->caller.dialect->shutdown != NULL) {
        tg_parent_closed_for_good(bridge, err);
    } else {
        tg_parent_closed_for_now(bridge, err);
    }
}

static const tg_uv_conn_ops_t tg_parent_conn_ops = { tg_parent_on_connect,
                                                     tg_parent_input, NULL,
                                                     tg_parent_written,
                                                     tg_parent_closed };

void
tg_parent_connect(tg_bridge_t *bridge)
{
    /* The time of an attempt is over; its last callback starts the next. */
    if (bridge->state == TG_PARENT_CONNECTING) {
        bridge->is_late = 1;
        tg_parent_drop(bridge);
        return;
    }

    tg_bridge_timer_stop(bridge, TG_TIMER_RETRY);
    bridge->is_late = 0;
    bridge->state = TG_PARENT_CONNECTING;
    bridge->has_parent = 1;
    bridge->was_greeted = 0;
    bridge->is_drained = 0;
    bridge->opened = uv_now(&bridge->loop);
    tg_uv_conn_init(&bridge->parent, &bridge->loop, &tg_parent_conn_ops, bridge,
                    &bridge->caller.out);

    tg_parent_look(bridge);

    if (bridge->place.port != NULL) {
        tg_bridge_timer_start(bridge, TG_TIMER_RETRY, TG_BRIDGE_CONNECT);
    }

    /* When it fails, its last callback says so. */
    (void) tg_uv_conn_connect_place(&bridge->parent, &bridge->place);
}

void
tg_parent_turn(tg_bridge_t *bridge)
{
    if (bridge->is_needed && !bridge->is_quitting
        && (bridge->state == TG_PARENT_IDLE
            || bridge->state == TG_PARENT_WAITING))
    {
        tg_parent_connect(bridge);
    }

    bridge->is_needed = 0;
}

void
tg_parent_leave(tg_bridge_t *bridge)
{
    if (!bridge->has_parent) {
        return;
    }

    if (bridge->state == TG_PARENT_READY && !bridge->is_ended
        && bridge->caller.dialect->shutdown != NULL)
    {
        (void) tg_caller_shutdown(&bridge->caller,
                                  TG_STR("the agent has gone"));
        tg_uv_conn_finish(&bridge->parent);
        return;
    }

    tg_uv_conn_close(&bridge->parent);
}

void
tg_parent_init(tg_bridge_t *bridge, const tg_caller_ops_t *ops)
{
    bridge->place = bridge->options->place;
    tg_parent_look(bridge);
    bridge->state = TG_PARENT_IDLE;
    bridge->retry_ms = TG_BRIDGE_RETRY_MIN;
    bridge->jitter = uv_hrtime();
    tg_caller_init(&bridge->caller, tg_alloc_libc(), ops, bridge,
                   bridge->options->dialect, TG_BRIDGE_PARENT_FRAME_MAX);
    tg_mcp_client_init(&bridge->mcp, tg_alloc_libc(), &bridge->caller,
                       bridge->caller.dialect->has_handshake ? TG_MCP_GREETS
                                                             : TG_MCP_BARE,
                       TG_STR(TG_MCP_INFO("toolgate-bridge")));
    (void) uv_random(NULL, NULL, &bridge->mcp.seed, sizeof(bridge->mcp.seed), 0,
                     NULL);
}

void
tg_parent_start(tg_bridge_t *bridge)
{
    if (!bridge->caller.dialect->is_sequential) {
        bridge->is_held = 1;
        tg_parent_connect(bridge);
    }
}
