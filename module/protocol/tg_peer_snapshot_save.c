/* Saving of a peer. */
#include "protocol/tg_peer_snapshot_impl.h"

static void
tg_snapshot_write_number(tg_buf_t *out, uint64_t value, unsigned size)
{
    char bytes[8];
    unsigned i;

    for (i = 0; i < size; i++) {
        bytes[i] = (char) (value >> 8 * (size - 1 - i));
    }

    tg_buf_append(out, bytes, size);
}

/* Writes a string. Absent and empty strings are distinct. */
static void
tg_snapshot_write_str(tg_buf_t *out, tg_str_t str)
{
    tg_snapshot_write_number(out,
                             str.data != NULL ? str.len : TG_SNAPSHOT_ABSENT,
                             4);

    if (str.data != NULL) {
        tg_buf_append_str(out, str);
    }
}

static void
tg_snapshot_write_subscriptions(tg_peer_t *peer, tg_buf_t *out)
{
    const tg_subscription_t *sub;

    tg_snapshot_write_number(out, peer->priv->nsubscriptions, 4);

    for (sub = peer->priv->subscriptions; sub != NULL; sub = sub->next) {
        tg_snapshot_write_str(out, sub->id);
        tg_snapshot_write_number(out, sub->filter, 1);
    }
}

/* Returns the position of a subscription, from 1 on; 0 for NULL. */
static unsigned
tg_snapshot_get_position(const tg_peer_t *peer, const tg_subscription_t *sub)
{
    const tg_subscription_t *at;
    unsigned i;

    if (sub == NULL) {
        return 0;
    }

    for (i = 1, at = peer->priv->subscriptions; at != sub; at = at->next) {
        i++;
    }

    return i;
}

/* Writes the list from its end, so that loading builds the same list. */
static void
tg_snapshot_write_resources(tg_peer_t *peer, tg_buf_t *out)
{
    const tg_resource_subscription_t *resource;
    unsigned i, n;

    tg_snapshot_write_number(out, peer->priv->nresources, 4);

    for (n = peer->priv->nresources; n != 0; n--) {
        resource = peer->priv->resources;

        for (i = 1; i < n; i++) {
            resource = resource->next;
        }

        tg_snapshot_write_number(out,
                                 tg_snapshot_get_position(peer, resource->sub),
                                 4);
        tg_snapshot_write_str(out, resource->uri);
        tg_snapshot_write_number(out, resource->version, 8);
    }
}

static void
tg_snapshot_write_server_requests(tg_peer_t *peer, tg_buf_t *out)
{
    const tg_server_request_t *server_request;

    tg_snapshot_write_number(out, peer->client_caps, 1);
    tg_snapshot_write_number(out, peer->priv->asked, 4);
    tg_snapshot_write_number(out, tg_peer_count_server_requests(peer), 4);

    for (server_request = peer->priv->server_requests; server_request != NULL;
         server_request = server_request->next)
    {
        tg_snapshot_write_number(out, server_request->id, 4);
        tg_snapshot_write_number(out, server_request->tag, 8);
    }
}

static void
tg_snapshot_write_rounds(tg_peer_t *peer, tg_buf_t *out)
{
    const tg_input_round_t *round;

    tg_snapshot_write_number(out, peer->nrounds, 4);

    for (round = peer->priv->rounds; round != NULL; round = round->next) {
        tg_snapshot_write_number(out, round->deadline_ms, 8);
        tg_snapshot_write_number(out, round->first, 4);
        tg_snapshot_write_number(out, round->answered, 4);
        tg_snapshot_write_str(out, round->id);
        tg_snapshot_write_str(out, round->text);
        tg_snapshot_write_str(out, round->inputs);
        tg_snapshot_write_str(out, round->state);
        tg_snapshot_write_str(out, tg_buf_view(&round->responses));
        out->failed |= tg_buf_has_failed(&round->responses);
    }
}

static void
tg_snapshot_take_batch(tg_batch_t *batch, unsigned *n,
                       tg_peer_take_replies_pt take, void *data)
{
    if (batch != NULL && batch->number == 0) {
        batch->number = ++*n;
        take(data, &batch->replies);
    }
}

/*
 * Numbers the batches from 1. The one being served comes first, since it may
 * have no call in flight, then the others by their oldest calls.
 */
static unsigned
tg_snapshot_take_batches(tg_peer_t *peer, tg_peer_take_replies_pt take,
                         void *data)
{
    const tg_call_t *call;
    unsigned n;

    for (call = peer->calls; call != NULL; call = call->next) {
        if (call->reply.batch != NULL) {
            call->reply.batch->number = 0;
        }
    }

    if (peer->priv->batch != NULL) {
        peer->priv->batch->number = 0;
    }

    n = 0;
    tg_snapshot_take_batch(peer->priv->batch, &n, take, data);

    for (call = peer->oldest; call != NULL; call = call->prev) {
        tg_snapshot_take_batch(call->reply.batch, &n, take, data);
    }

    return n;
}

void
tg_peer_take_replies(tg_peer_t *peer, tg_peer_take_replies_pt take, void *data)
{
    (void) tg_snapshot_take_batches(peer, take, data);
}

static void
tg_snapshot_write_len(void *data, tg_buf_t *replies)
{
    tg_snapshot_write_number(data, replies->len, 4);
}

static void
tg_snapshot_write_replies(void *data, tg_buf_t *replies)
{
    tg_snapshot_write_str(data, tg_buf_view(replies));
}

