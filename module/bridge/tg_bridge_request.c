#include "bridge/tg_bridge.h"

#include "core/tg_result_repair.h"

#include <stdio.h>

/* --- all of them, in the order in which the agent asked --- */

/* The peer's calls are they, newest first: the oldest, or the one behind. */
static tg_bridge_request_t *
tg_bridge_requests_next(const tg_bridge_t *bridge,
                        const tg_bridge_request_t *request)
{
    const tg_call_t *call;

    if (request != NULL) {
        call = request->call->prev;
    } else {
        for (call = bridge->peer.calls; call != NULL && call->next != NULL;
             call = call->next)
        { /* void */
        }
    }

    return call != NULL ? call->host : NULL;
}

int
tg_bridge_requests_wait(const tg_bridge_t *bridge, int is_list)
{
    const tg_bridge_request_t *request;
    const tg_call_t *call;

    for (call = bridge->peer.calls; call != NULL; call = call->next) {
        request = call->host;

        if (!request->question.is_sent && (!is_list || request->is_list)) {
            return 1;
        }
    }

    return 0;
}

static void
tg_bridge_request_free(tg_bridge_request_t *request)
{
    request->bridge->kept -= request->size;
    tg_free(tg_alloc_libc(), request);
}

/* --- ends: each answers the agent and frees the request --- */

static void
tg_bridge_request_finish(tg_bridge_request_t *request, tg_outcome_t outcome)
{
    tg_call_t *call;

    call = request->call;
    tg_bridge_request_free(request);
    tg_call_answer(call, &outcome);
}

/* An MCP error of the bridge's own: -32603. */
static void
tg_bridge_request_fail(tg_bridge_request_t *request, const char *text)
{
    tg_bridge_request_finish(request,
                             tg_outcome_failure(TG_FAILURE_INTERNAL, text));
}

static void
tg_bridge_request_result(tg_bridge_request_t *request, tg_str_t result)
{
    tg_buf_t text;

    if (tg_json_type(result) != TG_JSON_OBJECT) {
        tg_bridge_request_fail(request,
                               "The tool's answer is no result: MCP demands "
                               "an object with \"content\".");
        return;
    }

    /* What is right is between the tool and the agent. */
    tg_buf_init(&text, tg_alloc_libc());
    (void) tg_result_repair(result, &text);

    if (tg_buf_failed(&text)) {
        tg_bridge_no_memory(request->bridge);
    } else {
        tg_bridge_request_finish(request, tg_outcome_of(TG_OUTCOME_RESULT,
                                                        text.len != 0
                                                            ? tg_buf_view(&text)
                                                            : result));
    }

    tg_buf_deinit(&text);
}

/* The parent's own error, passed on as it is. */
static void
tg_bridge_request_refuse(tg_bridge_request_t *request,
                         const tg_answer_t *answer)
{
    tg_call_t *call;

    call = request->call;
    tg_bridge_request_free(request);
    tg_call_error(call, answer->code, answer->message, answer->data);
}

/* The same in words of the bridge, which are given up. */
static void
tg_bridge_request_failed(tg_bridge_request_t *request, tg_failure_t failure,
                         tg_buf_t *text)
{
    tg_outcome_t outcome;

    if (tg_buf_failed(text)) {
        tg_bridge_no_memory(request->bridge);

    } else {
        outcome = tg_outcome_failure(failure, "");
        outcome.value = tg_buf_view(text);
        tg_bridge_request_finish(request, outcome);
    }

    tg_buf_deinit(text);
}

/* What a tool raised (ipc) becomes a failed result that names its class. */
static void
tg_bridge_request_raised(tg_bridge_request_t *request,
                         const tg_answer_t *answer)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_put_decoded(&text, answer->type);

    if (answer->type.len != 0 && answer->message.len != 0) {
        tg_buf_text(&text, ": ");
    }

    tg_json_put_decoded(&text, answer->message);
    tg_bridge_request_failed(request, TG_FAILURE_PROGRAM, &text);
}

/*
 * It was with the parent when the connection ended: nobody knows how far it
 * came, so only the agent may decide to do it again.
 */
