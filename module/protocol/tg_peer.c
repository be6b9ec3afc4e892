/* Lifecycle of a peer: frames in, calls out, answers back. */
#include "protocol/tg_peer_fast_path.h"
#include "protocol/tg_peer_impl.h"
#include "protocol/tg_peer_snapshot.h"

void
tg_peer_set_dialect(tg_peer_t *peer, tg_dialect_t dialect)
{
    peer->dialect = dialect;
    peer->row = tg_dialect_get(dialect);

    if (dialect != TG_DIALECT_AUTO) {
        peer->frame.kind = peer->row->framing;
        peer->frame.limit = tg_peer_max_message_size(peer);
    }
}

int
tg_peer_init(tg_peer_t *peer, const tg_alloc_t *alloc, const tg_peer_ops_t *ops,
             void *host, tg_dialect_t dialect, tg_catalog_t *catalog,
             const tg_server_info_t *info, size_t max_frame, unsigned max_calls)
{
    tg_peer_private_t *priv;

    priv = tg_calloc(alloc, sizeof(*priv));

    if (priv == NULL) {
        return TG_NOMEM;
    }

    memset(peer, 0, sizeof(*peer));
    peer->priv = priv;
    priv->alloc = alloc;
    priv->info = info;
    priv->ops = ops;
    peer->catalog = tg_catalog_ref(catalog);
    peer->host = host;
    peer->max_frame = max_frame;
    peer->max_calls = max_calls;
    tg_frame_init(&peer->frame, TG_FRAME_AUTO, max_frame);
    tg_peer_set_dialect(peer, dialect);
    tg_buf_init(&peer->out, alloc);

    return TG_OK;
}

void
tg_peer_set_catalog(tg_peer_t *peer, tg_catalog_t *catalog)
{
    (void) tg_catalog_ref(catalog);
    tg_catalog_unref(peer->catalog);
    peer->catalog = catalog;
    peer->priv->recent_entry = NULL;
}

void
tg_peer_deinit(tg_peer_t *peer)
{
    if (peer->priv == NULL) {
        return;
    }

    peer->is_closing = 1;

    while (peer->calls != NULL) {
        tg_call_cancel(peer->calls);
    }

    tg_peer_drop_parked(peer);
    tg_peer_drop_rounds(peer);
    tg_peer_end_batch(peer);

    while (peer->priv->server_requests != NULL) {
        tg_server_request_remove(peer, &peer->priv->server_requests);
    }

    tg_peer_drop_resources(peer, NULL);

    while (peer->priv->subscriptions != NULL) {
        tg_subscription_remove(peer, &peer->priv->subscriptions);
    }

    tg_catalog_unref(peer->catalog);
    peer->catalog = NULL;
    tg_peer_set_client_info(peer, TG_STR_NONE, TG_STR_NONE, TG_STR_NONE);
    tg_buf_deinit(&peer->out);
    tg_free(peer->priv->alloc, peer->priv);
    peer->priv = NULL;
}

static int
tg_line_is_blank(tg_str_t line)
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

/* Asks the host after the first line has decided the dialect. */
static int
tg_peer_is_client_refused(tg_peer_t *peer)
{
    const char *why;

    why = peer->priv->ops->refusal != NULL
              ? peer->priv->ops->refusal(peer->host, peer)
              : NULL;

    if (why != NULL) {
        tg_peer_refuse_client(peer, tg_str_from_cstr(why));
    }

    return why != NULL;
}

