#include "bridge/tg_bridge.h"

/* --- what it is --- */

/* The plain text of a body, in a buffer that has room for it. */
static tg_str_t
tg_parent_text(tg_buf_t *buf, tg_str_t body, tg_str_t other)
{
    size_t start;

    if (body.data == NULL) {
        return other;
    }

    start = buf->len;
    tg_json_put_decoded(buf, body);

    return tg_str(buf->data + start, buf->len - start);
}

/* The agent shall see the parent's name, unless it was given another. */
static void
tg_parent_learn(tg_bridge_t *bridge)
{
    const tg_mcp_about_t *about;
    tg_info_t *info;
    tg_buf_t buf;
    size_t start;

    about = &bridge->mcp.about;
    info = &bridge->info;
    tg_buf_init(&buf, tg_alloc_libc());

    /* Nothing is longer when it is decoded, so nothing moves. */
    if (tg_buf_reserve(&buf, about->name.len + about->version.len
                                 + about->instructions.len
                                 + about->experimental.len)
        != TG_OK)
    {
        tg_bridge_no_memory(bridge);
        return;
    }

    if (bridge->options->name == NULL) {
        info->name = tg_parent_text(&buf, about->name, TG_STR("?"));
    }

    info->version = tg_parent_text(&buf, about->version, TG_STR("?"));
    info->instructions = tg_parent_text(&buf, about->instructions, TG_STR_NONE);
    info->experimental = TG_STR_NONE;

    if (about->experimental.data != NULL) {
        start = buf.len;
        tg_json_put_compact(&buf, about->experimental);
        info->experimental = tg_str(buf.data + start, buf.len - start);
    }

    tg_buf_deinit(&bridge->info_text);
    bridge->info_text = buf;
}

/* --- its list --- */

int
tg_list_asked(tg_bridge_t *bridge, const tg_request_t *request)
{
    const tg_dialect_row_t *dialect;

    dialect = bridge->parent.caller.dialect;

    if (dialect->is_sequential
        || (dialect->is_listed_whole && request->cursor.data != NULL))
    {
        return TG_END;
    }

    /* The runner composes its list anew each time it is asked. */
    if (dialect->is_listed_whole) {
        tg_bridge_request_take(bridge, request, 1,
                               tg_mcp_client_round(&bridge->mcp));

        if (bridge->is_listed && !bridge->mcp.is_listing) {
            tg_parent_list(bridge);
        }

        return TG_OK;
    }

    bridge->has_listed = 1;

    if (!bridge->is_listed) {
        tg_bridge_request_take(bridge, request, 1, 0);
        return TG_OK;
    }

    if (request->cursor.data == NULL) {
        bridge->told = tg_catalogue_digest(bridge->tools);
    }

    return TG_END;
}

/* What the agent sees from now on; calls in flight know the old one's. */
static void
tg_list_put(tg_bridge_t *bridge)
{
    tg_call_t *call;

    if (bridge->mcp.is_circular) {
        tg_bridge_log("the list of tools comes back to a page or a cursor that "
                      "was there before; it ends there");
    }

    if (bridge->mcp.nleft_out != 0) {
        tg_bridge_log("%zu of the listed tools %s no name, or one that was "
                      "there before; %s left out",
                      bridge->mcp.nleft_out,
                      tg_plural(bridge->mcp.nleft_out, "has", "have"),
                      tg_plural(bridge->mcp.nleft_out, "it is", "they are"));
    }

    for (call = bridge->peer.calls; call != NULL; call = call->next) {
        call->entry = NULL;
    }

    tg_peer_offer(&bridge->peer, bridge->mcp.tools);
    tg_catalogue_release(bridge->tools);
    bridge->tools = tg_catalogue_hold(bridge->mcp.tools);
}

/* The first list is no news for an agent that never asked for one. */
static void
tg_list_tell(tg_bridge_t *bridge)
{
    uint64_t digest;
    int is_news;

    digest = tg_catalogue_digest(bridge->tools);
    is_news = bridge->told != digest
              && (bridge->told != 0 || bridge->has_listed);
    bridge->told = digest;

    if (is_news) {
        tg_peer_list_changed(&bridge->peer);
    }
}

static void
tg_list_done(tg_bridge_t *bridge)
{
    if (bridge->tools != bridge->mcp.tools) {
        tg_list_put(bridge);
    }

    if (bridge->parent.caller.dialect->is_listed_whole) {
        tg_bridge_requests_list(bridge, NULL);

        if (tg_bridge_requests_wait(bridge, 1)) {
            tg_parent_list(bridge);
        }

        return;
    }

    tg_parent_listed(bridge);
    tg_bridge_requests_list(bridge, NULL);
    tg_list_tell(bridge);
}

/* It cannot be had.  In front of an agent the one at hand stays. */
static void
tg_list_failed(tg_bridge_t *bridge)
{
    char text[256];

    tg_bridge_decode(text, sizeof(text), bridge->mcp.error.message);
    tg_bridge_log("%s does not list its tools: %s", tg_parent_name(bridge),
                  text);

    if (bridge->parent.caller.dialect->is_listed_whole) {
        tg_bridge_requests_list(bridge, &bridge->mcp.error);

    } else if (!bridge->is_listed) {
        tg_parent_give_up(bridge, text);
    }
}

/* --- what happens --- */

static void tg_mcp_event(tg_bridge_t *bridge, tg_mcp_event_t event);

