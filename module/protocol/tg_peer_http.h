/*
 * The server's side of MCP's Streamable HTTP, without HTTP itself: the checks
 * of a request's message and headers in their prescribed order, and the status
 * of the response. Each request has a peer of its own. The contract is
 * docs/protocols.md "Streamable HTTP".
 */
#ifndef TG_PEER_HTTP_H
#define TG_PEER_HTTP_H

#include "protocol/tg_mcp_http_headers.h"
#include "protocol/tg_peer.h"

typedef struct {
    /* Set by the host. */
    tg_http_fields_t fields;
    /* description for clients of the legacy era; NULL: they are refused */
    const tg_server_info_t *legacy_info;
    unsigned accepts_events:1; /* the client accepts text/event-stream */

    /* Results; slices of the message. */
    unsigned status;  /* of HTTP, unless a reply comes later: then 200 */
    tg_str_t method;  /* raw, or absent if the message is not valid */
    tg_str_t subject; /* raw name, URI or task id, or absent */
    unsigned is_modern:1;
    unsigned is_request:1; /* a reply, or several messages, follow */
} tg_http_request_t;

/*
 * Serves the message of an HTTP request, for a fresh peer of the dialect
 * jsonrpc. Replies and notifications are lines of peer->out. TG_OK or TG_NOMEM.
 */
int tg_peer_handle_http(tg_peer_t *peer, tg_str_t text,
                        tg_http_request_t *request);

/*
 * Checks whether the peer has nothing to do: no call, no parked request and no
 * subscription.
 */
int tg_peer_is_done(const tg_peer_t *peer);

/* Checks whether the client has subscribed to notifications. */
int tg_peer_is_listening(const tg_peer_t *peer);

#endif