static void
tg_snapshot_write_batches(tg_peer_t *peer, int has_separate_replies,
                          tg_buf_t *out)
{
    unsigned n, served;
    size_t at, end;

    served = peer->priv->batch != NULL ? peer->priv->batch->served : 0;
    tg_snapshot_write_number(out, served, 4);
    tg_snapshot_write_number(out, peer->work, served != 0 ? 8 : 0);
    at = out->len;
    tg_snapshot_write_number(out, 0, 4);
    n = tg_snapshot_take_batches(peer,
                                 has_separate_replies
                                     ? tg_snapshot_write_len
                                     : tg_snapshot_write_replies,
                                 out);

    /* Fill in the number of batches. */
    end = out->len;
    out->len = at;
    tg_snapshot_write_number(out, n, 4);
    out->len = end;
}

static int
tg_snapshot_write_token(const tg_call_t *call, tg_peer_write_token_pt put_token,
                        tg_buf_t *out)
{
    tg_buf_t token;
    int rc;

    tg_buf_init(&token, out->alloc);

    if (put_token != NULL) {
        put_token(call->peer->host, call, &token);
    }

    rc = token.len <= TG_PEER_TOKEN_MAX ? TG_OK : TG_LIMIT;
    out->failed |= tg_buf_has_failed(&token);
    tg_snapshot_write_str(out, tg_buf_view(&token));
    tg_buf_deinit(&token);

    return rc;
}

static int
tg_snapshot_write_call(const tg_call_t *call, tg_peer_write_token_pt put_token,
                       tg_buf_t *out)
{
    const tg_reply_t *reply;
    const tg_catalog_entry_t *entry;
    unsigned flags;

    reply = &call->reply;
    entry = call->entry;
    flags = (reply->is_modern ? TG_SNAPSHOT_IS_MODERN : 0)
            | (reply->is_mcp ? TG_SNAPSHOT_IS_MCP : 0)
            | (reply->is_silent ? TG_SNAPSHOT_IS_SILENT : 0)
            | (reply->is_public ? TG_SNAPSHOT_IS_PUBLIC : 0)
            | (reply->is_list ? TG_SNAPSHOT_IS_LIST : 0);

    tg_snapshot_write_number(out, reply->kind, 1);
    tg_snapshot_write_number(out, flags, 1);
    tg_snapshot_write_number(out, reply->log_level, 1);
    tg_snapshot_write_number(out,
                             reply->batch != NULL ? reply->batch->number : 0,
                             4);
    tg_snapshot_write_str(out, reply->id);
    tg_snapshot_write_str(out, reply->subject);
    tg_snapshot_write_str(out, reply->mime);
    tg_snapshot_write_number(out, (uint64_t) reply->ttl_ms, 8);
    tg_snapshot_write_str(out, call->progress_token);
    tg_snapshot_write_str(out, tg_str(call->progress, call->progress_len));
    tg_snapshot_write_number(out, entry != NULL ? entry->kind : reply->kind, 1);
    tg_snapshot_write_str(out, entry != NULL ? entry->name : TG_STR_NONE);
    tg_snapshot_write_number(out, entry != NULL ? entry->output : 0, 1);
    tg_snapshot_write_number(out, entry != NULL ? entry->output_digest : 0, 8);

    return tg_snapshot_write_token(call, put_token, out);
}

int
tg_peer_save(tg_peer_t *peer, tg_peer_write_token_pt put_token,
             int has_separate_replies, tg_buf_t *out)
{
    const tg_call_t *call;
    tg_catalog_view_t view;
    unsigned flags, i;
    int rc;

    flags = (peer->frame.is_discarding ? TG_SNAPSHOT_IS_DISCARDING : 0)
            | (peer->priv->is_awaiting_id ? TG_SNAPSHOT_IS_REFUSING : 0)
            | (peer->priv->is_response ? TG_SNAPSHOT_IS_RESPONSE : 0)
            | (peer->priv->is_notification ? TG_SNAPSHOT_IS_NOTIFICATION : 0)
            | (peer->is_mcp ? TG_SNAPSHOT_IS_MCP : 0)
            | (peer->is_legacy ? TG_SNAPSHOT_IS_LEGACY : 0)
            | (peer->is_modern ? TG_SNAPSHOT_IS_MODERN_PEER : 0)
            | (peer->is_toolgate ? TG_SNAPSHOT_IS_TOOLGATE : 0)
            | (peer->resends ? TG_SNAPSHOT_RESENDS : 0)
            | (peer->is_closing ? TG_SNAPSHOT_IS_CLOSING : 0)
            | peer->priv->declared * TG_SNAPSHOT_DECLARED;

    tg_buf_append_str(out, TG_SNAPSHOT_MAGIC);
    tg_snapshot_write_number(out, peer->dialect, 1);
    tg_snapshot_write_number(out, peer->frame.kind, 1);
    tg_snapshot_write_number(out, flags, 2);
    tg_snapshot_write_str(out, tg_str_from_cstr(peer->priv->version));
    tg_snapshot_write_str(out, peer->client);
    tg_snapshot_write_str(out, peer->client_version);
    tg_snapshot_write_str(out, peer->client_via);
    tg_snapshot_write_number(out, peer->priv->log_level, 1);
    view = tg_catalog_get_view(peer->catalog, peer->priv->ops->is_visible,
                               peer->host);

    for (i = 0; i < TG_ENTRY_KINDS; i++) {
        tg_snapshot_write_number(out, view.kinds[i], 8);
    }

    tg_snapshot_write_subscriptions(peer, out);
    tg_snapshot_write_resources(peer, out);
    tg_snapshot_write_server_requests(peer, out);
    tg_snapshot_write_rounds(peer, out);
    tg_snapshot_write_batches(peer, has_separate_replies, out);
    tg_snapshot_write_number(out, peer->ncalls, 4);

    for (call = peer->oldest; call != NULL; call = call->prev) {
        rc = tg_snapshot_write_call(call, put_token, out);

        if (rc != TG_OK) {
            return rc;
        }
    }

    return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
}
