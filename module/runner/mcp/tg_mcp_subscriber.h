/*
 * The workers that watch MCP servers: what they ask, and what they are told
 * (docs/protocols.md, "Worker and runner").
 */
#ifndef TG_MCP_SUBSCRIBER_H
#define TG_MCP_SUBSCRIBER_H

#include "protocol/tg_peer.h"
#include "runner/mcp/tg_mcp_server.h"

/* The methods mcp_watch, mcp_unwatch and mcp_leave: answer the request. */
void tg_mcp_servers_subscribe(tg_mcp_servers_t *servers, tg_peer_t *peer,
                              tg_request_t *request);
void tg_mcp_servers_unsubscribe(tg_mcp_servers_t *servers, tg_peer_t *peer,
                                tg_request_t *request);
void tg_mcp_servers_shutdown_conn(tg_mcp_servers_t *servers, tg_peer_t *peer,
                                  tg_request_t *request);

/* The peer's connection has ended. */
void tg_mcp_servers_on_peer_closed(tg_mcp_servers_t *servers,
                                   const tg_peer_t *peer);

#endif
