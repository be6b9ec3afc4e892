/*
 * What workers are told of an MCP server that they watch.
 */
#ifndef TG_MCP_SERVER_NOTIFY_H
#define TG_MCP_SERVER_NOTIFY_H

#include "runner/mcp/tg_mcp_server.h"

/* Its instances changed: a worker that watches it hears what is new. */
void tg_mcp_server_on_state_changed(tg_mcp_server_t *server);

/* This is its list from now on; workers hear of it one after the other. */
void tg_mcp_server_set_list(tg_mcp_server_t *server, tg_catalog_t *tools);

/* Ends that, and writes down a list that is not written yet. */
void tg_mcp_server_end_notify(tg_mcp_server_t *server);

/* Something has to be told to a worker that is not there yet. */
void tg_mcp_server_schedule_retry(tg_mcp_server_t *server);

/* Appends its state, members of an object that is left open. */
void tg_mcp_server_write_state(tg_buf_t *json, const tg_mcp_server_t *server);

/* Nobody is told any more. */
void tg_mcp_server_free_subscribers(tg_mcp_server_t *server);

#endif
