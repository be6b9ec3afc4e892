/*
 * The peer's life: frames in, calls out, answers back.
 */
#include "core/tg_peer_impl.h"
#include "core/tg_peer_state.h"

size_t
tg_peer_limit(const tg_peer_t *peer)
{
    size_t limit;

    limit = tg_dialect(peer->dialect)->max_frame;

    return limit != 0 ? limit : peer->max_frame;
}

void
tg_peer_frame_as(tg_peer_t *peer, tg_dialect_t dialect)
{
    peer->dialect = dialect;

    if (dialect != TG_DIALECT_AUTO) {
        peer->frame.kind = tg_dialect(dialect)->framing;
        peer->frame.limit = tg_peer_limit(peer);
    }
}

void
tg_peer_init(tg_peer_t *peer, const tg_alloc_t *alloc, const tg_peer_ops_t *ops,
             void *host, tg_dialect_t dialect, const tg_catalogue_t *catalogue,
             const tg_info_t *info, size_t max_frame, unsigned max_calls)
{
    memset(peer, 0, sizeof(*peer));
    peer->alloc = alloc;
    peer->catalogue = catalogue;
    peer->info = info;
    peer->ops = ops;
    peer->host = host;
    peer->max_frame = max_frame;
    peer->max_calls = max_calls;
    tg_frame_init(&peer->frame, TG_FRAME_AUTO, max_frame);
    tg_peer_frame_as(peer, dialect);
    tg_buf_init(&peer->out, alloc);
}

void
tg_peer_log(tg_peer_t *peer, const char *text)
{
    if (peer->ops->log != NULL) {
        peer->ops->log(peer->host, text);
    }
}

/* --- calls in flight --- */

void
tg_call_link(tg_call_t *call)
{
    tg_peer_t *peer;

    peer = call->peer;
    call->prev = NULL;
    call->next = peer->calls;

    if (call->next != NULL) {
        call->next->prev = call;
    }

    peer->calls = call;
    peer->ncalls++;
}

