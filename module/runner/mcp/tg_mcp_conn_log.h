/*
 * Log messages of MCP servers (notifications/message).
 *
 * A message does not name the request that it is about. It belongs to a call if
 * its HTTP stream is that of the call; or if all calls of the connection are of
 * one client; or if there is only one call that it can be about, and none was
 * cancelled before. All other messages go to the error log only: no client may
 * see those of another one.
 */
#ifndef TG_MCP_CONN_LOG_H
#define TG_MCP_CONN_LOG_H

#include "runner/mcp/tg_mcp_conn.h"

/*
 * Requests the most verbose level that the calls of the connection and `call`,
 * which is about to be sent, want. Only for a legacy server: a modern one reads
 * the level of each request.
 */
void tg_mcp_conn_request_log_level(tg_mcp_conn_t *mcp_conn,
                                   const tg_mcp_job_t *call);

/* Forwards a message to the call that it belongs to, or logs it. */
void tg_mcp_conn_on_log_message(tg_mcp_conn_t *mcp_conn,
                                const tg_message_t *message);

#endif
