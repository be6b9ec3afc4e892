/* Connects to each address in turn, and then starts TLS. */
#include "transport/tg_uv_conn_impl.h"

#include "transport/tg_uv_endpoint.h"

#include <sys/un.h>

/* Seconds without input after which TCP probes the other side. */
#define TG_UV_KEEPALIVE_SECONDS 60

static int
tg_uv_conn_start_tls(tg_uv_conn_t *conn)
{
    int rc;

    rc = tg_uv_conn_open_tls(conn, conn->endpoint->tls);
    rc = rc == 0 ? tg_uv_conn_read_start(conn) : rc;

    if (rc == 0) {
        tg_uv_conn_flush(conn);
    }

    return rc;
}

/* Closes a handle, which can connect only once. 0: no further address. */
static int
tg_uv_conn_close_failed_address(tg_uv_conn_t *conn)
{
    if (conn->next_address == NULL) {
        return 0;
    }

    tg_uv_io_close(conn, &conn->ends[0]);
    conn->ends[0].type = TG_UV_IO_NONE;
    conn->on_address_closed = tg_uv_conn_connect_next_address;

    return 1;
}

static void
tg_uv_on_connect(uv_connect_t *req, int status)
{
    tg_uv_conn_t *conn;

    conn = req->data;

    /* Cancelled by uv_close(). */
    if (conn->state != TG_UV_CONN_CONNECTING
        || conn->ends[0].type == TG_UV_IO_NONE) {
        return;
    }

    if (status != 0 && tg_uv_conn_close_failed_address(conn)) {
        return;
    }

    if (status == 0 && conn->endpoint != NULL && conn->endpoint->port != NULL) {
        (void) uv_tcp_keepalive(&conn->ends[0].as.tcp, 1,
                                TG_UV_KEEPALIVE_SECONDS);
    }

    if (status == 0 && conn->endpoint != NULL && conn->endpoint->tls != NULL) {
        status = tg_uv_conn_start_tls(conn);

    } else if (status == 0) {
        tg_uv_conn_complete_connect(conn);
        return;
    }

    if (status != 0) {
        tg_uv_conn_fail_connect(conn, status);
    }
}

int
tg_uv_conn_connect_unix(tg_uv_conn_t *conn, const char *path)
{
    struct sockaddr_un addr;
    int rc;

    rc = tg_uv_io_init_pipe(conn, &conn->ends[0]);

    if (rc != 0) {
        return tg_uv_conn_fail_open(conn, rc);
    }

    /* libuv would connect to the truncated path. */
    if (strlen(path) >= sizeof(addr.sun_path)) {
        return tg_uv_conn_fail_open(conn, UV_ENAMETOOLONG);
    }

    conn->connect.data = conn;
    uv_pipe_connect(&conn->connect, &conn->ends[0].as.pipe, path,
                    tg_uv_on_connect);

    return 0;
}

static int
tg_uv_conn_connect_tcp(tg_uv_conn_t *conn, const struct sockaddr *address)
{
    int rc;

    rc = tg_uv_io_init_tcp(conn, &conn->ends[0]);

    if (rc == 0) {
        (void) uv_tcp_nodelay(&conn->ends[0].as.tcp, 1);
        conn->connect.data = conn;
        rc = uv_tcp_connect(&conn->connect, &conn->ends[0].as.tcp, address,
                            tg_uv_on_connect);
    }

    return rc;
}

int
tg_uv_conn_connect_sockaddr(tg_uv_conn_t *conn, const struct sockaddr *address)
{
    int rc;

    if (address->sa_family == AF_UNIX) {
        return tg_uv_conn_connect_unix(
            conn, ((const struct sockaddr_un *) address)->sun_path);
    }

    rc = tg_uv_conn_connect_tcp(conn, address);

    return rc == 0 ? 0 : tg_uv_conn_fail_open(conn, rc);
}

void
tg_uv_conn_connect_next_address(tg_uv_conn_t *conn)
{
    const struct addrinfo *address;
    int rc;

    address = conn->next_address;
    conn->next_address = address->ai_next;
    rc = tg_uv_conn_connect_tcp(conn, address->ai_addr);

    if (rc != 0 && !tg_uv_conn_close_failed_address(conn)) {
        tg_uv_conn_fail_connect(conn, rc);
    }
}

static void
tg_uv_on_addresses_resolved(uv_getaddrinfo_t *req, int status,
                            struct addrinfo *found)
{
    tg_uv_conn_t *conn;

    conn = req->data;
    conn->is_resolving = 0;
    conn->addrinfo_list = found;

    if (conn->state != TG_UV_CONN_CONNECTING) {
        conn->on_handle_closed(conn);
        return;
    }

    conn->nopen--;
    conn->next_address = found;

    if (status == 0) {
        tg_uv_conn_connect_next_address(conn);
    } else {
        tg_uv_conn_fail_connect(conn, status);
    }
}

int
tg_uv_conn_connect_endpoint(tg_uv_conn_t *conn,
                            const tg_uv_endpoint_t *endpoint)
{
    struct addrinfo hints;
    int rc;

    conn->endpoint = endpoint;

    if (endpoint->port == NULL) {
        return tg_uv_conn_connect_unix(conn, endpoint->text);
    }

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    conn->lookup.data = conn;
    rc = uv_getaddrinfo(conn->loop, &conn->lookup, tg_uv_on_addresses_resolved,
                        endpoint->host, endpoint->port, &hints);

    if (rc != 0) {
        return tg_uv_conn_fail_open(conn, rc);
    }

    conn->is_resolving = 1;
    conn->nopen++;

    return 0;
}
