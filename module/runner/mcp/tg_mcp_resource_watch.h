/*
 * Workers' subscriptions to changes of single resources of MCP servers. The
 * server is subscribed to a resource as long as at least one worker is, and
 * runs as long as there are subscriptions; after a restart they begin again,
 * and the workers are notified, because a change may have been missed.
 *
 *   runner ◀── worker   mcp_subscribe {"key":…,"instance":…,"uri":…}
 *   runner ◀── worker   mcp_unsubscribe {"key":…,"instance":…,"uri":…}
 *   runner ──▶ worker   mcp_updated {"key":…,"instance":…,"uri":…}
 */
#ifndef TG_MCP_RESOURCE_WATCH_H
#define TG_MCP_RESOURCE_WATCH_H

#include "protocol/tg_request.h"
#include "runner/mcp/tg_mcp_server.h"

/* Maximum number of subscriptions of a connection, of all workers. */
#define TG_MCP_RESOURCE_WATCHES_MAX 1024

/* Handles `mcp_subscribe`; repeating it has no effect. */
void tg_mcp_servers_watch_resource(tg_mcp_servers_t *servers, tg_peer_t *peer,
                                   tg_request_t *request);

/* Handles `mcp_unsubscribe`. */
void tg_mcp_servers_unwatch_resource(tg_mcp_servers_t *servers, tg_peer_t *peer,
                                     tg_request_t *request);

/* Subscribes to all resources after the connection has become ready. */
void tg_mcp_resource_watches_on_ready(tg_mcp_conn_t *mcp_conn);

/* Sends the changed set of URIs to a modern server, if it is due. */
void tg_mcp_resource_watches_update(tg_mcp_conn_t *mcp_conn);

/* Handles notifications/resources/updated. */
void tg_mcp_resource_watches_on_updated(tg_mcp_conn_t *mcp_conn,
                                        tg_str_t params);

/* Sends due notifications to workers. Returns 1 if some still wait. */
int tg_mcp_resource_watches_send(tg_mcp_conn_t *mcp_conn);

/* Removes the subscriptions of a worker. */
void tg_mcp_resource_watches_on_peer_closed(tg_mcp_server_t *server,
                                            const tg_peer_t *peer);

/* Removes all subscriptions without a message to the server. */
void tg_mcp_resource_watches_free(tg_mcp_conn_t *mcp_conn);

#endif
