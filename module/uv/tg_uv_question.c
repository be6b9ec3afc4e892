/* What is asked of a client: sent, asked again, answered. */
#include "uv/tg_uv_question.h"

#include "base/tg_list.h"
#include "core/tg_rpc.h"

static void
tg_uv_question_end(tg_uv_client_t *client, tg_uv_question_t *question,
                   const tg_answer_t *answer)
{
    TG_LIST_REMOVE(client->first, client->last, question);
    question->is_asked = 0;
    question->is_sent = 0;
    client->ops->answered(client->host, question, answer);
}

void
tg_uv_client_nomem(tg_uv_client_t *client)
{
    client->err = UV_ENOMEM;
    tg_uv_conn_close(&client->conn);
}

void
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

    if (client->ops->send != NULL) {
        rc = client->ops->send(client->host, question);
    } else if (question->is_tool) {
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

void
tg_uv_question_answered(tg_uv_client_t *client, tg_uv_question_t *question,
                        const tg_answer_t *answer)
{
    unsigned tries;
    int is_again;

    tries = client->is_awaited ? TG_UV_CLIENT_ASKS : TG_UV_CLIENT_TRIES;
    is_again = answer->kind == TG_ANSWER_NOT_STARTED
               || (answer->kind == TG_ANSWER_LOST
                   && (question->list != NULL || question->is_look));

    if (is_again && client->state != TG_UV_CLIENT_CLOSING
        && ++question->tries < tries)
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

    if (client->state == TG_UV_CLIENT_WAITING && !client->is_kept) {
        client->state = TG_UV_CLIENT_IDLE;
        (void) uv_timer_stop(&client->timer);
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
