#include "runner/mcp/tg_question.h"

#include "runner/mcp/tg_mcp_job.h"
#include "runner/tg_answer.h"

#include <stdlib.h>

struct tg_question_s {
    TAILQ_ENTRY(tg_question_s) place;
    tg_mcp_job_t *call; /* by which it was asked; NULL: not yet */
    uint64_t number;    /* of the runner's */
    tg_str_t id;        /* raw, the server's */
    tg_str_t method;
    tg_str_t params; /* raw or absent */
    char memory[];
};

static void
tg_question_free(tg_instance_t *instance, tg_question_t *question)
{
    TAILQ_REMOVE(&instance->questions, question, place);
    instance->nquestions--;
    free(question);
}

/* --- what the worker hears --- */

/* {"id":ID,"ask":7, and so on */
static void
tg_question_put(tg_buf_t *json, const tg_question_t *question)
{
    tg_buf_text(json, "{\"id\":");
    tg_buf_str(json, question->call->job->call->reply.id);
    tg_buf_text(json, ",\"ask\":");
    tg_buf_uint(json, question->number);
}

static void
tg_question_say(const tg_question_t *question, tg_str_t method, tg_buf_t *json)
{
    const tg_jobs_t *jobs;
    tg_peer_t *peer;

    jobs = question->call->job->jobs;
    peer = question->call->job->call->peer;
    tg_buf_char(json, '}');

    if (!tg_buf_failed(json)) {
        tg_peer_notify(peer, method, tg_buf_view(json));
        jobs->ops->told(jobs->host, peer);
    }

    tg_buf_deinit(json);
}

/* Nobody waits for the answer; on its way to another worker nobody is told. */
static void
tg_question_unask(const tg_question_t *question)
{
    tg_buf_t json;

    if (question->call != NULL && question->call->job->call != NULL) {
        tg_buf_init(&json, tg_alloc_libc());
        tg_question_put(&json, question);
        tg_question_say(question, TG_STR("unask"), &json);
    }
}

/*
 * Which call a server asks for, it does not say; all are of one client, which
 * whoever has one of them can ask.
 */
static tg_mcp_job_t *
tg_question_call(const tg_instance_t *instance)
{
    tg_mcp_job_t *call;

    for (call = TAILQ_FIRST(&instance->calls); call != NULL;
         call = TAILQ_NEXT(call, place))
    {
        if (call->job->call != NULL) {
            break;
        }
    }

    return call;
}

int
tg_questions_send(tg_instance_t *instance)
{
    tg_question_t *question;
    tg_mcp_job_t *call;
    tg_buf_t json;

    call = tg_question_call(instance);

    for (question = TAILQ_FIRST(&instance->questions); question != NULL;
         question = TAILQ_NEXT(question, place))
    {
        if (question->call != NULL) {
            continue;
        }

        if (call == NULL) {
            return 1;
        }

        question->call = call;
        tg_buf_init(&json, tg_alloc_libc());
        tg_question_put(&json, question);
        tg_json_put_member(&json, ",\"method\":", question->method);
        tg_json_put_member(&json, ",\"params\":", question->params);
        tg_question_say(question, TG_STR("ask"), &json);

        /* A person takes time, which is not the server's. */
        tg_job_rose(call->job, 1);
    }

    return 0;
}

/* --- the server asks --- */

/* NULL: no memory. */
static tg_question_t *
tg_question_new(tg_instance_t *instance, const tg_message_t *message)
{
    tg_question_t *question;
    char *at;

    question = calloc(1, sizeof(*question) + message->id.len
                             + message->method.len + message->params.len);

    if (question != NULL) {
        at = question->memory;
        question->id = tg_str_keep(&at, message->id);
        question->method = tg_str_keep(&at, message->method);
        question->params = tg_str_keep(&at, message->params);
        question->number = ++instance->server->servers->nquestions;
        TAILQ_INSERT_TAIL(&instance->questions, question, place);
        instance->nquestions++;
    }

    return question;
}

