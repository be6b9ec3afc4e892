/*
 * What the transports have in common that are streams of lines: the
 * connection of an instance.
 */
#ifndef TG_MCP_STREAM_H
#define TG_MCP_STREAM_H

#include "runner/mcp/tg_mcp_conn.h"

/*
 * Reads from one descriptor and writes to another, which are the stream's
 * from now on; or connects.  0 or a libuv error.  tg_mcp_conn_on_opened()
 * follows, or tg_mcp_conn_on_lost().
 */
int tg_mcp_stream_open(tg_mcp_conn_t *mcp_conn, int in, int out);
int tg_mcp_stream_connect(tg_mcp_conn_t *mcp_conn,
                          const struct sockaddr *address);

void tg_mcp_stream_flush(tg_mcp_conn_t *mcp_conn);
size_t tg_mcp_stream_get_backlog(const tg_mcp_conn_t *mcp_conn);
int tg_mcp_stream_is_slice_over(tg_mcp_conn_t *mcp_conn, size_t size);
void tg_mcp_stream_close(tg_mcp_conn_t *mcp_conn);

#endif
