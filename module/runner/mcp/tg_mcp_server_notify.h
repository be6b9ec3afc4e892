/* Notifies subscribed workers of a server's state and list. */
#ifndef TG_MCP_SERVER_NOTIFY_H
#define TG_MCP_SERVER_NOTIFY_H

#include "runner/mcp/tg_mcp_server.h"

void tg_mcp_server_on_state_changed(tg_mcp_server_t *server);

/* Takes over the lists, and notifies subscribers one after the other. */
void tg_mcp_server_set_lists(tg_mcp_server_t *server, tg_mcp_lists_t *lists);

/* Stops notifications, and writes due files of the list cache. */
void tg_mcp_server_end_notify(tg_mcp_server_t *server);

/* Tries again later to notify workers that cannot receive now. */
void tg_mcp_server_schedule_retry(tg_mcp_server_t *server);

/* Appends the state as members of an object that stays open. */
void tg_mcp_server_write_state(tg_buf_t *json, const tg_mcp_server_t *server);

void tg_mcp_server_free_subscribers(tg_mcp_server_t *server);

#endif