static void
tg_bridge_request_lost(tg_bridge_request_t *request)
{
    tg_bridge_t *bridge;
    tg_buf_t text;

    bridge = request->bridge;
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_printf(&text, "The connection to %s (%s) was lost while ",
                  tg_parent_name(bridge), bridge->label);
    tg_json_put_decoded(&text, request->said.name);
    tg_buf_text(&text, " was running");

    if (bridge->goodbye[0] != '\0') {
        tg_buf_printf(&text, " (it said: %s)", bridge->goodbye);
    }

    tg_buf_text(&text, ". It may or may not have been executed; "
                       "it may be retried if doing it twice does no harm.");
    tg_bridge_request_failed(request,
                             bridge->parent.caller.dialect->has_handshake
                                 ? TG_FAILURE_LOST
                                 : TG_FAILURE_INTERNAL,
                             &text);
}

static void
tg_bridge_request_unsent(tg_bridge_request_t *request)
{
    const char *why;

    why = request->question.tries < TG_UV_CLIENT_ASKS
                  && request->bridge->why[0] != '\0'
              ? request->bridge->why
              : "The call could not be delivered: every connection was closed "
                "before it was taken up. It was not executed; call again.";
    tg_bridge_request_fail(request, why);
}

void
tg_bridge_request_answered(void *host, tg_uv_question_t *question,
                           const tg_answer_t *answer)
{
    tg_bridge_request_t *request;

    request = (tg_bridge_request_t *) question;

    switch (answer->kind) {
    case TG_ANSWER_RESULT:
        tg_bridge_request_result(request, answer->result);
        break;
    case TG_ANSWER_ERROR:
        if (request->bridge->parent.caller.dialect->is_sequential) {
            tg_bridge_request_raised(request, answer);
        } else {
            tg_bridge_request_refuse(request, answer);
        }

        break;
    case TG_ANSWER_NOT_STARTED:
        tg_bridge_request_unsent(request);
        break;
    default:
        tg_bridge_request_lost(request);
    }
}

/* --- from the agent --- */

static tg_bridge_request_t *
tg_bridge_request_new(tg_bridge_t *bridge, const tg_request_t *asked,
                      int is_list)
{
    tg_bridge_request_t *request;
    tg_mcp_call_t *said;
    size_t size;
    char *at;

    size = sizeof(*request) + asked->cursor.len + asked->name.len
           + asked->arguments.len + asked->meta.len + asked->input_responses.len
           + asked->request_state.len;
    request = tg_alloc(tg_alloc_libc(), size);

    if (request == NULL) {
        return NULL;
    }

    memset(request, 0, sizeof(*request));
    request->bridge = bridge;
    request->size = size;
    request->seq = ++bridge->seq;
    request->question.is_tool = 1;
    request->is_list = is_list != 0;
    request->has_progress = asked->progress_token.data != NULL;
    at = request->data;
    said = &request->said;
    request->cursor = tg_str_keep(&at, asked->cursor);
    said->name = tg_str_keep(&at, asked->name);
    said->arguments = tg_str_keep(&at, asked->arguments);
    said->meta = tg_str_keep(&at, asked->meta);
    said->input_responses = tg_str_keep(&at, asked->input_responses);
    said->request_state = tg_str_keep(&at, asked->request_state);
    said->is_modern = asked->reply.is_modern
                      && bridge->parent.caller.dialect->has_handshake;

    return request;
}

/* Whoever waits for a parent that does not come will be told. */
static void
tg_bridge_request_wait(tg_bridge_t *bridge)
{
    if (bridge->is_listed) {
        return;
    }

    if (!tg_bridge_timer_runs(bridge, TG_TIMER_GRACE)) {
        tg_bridge_timer_start(bridge, TG_TIMER_GRACE, bridge->options->grace);
    }

    /* It is asked for now, however long the wait was to be. */
    if (bridge->parent.state == TG_UV_CLIENT_WAITING) {
        tg_uv_client_connect(&bridge->parent);
    }
}

static void
tg_bridge_request_too_large(tg_bridge_request_t *request)
{
    char text[160];

    tg_uv_client_cancel(&request->bridge->parent, &request->question);
    (void) snprintf(text, sizeof(text),
                    "The arguments are larger than a message to %s may be: "
                    "%zu bytes, and at most %zu with the envelope; send less.",
                    tg_parent_name(request->bridge),
                    request->said.arguments.len,
                    request->bridge->parent.caller.max_frame);
    tg_bridge_request_fail(request, text);
}

int
tg_bridge_request_send(void *host, tg_uv_question_t *question)
{
    tg_bridge_request_t *request;
    tg_bridge_t *bridge;
    int rc;

    bridge = host;
    request = (tg_bridge_request_t *) question;
    tg_bridge_introduce(bridge);

    /* Its number is its token: the agent's may be anything. */
    rc = tg_mcp_client_pass(&bridge->mcp, &request->said,
                            request->has_progress ? request->seq : 0, question,
                            &question->id);

    if (rc == TG_LIMIT) {
        tg_bridge_request_too_large(request);
        rc = TG_CLOSED;
    }

    return rc;
}

