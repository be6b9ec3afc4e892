/* The byte stream of a connection by stdio or socket: messages are lines. */
#ifndef TG_MCP_STREAM_H
#define TG_MCP_STREAM_H

#include "runner/mcp/tg_mcp_conn.h"

/*
 * Opens a stream that reads from `in` and writes to `out`, and owns both. Calls
 * tg_mcp_conn_on_opened(). Returns 0 or a libuv error.
 */
int tg_mcp_stream_open(tg_mcp_conn_t *mcp_conn, int in, int out);

/* Begins to connect. Returns 0, and on_opened() or on_ended() follows. */
int tg_mcp_stream_connect(tg_mcp_conn_t *mcp_conn,
                          const struct sockaddr *address);

/* Writes the pending output. Does nothing if the stream is closed. */
void tg_mcp_stream_flush(tg_mcp_conn_t *mcp_conn);

/* Returns the number of bytes that were not written yet. */
size_t tg_mcp_stream_get_backlog(const tg_mcp_conn_t *mcp_conn);

/* Checks after a message of `size` bytes whether the time slice is over. */
int tg_mcp_stream_is_slice_over(tg_mcp_conn_t *mcp_conn, size_t size);

void tg_mcp_stream_close(tg_mcp_conn_t *mcp_conn);

#endif
