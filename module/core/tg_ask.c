/*
 * Requests of the server's to its client, which MCP's legacy versions have:
 * what the client says it can be asked, what it was asked, what it told.
 */
#include "core/tg_peer_impl.h"

/* Replaces a text that the peer owns; it is empty when there is no memory. */
static void
tg_peer_keep_text(tg_peer_t *peer, tg_str_t *field, tg_str_t text)
{
    char *data;

    data = text.len != 0 ? tg_alloc(peer->alloc, text.len) : NULL;

    if (data != NULL) {
        memcpy(data, text.data, text.len);
    }

    tg_free(peer->alloc, (char *) (uintptr_t) field->data);
    *field = data != NULL ? tg_str(data, text.len) : TG_STR_NONE;
}

void
tg_peer_meet(tg_peer_t *peer, tg_str_t name, tg_str_t version, tg_str_t via)
{
    if (tg_str_eq(peer->client, name)
        && tg_str_eq(peer->client_version, version)
        && tg_str_eq(peer->client_via, via))
    {
        return;
    }

    tg_peer_keep_text(peer, &peer->client, name);
    tg_peer_keep_text(peer, &peer->client_version, version);
    tg_peer_keep_text(peer, &peer->client_via, via);
    peer->nmet++;
}

void
tg_peer_learn(tg_peer_t *peer, tg_str_t params)
{
    tg_str_t capabilities;

    if (tg_json_has(params, TG_STR("capabilities"), TG_JSON_OBJECT,
                    &capabilities)) {
        peer->can = tg_can_read(capabilities) & TG_CAN_ALL;
    }
}

tg_ask_t *
tg_ask_new(tg_peer_t *peer, uint64_t id, uint64_t tag)
{
    tg_ask_t *ask, **at;

    ask = tg_alloc(peer->alloc, sizeof(*ask));

    if (ask == NULL) {
        return NULL;
    }

    for (at = &peer->asks; *at != NULL; at = &(*at)->next) {
        /* void */
    }

    *ask = (tg_ask_t){ NULL, id, tag };
    *at = ask;

    return ask;
}

void
tg_ask_remove(tg_peer_t *peer, tg_ask_t **at)
{
    tg_ask_t *ask;

    ask = *at;
    *at = ask->next;
    tg_free(peer->alloc, ask);
}

unsigned
tg_asks_count(const tg_peer_t *peer)
{
    const tg_ask_t *ask;
    unsigned n;

    n = 0;

    for (ask = peer->asks; ask != NULL; ask = ask->next) {
        n++;
    }

    return n;
}

static void
tg_ask_put(tg_buf_t *out, uint64_t id, tg_str_t method, tg_str_t params)
{
    tg_buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    tg_buf_uint(out, id);
    tg_buf_text(out, ",\"method\":");
    tg_json_put_string(out, method);
    tg_json_put_member(out, ",\"params\":", params);
    tg_buf_char(out, '}');
}

int
tg_peer_ask(tg_peer_t *peer, tg_str_t method, tg_str_t params, uint64_t tag)
{
    size_t start;

    if (peer->is_closing || !tg_can_be_asked(peer->can, method, params)) {
        return TG_MISSING;
    }

    if (tg_asks_count(peer) >= TG_ASKS_MAX) {
        return TG_LIMIT;
    }

    start = tg_frame_open(peer->frame.kind, &peer->out);
    tg_ask_put(&peer->out, peer->asked, method, params);

    if (tg_frame_close(peer->frame.kind, &peer->out, start, tg_peer_limit(peer))
        == TG_LIMIT)
    {
        tg_buf_truncate(&peer->out, start);
        return TG_LIMIT;
    }

    if (tg_buf_failed(&peer->out) || tg_ask_new(peer, peer->asked, tag) == NULL)
    {
        peer->out.failed = 1;
        return TG_NOMEM;
    }

    peer->asked++;

    return TG_OK;
}

static void
tg_ask_take_back(tg_peer_t *peer, tg_ask_t **at)
{
    char room[64];
    tg_buf_t params;

    params = tg_buf_fixed(room, sizeof(room));
    tg_buf_text(&params, "{\"requestId\":");
    tg_buf_uint(&params, (*at)->id);
    tg_buf_char(&params, '}');
    tg_ask_remove(peer, at);
    tg_peer_notify(peer, TG_STR("notifications/cancelled"),
                   tg_buf_view(&params));
}

void
tg_peer_unask(tg_peer_t *peer, uint64_t tag)
{
    tg_ask_t **at;

    for (at = &peer->asks; *at != NULL; at = &(*at)->next) {
        if ((*at)->tag == tag) {
            tg_ask_take_back(peer, at);
            return;
        }
    }
}

void
tg_peer_unask_all(tg_peer_t *peer)
{
    while (peer->asks != NULL) {
        tg_ask_take_back(peer, &peer->asks);
    }
}

/* A response that nobody waits for says nothing. */
void
tg_peer_told(tg_peer_t *peer, const tg_message_t *message)
{
    tg_ask_t **at;
    uint64_t tag;
    int64_t id;

    if (message->id.data == NULL || message->has_duplicate
        || tg_json_int64(message->id, &id) != TG_OK)
    {
        return;
    }

    for (at = &peer->asks; *at != NULL; at = &(*at)->next) {
        if ((int64_t) (*at)->id == id) {
            tag = (*at)->tag;
            tg_ask_remove(peer, at);
            peer->ops->told(peer->host, tag, message);
            return;
        }
    }
}

void
tg_peer_told_nothing(tg_peer_t *peer, tg_str_t id)
{
    tg_message_t message;
    char room[192];
    tg_buf_t error;

    error = tg_buf_fixed(room, sizeof(room));
    tg_buf_printf(&error,
                  "{\"code\":%d,\"message\":\"The client's answer is larger "
                  "than %zu bytes.\"}",
                  TG_RPC_REQUEST, peer->frame.limit);
    tg_zero(&message, offsetof(tg_message_t, notes));
    message.notes.n = 0;
    message.id = id;
    message.error = tg_buf_view(&error);
    tg_peer_log(peer, "what is no request and beyond the limit is dropped");
    tg_peer_told(peer, &message);
}
