#include "bridge/tg_bridge.h"

/* Pages of one list; a server that goes on after it is going in circles. */
#define TG_LIST_PAGES_MAX 10000

/* The parent's code for a server without tools. */
#define TG_CODE_NO_METHOD (-32601)

static void tg_list_answered(tg_bridge_t *bridge, void *tag,
                             const tg_answer_t *answer);

/* --- the agent asks --- */

/* The runner behind a relay makes its list anew each time it is asked. */
static int
tg_list_asked_relay(tg_bridge_t *bridge, const tg_request_t *request)
{
    tg_list_fetch_t *fetch;
    uint64_t round;

    if (request->cursor.data != NULL) {
        return TG_END;
    }

    /* A fetch from before the last change is not new enough. */
    fetch = &bridge->fetch;
    round = fetch->tools != NULL && !fetch->is_dirty ? fetch->round
                                                     : fetch->round + 1;
    tg_errand_take(bridge, request, 1, round);

    if (bridge->state == TG_PARENT_READY && fetch->tools == NULL) {
        tg_list_fetch(bridge);
    }

    return TG_OK;
}

int
tg_list_asked(tg_bridge_t *bridge, const tg_request_t *request)
{
    if (bridge->options->dialect == TG_DIALECT_RELAY) {
        return tg_list_asked_relay(bridge, request);
    }

    if (bridge->options->dialect == TG_DIALECT_IPC) {
        return TG_END;
    }

    bridge->has_listed = 1;

    if (bridge->state == TG_PARENT_READY) {
        if (request->cursor.data == NULL) {
            bridge->told = tg_tools_digest(bridge->tools);
        }

        return TG_END;
    }

    tg_errand_take(bridge, request, 1, 0);

    return TG_OK;
}

/* --- the parent is asked --- */

static void
tg_list_request(tg_bridge_t *bridge, tg_str_t cursor)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_char(&params, '{');

    if (cursor.data != NULL) {
        tg_buf_text(&params, "\"cursor\":");
        tg_buf_str(&params, cursor);
    }

    tg_buf_char(&params, '}');
    rc = TG_NOMEM;

    if (!tg_buf_failed(&params)) {
        rc = tg_caller_request(&bridge->caller, TG_STR("tools/list"),
                               tg_buf_view(&params), &bridge->fetch, NULL);
    }

    tg_buf_deinit(&params);

    if (rc == TG_NOMEM) {
        tg_bridge_no_memory(bridge);

    } else if (rc != TG_OK) {
        /* It said goodbye: the next connection begins with the list. */
        tg_list_forget(bridge);
    }
}

void
tg_list_fetch(tg_bridge_t *bridge)
{
    tg_list_fetch_t *fetch;

    fetch = &bridge->fetch;

    if (fetch->tools != NULL) {
        fetch->is_dirty = 1;
        return;
    }

    if (!tg_parent_is_open(bridge)) {
        return;
    }

    fetch->tag.answer = tg_list_answered;
    fetch->tools = tg_tools_new();
    fetch->is_dirty = 0;
    fetch->npages = 0;
    fetch->round++;
    fetch->started = uv_now(&bridge->loop);

    if (fetch->tools == NULL) {
        tg_bridge_no_memory(bridge);
        return;
    }

    tg_list_request(bridge, TG_STR_NONE);
}

void
tg_list_forget(tg_bridge_t *bridge)
{
    tg_tools_free(bridge->fetch.tools);
    bridge->fetch.tools = NULL;
    tg_bridge_timer_stop(bridge, TG_TIMER_RELIST);
}

/*
 * A parent may say so as often as it likes, or whenever it is asked; it is
 * asked a few times a second at most.
 */
static void
tg_list_fetch_soon(tg_bridge_t *bridge)
{
    uint64_t next, now;

    next = bridge->fetch.started + TG_BRIDGE_RELIST;
    now = uv_now(&bridge->loop);

    if (next <= now) {
        tg_list_fetch(bridge);

    } else if (!tg_bridge_timer_runs(bridge, TG_TIMER_RELIST)) {
        tg_bridge_timer_start(bridge, TG_TIMER_RELIST, next - now);
    }
}

void
tg_list_changed(tg_bridge_t *bridge)
{
    if (bridge->fetch.tools != NULL) {
        bridge->fetch.is_dirty = 1;
    }

    /* A runner's agent asks again by itself and is answered by the runner. */
    if (bridge->options->dialect == TG_DIALECT_RELAY) {
        tg_peer_list_changed(&bridge->peer);

    } else if (bridge->state == TG_PARENT_READY && bridge->fetch.tools == NULL)
    {
        tg_list_fetch_soon(bridge);
    }
}

