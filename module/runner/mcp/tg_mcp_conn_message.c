/* Messages of an MCP server: responses, notifications and requests. */
#include "base/tg_utf8.h"
#include "runner/mcp/tg_mcp_conn_log.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_mcp_resource_watch.h"
#include "runner/mcp/tg_mcp_server_request.h"
#include "runner/logging/tg_log.h"

/* Size of a buffer for the text of a server's error. */
#define TG_MCP_CONN_ERROR_MAX 512

/* Decodes a JSON string's body to visible text. */
static void
tg_mcp_conn_decode_error(char text[TG_MCP_CONN_ERROR_MAX], tg_str_t body)
{
    tg_buf_t plain, buf;

    tg_buf_init(&plain, tg_alloc_libc());
    tg_json_append_unescaped(&plain, body);
    buf = tg_buf_make_fixed(text, TG_MCP_CONN_ERROR_MAX - 1);
    tg_utf8_append_visible(&buf, tg_buf_view(&plain), 1);
    text[buf.len] = '\0';
    tg_buf_deinit(&plain);
}

/* --- lists --- */

/* Keeps the capabilities of a server that has been connected. */
static void
tg_mcp_conn_set_capabilities(tg_mcp_conn_t *mcp_conn)
{
    tg_str_t raw;

    raw = mcp_conn->client.server_info.capabilities;
    tg_buf_reset(&mcp_conn->capabilities, 0);

    if (raw.len <= TG_MCP_LISTS_CAPABILITIES_MAX) {
        tg_buf_append_str(&mcp_conn->capabilities, raw);
    } else {
        tg_mcp_conn_log(mcp_conn, TG_LOG_WARN,
                        "its capabilities are omitted: they are larger than "
                        "64 KiB");
    }
}

/* Takes the lists after all of them have arrived or failed. */
static void
tg_mcp_conn_on_lists(tg_mcp_conn_t *mcp_conn)
{
    switch (tg_mcp_server_on_conn_lists(mcp_conn->server, mcp_conn)) {
    case TG_OK:
        tg_mcp_conn_set_ready(mcp_conn);
        break;
    case TG_LIMIT:
        tg_mcp_conn_fail(mcp_conn,
                         " has a list of tools that is larger than 16 MiB");
        break;
    default:
        tg_mcp_conn_on_event(mcp_conn, TG_MCP_EVENT_NO_MEMORY);
    }
}

static void
tg_mcp_conn_on_list(tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_client_t *client;
    const char *noun;

    client = &mcp_conn->client;
    noun = tg_mcp_kinds[client->listed].noun;

    if (client->is_circular) {
        tg_mcp_conn_log(mcp_conn, TG_LOG_WARN,
                        "its list of %s repeats a page or a cursor; the list "
                        "ends there",
                        noun);
    }

    if (client->nleft_out != 0) {
        tg_mcp_conn_log(
            mcp_conn, TG_LOG_WARN, "%zu of its %s %s; %s omitted",
            client->nleft_out, noun,
            client->listed != TG_MCP_TOOLS
                ? tg_pick_plural(client->nleft_out, "is not an object",
                                 "are not objects")
                : tg_pick_plural(client->nleft_out,
                                 "has no name or a duplicate name",
                                 "have no name or a duplicate name"),
            tg_pick_plural(client->nleft_out, "it is", "they are"));
    }

    if (client->is_complete) {
        tg_mcp_conn_on_lists(mcp_conn);
    }
}

/* Number of bytes of a list that are read per step, besides one tool. */
#define TG_MCP_CONN_LIST_STEP 16384

