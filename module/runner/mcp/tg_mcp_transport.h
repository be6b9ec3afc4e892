/*
 * How bytes go to an MCP server and back: stdio of a program that is started
 * (tg_mcp_stdio.c), a socket (tg_mcp_socket.c), or HTTP (tg_streamable.c).
 * Another way is another file with a table as this.
 *
 * What is to be sent stands in the instance's caller.
 */
#ifndef TG_MCP_TRANSPORT_H
#define TG_MCP_TRANSPORT_H

#include "base/tg_buf.h"
#include "protocol/tg_outcome.h"

typedef struct tg_mcp_conn_s tg_mcp_conn_t;

typedef struct {
    /*
     * Begins to open: tg_mcp_conn_on_opened() follows, maybe at once, or
     * tg_mcp_conn_on_lost().  TG_FAILURE_NONE, or what is appended to why; then
     * close() is called, too.
     */
    tg_failure_t (*open)(tg_mcp_conn_t *mcp_conn, tg_buf_t *why);

    /* Sends what there is to be sent. */
    void (*flush)(tg_mcp_conn_t *mcp_conn);

    /* The stream has ended (tg_mcp_stream.h); of those that are streams. */
    void (*on_ended)(tg_mcp_conn_t *mcp_conn);

    /* Bytes that the server has not taken yet. */
    size_t (*backlog)(const tg_mcp_conn_t *mcp_conn);

    /*
     * Bytes that were sent and that a server which has ended did not read.
     * NULL: that is not known.
     */
    size_t (*get_unread)(const tg_mcp_conn_t *mcp_conn);

    /* Has the server ended as if that were no failure?  NULL: never. */
    int (*has_finished)(const tg_mcp_conn_t *mcp_conn);

    /*
     * Asked after a message of size bytes while there are more: is the time
     * slice over?
     */
    int (*is_slice_over)(tg_mcp_conn_t *mcp_conn, size_t size);

    /* Appends how it ended, as " exited with status 1: …". */
    void (*append_reason)(const tg_mcp_conn_t *mcp_conn, tg_buf_t *text);

    /*
     * Ends it, is_now without time for an end of its own; it may be called
     * again.  What it holds (tg_mcp_conn_ref_handle()) is released when that is
     * closed, not from here.
     */
    void (*close)(tg_mcp_conn_t *mcp_conn, int is_now);
} tg_mcp_transport_t;

extern const tg_mcp_transport_t tg_mcp_stdio_transport;
extern const tg_mcp_transport_t tg_mcp_socket_transport;
extern const tg_mcp_transport_t tg_mcp_streamable_transport;

#endif