/* Why nobody can be asked, or NULL. */
static const char *
tg_question_check(const tg_instance_t *instance, const tg_message_t *message)
{
    char room[TG_NAME_MAX];
    tg_buf_t method;

    if (instance->server->spec.share != TG_SHARE_CONNECTION) {
        return "This server is shared by several clients of Toolgate, so there "
               "is nobody who could be asked; let the tool do without.";
    }

    method = tg_buf_fixed(room, sizeof(room));
    tg_json_put_decoded(&method, tg_json_body(message->method));

    if (tg_buf_failed(&method)
        || !tg_can_be_asked(instance->client.can, tg_buf_view(&method),
                            message->params))
    {
        return "The client cannot be asked this; let the tool do without.";
    }

    if (TAILQ_EMPTY(&instance->calls)) {
        return "The client can be asked only while it waits for a call.";
    }

    return instance->nquestions >= TG_QUESTIONS_MAX
               ? "Too much was asked of the client at once."
               : NULL;
}

void
tg_question_ask(tg_instance_t *instance, const tg_message_t *message)
{
    const char *why;

    why = tg_question_check(instance, message);

    if (why == NULL && tg_question_new(instance, message) == NULL) {
        why = TG_RUNNER_NO_MEMORY;
    }

    if (why != NULL) {
        (void) tg_caller_refuse(&instance->caller, message->id, TG_RPC_METHOD,
                                why);
    } else if (tg_questions_send(instance)) {
        instance->ops->retry(instance->server);
    }
}

void
tg_question_cancelled(tg_instance_t *instance, tg_str_t id)
{
    tg_question_t *question;

    for (question = TAILQ_FIRST(&instance->questions); question != NULL;
         question = TAILQ_NEXT(question, place))
    {
        if (tg_str_eq(question->id, id)) {
            tg_question_unask(question);
            tg_question_free(instance, question);
            return;
        }
    }
}

void
tg_questions_drop(tg_instance_t *instance, const tg_mcp_job_t *call)
{
    tg_question_t *question, *next;
    tg_mcp_job_t *other;

    other = TAILQ_FIRST(&instance->calls);

    for (question = TAILQ_FIRST(&instance->questions); question != NULL;
         question = next)
    {
        next = TAILQ_NEXT(question, place);

        if (other == NULL) {
            tg_question_unask(question);
            (void) tg_caller_refuse(&instance->caller, question->id,
                                    TG_RPC_INTERNAL,
                                    "The call that this was asked for is "
                                    "over.");
            tg_question_free(instance, question);

        } else if (question->call == call) {
            question->call = other;
        }
    }
}

/* --- the client answers --- */

enum {
    TG_TOLD_ASK,
    TG_TOLD_RESULT,
    TG_TOLD_ERROR,
    TG_TOLD_MEMBERS
};

static const char *const tg_told_members[] = {
    [TG_TOLD_ASK] = "ask",
    [TG_TOLD_RESULT] = "result",
    [TG_TOLD_ERROR] = "error",
    [TG_TOLD_MEMBERS] = NULL,
};

/* What was asked with that number, or NULL. */
static tg_question_t *
tg_question_find(const tg_servers_t *servers, int64_t number,
                 tg_instance_t **instance)
{
    tg_question_t *question;
    tg_server_t *server;

    TAILQ_FOREACH(server, &servers->list, place)
    {
        TAILQ_FOREACH(*instance, &server->instances, place)
        {
            TAILQ_FOREACH(question, &(*instance)->questions, place)
            {
                if (question->number == (uint64_t) number) {
                    return question;
                }
            }
        }
    }

    return NULL;
}

void
tg_question_told(tg_servers_t *servers, tg_peer_t *peer, tg_request_t *request)
{
    tg_str_t values[TG_TOLD_MEMBERS];
    tg_question_t *question;
    tg_instance_t *instance;
    int64_t number;

    question = NULL;

    if (tg_json_members(request->arguments, tg_told_members, values) == TG_OK
        && tg_json_int64(values[TG_TOLD_ASK], &number) == TG_OK
        && (values[TG_TOLD_RESULT].data != NULL
            || tg_json_type(values[TG_TOLD_ERROR]) == TG_JSON_OBJECT))
    {
        question = tg_question_find(servers, number, &instance);
    }

    if (question == NULL) {
        tg_answer_wrong(peer, request, "Nobody waits for this answer.");
        return;
    }

    (void) tg_caller_reply(&instance->caller, question->id,
                           values[TG_TOLD_RESULT], values[TG_TOLD_ERROR]);
    if (question->call != NULL) {
        tg_job_rose(question->call->job, 1);
    }

    tg_question_free(instance, question);
    tg_instance_turn(instance);
    tg_answer_true(peer, request);
}
