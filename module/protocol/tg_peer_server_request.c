/* Requests of the server to its client, in MCP's legacy versions. */
#include "protocol/tg_peer_impl.h"

/* Replaces a text; without memory the new one is empty. */
static void
tg_peer_set_text(tg_peer_t *peer, tg_str_t *field, tg_str_t text)
{
    char *data;

    data = text.len != 0 ? tg_alloc(peer->priv->alloc, text.len) : NULL;

    if (data != NULL) {
        memcpy(data, text.data, text.len);
    }

    tg_free(peer->priv->alloc, (char *) (uintptr_t) field->data);
    *field = data != NULL ? tg_str(data, text.len) : TG_STR_NONE;
}

void
tg_peer_set_client_info(tg_peer_t *peer, tg_str_t name, tg_str_t version,
                        tg_str_t via)
{
    if (tg_str_eq(peer->client, name)
        && tg_str_eq(peer->client_version, version)
        && tg_str_eq(peer->client_via, via))
    {
        return;
    }

    tg_peer_set_text(peer, &peer->client, name);
    tg_peer_set_text(peer, &peer->client_version, version);
    tg_peer_set_text(peer, &peer->client_via, via);
    peer->nclient_changes++;
}

void
tg_peer_read_client_caps(tg_peer_t *peer, tg_str_t params)
{
    tg_str_t capabilities;

    if (tg_json_has_member(params, TG_STR("capabilities"), TG_JSON_OBJECT,
                           &capabilities))
    {
        peer->client_caps = tg_client_caps_parse(capabilities)
                            & TG_CLIENT_CAPS_ALL;
    }
}

tg_server_request_t *
tg_server_request_add(tg_peer_t *peer, uint64_t id, uint64_t tag)
{
    tg_server_request_t *server_request, **at;

    server_request = tg_alloc(peer->priv->alloc, sizeof(*server_request));

    if (server_request == NULL) {
        return NULL;
    }

    for (at = &peer->priv->server_requests; *at != NULL; at = &(*at)->next) {
        /* void */
    }

    *server_request = (tg_server_request_t){ NULL, id, tag };
    *at = server_request;

    return server_request;
}

void
tg_server_request_remove(tg_peer_t *peer, tg_server_request_t **at)
{
    tg_server_request_t *server_request;

    server_request = *at;
    *at = server_request->next;
    tg_free(peer->priv->alloc, server_request);
}

unsigned
tg_peer_count_server_requests(const tg_peer_t *peer)
{
    const tg_server_request_t *server_request;
    unsigned n;

    n = 0;

    for (server_request = peer->priv->server_requests; server_request != NULL;
         server_request = server_request->next)
    {
        n++;
    }

    return n;
}

static void
tg_server_request_write_json(tg_buf_t *out, uint64_t id, tg_str_t method,
                             tg_str_t params)
{
    tg_buf_append_cstr(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    tg_buf_append_uint(out, id);
    tg_json_add_string(out, "method", method);
    tg_json_add_compact(out, "params", params);
    tg_buf_append_char(out, '}');
}

int
tg_server_request_write(tg_peer_t *peer, uint64_t id, tg_str_t method,
                        tg_str_t params)
{
    size_t start;

    start = tg_frame_open(peer->frame.kind, &peer->out);
    tg_server_request_write_json(&peer->out, id, method, params);

    if (tg_frame_close(peer->frame.kind, &peer->out, start,
                       tg_peer_max_message_size(peer))
        == TG_LIMIT)
    {
        tg_buf_truncate(&peer->out, start);
        return TG_LIMIT;
    }

    return TG_OK;
}

int
tg_peer_send_server_request(tg_peer_t *peer, tg_str_t method, tg_str_t params,
                            uint64_t tag)
{
    if (peer->is_closing
        || !tg_client_caps_allow_request(peer->client_caps, method, params))
    {
        return TG_MISSING;
    }

    if (tg_peer_count_server_requests(peer) + tg_peer_count_inputs(peer)
            >= TG_SERVER_REQUESTS_MAX
        || tg_server_request_write(peer, peer->priv->asked, method, params)
               != TG_OK)
    {
        return TG_LIMIT;
    }

    if (tg_buf_has_failed(&peer->out)
        || tg_server_request_add(peer, peer->priv->asked, tag) == NULL)
    {
        peer->out.failed = 1;
        return TG_NOMEM;
    }

    peer->priv->asked++;

    return TG_OK;
}

void
tg_server_request_notify_cancelled(tg_peer_t *peer, uint64_t id)
{
    char room[64];
    tg_buf_t params;

    params = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_append_char(&params, '{');
    tg_json_add_uint(&params, "requestId", id);
    tg_buf_append_char(&params, '}');
    tg_peer_notify(peer, TG_STR("notifications/cancelled"),
                   tg_buf_view(&params));
}

static void
tg_server_request_cancel(tg_peer_t *peer, tg_server_request_t **at)
{
    uint64_t id;

    id = (*at)->id;
    tg_server_request_remove(peer, at);
    tg_server_request_notify_cancelled(peer, id);
}

void
tg_peer_cancel_server_request(tg_peer_t *peer, uint64_t tag)
{
    tg_server_request_t **at;

    for (at = &peer->priv->server_requests; *at != NULL; at = &(*at)->next) {
        if ((*at)->tag == tag) {
            tg_server_request_cancel(peer, at);
            return;
        }
    }
}

void
tg_peer_cancel_server_requests(tg_peer_t *peer)
{
    while (peer->priv->server_requests != NULL) {
        tg_server_request_cancel(peer, &peer->priv->server_requests);
    }
}

/* Handles a response; ignores one that matches no pending request. */
void
tg_peer_on_response(tg_peer_t *peer, const tg_message_t *message)
{
    tg_server_request_t **at;
    uint64_t tag;
    int64_t id;

    if (message->id.data == NULL || message->has_duplicate
        || tg_json_parse_int64(message->id, &id) != TG_OK
        || tg_peer_on_input(peer, id, message) == TG_OK)
    {
        return;
    }

    for (at = &peer->priv->server_requests; *at != NULL; at = &(*at)->next) {
        if ((int64_t) (*at)->id == id) {
            tag = (*at)->tag;
            tg_server_request_remove(peer, at);
            peer->priv->ops->on_response(peer->host, tag, message);
            return;
        }
    }
}

void
tg_peer_on_oversized_response(tg_peer_t *peer, tg_str_t id)
{
    tg_message_t message;
    char room[192];
    tg_buf_t error;

    error = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&error,
                  "{\"code\":%d,\"message\":\"The client's answer is larger "
                  "than %zu bytes.\"}",
                  TG_RPC_INVALID_REQUEST, peer->frame.limit);
    tg_memzero(&message, offsetof(tg_message_t, notes));
    message.notes.n = 0;
    message.id = id;
    message.error = tg_buf_view(&error);
    tg_peer_log(peer, "response larger than the limit dropped");
    tg_peer_on_response(peer, &message);
}
