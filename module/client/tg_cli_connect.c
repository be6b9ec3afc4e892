/*
 * The connection of a session, with the question on it: how it comes, goes
 * and comes back.
 */
#include "client/tg_cli_session.h"

#include "client/tg_cli_progress.h"
#include "client/tg_cli_text.h"
#include "base/tg_utf8.h"

#include <limits.h>

/* --- every message, for who wants to see them --- */

static void
tg_cli_connect_show(const tg_cli_session_t *session, const char *where,
                    tg_str_t bytes)
{
    tg_str_t message;
    tg_buf_t line;

    while (session->is_debug
           && tg_frame_split(TG_FRAME_LINE, &bytes, &message) != TG_END)
    {
        tg_buf_init(&line, tg_alloc_libc());
        tg_buf_printf(&line, "toolgate: %s ", where);
        tg_utf8_put_visible(&line, message, 1);
        (void) tg_cli_write(stderr, &line, TG_CLI_DONE);
    }
}

/* --- the question --- */

/* Sends it, when there is a connection that it was not sent on. */
static void
tg_cli_question_send(tg_cli_session_t *session)
{
    tg_cli_question_t *question;
    tg_str_t params;
    int rc;

    question = &session->question;

    if (question->kind == TG_CLI_HELLO || question->is_sent
        || session->state != TG_CLI_OPEN)
    {
        return;
    }

    params = question->params;

    if (question->kind == TG_CLI_LIST && session->list.params.len != 0) {
        params = tg_buf_view(&session->list.params);
    }

    if (question->kind == TG_CLI_TOOL) {
        rc = tg_caller_call_tool(&session->caller, question->name, params,
                                 tg_cli_progress_asked(), question,
                                 &question->id);
    } else {
        rc = tg_caller_request(&session->caller, question->name, params,
                               question, &question->id);
    }

    if (rc == TG_OK) {
        question->is_sent = 1;
        tg_uv_conn_flush(&session->conn);

    } else if (rc != TG_CLOSED) {
        session->err = UV_ENOMEM;
        tg_uv_conn_close(&session->conn);
    }

    /* After a goodbye, the next connection takes it. */
}

static void
tg_cli_question_done(tg_cli_session_t *session, const tg_answer_t *answer)
{
    tg_cli_answer_t *copy;

    tg_cli_progress_end();
    copy = &session->answer;
    copy->took_ns = uv_hrtime() - session->question.asked_ns;
    copy->kind = answer->kind;
    copy->code = answer->code;
    tg_buf_str(&copy->result, answer->result);
    tg_json_put_decoded(&copy->message, answer->message);
    tg_buf_str(&copy->data, answer->data);
    session->question.kind = TG_CLI_HELLO;
    session->is_done = 1;
}

static void
tg_cli_question_page(tg_cli_session_t *session, const tg_answer_t *answer)
{
    tg_answer_t whole;

    if (tg_mcp_list_page(&session->list, answer, &whole) == TG_AGAIN) {
        session->question.is_sent = 0;
        tg_cli_question_send(session);
        return;
    }

    /* What is no tool may be one that somebody needs: better no list. */
    if (session->list.nleft_out != 0 && whole.kind == TG_ANSWER_RESULT) {
        whole.kind = TG_ANSWER_ERROR;
        whole.code = TG_RPC_INTERNAL;
        whole.message = TG_STR("The server's list of tools is no list.");
    }

    tg_cli_question_done(session, &whole);
}

static void
tg_cli_question_answered(tg_cli_session_t *session, const tg_answer_t *answer)
{
    tg_cli_question_t *question;
    int is_again;

    question = &session->question;
    is_again = answer->kind == TG_ANSWER_NOT_STARTED
               || (answer->kind == TG_ANSWER_LOST
                   && (question->kind == TG_CLI_LIST
                       || question->kind == TG_CLI_LOOK
                       || session->is_patient));

    if (is_again && ++question->tries < TG_CLI_TRIES) {
        question->is_sent = 0;

        /* A cursor need not mean anything to the server's successor. */
        tg_mcp_list_reset(&session->list);

    } else if (question->kind == TG_CLI_LIST && !is_again) {
        tg_cli_question_page(session, answer);

    } else {
        tg_cli_question_done(session, answer);
    }
}

/* --- connections --- */

