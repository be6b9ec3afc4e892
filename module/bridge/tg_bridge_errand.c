#include "bridge/tg_bridge.h"

#include <stdio.h>

/* Connections that a call may find closed before it was taken up. */
#define TG_ERRAND_TRIES 20

/* --- queues, in the order of the agent's requests --- */

static void
tg_queue_put(tg_errand_queue_t *queue, tg_errand_t *errand)
{
    tg_errand_t *prev;

    prev = queue->last;

    /* Only what must be sent again is older than what waits. */
    while (prev != NULL && prev->seq > errand->seq) {
        prev = prev->prev;
    }

    errand->prev = prev;
    errand->next = prev != NULL ? prev->next : queue->first;

    if (prev != NULL) {
        prev->next = errand;
    } else {
        queue->first = errand;
    }

    if (errand->next != NULL) {
        errand->next->prev = errand;
    } else {
        queue->last = errand;
    }
}

static void
tg_queue_take(tg_errand_queue_t *queue, tg_errand_t *errand)
{
    if (errand->prev != NULL) {
        errand->prev->next = errand->next;
    } else {
        queue->first = errand->next;
    }

    if (errand->next != NULL) {
        errand->next->prev = errand->prev;
    } else {
        queue->last = errand->prev;
    }
}

static tg_errand_queue_t *
tg_errand_queue(const tg_errand_t *errand)
{
    return errand->is_sent ? &errand->bridge->sent : &errand->bridge->waiting;
}

static void
tg_errand_move(tg_errand_t *errand, int is_sent)
{
    tg_queue_take(tg_errand_queue(errand), errand);
    errand->is_sent = is_sent != 0;
    tg_queue_put(tg_errand_queue(errand), errand);
}

static void
tg_errand_free(tg_errand_t *errand)
{
    tg_queue_take(tg_errand_queue(errand), errand);
    errand->bridge->kept -= errand->size;
    tg_free(tg_alloc_libc(), errand);
}

/* --- ends: each answers the agent and frees the errand --- */

static void
tg_errand_finish(tg_errand_t *errand, tg_outcome_t outcome)
{
    tg_call_t *call;

    call = errand->call;
    tg_errand_free(errand);
    tg_call_answer(call, &outcome);
}

/* An MCP error of the bridge's own: -32603. */
static void
tg_errand_fail(tg_errand_t *errand, const char *text)
{
    tg_errand_finish(errand, tg_outcome_failure(TG_FAILURE_INTERNAL, text));
}

static void
tg_errand_result(tg_errand_t *errand, tg_str_t result)
{
    tg_outcome_t outcome;

    /* What else is in it is between the tool and the agent. */
    if (tg_json_type(result) != TG_JSON_OBJECT) {
        tg_errand_fail(errand, "The tool's answer is no result: MCP demands "
                               "an object with \"content\".");
        return;
    }

    outcome.kind = TG_OUTCOME_RESULT;
    outcome.failure = TG_FAILURE_NONE;
    outcome.value = result;
    tg_errand_finish(errand, outcome);
}

/* The parent's own error, passed on as it is. */
static void
tg_errand_refuse(tg_errand_t *errand, const tg_answer_t *answer)
{
    tg_call_t *call;

    call = errand->call;
    tg_errand_free(errand);
    tg_call_error(call, answer->code, answer->message, answer->data);
}

