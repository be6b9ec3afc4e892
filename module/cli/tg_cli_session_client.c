/*
 * The tg_uv_client_t of a session, and its callbacks.
 */
#include "cli/tg_cli_session.h"

#include "cli/tg_cli_progress.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"

/* Shows every message if TOOLGATE_DEBUG is set. */
static void
tg_cli_session_on_trace(void *host, int is_theirs, tg_str_t bytes)
{
    tg_cli_session_t *session;
    tg_str_t message;
    tg_buf_t line;

    session = host;

    while (session->is_debug
           && tg_frame_split(TG_FRAME_LINE, &bytes, &message) != TG_END)
    {
        tg_buf_init(&line, tg_alloc_libc());
        tg_buf_printf(&line, "toolgate: server %s ", is_theirs ? "->" : "<-");
        tg_utf8_append_visible(&line, message, 1);
        (void) tg_cli_print_and_free(stderr, &line, TG_CLI_EXIT_OK);
    }
}

static void
tg_cli_session_on_response(void *host, tg_uv_request_t *request,
                           const tg_response_t *response)
{
    tg_cli_session_t *session;
    tg_cli_response_t *copy;

    session = host;
    tg_cli_progress_clear();
    copy = &session->response;
    copy->elapsed_ns = uv_hrtime() - session->sent_ns;
    copy->kind = response->kind;
    copy->code = response->code;
    copy->is_too_large = response->is_too_large;
    tg_buf_append_str(&copy->result, response->result);
    tg_json_append_unescaped(&copy->message, response->message);
    tg_buf_append_str(&copy->data, response->data);
    session->is_done = 1;
}

static void
tg_cli_session_on_open(void *host)
{
    tg_cli_session_t *session;

    session = host;
    session->is_done |= !session->request.is_queued;
}

static void
tg_cli_session_on_disconnect(void *host, int was_open)
{
    tg_cli_session_t *session;

    session = host;
    session->is_done |= session->client.state == TG_UV_CLIENT_IDLE;
}

static void
tg_cli_session_on_notification(void *host, tg_str_t method,
                               const tg_message_t *message)
{
    tg_cli_session_t *session;

    session = host;

    if (session->on_notification != NULL
        && session->notification_status == TG_CLI_EXIT_OK)
    {
        session->notification_status = session->on_notification(session, method,
                                                                message);
    }

    if (session->request.is_tool_call && session->request.is_sent) {
        tg_cli_progress_on_notification(method, message);
    }
}

/* Closes the session's timer last, so that the loop ends. */
static void
tg_cli_session_on_close(void *host)
{
    tg_cli_session_t *session;

    session = host;
    uv_close((uv_handle_t *) &session->timer, NULL);
}

/* --- functions for tg_cli_session.c --- */

void
tg_cli_session_client_init(tg_cli_session_t *session)
{
    static const tg_uv_client_ops_t ops = {
        .on_response = tg_cli_session_on_response,
        .opened = tg_cli_session_on_open,
        .on_conn_lost = tg_cli_session_on_disconnect,
        .notification = tg_cli_session_on_notification,
        .trace = tg_cli_session_on_trace,
        .closed = tg_cli_session_on_close,
    };

    session->client.endpoint = &session->endpoint;
    session->client.info = TG_MCP_CLIENT_INFO("toolgate");
    tg_mcp_list_init(&session->list, tg_alloc_libc(),
                     TG_UV_CLIENT_LIST_PAGES_MAX);
    tg_uv_client_init(&session->client, &session->sched, &ops, session,
                      TG_DIALECT_JSONRPC, TG_CLI_FRAME_MAX);
}

void
tg_cli_session_client_send(tg_cli_session_t *session)
{
    session->is_done = 0;
    tg_mcp_list_reset(&session->list);
    tg_uv_client_send_request(&session->client, &session->request);
    tg_uv_client_flush(&session->client);
}

void
tg_cli_session_client_deinit(tg_cli_session_t *session)
{
    tg_uv_client_deinit(&session->client);
    tg_mcp_list_deinit(&session->list);
}
