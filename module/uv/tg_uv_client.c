#include "uv/tg_uv_client.h"

#include "base/tg_list.h"
#include "core/tg_rpc.h"

#include <limits.h>

/* --- questions --- */

static void
tg_uv_question_end(tg_uv_client_t *client, tg_uv_question_t *question,
                   const tg_answer_t *answer)
{
    TG_LIST_REMOVE(client->first, client->last, question);
    question->is_asked = 0;
    question->is_sent = 0;
    client->ops->answered(client->host, question, answer);
}

/* There is no memory: the connection's end says so. */
static void
tg_uv_client_nomem(tg_uv_client_t *client)
{
    client->err = UV_ENOMEM;
    tg_uv_conn_close(&client->conn);
}

/* Sends it, when there is a connection that it was not sent on. */
static void
tg_uv_question_send(tg_uv_client_t *client, tg_uv_question_t *question)
{
    tg_str_t params;
    int rc;

    if (question->is_sent || client->state != TG_UV_CLIENT_OPEN) {
        return;
    }

    params = question->params;

    if (question->list != NULL && question->list->params.len != 0) {
        params = tg_buf_view(&question->list->params);
    }

    if (question->is_tool) {
        rc = tg_caller_call_tool(&client->caller, question->name, params,
                                 question->more, question, &question->id);
    } else {
        rc = tg_caller_request(&client->caller, question->name, params,
                               question, &question->id);
    }

    if (rc == TG_OK) {
        question->is_sent = 1;
    } else if (rc != TG_CLOSED) {
        tg_uv_client_nomem(client);
    }

    /* After a goodbye, the next connection takes it. */
}

static void
tg_uv_question_page(tg_uv_client_t *client, tg_uv_question_t *question,
                    const tg_answer_t *answer)
{
    tg_answer_t whole;

    if (tg_mcp_list_page(question->list, answer, &whole) == TG_AGAIN) {
        question->is_sent = 0;
        tg_uv_question_send(client, question);
        return;
    }

    /* What is no tool may be one that somebody needs: better no list. */
    if (question->list->nleft_out != 0 && whole.kind == TG_ANSWER_RESULT) {
        whole.kind = TG_ANSWER_ERROR;
        whole.code = TG_RPC_INTERNAL;
        whole.message = TG_STR("The server's list of tools is no list.");
    }

    tg_uv_question_end(client, question, &whole);
}

static void
tg_uv_question_answered(tg_uv_client_t *client, tg_uv_question_t *question,
                        const tg_answer_t *answer)
{
    int is_again;

    is_again = answer->kind == TG_ANSWER_NOT_STARTED
               || (answer->kind == TG_ANSWER_LOST
                   && (question->list != NULL || question->is_look));

    if (is_again && client->state != TG_UV_CLIENT_CLOSING
        && ++question->tries < TG_UV_CLIENT_TRIES)
    {
        question->is_sent = 0;

        /* A cursor need not mean anything to the server's successor. */
        if (question->list != NULL) {
            tg_mcp_list_reset(question->list);
        }

    } else if (question->list != NULL && !is_again) {
        tg_uv_question_page(client, question, answer);

    } else {
        tg_uv_question_end(client, question, answer);
    }
}

/* --- connections --- */

/* The first that was not sent, up to a number: whoever is told may ask. */
static tg_uv_question_t *
tg_uv_client_waiting(const tg_uv_client_t *client, uint64_t seq)
{
    tg_uv_question_t *question;

    question = client->first;

    while (question != NULL && question->is_sent) {
        question = question->next;
    }

    return question != NULL && question->seq <= seq ? question : NULL;
}

void
tg_uv_client_fail(tg_uv_client_t *client)
{
    tg_uv_question_t *question;
    tg_answer_t answer;
    uint64_t seq;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_ANSWER_NOT_STARTED;
    seq = client->seq;

    while ((question = tg_uv_client_waiting(client, seq)) != NULL) {
        tg_uv_question_end(client, question, &answer);
    }
}

