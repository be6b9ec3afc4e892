/*
 * Transports to an MCP server, each in a file with such a table: a program
 * (tg_mcp_stdio.c), a socket (tg_mcp_socket.c), HTTP (tg_streamable.c). The
 * output to send is in mcp_conn->caller.
 */
#ifndef TG_MCP_TRANSPORT_H
#define TG_MCP_TRANSPORT_H

#include "base/tg_buf.h"
#include "protocol/tg_outcome.h"

typedef struct tg_mcp_conn_s tg_mcp_conn_t;

typedef struct {
    /*
     * Begins to open. tg_mcp_conn_on_opened() follows, maybe before the return,
     * or tg_mcp_conn_on_lost(). Returns TG_FAILURE_NONE, or the failure with
     * the reason in `why`; then close() is called.
     */
    tg_failure_t (*open)(tg_mcp_conn_t *mcp_conn, tg_buf_t *why);

    /* Sends pending output. */
    void (*flush)(tg_mcp_conn_t *mcp_conn);

    /* Called at the end of a stream (tg_mcp_stream.h). */
    void (*on_ended)(tg_mcp_conn_t *mcp_conn);

    /* Returns the number of bytes that the server has not received yet. */
    size_t (*backlog)(const tg_mcp_conn_t *mcp_conn);

    /* Returns sent bytes that an ended server did not read. NULL: unknown. */
    size_t (*get_unread)(const tg_mcp_conn_t *mcp_conn);

    /* Checks whether the server has ended successfully. NULL: never. */
    int (*has_finished)(const tg_mcp_conn_t *mcp_conn);

    /* Checks after a message of `size` bytes whether the slice is over. */
    int (*is_slice_over)(tg_mcp_conn_t *mcp_conn, size_t size);

    /*
     * Returns the id of the request to whose response the message that is read
     * belongs, or 0. NULL: the transport does not know.
     */
    uint64_t (*get_request)(const tg_mcp_conn_t *mcp_conn);

    /* Appends the reason of the end, such as " exited with status 1: …". */
    void (*append_reason)(const tg_mcp_conn_t *mcp_conn, tg_buf_t *text);

    /*
     * Ends the server; is_now: without a grace period. May be called
     * repeatedly. Handles are released when they are closed, never within
     * close().
     */
    void (*close)(tg_mcp_conn_t *mcp_conn, int is_now);
} tg_mcp_transport_t;

extern const tg_mcp_transport_t tg_mcp_stdio_transport;
extern const tg_mcp_transport_t tg_mcp_socket_transport;
extern const tg_mcp_transport_t tg_mcp_streamable_transport;

#endif