/* Reads a list that has come, for one time slice. */
static void
tg_list_read(tg_source_t *source)
{
    tg_mcp_event_t event;
    tg_bridge_t *bridge;

    bridge = TG_OWNER(source, tg_bridge_t, reader);

    do {
        event = tg_mcp_client_read(&bridge->mcp, TG_BRIDGE_LIST_PART,
                                   uv_now(&bridge->loop));
    } while (event == TG_MCP_READS
             && !tg_slice_is_over(&bridge->sched.sched, source,
                                  TG_BRIDGE_LIST_PART));

    if (event != TG_MCP_READS) {
        tg_mcp_event(bridge, event);
    }
}

static void
tg_mcp_event(tg_bridge_t *bridge, tg_mcp_event_t event)
{
    char text[256];

    switch (event) {
    case TG_MCP_GREETED:
        tg_parent_learn(bridge);
        tg_uv_client_greeted(&bridge->parent);
        break;
    case TG_MCP_REFUSED:
        tg_bridge_decode(text, sizeof(text), bridge->mcp.error.message);
        tg_parent_give_up(bridge, text);
        break;
    case TG_MCP_SILENT:
        tg_parent_silent(bridge);
        break;
    case TG_MCP_CHANGED:
        /* A runner's agent asks again by itself: it is told at once. */
        if (bridge->parent.caller.dialect->is_told_list_changed) {
            tg_peer_list_changed(&bridge->peer);
        }

        break;
    case TG_MCP_READS:
        bridge->reader.run = tg_list_read;
        tg_source_wait(&bridge->sched.sched, &bridge->reader);
        break;
    case TG_MCP_LISTED:
        tg_list_done(bridge);
        break;
    case TG_MCP_UNLISTED:
        tg_list_failed(bridge);
        break;
    case TG_MCP_FAILED:
        tg_bridge_no_memory(bridge);
        break;
    default:
        break;
    }
}

void
tg_mcp_timeout(tg_bridge_t *bridge)
{
    bridge->mcp_due = 0;
    tg_mcp_event(bridge,
                 tg_mcp_client_tick(&bridge->mcp, uv_now(&bridge->loop)));
}

void
tg_mcp_turn(tg_bridge_t *bridge)
{
    uint64_t due, now;

    due = bridge->mcp.due;

    if (due == bridge->mcp_due || bridge->is_quitting) {
        return;
    }

    bridge->mcp_due = due;
    now = uv_now(&bridge->loop);

    if (due != 0) {
        tg_bridge_timer_start(bridge, TG_TIMER_MCP, due > now ? due - now : 0);
    } else {
        tg_bridge_timer_stop(bridge, TG_TIMER_MCP);
    }
}

static int
tg_parent_answer(void *host, void *tag, const tg_answer_t *answer)
{
    tg_bridge_t *bridge;
    tg_mcp_event_t event;

    bridge = host;
    event = tg_mcp_client_answer(&bridge->mcp, tag, answer,
                                 uv_now(&bridge->loop));

    if (event == TG_MCP_OTHER) {
        return 0;
    }

    tg_mcp_event(bridge, event);

    return 1;
}

static void
tg_parent_pass_on(tg_bridge_t *bridge, tg_str_t method, tg_str_t params)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_put_decoded(&text, method);

    if (tg_buf_failed(&text)) {
        tg_bridge_no_memory(bridge);
    } else {
        tg_peer_broadcast(&bridge->peer, tg_buf_view(&text), params);
    }

    tg_buf_deinit(&text);
}

static void
tg_parent_notified(void *host, tg_str_t method, const tg_message_t *message)
{
    tg_bridge_t *bridge;
    tg_mcp_event_t event;

    bridge = host;
    event = tg_mcp_client_notification(&bridge->mcp, method,
                                       uv_now(&bridge->loop));

    if (event != TG_MCP_OTHER) {
        tg_mcp_event(bridge, event);

    } else if (tg_json_body_is(method, TG_STR("notifications/progress"))) {
        tg_bridge_requests_progress(bridge, message);

    } else if (tg_json_body_is(method, TG_STR("notifications/cancelled"))) {
        tg_bridge_unasked(bridge, message->p.request_id);

    } else if (bridge->peer.is_mcp
               || !bridge->parent.caller.dialect->has_handshake) {
        tg_parent_pass_on(bridge, method, message->params);
    }
}

static void
tg_parent_farewell(void *host, tg_str_t reason, int is_drained)
{
    tg_bridge_t *bridge;
    char *text;

    bridge = host;
    text = bridge->goodbye;
    bridge->is_ended = bridge->parent.caller.dialect->shutdown != NULL;
    tg_bridge_decode(text, sizeof(bridge->goodbye), reason);

    if (bridge->is_ended || bridge->options->is_debug) {
        tg_bridge_log("%s says goodbye%s%s", tg_parent_name(bridge),
                      text[0] != '\0' ? ": " : "", text);
    }

    if (!bridge->is_ended) {
        text[0] = '\0';
    }
}

static void
tg_parent_log(void *host, const char *text)
{
    tg_bridge_log("%s: %s", tg_parent_name(host), text);
}

const tg_uv_client_ops_t tg_parent_ops = {
    .answered = tg_bridge_request_answered,
    .opened = tg_parent_on_open,
    .ended = tg_parent_on_end,
    .lost = tg_parent_on_lost,
    .notification = tg_parent_notified,
    .greet = tg_parent_on_greet,
    .answer = tg_parent_answer,
    .send = tg_bridge_request_send,
    .farewell = tg_parent_farewell,
    .log = tg_parent_log,
    .asked = tg_bridge_asked,
    .attempt = tg_parent_on_attempt,
    .is_welcome = tg_parent_is_welcome,
    .trace = tg_parent_trace,
};
