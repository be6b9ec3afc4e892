/* The byte stream of a connection by stdio or socket, with lines. */
#ifndef TG_MCP_STREAM_H
#define TG_MCP_STREAM_H

#include "runner/mcp/tg_mcp_conn.h"

/*
 * Reads from `in` and writes to `out`, which it owns. Calls
 * tg_mcp_conn_on_opened(). Returns 0 or a libuv error.
 */
int tg_mcp_stream_open(tg_mcp_conn_t *mcp_conn, int in, int out);

/* Returns 0, and on_opened() or on_ended() follows, or a libuv error. */
int tg_mcp_stream_connect(tg_mcp_conn_t *mcp_conn,
                          const struct sockaddr *address);

/* Does nothing if the stream is closed. */
void tg_mcp_stream_flush(tg_mcp_conn_t *mcp_conn);

/* Returns the number of unwritten bytes. */
size_t tg_mcp_stream_get_backlog(const tg_mcp_conn_t *mcp_conn);

/* Checks after a message of `size` bytes. */
int tg_mcp_stream_is_slice_over(tg_mcp_conn_t *mcp_conn, size_t size);

void tg_mcp_stream_close(tg_mcp_conn_t *mcp_conn);

#endif