/* How many connections in a row may end like this one. */
static unsigned
tg_uv_client_tries(const tg_uv_client_t *client)
{
    if (client->is_patient && client->was_open) {
        return UINT_MAX;
    }

    switch (client->err) {
    case UV_EAGAIN: /* the queue of the listener is full */
        return TG_UV_CLIENT_TRIES;

    case UV_ENOENT:
    case UV_ECONNREFUSED:
        return client->was_open ? TG_UV_CLIENT_TRIES : 0;

    case UV_EOF:
    case UV_EPIPE:
    case UV_ECONNRESET:
        return client->was_open ? TG_UV_CLIENT_TRIES : TG_UV_CLIENT_MUTE_TRIES;

    default:
        return 0;
    }
}

/* Ms until the next attempt, or -1: none. */
static int64_t
tg_uv_client_wait(tg_uv_client_t *client, int was_open)
{
    uint64_t wait;

    if (was_open) {
        if ((client->first == NULL && !client->is_kept)
            || (!client->is_patient && client->err == UV_ENOMEM))
        {
            return -1;
        }

        client->tries = 0;

        if (client->is_drained
            && uv_now(client->loop) - client->opened > TG_UV_CLIENT_LIVED)
        {
            return 0;
        }
    }

    if (client->tries >= tg_uv_client_tries(client)) {
        return -1;
    }

    wait = (uint64_t) TG_UV_CLIENT_FIRST_WAIT << client->tries;

    if (client->is_patient && wait > TG_UV_CLIENT_LAST_WAIT) {
        wait = TG_UV_CLIENT_LAST_WAIT;
    } else {
        client->tries++;
    }

    client->jitter = client->jitter * UINT64_C(6364136223846793005) + 1;

    return (int64_t) (wait + (client->jitter >> 33) % wait / 2);
}

static void
tg_uv_client_on_pause(uv_timer_t *timer)
{
    tg_uv_client_connect(timer->data);
}

static void
tg_uv_client_lost(tg_uv_client_t *client)
{
    int64_t wait;
    int was_open;

    /* Questions that come meanwhile wait, too. */
    was_open = client->state == TG_UV_CLIENT_OPEN;
    client->state = TG_UV_CLIENT_WAITING;
    (void) uv_timer_stop(&client->timer);

    if (client->ops->ended != NULL) {
        client->ops->ended(client->host);
    }

    tg_caller_lose(&client->caller);
    wait = tg_uv_client_wait(client, was_open);

    if (client->state != TG_UV_CLIENT_WAITING) {
        return;
    }

    if (wait >= 0) {
        (void) uv_timer_start(&client->timer, tg_uv_client_on_pause,
                              (uint64_t) wait, 0);
    } else {
        client->state = TG_UV_CLIENT_IDLE;
        client->tries = 0;
        tg_uv_client_fail(client);
    }

    client->ops->lost(client->host, was_open);
}

static void
tg_uv_client_on_timer_closed(uv_handle_t *handle)
{
    tg_uv_client_t *client;

    client = handle->data;
    client->state = TG_UV_CLIENT_CLOSED;
    client->ops->closed(client->host);
}

static void
tg_uv_client_on_closed(void *host, int err)
{
    tg_uv_client_t *client;

    client = host;
    client->has_conn = 0;

    if (client->state == TG_UV_CLIENT_CLOSING) {
        uv_close((uv_handle_t *) &client->timer, tg_uv_client_on_timer_closed);
        return;
    }

    if (client->err == 0) {
        client->err = err != 0 ? err : UV_EOF;
    }

    tg_uv_client_lost(client);
}

/* The answer to the greeting says more than this, and closed says the rest. */
static void
tg_uv_client_on_connected(void *host, int err)
{
}