/* Reads a list that has arrived, for one time slice. */
static void
tg_mcp_conn_read_list(tg_sched_source_t *source)
{
    tg_mcp_conn_t *mcp_conn;
    tg_mcp_event_t event;
    tg_sched_t *sched;

    mcp_conn = TG_CONTAINER_OF(source, tg_mcp_conn_t, reader);
    sched = &mcp_conn->server->servers->jobs->sched.sched;

    do {
        event = tg_mcp_client_read_list(&mcp_conn->client,
                                        TG_MCP_CONN_LIST_STEP,
                                        uv_now(mcp_conn->timer.loop));
    } while (event == TG_MCP_EVENT_LIST_PENDING
             && !tg_sched_is_slice_over(sched, source, TG_MCP_CONN_LIST_STEP));

    if (event != TG_MCP_EVENT_LIST_PENDING) {
        tg_mcp_conn_on_event(mcp_conn, event);
        tg_mcp_conn_flush(mcp_conn);
    }
}

/* Keeps the current list. Only a server without a list of tools fails. */
static void
tg_mcp_conn_on_list_failed(tg_mcp_conn_t *mcp_conn)
{
    const tg_mcp_client_t *client;
    char text[TG_MCP_CONN_ERROR_MAX];

    client = &mcp_conn->client;
    tg_mcp_conn_decode_error(text, client->error.message);

    if (client->listed == TG_MCP_TOOLS
        && mcp_conn->state == TG_MCP_CONN_STARTING) {
        tg_mcp_conn_fail(mcp_conn, " cannot list its tools: %s", text);
        return;
    }

    tg_mcp_conn_log(mcp_conn, TG_LOG_WARN, "it cannot list its %s: %s",
                    tg_mcp_kinds[client->listed].noun, text);

    if (client->is_complete && client->tools != NULL) {
        tg_mcp_conn_on_lists(mcp_conn);
    }
}

void
tg_mcp_conn_on_event(tg_mcp_conn_t *mcp_conn, tg_mcp_event_t event)
{
    char text[TG_MCP_CONN_ERROR_MAX];

    if (mcp_conn->state == TG_MCP_CONN_ENDING) {
        return;
    }

    switch (event) {
    case TG_MCP_EVENT_OPEN:
        tg_mcp_conn_set_capabilities(mcp_conn);
        break;
    case TG_MCP_EVENT_REFUSED:
        tg_mcp_conn_decode_error(text, mcp_conn->client.error.message);
        tg_mcp_conn_fail(mcp_conn, " refuses the handshake: %s", text);
        break;
    case TG_MCP_EVENT_TIMEOUT:
        tg_mcp_conn_fail(mcp_conn, " does not answer initialize");
        break;
    case TG_MCP_EVENT_LIST_PENDING:
        mcp_conn->reader.run = tg_mcp_conn_read_list;
        tg_sched_enqueue(&mcp_conn->server->servers->jobs->sched.sched,
                         &mcp_conn->reader);
        break;
    case TG_MCP_EVENT_LIST:
        tg_mcp_conn_on_list(mcp_conn);
        break;
    case TG_MCP_EVENT_LIST_FAILED:
        tg_mcp_conn_on_list_failed(mcp_conn);
        break;
    case TG_MCP_EVENT_NO_MEMORY:
        tg_mcp_conn_fail(mcp_conn, ": toolgate-runner has no memory left");
        break;
    default:
        break;
    }
}

/* --- callbacks of the caller --- */

static void
tg_mcp_conn_on_response(void *host, void *tag, const tg_response_t *answer)
{
    tg_mcp_conn_t *mcp_conn;
    tg_mcp_event_t event;
    tg_mcp_job_t *call;

    call = tag;
    mcp_conn = host;
    event = tg_mcp_client_on_response(&mcp_conn->client, tag, answer,
                                      uv_now(mcp_conn->timer.loop));

    if (event != TG_MCP_EVENT_NOT_OWN) {
        tg_mcp_conn_on_event(mcp_conn, event);
    } else if (answer->kind == TG_RESPONSE_NOT_STARTED) {
        tg_mcp_conn_requeue_call(mcp_conn, call);
    } else if (answer->kind == TG_RESPONSE_LOST) {
        tg_mcp_job_fail(call, TG_FAILURE_LOST, mcp_conn->why);
    } else {
        mcp_conn->has_served = 1;
        tg_mcp_job_on_response(call, answer);
    }
}