void
tg_bridge_request_take(tg_bridge_t *bridge, const tg_request_t *asked,
                       int is_list, uint64_t round)
{
    tg_bridge_request_t *request;
    tg_outcome_t outcome;

    if (bridge->kept > TG_BRIDGE_KEPT_MAX) {
        outcome = tg_outcome_failure(
            TG_FAILURE_BUSY,
            "The calls in flight hold more than 64 MiB of arguments; call "
            "again when one of them has ended.");
        tg_peer_answer(&bridge->peer, &asked->reply, &outcome);
        return;
    }

    request = tg_bridge_request_new(bridge, asked, is_list);

    if (request == NULL) {
        tg_bridge_no_memory(bridge);
        return;
    }

    request->round = round;
    request->call = tg_peer_defer(&bridge->peer, asked);

    if (request->call == NULL) {
        tg_free(tg_alloc_libc(), request);
        return;
    }

    request->call->host = request;
    bridge->kept += request->size;

    if (is_list || !tg_parent_is_open(bridge)) {
        tg_bridge_request_wait(bridge);
    }

    if (!is_list) {
        tg_uv_client_ask(&bridge->parent, &request->question);
    }
}

void
tg_bridge_request_cancel(tg_bridge_request_t *request)
{
    const tg_bridge_request_t *other;
    tg_bridge_t *bridge;

    bridge = request->bridge;
    other = NULL;

    /*
     * ipc cannot say it, and until the answer came nothing else could be
     * called: a client that goes away is the word for it.
     */
    if (request->question.is_sent
        && bridge->parent.caller.dialect->is_sequential) {
        other = tg_bridge_requests_next(bridge, NULL);

        if (other == NULL || other->seq > request->seq) {
            tg_uv_client_drop(&bridge->parent);
        }
    }

    tg_uv_client_cancel(&bridge->parent, &request->question);
    tg_bridge_request_free(request);
}

/* --- all at once --- */

void
tg_bridge_requests_fail(tg_bridge_t *bridge)
{
    tg_bridge_request_t *request, *next;

    for (request = tg_bridge_requests_next(bridge, NULL); request != NULL;
         request = next)
    {
        next = tg_bridge_requests_next(bridge, request);

        /* Without its list the agent may show no tools: tell it of the next. */
        if (request->is_list) {
            bridge->told = 0;
            tg_bridge_request_fail(request, bridge->why);
        }
    }

    tg_uv_client_fail(&bridge->parent);
}

void
tg_bridge_requests_cancel(tg_bridge_t *bridge, const char *why)
{
    tg_bridge_request_t *request, *next;

    for (request = tg_bridge_requests_next(bridge, NULL); request != NULL;
         request = next)
    {
        next = tg_bridge_requests_next(bridge, request);

        tg_uv_client_cancel(&bridge->parent, &request->question);
        tg_bridge_request_fail(request, why);
    }
}

void
tg_bridge_requests_list(tg_bridge_t *bridge, const tg_answer_t *error)
{
    tg_bridge_request_t *request, *next;

    for (request = tg_bridge_requests_next(bridge, NULL); request != NULL;
         request = next)
    {
        next = tg_bridge_requests_next(bridge, request);

        if (!request->is_list) {
            continue;
        }

        if (error != NULL) {
            tg_bridge_request_refuse(request, error);

        } else if (request->round <= bridge->mcp.round) {
            if (request->cursor.data == NULL) {
                bridge->told = tg_catalogue_digest(bridge->tools);
            }

            /* Its cursor must live until the list is rendered. */
            tg_call_list(request->call, request->cursor);
            tg_bridge_request_free(request);
        }
    }
}

void
tg_bridge_requests_progress(tg_bridge_t *bridge, const tg_message_t *message)
{
    const tg_bridge_request_t *request;
    tg_call_t *call;
    uint64_t token;

    if (tg_caller_id(message->p.progress_token, &token) != TG_OK) {
        return;
    }

    for (call = bridge->peer.calls; call != NULL; call = call->next) {
        request = call->host;

        if (request->question.is_sent && request->seq == token) {
            tg_call_progress(call, message->p.progress, message->p.total,
                             message->p.message);
            return;
        }
    }
}
