/*
 * Saves the HTTP sessions with MCP servers, so that the next runner ends them
 * if this one is killed. The file has one line per session: ID VERSION
 */
#ifndef TG_MCP_SESSIONS_H
#define TG_MCP_SESSIONS_H

#include "runner/mcp/tg_mcp_server.h"

/* Saves the current sessions of a server, after one has begun or ended. */
void tg_mcp_sessions_save(tg_mcp_server_t *server);

/* Forgets the session, if there is one, and saves the remaining ones. */
void tg_mcp_sessions_on_ended(tg_streamable_t *streamable);

void tg_mcp_sessions_delete_leftovers(tg_mcp_server_t *server);

#endif
