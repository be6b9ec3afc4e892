#include "runner/mcp/tg_stream.h"

#include "runner/mcp/tg_server.h"

static void
tg_stream_on_connected(void *host, int err)
{
    if (err == 0) {
        tg_instance_opened(host);
    }
}

static int
tg_stream_on_input(void *host, const char *data, size_t len, size_t *consumed)
{
    return tg_instance_input(host, data, len, consumed);
}

static void
tg_stream_on_written(void *host, size_t len)
{
    tg_instance_t *instance;

    instance = host;
    tg_buf_drop(&instance->caller.out, len);
    tg_caller_written(&instance->caller, len);
}

static void
tg_stream_on_closed(void *host, int err)
{
    tg_instance_t *instance;

    instance = host;
    instance->has_conn = 0;

    instance->transport->ended(instance);
    tg_instance_release(instance);
}

static const tg_uv_conn_ops_t tg_stream_ops = {
    .connected = tg_stream_on_connected,
    .input = tg_stream_on_input,
    .written = tg_stream_on_written,
    .closed = tg_stream_on_closed,
};

static void
tg_stream_init(tg_instance_t *instance)
{
    tg_uv_conn_init(&instance->conn, &instance->server->servers->jobs->sched,
                    &tg_stream_ops, instance, &instance->caller.out);
    instance->has_conn = 1;
    tg_instance_hold(instance);
}

int
tg_stream_open(tg_instance_t *instance, int in, int out)
{
    int rc;

    tg_stream_init(instance);
    rc = tg_uv_conn_open(&instance->conn, in, out);

    if (rc == 0) {
        tg_instance_opened(instance);
    }

    return rc;
}

int
tg_stream_connect(tg_instance_t *instance, const struct sockaddr *address)
{
    tg_stream_init(instance);

    return tg_uv_conn_connect_to(&instance->conn, address);
}

void
tg_stream_flush(tg_instance_t *instance)
{
    if (instance->has_conn) {
        tg_uv_conn_flush(&instance->conn);
    }
}

int
tg_stream_is_slice_over(tg_instance_t *instance, size_t size)
{
    return tg_uv_conn_slice_is_over(&instance->conn, size);
}

size_t
tg_stream_backlog(const tg_instance_t *instance)
{
    return instance->has_conn ? tg_uv_conn_backlog(&instance->conn) : 0;
}

void
tg_stream_close(tg_instance_t *instance)
{
    if (instance->has_conn) {
        tg_uv_conn_close(&instance->conn);
    }
}
