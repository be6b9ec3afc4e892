#include "core/tg_peer_state_impl.h"

static void
tg_state_put_number(tg_buf_t *out, uint64_t value, unsigned size)
{
    char bytes[8];
    unsigned i;

    for (i = 0; i < size; i++) {
        bytes[i] = (char) (value >> 8 * (size - 1 - i));
    }

    tg_buf_put(out, bytes, size);
}

/* An absent slice is told from an empty one. */
static void
tg_state_put_str(tg_buf_t *out, tg_str_t str)
{
    tg_state_put_number(out, str.data != NULL ? str.len : TG_STATE_ABSENT, 4);

    if (str.data != NULL) {
        tg_buf_str(out, str);
    }
}

static void
tg_state_put_subscriptions(tg_peer_t *peer, tg_buf_t *out)
{
    const tg_subscription_t *sub;

    tg_state_put_number(out, peer->nsubscriptions, 4);

    for (sub = peer->subscriptions; sub != NULL; sub = sub->next) {
        tg_state_put_str(out, sub->id);
        tg_state_put_number(
            out, (sub->has_tools ? 1U : 0) | (sub->has_broadcasts ? 2U : 0), 1);
    }
}

static void
tg_state_put_asks(tg_peer_t *peer, tg_buf_t *out)
{
    const tg_ask_t *ask;

    tg_state_put_number(out, peer->can, 1);
    tg_state_put_number(out, peer->asked, 4);
    tg_state_put_number(out, tg_asks_count(peer), 4);

    for (ask = peer->asks; ask != NULL; ask = ask->next) {
        tg_state_put_number(out, ask->id, 4);
        tg_state_put_number(out, ask->tag, 8);
    }
}

static void
tg_state_take(tg_batch_t *batch, unsigned *n, tg_peer_take_pt take, void *data)
{
    if (batch != NULL && batch->number == 0) {
        batch->number = ++*n;
        take(data, &batch->replies);
    }
}

/*
 * Numbers the batches from 1 on: the one that is being served, which may have
 * no call in flight, then in the order of their oldest calls.
 */
static unsigned
tg_state_take_all(tg_peer_t *peer, tg_peer_take_pt take, void *data)
{
    const tg_call_t *call;
    unsigned n;

    for (call = peer->calls; call != NULL; call = call->next) {
        if (call->reply.batch != NULL) {
            call->reply.batch->number = 0;
        }
    }

    if (peer->batch != NULL) {
        peer->batch->number = 0;
    }

    n = 0;
    tg_state_take(peer->batch, &n, take, data);

    for (call = peer->oldest; call != NULL; call = call->prev) {
        tg_state_take(call->reply.batch, &n, take, data);
    }

    return n;
}

void
tg_peer_take_replies(tg_peer_t *peer, tg_peer_take_pt take, void *data)
{
    (void) tg_state_take_all(peer, take, data);
}

static void
tg_state_put_len(void *data, tg_buf_t *replies)
{
    tg_state_put_number(data, replies->len, 4);
}

static void
tg_state_put_replies(void *data, tg_buf_t *replies)
{
    tg_state_put_str(data, tg_buf_view(replies));
}

static void
tg_state_put_batches(tg_peer_t *peer, int is_apart, tg_buf_t *out)
{
    unsigned n, served;
    size_t at, end;

    served = peer->batch != NULL ? peer->batch->served : 0;
    tg_state_put_number(out, served, 4);
    tg_state_put_number(out, peer->work, served != 0 ? 8 : 0);
    at = out->len;
    tg_state_put_number(out, 0, 4);
    n = tg_state_take_all(peer,
                          is_apart ? tg_state_put_len : tg_state_put_replies,
                          out);

    /* How many they are, now that it is known. */
    end = out->len;
    out->len = at;
    tg_state_put_number(out, n, 4);
    out->len = end;
}