/* What a tool of ipc raised becomes a result that names its class. */
static void
tg_errand_raised(tg_errand_t *errand, const tg_answer_t *answer)
{
    tg_buf_t result;

    tg_buf_init(&result, tg_alloc_libc());
    tg_buf_text(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    tg_buf_str(&result, answer->type);

    if (answer->type.len != 0 && answer->message.len != 0) {
        tg_buf_text(&result, ": ");
    }

    tg_buf_str(&result, answer->message);
    tg_buf_text(&result, "\"}],\"isError\":true}");

    if (tg_buf_failed(&result)) {
        tg_bridge_no_memory(errand->bridge);
    } else {
        tg_errand_result(errand, tg_buf_view(&result));
    }

    tg_buf_deinit(&result);
}

/*
 * It was with the parent when the connection ended: nobody knows how far it
 * came, so only the agent may decide to do it again.
 */
static void
tg_errand_lost(tg_errand_t *errand)
{
    tg_bridge_t *bridge;
    tg_outcome_t outcome;
    tg_buf_t text;

    bridge = errand->bridge;
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_text(&text, "The connection to ");
    tg_buf_text(&text, tg_parent_name(bridge));
    tg_buf_text(&text, " (");
    tg_buf_text(&text, bridge->label);
    tg_buf_text(&text, ") was lost while ");
    tg_json_put_decoded(&text, errand->name);
    tg_buf_text(&text, " was running. It may or may not have been executed; "
                       "it may be retried if doing it twice does no harm.");

    if (tg_buf_failed(&text)) {
        tg_bridge_no_memory(bridge);

    } else {
        outcome.kind = TG_OUTCOME_FAILURE;
        outcome.failure = bridge->options->dialect == TG_DIALECT_JSONRPC
                              ? TG_FAILURE_LOST
                              : TG_FAILURE_INTERNAL;
        outcome.value = tg_buf_view(&text);
        tg_errand_finish(errand, outcome);
    }

    tg_buf_deinit(&text);
}

static void
tg_errand_again(tg_errand_t *errand)
{
    if (errand->ntries < TG_ERRAND_TRIES) {
        tg_errand_move(errand, 0);
        return;
    }

    tg_errand_fail(errand, "The call could not be delivered: every connection "
                           "was closed before it was taken up. It was not "
                           "executed; call again.");
}

static void
tg_errand_answered(tg_bridge_t *bridge, void *tag, const tg_answer_t *answer)
{
    switch (answer->kind) {
    case TG_ANSWER_RESULT:
        tg_errand_result(tag, answer->result);
        break;
    case TG_ANSWER_ERROR:
        if (bridge->options->dialect == TG_DIALECT_IPC) {
            tg_errand_raised(tag, answer);
        } else {
            tg_errand_refuse(tag, answer);
        }

        break;
    case TG_ANSWER_NOT_STARTED:
        tg_errand_again(tag);
        break;
    default:
        tg_errand_lost(tag);
    }
}

/* --- from the agent --- */

static tg_errand_t *
tg_errand_new(tg_bridge_t *bridge, const tg_request_t *request, int is_list)
{
    tg_errand_t *errand;
    tg_str_t arguments;
    size_t size;

    arguments = is_list ? request->cursor : request->arguments;
    size = sizeof(*errand) + request->name.len + arguments.len;
    errand = tg_alloc(tg_alloc_libc(), size);

    if (errand == NULL) {
        return NULL;
    }

    memset(errand, 0, sizeof(*errand));
    errand->tag.answer = tg_errand_answered;
    errand->bridge = bridge;
    errand->size = size;
    errand->seq = ++bridge->seq;
    errand->is_list = is_list != 0;
    errand->has_progress = request->progress_token.data != NULL;

    if (request->name.len != 0) {
        memcpy(errand->data, request->name.data, request->name.len);
    }

    errand->name = tg_str(errand->data, request->name.len);

    if (arguments.data != NULL) {
        errand->arguments = tg_str(errand->data + request->name.len,
                                   arguments.len);
        memcpy(errand->data + request->name.len, arguments.data, arguments.len);
    }

    return errand;
}

/* Whoever waits for a parent that does not come will be told. */
static void
tg_errand_wait(tg_bridge_t *bridge)
{
    if (bridge->state == TG_PARENT_READY) {
        return;
    }

    if (!tg_bridge_timer_runs(bridge, TG_TIMER_GRACE)) {
        tg_bridge_timer_start(bridge, TG_TIMER_GRACE, bridge->options->grace);
    }

    tg_parent_need(bridge);
}

void
tg_errand_take(tg_bridge_t *bridge, const tg_request_t *request, int is_list,
               uint64_t round)
{
    tg_errand_t *errand;
    tg_outcome_t outcome;

    if (bridge->kept > TG_BRIDGE_KEPT_MAX) {
        outcome = tg_outcome_failure(
            TG_FAILURE_BUSY,
            "The calls in flight hold more than 64 MiB of arguments; call "
            "again when one of them has ended.");
        tg_peer_answer(&bridge->peer, &request->reply, &outcome);
        return;
    }

    errand = tg_errand_new(bridge, request, is_list);

    if (errand == NULL) {
        tg_bridge_no_memory(bridge);
        return;
    }

    errand->round = round;
    errand->call = tg_peer_defer(&bridge->peer, request);

    if (errand->call == NULL) {
        tg_free(tg_alloc_libc(), errand);
        return;
    }

    errand->call->host = errand;
    bridge->kept += errand->size;
    tg_queue_put(&bridge->waiting, errand);

    if (!is_list && tg_parent_is_open(bridge)) {
        tg_errands_send(bridge);
    } else {
        tg_errand_wait(bridge);
    }
}

void
tg_errand_cancel(tg_errand_t *errand)
{
    tg_bridge_t *bridge;
    int is_running;

    bridge = errand->bridge;

    if (errand->is_sent && !bridge->is_quitting) {
        is_running = errand == bridge->sent.first;
        (void) tg_caller_cancel(&bridge->caller, errand->id, 1);

        /*
         * ipc cannot say it, and until the answer came nothing else could
         * be called: a client that goes away is the word for it.
         */
        if (bridge->options->dialect == TG_DIALECT_IPC && is_running) {
            tg_parent_drop(bridge);
        }
    }

    tg_errand_free(errand);
}

/* --- to the parent --- */

static int
tg_errand_send(tg_bridge_t *bridge, tg_errand_t *errand)
{
    char room[48];
    tg_str_t meta;
    int n;

    meta = TG_STR_NONE;

    /* The errand's number is its token: the agent's may be anything. */
    if (errand->has_progress) {
        n = snprintf(room, sizeof(room), "{\"progressToken\":%llu}",
                     (unsigned long long) errand->seq);
        meta = tg_str(room, (size_t) n);
    }

    return tg_caller_call_tool(&bridge->caller, errand->name, errand->arguments,
                               meta, errand, &errand->id);
}

static void
tg_errand_too_large(tg_errand_t *errand)
{
    char text[160];

    (void) snprintf(text, sizeof(text),
                    "The arguments are larger than a message to %s may be: "
                    "%zu bytes, and at most %zu with the envelope; send less.",
                    tg_parent_name(errand->bridge), errand->arguments.len,
                    errand->bridge->caller.max_frame);
    tg_errand_fail(errand, text);
}

void
tg_errands_send(tg_bridge_t *bridge)
{
    tg_errand_t *errand, *next;

    for (errand = bridge->waiting.first; errand != NULL; errand = next) {
        next = errand->next;

        if (errand->is_list) {
            continue;
        }

        switch (tg_errand_send(bridge, errand)) {
        case TG_OK:
            errand->ntries++;
            tg_errand_move(errand, 1);
            break;
        case TG_CLOSED:
            /* It said goodbye; the next connection takes them. */
            return;
        case TG_LIMIT:
            tg_errand_too_large(errand);
            break;
        default:
            tg_bridge_no_memory(bridge);
            return;
        }
    }
}

void
tg_errands_fail(tg_bridge_t *bridge, const char *text)
{
    while (bridge->waiting.first != NULL) {
        /* Without its list the agent may show no tools: tell it of the next. */
        if (bridge->waiting.first->is_list) {
            bridge->told = 0;
        }

        tg_errand_fail(bridge->waiting.first, text);
    }
}

void
tg_errands_refuse_lists(tg_bridge_t *bridge, const tg_answer_t *answer)
{
    tg_errand_t *errand, *next;

    for (errand = bridge->waiting.first; errand != NULL; errand = next) {
        next = errand->next;

        if (errand->is_list) {
            tg_errand_refuse(errand, answer);
        }
    }
}

void
tg_errands_list(tg_bridge_t *bridge, uint64_t round)
{
    tg_errand_t *errand, *next;

    for (errand = bridge->waiting.first; errand != NULL; errand = next) {
        next = errand->next;

        if (!errand->is_list || errand->round > round) {
            continue;
        }

        if (errand->arguments.data == NULL) {
            bridge->told = tg_tools_digest(bridge->tools);
        }

        /* Its cursor must live until the list is rendered. */
        tg_call_list(errand->call, errand->arguments);
        tg_errand_free(errand);
    }
}

int
tg_errands_want_list(const tg_bridge_t *bridge)
{
    const tg_errand_t *errand;

    for (errand = bridge->waiting.first; errand != NULL; errand = errand->next)
    {
        if (errand->is_list) {
            return 1;
        }
    }

    return 0;
}

void
tg_errands_progress(tg_bridge_t *bridge, const tg_message_t *message)
{
    tg_errand_t *errand;
    int64_t token;

    if (tg_json_int64(message->p.progress_token, &token) != TG_OK) {
        return;
    }

    for (errand = bridge->sent.first; errand != NULL; errand = errand->next) {
        if (errand->seq == (uint64_t) token) {
            tg_call_progress(errand->call, message->p.progress,
                             message->p.total, message->p.message);
            return;
        }
    }
}
