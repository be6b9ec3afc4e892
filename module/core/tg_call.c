/*
 * Calls in flight: taken, told on, answered, given up.
 */
#include "base/tg_list.h"
#include "core/tg_peer_impl.h"
#include "core/tg_peer_state.h"

static size_t
tg_call_size(const tg_call_t *call)
{
    return sizeof(*call) + call->reply.id.len + call->progress_token.len
           + call->held;
}

void
tg_call_link(tg_call_t *call)
{
    tg_peer_t *peer;

    peer = call->peer;
    TG_LIST_INSERT(peer->calls, peer->oldest, (tg_call_t *) NULL, call);
    peer->ncalls++;
    peer->kept += tg_call_size(call);
}

static void
tg_call_unlink(tg_call_t *call)
{
    tg_peer_t *peer;

    peer = call->peer;
    TG_LIST_REMOVE(peer->calls, peer->oldest, call);
    peer->ncalls--;
    peer->kept -= tg_call_size(call);
}

void
tg_call_hold(tg_call_t *call, size_t bytes)
{
    call->peer->kept += bytes - call->held;
    call->held = bytes;
}

size_t
tg_peer_kept(const tg_peer_t *peer)
{
    return peer->kept + peer->out.cap;
}

/* The call's end, answered or not. */
static void
tg_call_free(tg_call_t *call)
{
    tg_peer_t *peer;
    tg_batch_t *batch;

    peer = call->peer;
    batch = call->reply.batch;
    tg_free(peer->alloc, call);

    if (batch != NULL) {
        tg_batch_release(peer, batch);
    }
}

void
tg_call_cancel(tg_call_t *call)
{
    tg_call_unlink(call);
    call->peer->ops->cancel(call->peer->host, call);
    tg_call_free(call);
}

tg_batch_t *
tg_batch_new(const tg_peer_t *peer)
{
    tg_batch_t *batch;

    batch = tg_calloc(peer->alloc, sizeof(*batch));

    if (batch != NULL) {
        tg_buf_init(&batch->replies, peer->alloc);
        batch->refs = 1;
    }

    return batch;
}

/* Its replies have grown. */
void
tg_batch_count(tg_peer_t *peer, tg_batch_t *batch)
{
    peer->kept += batch->replies.cap - batch->kept;
    batch->kept = batch->replies.cap;
}

void
tg_batch_release(tg_peer_t *peer, tg_batch_t *batch)
{
    if (--batch->refs != 0) {
        return;
    }

    peer->kept -= batch->kept;

    if (batch->replies.len != 0) {
        tg_buf_char(&peer->out, '[');
        tg_buf_str(&peer->out, tg_buf_view(&batch->replies));
        tg_buf_put(&peer->out, "]\n", 2);
    }

    tg_buf_deinit(&batch->replies);
    tg_free(peer->alloc, batch);
}

void
tg_batch_end(tg_peer_t *peer)
{
    tg_batch_t *batch;

    batch = peer->batch;
    peer->batch = NULL;

    if (batch != NULL) {
        tg_batch_release(peer, batch);
    }
}

static void
tg_peer_refuse(tg_peer_t *peer, const tg_request_t *request)
{
    char room[160];
    tg_outcome_t outcome;
    tg_buf_t text;

    /* One number and what is spelled out here. */
    text = tg_buf_fixed(room, sizeof(room));
    tg_buf_text(&text, "This connection may have ");
    tg_buf_uint(&text, peer->max_calls);
    tg_buf_text(&text, " calls running (tool_max_inflight), and has; call "
                       "again when one of them has ended.");

    outcome = tg_outcome_failed(TG_FAILURE_BUSY, tg_buf_view(&text));
    tg_reply_outcome(peer, &request->reply, &outcome);
}

tg_call_t *
tg_peer_defer(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_call_t *call;
    tg_str_t name;
    char *copy;

    if (peer->ncalls >= peer->max_calls) {
        tg_peer_refuse(peer, request);
        return NULL;
    }

    name = request->entry != NULL ? request->entry->name : TG_STR_NONE;
    call = tg_alloc(peer->alloc, sizeof(*call) + request->reply.id.len
                                     + request->progress_token.len + name.len);

    if (call == NULL) {
        outcome = tg_outcome_no_memory();
        tg_reply_outcome(peer, &request->reply, &outcome);
        return NULL;
    }

    memset(call, 0, sizeof(*call));
    call->peer = peer;
    call->reply = request->reply;
    copy = (char *) (call + 1);

    /* The catalogue may be another one before it ends. */
    if (request->entry != NULL) {
        call->entry = &call->own;
        call->own.kind = request->entry->kind;
        call->own.output = request->entry->output;
        call->own.output_digest = request->entry->output_digest;
        memcpy(copy, name.data, name.len);
        call->own.name = tg_str(copy, name.len);
        copy += name.len;
    }

    if (request->reply.id.data != NULL) {
        memcpy(copy, request->reply.id.data, request->reply.id.len);
        call->reply.id.data = copy;
        copy += request->reply.id.len;
    }

    if (request->progress_token.data != NULL) {
        memcpy(copy, request->progress_token.data, request->progress_token.len);
        call->progress_token = tg_str(copy, request->progress_token.len);
    }

    if (call->reply.batch != NULL) {
        call->reply.batch->refs++;
    }

    tg_call_link(call);

    return call;
}

void
tg_peer_answer(tg_peer_t *peer, const tg_reply_t *reply,
               const tg_outcome_t *outcome)
{
    tg_reply_outcome(peer, reply, outcome);
}

void
tg_call_forget(tg_call_t *call)
{
    tg_call_unlink(call);
    tg_call_free(call);
}

void
tg_call_answer(tg_call_t *call, const tg_outcome_t *outcome)
{
    tg_call_unlink(call);
    tg_reply_outcome(call->peer, &call->reply, outcome);
    tg_call_free(call);
}

void
tg_call_error(tg_call_t *call, int64_t code, tg_str_t message, tg_str_t data)
{
    tg_buf_t text;

    tg_call_unlink(call);
    tg_buf_init(&text, call->peer->alloc);
    tg_json_put_decoded(&text, message);

    if (tg_buf_failed(&text)) {
        call->peer->out.failed = 1;
    } else {
        tg_dialect(call->peer->dialect)
            ->error(call->peer, &call->reply, code, tg_buf_view(&text), data);
    }

    tg_buf_deinit(&text);
    tg_call_free(call);
}

void
tg_call_list(tg_call_t *call, tg_str_t cursor)
{
    tg_call_unlink(call);
    tg_peer_list(call->peer, &call->reply, cursor);
    tg_call_free(call);
}

void
tg_peer_forget(tg_peer_t *peer)
{
    tg_call_t *call;

    if (peer->batch != NULL) {
        tg_buf_reset(&peer->batch->replies, 0);
    }

    while ((call = peer->calls) != NULL) {
        if (call->reply.batch != NULL) {
            tg_buf_reset(&call->reply.batch->replies, 0);
        }

        tg_call_unlink(call);
        tg_call_free(call);
    }
}
