/* The workers that subscribe to MCP servers (docs/protocols.md). */
#ifndef TG_MCP_SUBSCRIBER_H
#define TG_MCP_SUBSCRIBER_H

#include "protocol/tg_request.h"
#include "runner/mcp/tg_mcp_server.h"

/* Handles `mcp_watch`: adds the peer as a subscriber, maybe of a new server. */
void tg_mcp_servers_subscribe(tg_mcp_servers_t *servers, tg_peer_t *peer,
                              tg_request_t *request);

/* Handles the method `mcp_unwatch`: removes the subscriber and responds. */
void tg_mcp_servers_unsubscribe(tg_mcp_servers_t *servers, tg_peer_t *peer,
                                tg_request_t *request);

/* Handles `mcp_leave`: shuts a connection down and responds. */
void tg_mcp_servers_shutdown_conn(tg_mcp_servers_t *servers, tg_peer_t *peer,
                                  tg_request_t *request);

/* Removes the subscriptions of a peer that has disconnected. */
void tg_mcp_servers_on_peer_closed(tg_mcp_servers_t *servers,
                                   const tg_peer_t *peer);

#endif
