/*
 * An MCP server behind a Unix or TCP socket.
 */
#include "runner/mcp/tg_server.h"
#include "runner/mcp/tg_stream.h"

static tg_failure_t
tg_socket_open(tg_instance_t *instance, tg_buf_t *why)
{
    const tg_server_spec_t *spec;
    int rc;

    spec = &instance->server->spec;
    rc = tg_stream_connect(instance, &spec->address.any);

    if (rc != 0) {
        tg_buf_printf(why, "%s cannot be reached: %s", spec->name,
                      uv_strerror(rc));
        return TG_FAILURE_PROGRAM;
    }

    return TG_FAILURE_NONE;
}

static void
tg_socket_explain(const tg_instance_t *instance, tg_buf_t *text)
{
    if (instance->conn.err != 0) {
        tg_buf_printf(text, " cannot be reached: %s",
                      uv_strerror(instance->conn.err));
    } else {
        tg_buf_text(text, " closed the connection");
    }
}

static void
tg_socket_close(tg_instance_t *instance, int is_now)
{
    tg_stream_close(instance);
}

const tg_transport_t tg_socket_transport = {
    .open = tg_socket_open,
    .flush = tg_stream_flush,
    .ended = tg_instance_lost,
    .backlog = tg_stream_backlog,
    .is_slice_over = tg_stream_is_slice_over,
    .explain = tg_socket_explain,
    .close = tg_socket_close,
};