static int
tg_peer_on_frame(tg_peer_t *peer, tg_str_t frame)
{
    tg_message_t message;
    int rc;

    /* Clients send blank lines to keep a connection alive. */
    if (peer->frame.kind != TG_FRAME_PREFIX && tg_line_is_blank(frame)) {
        return TG_OK;
    }

    peer->frame_size = frame.len;

    if (peer->priv->batch != NULL) {
        return peer->row->resume_batch(peer, frame);
    }

    if (peer->frame.kind == TG_FRAME_PREFIX
        && tg_peer_serve_fast_path(peer, frame) != 0)
    {
        return TG_OK;
    }

    peer->work = 0;
    rc = tg_message_parse(&message, frame);

    /* The first valid line decides the dialect. */
    if (peer->dialect == TG_DIALECT_AUTO && rc == TG_OK) {
        tg_peer_set_dialect(peer, tg_dialect_detect(&message));

        if (tg_peer_is_client_refused(peer)) {
            return TG_CLOSED;
        }

        if (frame.len > peer->frame.limit) {
            return peer->row->on_oversized(peer, message.id);
        }
    }

    return peer->row->serve(peer, &message, rc);
}

void
tg_peer_serve_again(tg_peer_t *peer, tg_str_t text)
{
    (void) tg_peer_on_frame(peer, text);
}

static int
tg_peer_is_paused(const tg_peer_t *peer)
{
    return peer->out.len > TG_PEER_OUTPUT_MAX
           || (peer->ncalls + peer->nparked != 0 && peer->row->is_sequential);
}

/* Rejects an oversized message; only a request gets an answer. */
static int
tg_peer_reject_oversized(tg_peer_t *peer, tg_str_t id)
{
    if (peer->priv->is_response) {
        tg_peer_on_oversized_response(peer, id);
        return TG_OK;
    }

    if (peer->priv->is_notification && id.data == NULL) {
        tg_peer_notify_refused(peer, "it is too large");
        tg_peer_log(peer, "notification beyond the limit dropped");
        return TG_OK;
    }

    return peer->row->on_oversized(peer, id);
}

/*
 * The sender waits for a response with its id, which is at the beginning or the
 * end of the message, or is missing.
 */
static int
tg_peer_on_oversized(tg_peer_t *peer, tg_str_t head)
{
    tg_message_head_t known;
    tg_message_t line;

    if (peer->frame.kind == TG_FRAME_PREFIX
        || tg_message_parse_head(head, &known) != TG_OK)
    {
        peer->priv->is_response = 0;
        peer->priv->is_notification = 0;
        return tg_peer_reject_oversized(peer, TG_STR_NONE);
    }

    if (peer->dialect == TG_DIALECT_AUTO && known.kind.data != NULL) {
        line.type = TG_JSON_OBJECT;
        line.kind = known.kind;
        tg_peer_set_dialect(peer, tg_dialect_detect(&line));

        if (tg_peer_is_client_refused(peer)) {
            return TG_CLOSED;
        }
    }

    peer->priv->is_response = known.is_response
                              || (known.kind.data != NULL && !known.is_request);
    peer->priv->is_notification = tg_message_is_mcp_notification(known.method);
    peer->priv->is_awaiting_id = known.id.data == NULL;

    return peer->priv->is_awaiting_id
               ? TG_OK
               : tg_peer_reject_oversized(peer, known.id);
}

static int
tg_peer_on_oversized_end(tg_peer_t *peer, tg_str_t tail)
{
    tg_str_t id;

    if (!peer->priv->is_awaiting_id) {
        return TG_OK;
    }

    id = TG_STR_NONE;
    (void) tg_message_find_tail_id(tail, &id);
    peer->priv->is_awaiting_id = 0;

    return tg_peer_reject_oversized(peer, id);
}

tg_peer_wait_t
tg_peer_get_wait(const tg_peer_t *peer, size_t unsent, size_t left)
{
    if (unsent != 0) {
        return TG_WAIT_READ;
    }

    if (peer->ncalls + peer->nparked + peer->nrounds != 0) {
        return TG_WAIT_NOTHING;
    }

    return tg_frame_is_partial(&peer->frame, left) ? TG_WAIT_FRAME
                                                   : TG_WAIT_IDLE;
}

