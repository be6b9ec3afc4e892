/*
 * Requests of an MCP server to the client during a call, in MCP's legacy
 * versions: for user input, a model or roots. The connection must belong to one
 * client.
 *
 *   runner ──▶ worker   ask {"id":ID,"ask":7,"method":…,"params":…}
 *   runner ◀── worker   told {"ask":7,"result":…}
 *   runner ──▶ worker   unask {"id":ID,"ask":7}: the request is cancelled
 *
 * ID is the id of an mcp_call of the client. While all calls are moving to
 * another worker, the request waits for one.
 */
#ifndef TG_MCP_SERVER_REQUEST_H
#define TG_MCP_SERVER_REQUEST_H

#include "runner/mcp/tg_mcp_server.h"

/* Maximum number of pending requests; a person answers one at a time. */
#define TG_MCP_SERVER_REQUESTS_MAX 64

/* Forwards a request, or responds that the client cannot handle it. */
void tg_mcp_server_request_accept(tg_mcp_conn_t *mcp_conn,
                                  const tg_message_t *message);

/* Cancels a request, which the server does not need any more. */
void tg_mcp_server_request_on_cancelled(tg_mcp_conn_t *mcp_conn, tg_str_t id);

/* Moves the requests of an ended call to another call, or cancels them. */
void tg_mcp_server_requests_on_call_done(tg_mcp_conn_t *mcp_conn,
                                         const tg_mcp_job_t *call);

/* Sends waiting requests. Returns 1 if some still wait. */
int tg_mcp_server_requests_send(tg_mcp_conn_t *mcp_conn);

/* Handles `told`: forwards the client's response to the server. */
void tg_mcp_server_request_on_response(tg_mcp_servers_t *servers,
                                       tg_peer_t *peer, tg_request_t *request);

#endif
