/* The transport to an MCP server with a Unix or TCP socket. */
#include "runner/mcp/tg_mcp_server.h"
#include "runner/mcp/tg_mcp_stream.h"

static tg_failure_t
tg_mcp_socket_open(tg_mcp_conn_t *mcp_conn, tg_buf_t *why)
{
    const tg_mcp_server_params_t *spec;
    int rc;

    spec = &mcp_conn->server->spec;
    rc = tg_mcp_stream_connect(mcp_conn, &spec->address.any);

    if (rc != 0) {
        tg_buf_printf(why, "%s cannot be reached: %s", spec->name,
                      uv_strerror(rc));
        return TG_FAILURE_PROGRAM;
    }

    return TG_FAILURE_NONE;
}

static void
tg_mcp_socket_append_reason(const tg_mcp_conn_t *mcp_conn, tg_buf_t *text)
{
    if (mcp_conn->conn.err != 0) {
        tg_buf_printf(text, " cannot be reached: %s",
                      uv_strerror(mcp_conn->conn.err));
    } else {
        tg_buf_append_cstr(text, " closed the connection");
    }
}

static void
tg_mcp_socket_close(tg_mcp_conn_t *mcp_conn, int is_now)
{
    tg_mcp_stream_close(mcp_conn);
}

const tg_mcp_transport_t tg_mcp_socket_transport = {
    .open = tg_mcp_socket_open,
    .flush = tg_mcp_stream_flush,
    .on_ended = tg_mcp_conn_on_lost,
    .backlog = tg_mcp_stream_get_backlog,
    .is_slice_over = tg_mcp_stream_is_slice_over,
    .append_reason = tg_mcp_socket_append_reason,
    .close = tg_mcp_socket_close,
};
