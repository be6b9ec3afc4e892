/*
 * The workers that watch MCP servers: what they ask, and what they are told
 * (docs/protocols.md, "Worker and runner").
 */
#ifndef TG_WATCH_H
#define TG_WATCH_H

#include "core/tg_peer.h"
#include "runner/mcp/tg_server.h"

/* The methods mcp_watch, mcp_unwatch and mcp_leave: answer the request. */
void tg_watch_begin(tg_servers_t *servers, tg_peer_t *peer,
                    tg_request_t *request);
void tg_watch_end(tg_servers_t *servers, tg_peer_t *peer,
                  tg_request_t *request);
void tg_watch_leave(tg_servers_t *servers, tg_peer_t *peer,
                    tg_request_t *request);

/* The peer's connection has ended. */
void tg_watch_gone(tg_servers_t *servers, const tg_peer_t *peer);

#endif
