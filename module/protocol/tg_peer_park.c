/*
 * Parked requests wait for something they need and are served later as if they
 * had just arrived. Nothing of them was executed.
 */
#include "protocol/tg_peer_impl.h"

/* A parked request. data has its raw id, then its whole message. */
struct tg_parked_request_s {
    tg_parked_request_t *next;
    uint64_t since;
    size_t id_len;
    size_t len;
    char data[];
};

static size_t
tg_parked_size(const tg_parked_request_t *parked)
{
    return sizeof(*parked) + parked->id_len + parked->len;
}

static tg_str_t
tg_parked_id(const tg_parked_request_t *parked)
{
    return tg_str(parked->data, parked->id_len);
}

void
tg_parked_free(tg_peer_t *peer, tg_parked_request_t *parked)
{
    peer->priv->memory_bytes -= tg_parked_size(parked);
    tg_free(peer->priv->alloc, parked);
}

static void
tg_parked_remove(tg_peer_t *peer, tg_parked_request_t **at)
{
    tg_parked_request_t *parked;

    parked = *at;
    *at = parked->next;
    peer->nparked--;
    tg_parked_free(peer, parked);
}

/* Returns the link to the request, or the end of the list. */
static tg_parked_request_t **
tg_parked_find(tg_peer_t *peer, tg_str_t id)
{
    tg_parked_request_t **at;

    for (at = &peer->priv->parked; *at != NULL; at = &(*at)->next) {
        if (tg_str_eq(tg_parked_id(*at), id)) {
            break;
        }
    }

    return at;
}

int
tg_peer_has_parked(tg_peer_t *peer, tg_str_t id)
{
    return peer->nparked != 0 && *tg_parked_find(peer, id) != NULL;
}

void
tg_peer_cancel_parked(tg_peer_t *peer, tg_str_t id)
{
    tg_parked_request_t **at;

    at = tg_parked_find(peer, id);

    if (*at != NULL) {
        tg_parked_remove(peer, at);
    }
}

void
tg_peer_drop_parked(tg_peer_t *peer)
{
    while (peer->priv->parked != NULL) {
        tg_parked_remove(peer, &peer->priv->parked);
    }
}

int
tg_peer_park_request(tg_peer_t *peer, const tg_request_t *request,
                     uint64_t since)
{
    tg_parked_request_t *parked, **at;
    char *p;

    if (request->text.data == NULL || request->reply.batch != NULL
        || request->reply.is_silent
        || peer->nparked + peer->nrounds + peer->ncalls >= peer->max_calls)
    {
        return TG_MISSING;
    }

    parked = tg_alloc(peer->priv->alloc, sizeof(*parked) + request->reply.id.len
                                             + request->text.len);

    if (parked == NULL) {
        return TG_NOMEM;
    }

    p = parked->data;
    parked->next = NULL;
    parked->since = since;
    parked->id_len = tg_str_copy_to(&p, request->reply.id).len;
    parked->len = tg_str_copy_to(&p, request->text).len;

    for (at = &peer->priv->parked; *at != NULL; at = &(*at)->next) { /* void */
    }

    *at = parked;
    peer->nparked++;
    peer->priv->memory_bytes += tg_parked_size(parked);

    return TG_OK;
}

tg_parked_request_t *
tg_parked_take(tg_peer_t *peer, tg_str_t *text)
{
    tg_parked_request_t *parked;

    parked = peer->priv->parked;
    peer->priv->parked = parked->next;
    peer->nparked--;
    peer->parked_since = parked->since;
    *text = tg_str(parked->data + parked->id_len, parked->len);

    return parked;
}

void
tg_parked_put_back(tg_peer_t *peer, tg_parked_request_t *parked)
{
    parked->next = peer->priv->parked;
    peer->priv->parked = parked;
    peer->nparked++;
}
