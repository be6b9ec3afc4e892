/*
 * The sessions that MCP servers over HTTP have for this runner: they are
 * written down while there are any, so that the runner that follows one that
 * was killed ends them.  Nothing else would, before the servers have enough of
 * them.
 *
 *   ID VERSION, a line for each
 */
#ifndef TG_MCP_SESSIONS_H
#define TG_MCP_SESSIONS_H

#include "runner/mcp/tg_mcp_server.h"

/* One has begun; or is over, if there was one. */
void tg_mcp_sessions_save(tg_mcp_server_t *server);
void tg_mcp_sessions_on_ended(tg_streamable_t *streamable);

/* Ends those that an earlier runner has left. */
void tg_mcp_sessions_delete_leftovers(tg_mcp_server_t *server);

#endif
