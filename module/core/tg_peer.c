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
tg_peer_deinit(tg_peer_t *peer)
{
    tg_subscription_t *sub;

    peer->is_closing = 1;

    while (peer->calls != NULL) {
        tg_call_cancel(peer->calls);
    }

    tg_batch_end(peer);

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
    if (request->entry != NULL
        || (peer->ops->is_proxy && request->reply.kind == TG_ENTRY_TOOL))
    {
        peer->ops->call(peer->host, peer, request);
    } else {
        tg_peer_unknown(peer, request);
    }
}

void
tg_peer_unknown(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_buf_t text;

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
        outcome = tg_outcome_failed(TG_FAILURE_UNKNOWN, tg_buf_view(&text));
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

    if (peer->batch != NULL) {
        return tg_dialect(peer->dialect)->serve_on(peer, frame);
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

int
tg_peer_must_stop(const tg_peer_t *peer)
{
    return peer->ops->is_turn_over != NULL
           && peer->ops->is_turn_over(peer->host);
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

        /* In its middle: it comes again, and where it ends is known. */
        if (rc == TG_AGAIN) {
            peer->frame.scanned = frame.len;
            *consumed = at - part;
            return TG_AGAIN;
        }

        if (rc == TG_CLOSED) {
            peer->is_closing = 1;

        } else if (at != len && tg_peer_must_stop(peer)) {
            *consumed = at;
            return TG_AGAIN;
        }
    }
}

int
tg_peer_is_idle(const tg_peer_t *peer)
{
    return peer->ncalls == 0 && peer->out.len == 0;
}