/* --- it answers --- */

/* What the agent sees from now on; calls in flight know the old one's. */
static void
tg_list_put(tg_bridge_t *bridge, tg_tools_t *tools)
{
    tg_call_t *call;

    for (call = bridge->peer.calls; call != NULL; call = call->next) {
        call->entry = NULL;
    }

    bridge->peer.catalogue = tg_tools_catalogue(tools);
    tg_tools_free(bridge->tools);
    bridge->tools = tools;
}

/* The first list is no news for an agent that never asked for one. */
static void
tg_list_tell(tg_bridge_t *bridge)
{
    uint64_t digest;
    int is_news;

    digest = tg_tools_digest(bridge->tools);
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
    tg_list_fetch_t *fetch;
    tg_tools_t *tools;

    fetch = &bridge->fetch;
    tools = fetch->tools;
    fetch->tools = NULL;

    if (tg_tools_seal(tools) != TG_OK) {
        tg_tools_free(tools);
        tg_bridge_no_memory(bridge);
        return;
    }

    if (tg_tools_digest(tools) == tg_tools_digest(bridge->tools)) {
        tg_tools_free(tools);
    } else {
        tg_list_put(bridge, tools);
    }

    if (bridge->options->dialect == TG_DIALECT_RELAY) {
        tg_errands_list(bridge, fetch->round);

        if (tg_errands_want_list(bridge)) {
            tg_list_fetch(bridge);
        }

        return;
    }

    tg_parent_listed(bridge);
    tg_errands_list(bridge, fetch->round);
    tg_list_tell(bridge);

    if (fetch->is_dirty) {
        tg_list_fetch_soon(bridge);
    }
}

/* The list cannot be had.  In front of an agent the one at hand stays. */
static void
tg_list_failed(tg_bridge_t *bridge, const tg_answer_t *answer)
{
    char text[256];

    tg_list_forget(bridge);
    tg_bridge_decode(text, sizeof(text), answer->message);
    tg_bridge_log("%s does not list its tools: %s", tg_parent_name(bridge),
                  text);

    if (bridge->options->dialect == TG_DIALECT_RELAY) {
        tg_errands_refuse_lists(bridge, answer);

    } else if (bridge->state == TG_PARENT_LISTING) {
        tg_parent_give_up(bridge, text);
    }
}

static void
tg_list_wrong(tg_bridge_t *bridge, const char *text)
{
    tg_answer_t answer;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_ANSWER_ERROR;
    answer.code = -32603;
    answer.message = tg_str_c(text);
    tg_list_failed(bridge, &answer);
}

static void
tg_list_page(tg_bridge_t *bridge, tg_str_t result)
{
    tg_list_fetch_t *fetch;
    tg_str_t tools, cursor;
    int rc;

    fetch = &bridge->fetch;
    rc = TG_BAD;

    if (tg_json_type(result) == TG_JSON_OBJECT
        && tg_json_get(result, TG_STR("tools"), &tools) == TG_OK)
    {
        rc = tg_tools_add(fetch->tools, tools);
    }

    if (rc == TG_NOMEM) {
        tg_bridge_no_memory(bridge);
        return;
    }

    if (rc == TG_BAD) {
        tg_list_wrong(bridge, "its answer to tools/list has no array of tools");
        return;
    }

    if (rc == TG_LIMIT || ++fetch->npages == TG_LIST_PAGES_MAX) {
        tg_list_wrong(bridge, "its list of tools does not end");
        return;
    }

    if (tg_json_get(result, TG_STR("nextCursor"), &cursor) == TG_OK
        && tg_json_type(cursor) == TG_JSON_STRING)
    {
        tg_list_request(bridge, cursor);
        return;
    }

    tg_list_done(bridge);
}

static void
tg_list_answered(tg_bridge_t *bridge, void *tag, const tg_answer_t *answer)
{
    switch (answer->kind) {
    case TG_ANSWER_RESULT:
        tg_list_page(bridge, answer->result);
        break;
    case TG_ANSWER_ERROR:
        /* A server without tools does not know the method. */
        if (answer->code == TG_CODE_NO_METHOD
            && bridge->options->dialect == TG_DIALECT_JSONRPC)
        {
            tg_list_done(bridge);
        } else {
            tg_list_failed(bridge, answer);
        }

        break;
    default:
        tg_list_forget(bridge);
    }
}
