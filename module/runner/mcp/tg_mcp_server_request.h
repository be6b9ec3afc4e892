/*
 * What an MCP server asks in the course of a call, of the one client whose
 * connection the instance is for: requests of MCP's legacy versions, for a
 * user, a model or folders.
 *
 *   runner ──▶ worker   ask {"id":ID,"ask":7,"method":…,"params":…}
 *   runner ◀── worker   told {"ask":7,"result":…}
 *   runner ──▶ worker   unask {"id":ID,"ask":7}: it is not waited for
 *
 * ID is that of an mcp_call of this client.  While all of them are on their
 * way to another worker it waits until one is there.
 */
#ifndef TG_MCP_SERVER_REQUEST_H
#define TG_MCP_SERVER_REQUEST_H

#include "runner/mcp/tg_mcp_server.h"

/* Of one instance, at once; a person answers one at a time. */
#define TG_MCP_SERVER_REQUESTS_MAX 64

/* A request that the client may be asked: it is, or the server is refused. */
void tg_mcp_server_request_accept(tg_mcp_conn_t *mcp_conn,
                                  const tg_message_t *message);

/* The server does not want to know any more. */
void tg_mcp_server_request_on_cancelled(tg_mcp_conn_t *mcp_conn, tg_str_t id);

/* A call is over; with the last, what was asked is, too. */
void tg_mcp_server_requests_on_call_done(tg_mcp_conn_t *mcp_conn,
                                         const tg_mcp_job_t *call);

/* Asks what waits for a worker; says whether something still does. */
int tg_mcp_server_requests_send(tg_mcp_conn_t *mcp_conn);

/* The method told. */
void tg_mcp_server_request_on_response(tg_mcp_servers_t *servers,
                                       tg_peer_t *peer, tg_request_t *request);

#endif
