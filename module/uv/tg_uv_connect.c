/*
 * A connection until it is open: one address after the other, then TLS.
 */
#include "uv/tg_uv_connect.h"

#include "uv/tg_uv_conn.h"
#include "uv/tg_uv_place.h"

#include <sys/un.h>

/* Seconds of silence after which the other machine is asked for a sign. */
#define TG_UV_KEEPALIVE 60

static int
tg_uv_connect_secure(tg_uv_conn_t *conn)
{
    int rc;

    rc = tg_uv_secure_open(conn, conn->place->tls);
    rc = rc == 0 ? tg_uv_end_read(conn) : rc;

    if (rc == 0) {
        tg_uv_conn_flush(conn);
    }

    return rc;
}

/* Its handle can connect to no other one; the next has its own. */
static int
tg_uv_connect_give_up(tg_uv_conn_t *conn)
{
    if (conn->next == NULL) {
        return 0;
    }

    tg_uv_end_close(conn, &conn->ends[0]);
    conn->ends[0].kind = TG_UV_END_NONE;
    conn->on_given_up = tg_uv_connect_next;

    return 1;
}

static void
tg_uv_on_connect(uv_connect_t *req, int status)
{
    tg_uv_conn_t *conn;

    conn = req->data;

    /* Cancelled by its close. */
    if (conn->state != TG_UV_CONNECTING || conn->ends[0].kind == TG_UV_END_NONE)
    {
        return;
    }

    if (status != 0 && tg_uv_connect_give_up(conn)) {
        return;
    }

    if (status == 0 && conn->place != NULL && conn->place->port != NULL) {
        (void) uv_tcp_keepalive(&conn->ends[0].as.tcp, 1, TG_UV_KEEPALIVE);
    }

    if (status == 0 && conn->place != NULL && conn->place->tls != NULL) {
        status = tg_uv_connect_secure(conn);

    } else if (status == 0) {
        tg_uv_conn_opened(conn);
        return;
    }

    if (status != 0) {
        tg_uv_conn_unopened(conn, status);
    }
}

int
tg_uv_conn_connect(tg_uv_conn_t *conn, const char *path)
{
    struct sockaddr_un addr;
    int rc;

    rc = tg_uv_end_pipe(conn, &conn->ends[0]);

    if (rc != 0) {
        return tg_uv_conn_failed(conn, rc);
    }

    /* libuv would connect to the truncated name. */
    if (strlen(path) >= sizeof(addr.sun_path)) {
        return tg_uv_conn_failed(conn, UV_ENAMETOOLONG);
    }

    conn->connect.data = conn;
    uv_pipe_connect(&conn->connect, &conn->ends[0].as.pipe, path,
                    tg_uv_on_connect);

    return 0;
}

static int
tg_uv_connect_tcp(tg_uv_conn_t *conn, const struct sockaddr *address)
{
    int rc;

    rc = tg_uv_end_tcp(conn, &conn->ends[0]);

    if (rc == 0) {
        (void) uv_tcp_nodelay(&conn->ends[0].as.tcp, 1);
        conn->connect.data = conn;
        rc = uv_tcp_connect(&conn->connect, &conn->ends[0].as.tcp, address,
                            tg_uv_on_connect);
    }

    return rc;
}

int
tg_uv_conn_connect_to(tg_uv_conn_t *conn, const struct sockaddr *address)
{
    int rc;

    if (address->sa_family == AF_UNIX) {
        return tg_uv_conn_connect(
            conn, ((const struct sockaddr_un *) address)->sun_path);
    }

    rc = tg_uv_connect_tcp(conn, address);

    return rc == 0 ? 0 : tg_uv_conn_failed(conn, rc);
}

void
tg_uv_connect_next(tg_uv_conn_t *conn)
{
    const struct addrinfo *address;
    int rc;

    address = conn->next;
    conn->next = address->ai_next;
    rc = tg_uv_connect_tcp(conn, address->ai_addr);

    if (rc != 0 && !tg_uv_connect_give_up(conn)) {
        tg_uv_conn_unopened(conn, rc);
    }
}

static void
tg_uv_on_addresses(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    tg_uv_conn_t *conn;

    conn = req->data;
    conn->is_looking = 0;
    conn->addresses = found;

    if (conn->state != TG_UV_CONNECTING) {
        conn->on_gone(conn);
        return;
    }

    conn->nopen--;
    conn->next = found;

    if (status == 0) {
        tg_uv_connect_next(conn);
    } else {
        tg_uv_conn_unopened(conn, status);
    }
}

int
tg_uv_conn_connect_place(tg_uv_conn_t *conn, const tg_uv_place_t *place)
{
    struct addrinfo hints;
    int rc;

    conn->place = place;

    if (place->port == NULL) {
        return tg_uv_conn_connect(conn, place->text);
    }

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    conn->lookup.data = conn;
    rc = uv_getaddrinfo(conn->loop, &conn->lookup, tg_uv_on_addresses,
                        place->host, place->port, &hints);

    if (rc != 0) {
        return tg_uv_conn_failed(conn, rc);
    }

    conn->is_looking = 1;
    conn->nopen++;

    return 0;
}
