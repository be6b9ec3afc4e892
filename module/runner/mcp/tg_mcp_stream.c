/* The stream of a connection to an MCP server, for stdio and sockets. */
#include "runner/mcp/tg_mcp_stream.h"

#include "runner/mcp/tg_mcp_server.h"

static void
tg_mcp_stream_on_connected(void *host, int err)
{
    if (err == 0) {
        tg_mcp_conn_on_opened(host);
    }
}

static int
tg_mcp_stream_on_input(void *host, const char *data, size_t len,
                       size_t *consumed)
{
    return tg_mcp_conn_on_input(host, data, len, consumed);
}

static void
tg_mcp_stream_on_written(void *host, size_t len)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = host;
    tg_buf_consume(&mcp_conn->caller.out, len);
    tg_caller_count_written(&mcp_conn->caller, len);
}

static void
tg_mcp_stream_on_closed(void *host, int err)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = host;
    mcp_conn->has_conn = 0;

    mcp_conn->transport->on_ended(mcp_conn);
    tg_mcp_conn_unref_handle(mcp_conn);
}

static const tg_uv_conn_ops_t tg_mcp_stream_conn_ops = {
    .connected = tg_mcp_stream_on_connected,
    .input = tg_mcp_stream_on_input,
    .written = tg_mcp_stream_on_written,
    .closed = tg_mcp_stream_on_closed,
};

static void
tg_mcp_stream_init(tg_mcp_conn_t *mcp_conn)
{
    tg_uv_conn_init(&mcp_conn->conn, &mcp_conn->server->servers->jobs->sched,
                    &tg_mcp_stream_conn_ops, mcp_conn, &mcp_conn->caller.out);
    mcp_conn->has_conn = 1;
    tg_mcp_conn_ref_handle(mcp_conn);
}

int
tg_mcp_stream_open(tg_mcp_conn_t *mcp_conn, int in, int out)
{
    int rc;

    tg_mcp_stream_init(mcp_conn);
    rc = tg_uv_conn_open_fds(&mcp_conn->conn, in, out);

    if (rc == 0) {
        tg_mcp_conn_on_opened(mcp_conn);
    }

    return rc;
}

int
tg_mcp_stream_connect(tg_mcp_conn_t *mcp_conn, const struct sockaddr *address)
{
    tg_mcp_stream_init(mcp_conn);

    return tg_uv_conn_connect_sockaddr(&mcp_conn->conn, address);
}

void
tg_mcp_stream_flush(tg_mcp_conn_t *mcp_conn)
{
    if (mcp_conn->has_conn) {
        tg_uv_conn_flush(&mcp_conn->conn);
    }
}

int
tg_mcp_stream_is_slice_over(tg_mcp_conn_t *mcp_conn, size_t size)
{
    return tg_uv_conn_is_slice_over(&mcp_conn->conn, size);
}

size_t
tg_mcp_stream_get_backlog(const tg_mcp_conn_t *mcp_conn)
{
    return mcp_conn->has_conn ? tg_uv_conn_get_backlog(&mcp_conn->conn) : 0;
}

void
tg_mcp_stream_close(tg_mcp_conn_t *mcp_conn)
{
    if (mcp_conn->has_conn) {
        tg_uv_conn_close(&mcp_conn->conn);
    }
}
