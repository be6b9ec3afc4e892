/*
 * Requests of an MCP server to the client during a call: the requests of MCP's
 * legacy versions for user input, a model or roots. Possible only if the
 * connection belongs to one client.
 *
 *   runner ──▶ worker   ask {"id":ID,"ask":7,"method":…,"params":…}
 *   runner ◀── worker   told {"ask":7,"result":…}
 *   runner ──▶ worker   unask {"id":ID,"ask":7}: the request is cancelled
 *
 * ID is the id of an mcp_call of this client. While all calls are moving to
 * another worker, the request waits until one has arrived.
 */
#ifndef TG_MCP_SERVER_REQUEST_H
#define TG_MCP_SERVER_REQUEST_H

#include "runner/mcp/tg_mcp_server.h"

/*
 * Maximum number of pending requests of one connection. A person answers one at
 * a time.
 */
#define TG_MCP_SERVER_REQUESTS_MAX 64

/*
 * Forwards a request to the client, or responds with an error if the client
 * cannot handle it.
 */
void tg_mcp_server_request_accept(tg_mcp_conn_t *mcp_conn,
                                  const tg_message_t *message);

/* Cancels a request, because the server does not need it any more. */
void tg_mcp_server_request_on_cancelled(tg_mcp_conn_t *mcp_conn, tg_str_t id);

/*
 * Handles the end of a call: requests move to another call, or are cancelled if
 * there is none.
 */
void tg_mcp_server_requests_on_call_done(tg_mcp_conn_t *mcp_conn,
                                         const tg_mcp_job_t *call);

/* Sends the requests that wait for a worker. Returns 1 if some still wait. */
int tg_mcp_server_requests_send(tg_mcp_conn_t *mcp_conn);

/* Handles the method `told`: forwards the client's response to the server. */
void tg_mcp_server_request_on_response(tg_mcp_servers_t *servers,
                                       tg_peer_t *peer, tg_request_t *request);

#endif