/* Nobody is there: whoever waits is told. */
static void
tg_cli_connect_give_up(tg_cli_session_t *session)
{
    tg_answer_t answer;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_ANSWER_NOT_STARTED;
    session->state = TG_CLI_IDLE;
    session->tries = 0;
    tg_cli_question_done(session, &answer);
}

static void
tg_cli_connect_on_pause(uv_timer_t *timer)
{
    tg_cli_connect(timer->data);
}

/* How many connections in a row may end like this one. */
static unsigned
tg_cli_connect_tries(const tg_cli_session_t *session)
{
    if (session->is_patient && session->was_open) {
        return UINT_MAX;
    }

    switch (session->err) {
    case UV_EAGAIN: /* the queue of the listener is full */
        return TG_CLI_TRIES;

    case UV_ENOENT:
    case UV_ECONNREFUSED:
        return session->was_open ? TG_CLI_TRIES : 0;

    case UV_EOF:
    case UV_EPIPE:
    case UV_ECONNRESET:
        return session->was_open ? TG_CLI_TRIES : TG_CLI_MUTE_TRIES;

    default:
        return 0;
    }
}

/* It ended before it was open. */
static void
tg_cli_connect_retry(tg_cli_session_t *session)
{
    if (session->tries >= tg_cli_connect_tries(session)) {
        tg_cli_connect_give_up(session);
        return;
    }

    session->state = TG_CLI_WAITING;
    uv_timer_start(&session->pause, tg_cli_connect_on_pause,
                   (uint64_t) TG_CLI_FIRST_WAIT_MS << session->tries, 0);

    if (session->tries < TG_CLI_TRIES - 1 || !session->is_patient) {
        session->tries++;
    }
}

/*
 * An open connection ended.  That alone is no reason for a new one; a
 * question that waits is.
 */
static void
tg_cli_connect_lost(tg_cli_session_t *session)
{
    session->state = TG_CLI_IDLE;

    if (session->question.kind == TG_CLI_HELLO) {
        return;
    }

    if (session->err == UV_ENOMEM || session->err == UV_EMSGSIZE) {
        tg_cli_connect_give_up(session);
    } else {
        tg_cli_connect(session);
    }
}

static void
tg_cli_connect_on_closed(void *host, int err)
{
    tg_cli_session_t *session;

    session = host;
    session->has_conn = 0;

    if (session->state == TG_CLI_CLOSING) {
        uv_close((uv_handle_t *) &session->timer, NULL);
        return;
    }

    if (session->err == 0) {
        session->err = err != 0 ? err : UV_EOF;
    }

    tg_caller_lose(&session->caller);

    if (session->state == TG_CLI_OPEN) {
        tg_cli_connect_lost(session);
    } else {
        tg_cli_connect_retry(session);
    }
}

/* The answer to the ping says more than this, and closed says the rest. */
static void
tg_cli_connect_on_connected(void *host, int err)
{
}

static int
tg_cli_connect_on_input(void *host, const char *data, size_t len,
                        size_t *consumed)
{
    tg_cli_session_t *session;
    int rc;

    session = host;
    rc = tg_caller_input(&session->caller, data, len, consumed);
    tg_cli_connect_show(session, "server ->", tg_str(data, *consumed));

    if (rc == TG_OK && len - *consumed > TG_CLI_FRAME_MAX) {
        session->err = UV_EMSGSIZE;
        rc = TG_CLOSED;
    }

    /* Nothing that is left to write is of use to who said goodbye. */
    if (rc != TG_OK && session->state != TG_CLI_CLOSING) {
        session->err = rc == TG_NOMEM ? UV_ENOMEM : session->err;
        tg_uv_conn_close(&session->conn);
    }

    return rc;
}

static void
tg_cli_connect_on_written(void *host, size_t len)
{
    tg_cli_session_t *session;

    session = host;
    tg_cli_connect_show(session, "server <-",
                        tg_str(session->caller.out.data, len));
    tg_caller_written(&session->caller, len);
    tg_buf_drop(&session->caller.out, len);
}

void
tg_cli_connect(tg_cli_session_t *session)
{
    static const tg_uv_conn_ops_t ops = {
        .connected = tg_cli_connect_on_connected,
        .input = tg_cli_connect_on_input,
        .written = tg_cli_connect_on_written,
        .closed = tg_cli_connect_on_closed,
    };

    session->state = TG_CLI_CONNECTING;
    session->err = 0;
    session->has_conn = 1;
    tg_uv_conn_init(&session->conn, &session->loop, &ops, session,
                    &session->caller.out);

    if (tg_caller_hello(&session->caller, 0) != TG_OK
        || tg_caller_request(&session->caller, TG_STR("ping"), TG_STR_NONE,
                             session, NULL)
               != TG_OK)
    {
        session->err = UV_ENOMEM;
        tg_uv_conn_close(&session->conn);
        return;
    }

    /* When it fails at once, closed tells. */
    (void) tg_uv_conn_connect_place(&session->conn, &session->place);
}