int
tg_peer_handle_message(tg_peer_t *peer, tg_str_t text)
{
    int rc;

    if (peer->is_closing) {
        return TG_CLOSED;
    }

    if (tg_peer_is_paused(peer)) {
        return TG_LIMIT;
    }

    if (text.len <= peer->frame.limit) {
        rc = tg_peer_on_frame(peer, text);
    } else {
        rc = tg_peer_on_oversized(peer, text);
        rc = rc == TG_OK ? tg_peer_on_oversized_end(peer, text) : rc;
    }

    if (tg_buf_has_failed(&peer->out)) {
        return TG_NOMEM;
    }

    peer->is_closing |= rc == TG_CLOSED;

    return rc;
}

int
tg_peer_serve_parked(tg_peer_t *peer)
{
    tg_parked_request_t *parked;
    tg_str_t text;
    unsigned n;
    int rc;

    rc = TG_OK;

    /* Requests that are parked again are appended to the list. */
    for (n = peer->nparked; n != 0 && rc == TG_OK; n--) {
        parked = tg_parked_take(peer, &text);
        rc = tg_peer_handle_message(peer, text);
        peer->parked_since = 0;

        if (rc == TG_LIMIT) {
            tg_parked_put_back(peer, parked);
        } else {
            tg_parked_free(peer, parked);
        }
    }

    return rc;
}

/* Returns the size of the served line without its line feed, or 0. */
static size_t
tg_peer_try_fast_path(tg_peer_t *peer, const char *data, size_t len)
{
    const char *newline;

    /* Skip lines that were scanned before: they must not be scanned twice. */
    if (peer->frame.kind != TG_FRAME_LINE || peer->frame.scanned != 0
        || peer->frame.is_discarding || peer->dialect == TG_DIALECT_AUTO
        || peer->priv->batch != NULL || peer->is_leaving
        || peer->refusal.len != 0 || data[len - 1] != '\n')
    {
        return 0;
    }

    /* Restrict the comparison to the first line. */
    newline = memchr(data, '\n', len);

    return tg_peer_serve_fast_path(peer,
                                   tg_str(data, (size_t) (newline - data) + 1));
}

/*
 * Serves the next frame of *size bytes. Returns as tg_peer_on_frame(), or
 * TG_END if the frame is incomplete.
 */
static int
tg_peer_serve_next(tg_peer_t *peer, const char *data, size_t len, size_t *size)
{
    tg_str_t frame;
    int rc;

    *size = 0;

    if (len == 0) {
        return TG_END;
    }

    *size = tg_peer_try_fast_path(peer, data, len);

    if (*size != 0) {
        *size += 1;
        return TG_OK;
    }

    rc = tg_frame_next(&peer->frame, data, len, size, &frame);

    if (rc == TG_AGAIN) {
        return TG_END;
    }

    rc = rc == TG_LIMIT ? tg_peer_on_oversized(peer, frame)
         : rc == TG_END ? tg_peer_on_oversized_end(peer, frame)
                        : tg_peer_on_frame(peer, frame);

    /* Keep the batch's bytes, and remember where the line ends. */
    if (rc == TG_AGAIN) {
        peer->frame.scanned = frame.len;
        *size = 0;
    }

    return rc;
}

int
tg_peer_handle_input(tg_peer_t *peer, const char *data, size_t len,
                     size_t *consumed)
{
    size_t at, size;
    int rc;

    at = 0;

    if (peer->frame.kind == TG_FRAME_AUTO && len != 0) {
        if (tg_frame_is_prefix(data[0])) {
            tg_peer_set_dialect(peer, tg_dialect_find_framing(TG_FRAME_PREFIX));
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

        rc = tg_peer_serve_next(peer, data + at, len - at, &size);
        at += size;
        *consumed = at;

        if (rc == TG_END) {
            return TG_OK;
        }

        if (tg_buf_has_failed(&peer->out)) {
            return TG_NOMEM;
        }

        if (rc == TG_CLOSED) {
            peer->is_closing = 1;

        } else if (rc == TG_AGAIN || (at != len && tg_peer_is_slice_over(peer)))
        {
            return TG_AGAIN;
        }
    }
}