static int
tg_uv_client_on_input(void *host, const char *data, size_t len,
                      size_t *consumed)
{
    tg_uv_client_t *client;
    int rc;

    client = host;
    rc = tg_caller_input(&client->caller, data, len, consumed);

    if (client->ops->trace != NULL) {
        client->ops->trace(client->host, 1, tg_str(data, *consumed));
    }

    /* Nothing that is left to write is of use to who said goodbye. */
    if (rc != TG_OK && client->state != TG_UV_CLIENT_CLOSING) {
        client->err = rc == TG_NOMEM ? UV_ENOMEM : client->err;
        tg_uv_conn_close(&client->conn);
    }

    return rc;
}

static void
tg_uv_client_on_written(void *host, size_t len)
{
    tg_uv_client_t *client;

    client = host;

    if (client->ops->trace != NULL) {
        client->ops->trace(client->host, 0,
                           tg_str(client->caller.out.data, len));
    }

    tg_caller_written(&client->caller, len);
    tg_buf_drop(&client->caller.out, len);
}

static void
tg_uv_client_on_late(uv_timer_t *timer)
{
    tg_uv_client_t *client;

    client = timer->data;
    client->err = UV_ETIMEDOUT;
    tg_uv_conn_close(&client->conn);
}

static int
tg_uv_client_greet(tg_uv_client_t *client)
{
    const char *text;
    int rc;

    text = client->initialize;
    rc = tg_caller_hello(&client->caller, 0);

    if (rc != TG_OK) {
        return rc;
    }

    return text != NULL
               ? tg_caller_request(&client->caller, TG_STR("initialize"),
                                   tg_str_c(text), client, NULL)
               : tg_caller_request(&client->caller, TG_STR("ping"), TG_STR_NONE,
                                   client, NULL);
}

void
tg_uv_client_connect(tg_uv_client_t *client)
{
    static const tg_uv_conn_ops_t ops = {
        .connected = tg_uv_client_on_connected,
        .input = tg_uv_client_on_input,
        .written = tg_uv_client_on_written,
        .closed = tg_uv_client_on_closed,
    };

    if (client->has_conn || client->state >= TG_UV_CLIENT_CLOSING) {
        return;
    }

    client->state = TG_UV_CLIENT_CONNECTING;
    client->err = 0;
    client->has_conn = 1;
    client->is_drained = 0;
    tg_uv_conn_init(&client->conn, client->loop, &ops, client,
                    &client->caller.out);

    if (tg_uv_client_greet(client) != TG_OK) {
        tg_uv_client_nomem(client);
        return;
    }

    (void) uv_timer_stop(&client->timer);

    if (client->patience != 0) {
        (void) uv_timer_start(&client->timer, tg_uv_client_on_late,
                              client->patience, 0);
    }

    /* When it fails at once, closed tells. */
    (void) tg_uv_conn_connect_place(&client->conn, client->place);
}

/* --- what the server says --- */

/* It answered the greeting, be it with an error: somebody is there. */
static void
tg_uv_client_greeted(tg_uv_client_t *client, const tg_answer_t *answer)
{
    tg_uv_question_t *question, *next;

    if (answer->kind != TG_ANSWER_RESULT && answer->kind != TG_ANSWER_ERROR) {
        return;
    }

    client->state = TG_UV_CLIENT_OPEN;
    client->was_open = 1;
    client->tries = 0;
    client->opened = uv_now(client->loop);
    (void) uv_timer_stop(&client->timer);

    if (client->initialize != NULL) {
        tg_uv_client_notify(client, TG_STR("notifications/initialized"),
                            TG_STR_NONE);
    }

    for (question = client->first; question != NULL; question = next) {
        next = question->next;
        tg_uv_question_send(client, question);
    }

    client->ops->opened(client->host);
}

static void
tg_uv_client_on_answer(void *host, void *tag, const tg_answer_t *answer)
{
    tg_uv_client_t *client;

    client = host;

    if (client->state == TG_UV_CLIENT_CLOSING) {
        return;
    }

    if (tag == client) {
        tg_uv_client_greeted(client, answer);
    } else {
        tg_uv_question_answered(client, tag, answer);
    }
}