static int
tg_state_put_token(const tg_call_t *call, tg_peer_put_token_pt put_token,
                   tg_buf_t *out)
{
    tg_buf_t token;
    int rc;

    tg_buf_init(&token, out->alloc);

    if (put_token != NULL) {
        put_token(call->peer->host, call, &token);
    }

    rc = token.len <= TG_PEER_TOKEN_MAX ? TG_OK : TG_LIMIT;
    out->failed |= tg_buf_failed(&token);
    tg_state_put_str(out, tg_buf_view(&token));
    tg_buf_deinit(&token);

    return rc;
}

static int
tg_state_put_call(const tg_call_t *call, tg_peer_put_token_pt put_token,
                  tg_buf_t *out)
{
    const tg_reply_t *reply;
    const tg_entry_t *entry;
    unsigned flags;

    reply = &call->reply;
    entry = call->entry;
    flags = (reply->is_modern ? TG_STATE_IS_MODERN : 0)
            | (reply->is_mcp ? TG_STATE_IS_MCP : 0)
            | (reply->is_silent ? TG_STATE_IS_SILENT : 0);

    tg_state_put_number(out, reply->kind, 1);
    tg_state_put_number(out, flags, 1);
    tg_state_put_number(out, reply->batch != NULL ? reply->batch->number : 0,
                        4);
    tg_state_put_str(out, reply->id);
    tg_state_put_str(out, call->progress_token);
    tg_state_put_str(out, tg_str(call->progress, call->progress_len));
    tg_state_put_str(out, entry != NULL ? entry->name : TG_STR_NONE);
    tg_state_put_number(out, entry != NULL ? entry->output : 0, 1);
    tg_state_put_number(out, entry != NULL ? entry->output_digest : 0, 8);

    return tg_state_put_token(call, put_token, out);
}

int
tg_peer_save(tg_peer_t *peer, tg_peer_put_token_pt put_token, int is_apart,
             tg_buf_t *out)
{
    const tg_call_t *call;
    unsigned flags;
    int rc;

    flags = (peer->frame.is_discarding ? TG_STATE_IS_DISCARDING : 0)
            | (peer->is_refusing ? TG_STATE_IS_REFUSING : 0)
            | (peer->is_told ? TG_STATE_IS_TOLD : 0)
            | (peer->is_notification ? TG_STATE_IS_NOTIFICATION : 0)
            | (peer->is_mcp ? TG_STATE_IS_MCP : 0)
            | (peer->is_legacy ? TG_STATE_IS_LEGACY : 0)
            | (peer->is_modern ? TG_STATE_IS_CLAIMING : 0)
            | (peer->is_toolgate ? TG_STATE_IS_TOOLGATE : 0)
            | (peer->resends ? TG_STATE_RESENDS : 0)
            | (peer->is_closing ? TG_STATE_IS_CLOSING : 0);

    tg_buf_str(out, TG_STATE_MAGIC);
    tg_state_put_number(out, peer->dialect, 1);
    tg_state_put_number(out, peer->frame.kind, 1);
    tg_state_put_number(out, flags, 2);
    tg_state_put_str(out, tg_str_c(peer->version));
    tg_state_put_str(out, peer->client);
    tg_state_put_str(out, peer->client_version);
    tg_state_put_str(out, peer->client_via);
    tg_state_put_number(out,
                        tg_catalogue_view(peer->catalogue,
                                          peer->ops->is_visible, peer->host),
                        8);
    tg_state_put_subscriptions(peer, out);
    tg_state_put_asks(peer, out);
    tg_state_put_batches(peer, is_apart, out);
    tg_state_put_number(out, peer->ncalls, 4);

    for (call = peer->oldest; call != NULL; call = call->prev) {
        rc = tg_state_put_call(call, put_token, out);

        if (rc != TG_OK) {
            return rc;
        }
    }

    return tg_buf_failed(out) ? TG_NOMEM : TG_OK;
}