/* Passes progress to the call with this progress token. */
static void
tg_mcp_conn_on_progress(tg_mcp_conn_t *mcp_conn, tg_str_t params)
{
    tg_mcp_job_t *call;
    uint64_t token;
    tg_str_t raw;

    if (tg_json_type(params) != TG_JSON_OBJECT
        || tg_json_get_member(params, TG_STR("progressToken"), &raw) != TG_OK
        || tg_caller_parse_id(raw, &token) != TG_OK)
    {
        return;
    }

    TAILQ_FOREACH(call, &mcp_conn->calls, link)
    {
        if (call->request == token) {
            tg_mcp_job_on_progress(call, params);
            return;
        }
    }
}

static void
tg_mcp_conn_on_notification(void *host, tg_str_t method,
                            const tg_message_t *message)
{
    tg_mcp_conn_t *mcp_conn;
    tg_mcp_event_t event;

    mcp_conn = host;

    if (mcp_conn->state == TG_MCP_CONN_ENDING) {
        return;
    }

    event = tg_mcp_client_on_notification(&mcp_conn->client, method,
                                          uv_now(mcp_conn->timer.loop));

    if (event != TG_MCP_EVENT_NOT_OWN) {
        tg_mcp_conn_on_event(mcp_conn, event);
    } else if (tg_json_body_eq_text(method, TG_STR("notifications/progress"))) {
        tg_mcp_conn_on_progress(mcp_conn, message->params);
    } else if (tg_json_body_eq_text(method, TG_STR("notifications/resources/"
                                                   "updated")))
    {
        tg_mcp_resource_watches_on_updated(mcp_conn, message->params);
    } else if (tg_json_body_eq_text(method, TG_STR("notifications/message"))) {
        tg_mcp_conn_on_log_message(mcp_conn, message);
    } else if (tg_json_body_eq_text(method, TG_STR("notifications/cancelled")))
    {
        tg_mcp_server_request_on_cancelled(mcp_conn, message->p.request_id);
    }
}

static void
tg_mcp_conn_reply_roots(tg_mcp_conn_t *mcp_conn, tg_str_t id)
{
    tg_buf_t result;

    tg_buf_init(&result, tg_alloc_libc());
    tg_buf_append_cstr(&result, "{\"roots\":");
    tg_json_write_compact(&result,
                          tg_str_from_cstr(mcp_conn->server->spec.roots));
    tg_buf_append_char(&result, '}');

    if (!tg_buf_has_failed(&result)) {
        (void) tg_caller_respond(&mcp_conn->caller, id, tg_buf_view(&result),
                                 TG_STR_NONE);
    }

    tg_buf_deinit(&result);
}

static void
tg_mcp_conn_on_request(void *host, const tg_message_t *message)
{
    const tg_mcp_server_params_t *spec;
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = host;
    spec = &mcp_conn->server->spec;

    /* Ignore requests of a server that ends or does not read responses. */
    if (mcp_conn->state == TG_MCP_CONN_ENDING
        || mcp_conn->transport->backlog(mcp_conn) > TG_MCP_CONN_REPLY_BACKLOG)
    {
        return;
    }

    if (tg_json_string_eq(message->method, TG_STR("roots/list"))
        && spec->roots != NULL)
    {
        tg_mcp_conn_reply_roots(mcp_conn, message->id);
        return;
    }

    tg_mcp_server_request_accept(mcp_conn, message);
}

static void
tg_mcp_conn_on_log(void *host, const char *text)
{
    tg_mcp_conn_log(host, TG_LOG_WARN, "%s", text);
}

static int
tg_mcp_conn_is_slice_over(void *host)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = host;

    return mcp_conn->transport->is_slice_over(mcp_conn,
                                              mcp_conn->caller.frame_size);
}

const tg_caller_ops_t tg_mcp_conn_caller_ops = {
    .answer = tg_mcp_conn_on_response,
    .notification = tg_mcp_conn_on_notification,
    .on_request = tg_mcp_conn_on_request,
    .log = tg_mcp_conn_on_log,
    .is_slice_over = tg_mcp_conn_is_slice_over,
};