/* The ping was answered, be it with an error: somebody is there. */
static void
tg_cli_connect_greeted(tg_cli_session_t *session, const tg_answer_t *answer)
{
    if (answer->kind != TG_ANSWER_RESULT && answer->kind != TG_ANSWER_ERROR) {
        return;
    }

    session->state = TG_CLI_OPEN;
    session->was_open = 1;
    session->tries = 0;
    session->is_done |= session->question.kind == TG_CLI_HELLO;
    tg_cli_question_send(session);
}

static void
tg_cli_connect_on_answer(void *host, void *tag, const tg_answer_t *answer)
{
    tg_cli_session_t *session;

    session = host;

    if (session->state == TG_CLI_CLOSING) {
        return;
    }

    if (tag == session) {
        tg_cli_connect_greeted(session, answer);
    } else {
        tg_cli_question_answered(session, answer);
    }
}

static void
tg_cli_connect_on_notification(void *host, tg_str_t method,
                               const tg_message_t *message)
{
    tg_cli_session_t *session;

    session = host;

    if (session->told != NULL && session->told_status == TG_CLI_DONE) {
        session->told_status = session->told(session, method, message);
    }

    if (session->question.kind == TG_CLI_TOOL && session->question.is_sent) {
        tg_cli_progress_told(method, message);
    }
}

/* --- for the session --- */

void
tg_cli_connect_init(tg_cli_session_t *session)
{
    static const tg_caller_ops_t ops = {
        .answer = tg_cli_connect_on_answer,
        .notification = tg_cli_connect_on_notification,
    };

    uv_timer_init(&session->loop, &session->pause);
    session->pause.data = session;
    tg_mcp_list_init(&session->list, tg_alloc_libc(), TG_CLI_PAGES_MAX);

    /* Twice: what is too large is noticed by us, while it comes in. */
    tg_caller_init(&session->caller, tg_alloc_libc(), &ops, session,
                   TG_DIALECT_JSONRPC, (size_t) 2 * TG_CLI_FRAME_MAX);
}

void
tg_cli_connect_ask(tg_cli_session_t *session)
{
    session->is_done = 0;
    tg_mcp_list_reset(&session->list);
    tg_cli_question_send(session);

    if (session->state == TG_CLI_IDLE) {
        tg_cli_connect(session);
    }
}

void
tg_cli_connect_notify(tg_cli_session_t *session, tg_str_t method)
{
    /* Without memory the connection ends, with the next message at last. */
    if (session->state == TG_CLI_OPEN) {
        (void) tg_caller_notify(&session->caller, method, TG_STR_NONE);
        tg_uv_conn_flush(&session->conn);
    }
}

/* From an answer to a lost connection there is nobody left to tell. */
void
tg_cli_connect_cancel(tg_cli_session_t *session)
{
    const tg_cli_question_t *question;

    question = &session->question;

    if (question->is_sent && session->state == TG_CLI_OPEN) {
        (void) tg_caller_cancel(&session->caller, question->id,
                                question->kind != TG_CLI_REQUEST);
        tg_uv_conn_flush(&session->conn);
    }
}

static void
tg_cli_connect_on_slow_close(uv_timer_t *timer)
{
    tg_cli_session_t *session;

    session = timer->data;
    tg_uv_conn_close(&session->conn);
}

void
tg_cli_connect_end(tg_cli_session_t *session)
{
    session->state = TG_CLI_CLOSING;
    uv_close((uv_handle_t *) &session->pause, NULL);

    if (session->has_conn) {
        uv_timer_start(&session->timer, tg_cli_connect_on_slow_close,
                       TG_CLI_CLOSE_MS, 0);
        tg_uv_conn_finish(&session->conn);
    } else {
        uv_close((uv_handle_t *) &session->timer, NULL);
    }
}

void
tg_cli_connect_deinit(tg_cli_session_t *session)
{
    tg_caller_deinit(&session->caller);
    tg_mcp_list_deinit(&session->list);
}