static void
tg_call_unlink(tg_call_t *call)
{
    tg_peer_t *peer;

    peer = call->peer;

    if (call->prev != NULL) {
        call->prev->next = call->next;
    } else {
        peer->calls = call->next;
    }

    if (call->next != NULL) {
        call->next->prev = call->prev;
    }

    peer->ncalls--;
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

static void
tg_call_cancel(tg_call_t *call)
{
    tg_call_unlink(call);
    call->peer->ops->cancel(call->peer->host, call);
    tg_call_free(call);
}

void
tg_batch_release(tg_peer_t *peer, tg_batch_t *batch)
{
    if (--batch->refs != 0) {
        return;
    }

    if (batch->replies.len != 0) {
        tg_buf_char(&peer->out, '[');
        tg_buf_str(&peer->out, tg_buf_view(&batch->replies));
        tg_buf_put(&peer->out, "]\n", 2);
    }

    tg_buf_deinit(&batch->replies);
    tg_free(peer->alloc, batch);
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

    outcome = tg_outcome_failure(TG_FAILURE_BUSY, "");
    outcome.value = tg_buf_view(&text);
    tg_reply_outcome(peer, &request->reply, &outcome);
}

tg_call_t *
tg_peer_defer(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_call_t *call;
    char *copy;

    if (peer->ncalls >= peer->max_calls) {
        tg_peer_refuse(peer, request);
        return NULL;
    }

    call = tg_alloc(peer->alloc, sizeof(*call) + request->reply.id.len
                                     + request->progress_token.len);

    if (call == NULL) {
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                     "Toolgate has no memory left; try again.");
        tg_reply_outcome(peer, &request->reply, &outcome);
        return NULL;
    }

    memset(call, 0, sizeof(*call));
    call->peer = peer;
    call->entry = request->entry;
    call->reply = request->reply;
    copy = (char *) (call + 1);

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

/* The same id: to the letter, or the same string in other escapes. */
static int
tg_id_eq(tg_str_t a, tg_str_t b)
{
    if (tg_str_eq(a, b)) {
        return 1;
    }

    return tg_json_type(a) == TG_JSON_STRING
           && tg_json_type(b) == TG_JSON_STRING
           && tg_json_body_eq(tg_json_body(a), tg_json_body(b));
}

int
tg_peer_has_id(const tg_peer_t *peer, tg_str_t id)
{
    const tg_call_t *call;
    const tg_subscription_t *sub;

    for (call = peer->calls; call != NULL; call = call->next) {
        if (tg_id_eq(call->reply.id, id)) {
            return 1;
        }
    }

    for (sub = peer->subscriptions; sub != NULL; sub = sub->next) {
        if (tg_id_eq(sub->id, id)) {
            return 1;
        }
    }

    return 0;
}

void
tg_peer_cancel(tg_peer_t *peer, tg_str_t id)
{
    tg_subscription_t **at, *sub;
    tg_call_t *call;

    if (id.data == NULL) {
        return;
    }

    for (call = peer->calls; call != NULL; call = call->next) {
        if (call->reply.id.data != NULL && tg_id_eq(call->reply.id, id)) {
            tg_call_cancel(call);
            return;
        }
    }

    for (at = &peer->subscriptions; *at != NULL; at = &(*at)->next) {
        sub = *at;

        if (tg_id_eq(sub->id, id)) {
            *at = sub->next;
            tg_free(peer->alloc, sub);
            peer->nsubscriptions--;
            return;
        }
    }
}

void
tg_peer_forget(tg_peer_t *peer)
{
    tg_call_t *call;

    while ((call = peer->calls) != NULL) {
        if (call->reply.batch != NULL) {
            tg_buf_reset(&call->reply.batch->replies, 0);
        }

        tg_call_unlink(call);
        tg_call_free(call);
    }
}

void
tg_peer_deinit(tg_peer_t *peer)
{
    tg_subscription_t *sub;

    peer->is_closing = 1;

    while (peer->calls != NULL) {
        tg_call_cancel(peer->calls);
    }

    while ((sub = peer->subscriptions) != NULL) {
        peer->subscriptions = sub->next;
        tg_free(peer->alloc, sub);
    }

    peer->nsubscriptions = 0;
    tg_buf_deinit(&peer->out);
}

/* --- requests --- */

void
tg_peer_dispatch(tg_peer_t *peer, tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    if (request->entry != NULL && peer->ops->is_visible != NULL
        && !peer->ops->is_visible(peer->host, request->entry))
    {
        request->entry = NULL;
    }

    if (request->entry != NULL
        || (peer->ops->is_proxy && request->reply.kind == TG_ENTRY_TOOL))
    {
        peer->ops->call(peer->host, peer, request);
        return;
    }

    /* Decoded: a message is a text of its own. */
    tg_buf_init(&text, peer->alloc);
    tg_buf_text(&text, request->reply.kind == TG_ENTRY_TOOL
                           ? "Unknown tool: "
                           : "Method not found: ");
    tg_json_put_decoded(
        &text, tg_str(request->name.data,
                      request->name.len > TG_NAME_MAX ? 0 : request->name.len));

    if (request->reply.kind == TG_ENTRY_TOOL) {
        tg_buf_text(&text, ". Ask for the list of tools to see what there is.");
    }

    if (tg_buf_failed(&text)) {
        peer->out.failed = 1;
    } else {
        outcome = tg_outcome_text(tg_buf_view(&text));
        outcome.kind = TG_OUTCOME_FAILURE;
        outcome.failure = TG_FAILURE_UNKNOWN;
        tg_reply_outcome(peer, &request->reply, &outcome);
    }

    tg_buf_deinit(&text);
}

static int
tg_is_blank(tg_str_t line)
{
    size_t i;

    for (i = 0; i < line.len; i++) {
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r')
        {
            return 0;
        }
    }

    return 1;
}

static int
tg_peer_frame(tg_peer_t *peer, tg_str_t frame)
{
    tg_message_t message;
    int rc;

    /* A line that is blank may keep a connection alive. */
    if (peer->frame.kind != TG_FRAME_PREFIX && tg_is_blank(frame)) {
        return TG_OK;
    }

    rc = tg_message_parse(&message, frame);

    /* The first line of an undecided connection decides, once it is valid. */
    if (peer->dialect == TG_DIALECT_AUTO && rc == TG_OK) {
        tg_peer_frame_as(peer, tg_dialect_spoken(&message));

        if (frame.len > peer->frame.limit) {
            return tg_dialect(peer->dialect)->too_large(peer, message.id);
        }
    }

    return tg_dialect(peer->dialect)->serve(peer, &message, rc);
}

static int
tg_peer_is_paused(const tg_peer_t *peer)
{
    return peer->out.len > TG_PEER_BACKLOG
           || (peer->ncalls != 0 && tg_dialect(peer->dialect)->is_sequential);
}

/*
 * Whoever sent it waits for an answer with its id, which stands at the
 * beginning or at the end of the message, or is not told.
 */
static int
tg_peer_too_large(tg_peer_t *peer, tg_str_t head)
{
    tg_str_t id;
    int rc;

    id = TG_STR_NONE;
    rc = peer->frame.kind == TG_FRAME_PREFIX ? TG_BAD
                                             : tg_message_head_id(head, &id);
    peer->is_refusing = rc == TG_MISSING;

    return peer->is_refusing ? TG_OK
                             : tg_dialect(peer->dialect)->too_large(peer, id);
}

static int
tg_peer_refuse_end(tg_peer_t *peer, tg_str_t tail)
{
    tg_str_t id;

    if (!peer->is_refusing) {
        return TG_OK;
    }

    id = TG_STR_NONE;
    (void) tg_message_tail_id(tail, &id);
    peer->is_refusing = 0;

    return tg_dialect(peer->dialect)->too_large(peer, id);
}

int
tg_peer_message(tg_peer_t *peer, tg_str_t text)
{
    int rc;

    if (peer->is_closing) {
        return TG_CLOSED;
    }

    if (tg_peer_is_paused(peer)) {
        return TG_LIMIT;
    }

    if (text.len <= peer->frame.limit) {
        rc = tg_peer_frame(peer, text);
    } else {
        rc = tg_peer_too_large(peer, text);
        rc = rc == TG_OK ? tg_peer_refuse_end(peer, text) : rc;
    }

    if (tg_buf_failed(&peer->out)) {
        return TG_NOMEM;
    }

    peer->is_closing |= rc == TG_CLOSED;

    return rc;
}

int
tg_peer_input(tg_peer_t *peer, const char *data, size_t len, size_t *consumed)
{
    tg_str_t frame;
    size_t at, part;
    int rc;

    at = 0;

    if (peer->frame.kind == TG_FRAME_AUTO && len != 0) {
        if (data[0] == '\0') {
            tg_peer_frame_as(peer, tg_dialect_framed(TG_FRAME_PREFIX));
        } else {
            peer->frame.kind = TG_FRAME_LINE;
        }
    }

    for (;;) {
        if (peer->is_closing) {
            *consumed = len;
            return TG_CLOSED;
        }

        if (tg_peer_is_paused(peer)) {
            *consumed = at;
            return TG_LIMIT;
        }

        rc = tg_frame_next(&peer->frame, data + at, len - at, &part, &frame);
        at += part;

        if (rc == TG_AGAIN) {
            *consumed = at;
            return TG_OK;
        }

        rc = rc == TG_LIMIT ? tg_peer_too_large(peer, frame)
             : rc == TG_END ? tg_peer_refuse_end(peer, frame)
                            : tg_peer_frame(peer, frame);

        if (tg_buf_failed(&peer->out)) {
            *consumed = at;
            return TG_NOMEM;
        }

        if (rc == TG_CLOSED) {
            peer->is_closing = 1;
        }
    }
}

int
tg_peer_is_idle(const tg_peer_t *peer)
{
    return peer->ncalls == 0 && peer->out.len == 0;
}
