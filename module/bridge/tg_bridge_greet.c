#include "bridge/tg_bridge.h"

/* The newest revision with a handshake: every server has that one. */
#define TG_PARENT_MCP "2025-11-25"

/* --- MCP's handshake --- */

static tg_str_t
tg_parent_member(tg_str_t object, const char *key, tg_json_type_t type)
{
    tg_str_t value;

    if (tg_json_type(object) != TG_JSON_OBJECT
        || tg_json_get(object, tg_str_c(key), &value) != TG_OK
        || tg_json_type(value) != type)
    {
        return TG_STR_NONE;
    }

    return value;
}

/* Appends a text and says where it is; absent, the old one stays. */
static void
tg_parent_learn_text(tg_buf_t *buf, tg_str_t raw, size_t *start, size_t *len)
{
    *start = buf->len;

    if (raw.data != NULL) {
        if (tg_json_type(raw) == TG_JSON_STRING) {
            tg_json_put_decoded(buf, tg_json_body(raw));
        } else {
            tg_json_put_compact(buf, raw);
        }
    }

    *len = buf->len - *start;
}

/* The agent shall see the parent's name, unless it was given another. */
static void
tg_parent_learn(tg_bridge_t *bridge, tg_str_t result)
{
    tg_str_t raw[4], server, *texts[4];
    size_t start[4], len[4];
    tg_buf_t buf;
    int i;

    server = tg_parent_member(result, "serverInfo", TG_JSON_OBJECT);
    raw[0] = tg_parent_member(server, "name", TG_JSON_STRING);
    raw[1] = tg_parent_member(server, "version", TG_JSON_STRING);
    raw[2] = tg_parent_member(result, "instructions", TG_JSON_STRING);
    raw[3] = tg_parent_member(tg_parent_member(result, "capabilities",
                                               TG_JSON_OBJECT),
                              "experimental", TG_JSON_OBJECT);
    texts[0] = &bridge->info.name;
    texts[1] = &bridge->info.version;
    texts[2] = &bridge->info.instructions;
    texts[3] = &bridge->info.experimental;
    tg_buf_init(&buf, tg_alloc_libc());

    for (i = 0; i < 4; i++) {
        tg_parent_learn_text(&buf, raw[i], &start[i], &len[i]);
    }

    if (tg_buf_failed(&buf)) {
        tg_buf_deinit(&buf);
        tg_bridge_no_memory(bridge);
        return;
    }

    /* Its name and version are always there; the others may have gone. */
    for (i = 0; i < 4; i++) {
        if (raw[i].data != NULL) {
            *texts[i] = tg_str(buf.data + start[i], len[i]);
        } else {
            *texts[i] = i < 2 ? TG_STR("?") : TG_STR_NONE;
        }
    }

    if (bridge->options->name != NULL) {
        bridge->info.name = tg_str_c(bridge->options->name);
    }

    tg_buf_deinit(&bridge->info_text);
    bridge->info_text = buf;
}

static void
tg_parent_greeted(tg_bridge_t *bridge, void *tag, const tg_answer_t *answer)
{
    char text[256];

    switch (answer->kind) {
    case TG_ANSWER_RESULT:
        break;
    case TG_ANSWER_ERROR:
        tg_bridge_decode(text, sizeof(text), answer->message);
        tg_parent_give_up(bridge, text);
        return;
    default:
        return;
    }

    if (tg_json_type(answer->result) != TG_JSON_OBJECT) {
        tg_parent_give_up(bridge, "its answer to initialize is no object");
        return;
    }

    tg_parent_learn(bridge, answer->result);
    tg_bridge_timer_stop(bridge, TG_TIMER_HANDSHAKE);
    bridge->state = TG_PARENT_LISTING;
    bridge->was_greeted = 1;

    if (tg_caller_notify(&bridge->caller, TG_STR("notifications/initialized"),
                         TG_STR_NONE)
        != TG_OK)
    {
        tg_bridge_no_memory(bridge);
        return;
    }

    tg_list_fetch(bridge);
    tg_errands_send(bridge);
    tg_agent_release(bridge);
}

void
tg_parent_greet(tg_bridge_t *bridge)
{
    static const char params[] =
        "{\"protocolVersion\":\"" TG_PARENT_MCP "\",\"capabilities\":{},"
        "\"clientInfo\":{\"name\":\"toolgate-bridge\",\"version\":\"" TG_VERSION
        "\"}}";

    bridge->state = TG_PARENT_GREETING;
    bridge->greeting.answer = tg_parent_greeted;

    if (tg_caller_hello(&bridge->caller) != TG_OK
        || tg_caller_request(&bridge->caller, TG_STR("initialize"),
                             TG_STR(params), &bridge->greeting, NULL)
               != TG_OK)
    {
        tg_bridge_no_memory(bridge);
        return;
    }

    tg_bridge_timer_start(bridge, TG_TIMER_HANDSHAKE, TG_BRIDGE_HANDSHAKE);
}

/* --- what the parent says --- */

static void
tg_parent_answered(void *host, void *tag, const tg_answer_t *answer)
{
    const tg_bridge_tag_t *who;

    who = tag;
    who->answer(host, tag, answer);
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
        tg_peer_notify(&bridge->peer, tg_buf_view(&text), params);
    }

    tg_buf_deinit(&text);
}

static void
tg_parent_notified(void *host, tg_str_t method, const tg_message_t *message)
{
    tg_bridge_t *bridge;

    bridge = host;

    if (tg_json_body_is(method, TG_STR("notifications/progress"))) {
        tg_errands_progress(bridge, message);

    } else if (tg_json_body_is(method,
                               TG_STR("notifications/tools/list_changed"))) {
        tg_list_changed(bridge);

    } else if (tg_json_body_is(method, TG_STR("notifications/cancelled"))) {
        /* Of a request of the parent's, and the agent never got one. */
        return;

    } else if (bridge->peer.is_mcp
               || bridge->options->dialect == TG_DIALECT_RELAY) {
        tg_parent_pass_on(bridge, method, message->params);
    }
}

static void
tg_parent_farewell(void *host, tg_str_t reason, int is_drained)
{
    tg_bridge_t *bridge;
    char text[256];

    bridge = host;
    bridge->is_drained = is_drained != 0;
    bridge->is_ended = bridge->options->dialect == TG_DIALECT_RELAY;

    if (bridge->is_ended || bridge->options->is_debug) {
        tg_bridge_decode(text, sizeof(text), reason);
        tg_bridge_log("%s says goodbye: %s", tg_parent_name(bridge), text);
    }
}

static void
tg_parent_log(void *host, const char *text)
{
    tg_bridge_log("%s: %s", tg_parent_name(host), text);
}

const tg_caller_ops_t tg_parent_caller_ops = {
    tg_parent_answered, tg_parent_notified, tg_parent_farewell, tg_parent_log
};
