/*
 * The client of a session, with the question on it.
 */
#include "client/tg_cli_session.h"

#include "client/tg_cli_progress.h"
#include "client/tg_cli_text.h"
#include "base/tg_utf8.h"

/* Every message, for who wants to see them. */
static void
tg_cli_connect_show(void *host, int is_theirs, tg_str_t bytes)
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
        tg_utf8_put_visible(&line, message, 1);
        (void) tg_cli_write(stderr, &line, TG_CLI_DONE);
    }
}

static void
tg_cli_connect_answered(void *host, tg_uv_question_t *question,
                        const tg_answer_t *answer)
{
    tg_cli_session_t *session;
    tg_cli_answer_t *copy;

    session = host;
    tg_cli_progress_end();
    copy = &session->answer;
    copy->took_ns = uv_hrtime() - session->asked_ns;
    copy->kind = answer->kind;
    copy->code = answer->code;
    copy->is_too_large = answer->is_too_large;
    tg_buf_str(&copy->result, answer->result);
    tg_json_put_decoded(&copy->message, answer->message);
    tg_buf_str(&copy->data, answer->data);
    session->is_done = 1;
}

static void
tg_cli_connect_opened(void *host)
{
    tg_cli_session_t *session;

    session = host;
    session->is_done |= !session->question.is_asked;
}

static void
tg_cli_connect_lost(void *host, int was_open)
{
    tg_cli_session_t *session;

    session = host;
    session->is_done |= session->client.state == TG_UV_CLIENT_IDLE;
}

static void
tg_cli_connect_notification(void *host, tg_str_t method,
                            const tg_message_t *message)
{
    tg_cli_session_t *session;

    session = host;

    if (session->told != NULL && session->told_status == TG_CLI_DONE) {
        session->told_status = session->told(session, method, message);
    }

    if (session->question.is_tool && session->question.is_sent) {
        tg_cli_progress_told(method, message);
    }
}

/* Whoever waits for it is the loop's end. */
static void
tg_cli_connect_closed(void *host)
{
    tg_cli_session_t *session;

    session = host;
    uv_close((uv_handle_t *) &session->timer, NULL);
}

/* --- for the session --- */

void
tg_cli_connect_init(tg_cli_session_t *session)
{
    static const tg_uv_client_ops_t ops = {
        .answered = tg_cli_connect_answered,
        .opened = tg_cli_connect_opened,
        .lost = tg_cli_connect_lost,
        .notification = tg_cli_connect_notification,
        .trace = tg_cli_connect_show,
        .closed = tg_cli_connect_closed,
    };

    session->client.place = &session->place;
    session->client.info = TG_MCP_INFO("toolgate");
    tg_mcp_list_init(&session->list, tg_alloc_libc(), TG_UV_CLIENT_PAGES);
    tg_uv_client_init(&session->client, &session->sched, &ops, session,
                      TG_DIALECT_JSONRPC, TG_CLI_FRAME_MAX);
}

void
tg_cli_connect_ask(tg_cli_session_t *session)
{
    session->is_done = 0;
    tg_mcp_list_reset(&session->list);
    tg_uv_client_ask(&session->client, &session->question);
    tg_uv_client_flush(&session->client);
}

void
tg_cli_connect_deinit(tg_cli_session_t *session)
{
    tg_uv_client_deinit(&session->client);
    tg_mcp_list_deinit(&session->list);
}