static void
tg_uv_client_on_notification(void *host, tg_str_t method,
                             const tg_message_t *message)
{
    tg_uv_client_t *client;

    client = host;

    if (client->ops->notification != NULL
        && client->state != TG_UV_CLIENT_CLOSING) {
        client->ops->notification(client->host, method, message);
    }
}

static void
tg_uv_client_on_farewell(void *host, tg_str_t reason, int is_drained)
{
    tg_uv_client_t *client;

    client = host;
    client->is_drained = is_drained != 0;
}

/* --- for its owner --- */

void
tg_uv_client_init(tg_uv_client_t *client, uv_loop_t *loop,
                  const tg_uv_client_ops_t *ops, void *host, size_t max_frame)
{
    static const tg_caller_ops_t caller_ops = {
        .answer = tg_uv_client_on_answer,
        .notification = tg_uv_client_on_notification,
        .farewell = tg_uv_client_on_farewell,
    };

    client->loop = loop;
    client->ops = ops;
    client->host = host;
    client->state = TG_UV_CLIENT_IDLE;
    client->jitter = uv_hrtime();
    (void) uv_timer_init(loop, &client->timer);
    client->timer.data = client;

    tg_caller_init(&client->caller, tg_alloc_libc(), &caller_ops, client,
                   TG_DIALECT_JSONRPC, max_frame);
}

void
tg_uv_client_ask(tg_uv_client_t *client, tg_uv_question_t *question)
{
    question->is_sent = 0;
    question->is_asked = 1;
    question->tries = 0;
    question->seq = ++client->seq;
    TG_LIST_INSERT(client->first, client->last, client->last, question);
    tg_uv_question_send(client, question);

    if (client->state == TG_UV_CLIENT_IDLE) {
        tg_uv_client_connect(client);
    }
}

/* From an answer to a lost connection there is nobody left to tell. */
void
tg_uv_client_cancel(tg_uv_client_t *client, tg_uv_question_t *question)
{
    if (!question->is_asked) {
        return;
    }

    TG_LIST_REMOVE(client->first, client->last, question);
    question->is_asked = 0;

    if (question->is_sent && client->state == TG_UV_CLIENT_OPEN) {
        (void) tg_caller_cancel(&client->caller, question->id,
                                question->is_tool || question->is_look
                                    || question->list != NULL);

    } else if (question->is_sent) {
        (void) tg_caller_forget(&client->caller, question->id);
    }

    question->is_sent = 0;
}

void
tg_uv_client_notify(tg_uv_client_t *client, tg_str_t method, tg_str_t params)
{
    /* Without memory the connection ends, with the next message at last. */
    if (client->state == TG_UV_CLIENT_OPEN) {
        (void) tg_caller_notify(&client->caller, method, params);
    }
}

void
tg_uv_client_flush(tg_uv_client_t *client)
{
    if (client->has_conn) {
        tg_uv_conn_flush(&client->conn);
    }
}

static void
tg_uv_client_on_slow_close(uv_timer_t *timer)
{
    tg_uv_client_t *client;

    client = timer->data;
    tg_uv_conn_close(&client->conn);
}

void
tg_uv_client_close(tg_uv_client_t *client)
{
    if (client->state >= TG_UV_CLIENT_CLOSING) {
        return;
    }

    client->state = TG_UV_CLIENT_CLOSING;

    if (client->has_conn) {
        (void) uv_timer_start(&client->timer, tg_uv_client_on_slow_close,
                              TG_UV_CLIENT_CLOSE, 0);
        tg_uv_conn_finish(&client->conn);
    } else {
        uv_close((uv_handle_t *) &client->timer, tg_uv_client_on_timer_closed);
    }
}

void
tg_uv_client_deinit(tg_uv_client_t *client)
{
    tg_caller_deinit(&client->caller);
}
