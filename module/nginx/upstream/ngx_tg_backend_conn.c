/* Connections to backends: TLS, the MCP handshake, notifications. */
#include "nginx/upstream/ngx_tg_backend_impl.h"

/* Limits of one connection: requests in flight, and bytes to be sent. */
#define NGX_TG_BACKEND_REQUESTS_MAX 1024
#define NGX_TG_BACKEND_WAITING_BYTES_MAX 67108864
/* Largest message in bytes: the largest output, escaped as JSON. */
#define NGX_TG_BACKEND_FRAME_MAX 67108864
/* Largest response in bytes: the largest output and its envelope. */
#define NGX_TG_BACKEND_RESPONSE_MAX 33619968
/* Timeout of connect(), in ms: a server that does not accept at once hangs. */
#define NGX_TG_BACKEND_CONNECT_TIMEOUT 5000
#define NGX_TG_BACKEND_RETRY_MIN 10
#define NGX_TG_BACKEND_RETRY_MAX 1000

/* --- MCP handshake --- */

static void
ngx_tg_backend_conn_update_timer(ngx_tg_backend_conn_t *backend_conn)
{
    if (backend_conn->tick.timer_set) {
        ngx_del_timer(&backend_conn->tick);
    }

    if (backend_conn->client.due != 0) {
        ngx_add_timer(&backend_conn->tick,
                      backend_conn->client.due > ngx_current_msec
                          ? (ngx_msec_t) backend_conn->client.due
                                - ngx_current_msec
                          : 0);
    }
}

/* Returns 1 if the handshake failed (backend->error), 0 if it is done. */
static ngx_uint_t
ngx_tg_backend_conn_handle_mcp_event(ngx_tg_backend_conn_t *backend_conn,
                                     tg_mcp_event_t event)
{
    ngx_tg_backend_t *backend;
    tg_str_t error;

    backend = backend_conn->backend;

    switch (event) {
    case TG_MCP_EVENT_OPEN:
        ngx_tg_backend_send_waiting(backend);
        break;
    case TG_MCP_EVENT_REFUSED:
    case TG_MCP_EVENT_TIMEOUT:
    case TG_MCP_EVENT_NO_MEMORY:
        error = event == TG_MCP_EVENT_REFUSED
                    ? backend_conn->client.error.message
                : event == TG_MCP_EVENT_TIMEOUT ? TG_STR("it does not answer")
                                                : TG_STR("no memory");
        (void) ngx_snprintf((u_char *) backend->error, sizeof(backend->error),
                            "the MCP handshake failed: %*s%Z",
                            ngx_min(error.len, sizeof(backend->error) / 2),
                            error.data);
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0, "backend \"%V\": %s",
                      &backend->name, backend->error);
        return 1;
    default:
        break;
    }

    ngx_tg_backend_conn_update_timer(backend_conn);

    return 0;
}

static ngx_uint_t
ngx_tg_backend_conn_on_response(ngx_tg_upstream_conn_t *conn, void *tag,
                                const tg_response_t *answer)
{
    ngx_tg_backend_conn_t *backend_conn = conn->data;
    tg_mcp_event_t event;

    event = tg_mcp_client_on_response(&backend_conn->client, tag, answer,
                                      ngx_current_msec);

    if (event == TG_MCP_EVENT_NOT_OWN) {
        return 0;
    }

    conn->is_finished |= ngx_tg_backend_conn_handle_mcp_event(backend_conn,
                                                              event);

    return 1;
}

static void
ngx_tg_backend_conn_on_timer(ngx_event_t *ev)
{
    ngx_tg_backend_conn_t *backend_conn = ev->data;

    if (ngx_tg_backend_conn_handle_mcp_event(
            backend_conn,
            tg_mcp_client_on_timer(&backend_conn->client, ngx_current_msec)))
    {
        ngx_tg_upstream_conn_end(&backend_conn->conn);
        return;
    }

    ngx_tg_upstream_conn_wake(&backend_conn->conn);
}

static ngx_int_t
ngx_tg_backend_conn_start_handshake(ngx_tg_backend_conn_t *backend_conn)
{
    if (tg_mcp_client_start(&backend_conn->client, ngx_current_msec) != TG_OK) {
        return NGX_ERROR;
    }

    ngx_tg_backend_conn_update_timer(backend_conn);

    return NGX_OK;
}

/* --- connections --- */

static void
ngx_tg_backend_conn_on_tls_session(ngx_connection_t *c)
{
    ngx_tg_backend_t *backend;
    ngx_tg_upstream_conn_t *conn;

    conn = c->data;
    backend = ((ngx_tg_backend_conn_t *) conn->data)->backend;
    ngx_tg_tls_session_free(backend->session);
    backend->session = ngx_tg_tls_get_session(c);
}

/* Checks the TLS handshake's result, and starts the MCP handshake. */
static ngx_int_t
ngx_tg_backend_conn_verify_tls(ngx_tg_upstream_conn_t *conn)
{
    ngx_tg_backend_conn_t *backend_conn = conn->data;
    ngx_tg_backend_protocol_t *protocol;
    const char *mistake;

    protocol = &backend_conn->backend->protocol;
    mistake = ngx_tg_tls_verify_peer(conn->connection, protocol->tls,
                                     &protocol->tls_name);

    if (mistake == NULL) {
        return ngx_tg_backend_conn_start_handshake(backend_conn);
    }

    (void) ngx_cpystrn((u_char *) backend_conn->backend->error,
                       (u_char *) mistake,
                       sizeof(backend_conn->backend->error));

    return NGX_ERROR;
}

static void
ngx_tg_backend_conn_on_tls_handshake(ngx_connection_t *c)
{
    ngx_tg_upstream_conn_t *conn;

    conn = c->data;

    if (ngx_tg_backend_conn_verify_tls(conn) == NGX_OK) {
        ngx_tg_upstream_conn_set_open(conn);
    } else {
        ngx_tg_upstream_conn_fail(conn, 0);
    }
}

static ngx_int_t
ngx_tg_backend_conn_on_connected(ngx_tg_upstream_conn_t *conn)
{
    ngx_tg_backend_conn_t *backend_conn = conn->data;
    ngx_tg_backend_t *backend;
    ngx_int_t rc;

    backend = backend_conn->backend;

    if (backend->protocol.tls == NULL) {
        return ngx_tg_backend_conn_start_handshake(backend_conn);
    }

    rc = ngx_tg_tls_start_handshake(conn->connection, backend->protocol.tls,
                                    &backend->protocol.tls_name,
                                    backend->session,
                                    ngx_tg_backend_conn_on_tls_handshake,
                                    ngx_tg_backend_conn_on_tls_session);

    if (rc == NGX_ERROR) {
        (void) ngx_cpystrn((u_char *) backend->error,
                           (u_char *) "the TLS handshake failed",
                           sizeof(backend->error));
    }

    return rc == NGX_OK ? ngx_tg_backend_conn_verify_tls(conn) : rc;
}

static ngx_int_t
ngx_tg_backend_conn_on_connect_failed(ngx_tg_upstream_conn_t *conn,
                                      ngx_err_t err)
{
    ngx_tg_backend_conn_t *backend_conn = conn->data;
    ngx_tg_backend_t *backend;
    u_char *p;

    backend = backend_conn->backend;

    if (err != 0) {
        p = ngx_strerror(err, (u_char *) backend->error,
                         sizeof(backend->error) - 1);
        *p = '\0';
    }

    /* A kept connection retries for ever: log only the first failures. */
    if (!backend->is_kept || conn->delay <= 2 * conn->min_delay) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "no connection to backend \"%V\": %s", &backend->name,
                      backend->error);
    }

    return NGX_ERROR;
}

/* Checks whether there is an open connection, for which calls may wait. */
static ngx_uint_t
ngx_tg_backend_has_open_conn(const ngx_tg_backend_t *backend)
{
    ngx_uint_t i;

    for (i = 0; i < backend->nconns; i++) {
        if (backend->conns[i].client.state == TG_MCP_OPEN) {
            return 1;
        }
    }

    return 0;
}

/* Opens the first connection of a kept backend again, for notifications. */
static void
ngx_tg_backend_conn_reconnect(ngx_tg_backend_conn_t *backend_conn,
                              ngx_uint_t has_ended)
{
    ngx_tg_upstream_conn_t *conn;

    conn = &backend_conn->conn;

    if (backend_conn != backend_conn->backend->conns
        || conn->state != NGX_TG_UPSTREAM_CONN_CLOSED)
    {
        return;
    }

    /* A server that closes without a message counts as unreachable. */
    if (has_ended && !conn->has_received) {
        ngx_tg_upstream_conn_fail(conn, NGX_ECONNRESET);
    } else {
        ngx_tg_upstream_conn_connect(conn);
    }
}

/*
 * Handles servers of the older MCP era that end if the first message is not
 * initialize. Returns 1 if the next connection must send initialize first.
 */
static ngx_uint_t
ngx_tg_backend_conn_update_mcp_era(ngx_tg_backend_conn_t *backend_conn,
                                   ngx_uint_t has_ended)
{
    tg_mcp_client_t *client;

    client = &backend_conn->client;

    if (client->state == TG_MCP_PROBING && has_ended) {
        client->handshake = TG_MCP_INITIALIZE_FIRST;
        return 1;
    }

    if (client->state == TG_MCP_INITIALIZING) {
        client->handshake = TG_MCP_DISCOVER_FIRST;
    }

    return 0;
}

static void
ngx_tg_backend_conn_on_lost(ngx_tg_upstream_conn_t *conn, ngx_uint_t nrequests,
                            ngx_uint_t has_ended)
{
    ngx_tg_backend_conn_t *backend_conn = conn->data;
    ngx_uint_t was_open;

    was_open = backend_conn->client.state == TG_MCP_OPEN
               || ngx_tg_backend_conn_update_mcp_era(backend_conn, has_ended);
    tg_mcp_client_on_disconnect(&backend_conn->client);
    ngx_tg_backend_conn_update_timer(backend_conn);
    backend_conn->hung_at = 0;

    if (has_ended && nrequests != 0) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "backend \"%V\" closed its connection with %ui %s in "
                      "flight",
                      &backend_conn->backend->name, nrequests,
                      tg_pick_plural(nrequests, "call", "calls"));
    }

    if (was_open || (has_ended && !backend_conn->backend->protocol.is_mcp)) {
        ngx_tg_backend_send_waiting(backend_conn->backend);
    } else if (!ngx_tg_backend_has_open_conn(backend_conn->backend)) {
        ngx_tg_backend_fail_waiting(backend_conn->backend);
    }

    if (backend_conn->backend->is_kept && !ngx_tg_worker_is_exiting()) {
        ngx_tg_backend_conn_reconnect(backend_conn, has_ended);
    }
}

/*
 * Forwards progress to its call. The handshake's own requests have no
 * ngx_tg_upstream_request_t.
 */
static void
ngx_tg_backend_conn_forward_progress(ngx_tg_backend_conn_t *backend_conn,
                                     const tg_message_t *message)
{
    ngx_tg_upstream_request_t *request;

    request = ngx_tg_upstream_conn_find_request(&backend_conn->conn,
                                                message->p.progress_token);

    if (request != NULL
        && !tg_mcp_client_is_own_tag(&backend_conn->client, request)
        && request->progress != NULL)
    {
        request->progress(request->data, message);
    }
}

static void
ngx_tg_backend_conn_on_notification(ngx_tg_upstream_conn_t *conn,
                                    tg_str_t method,
                                    const tg_message_t *message)
{
    ngx_tg_backend_conn_t *backend_conn = conn->data;
    tg_mcp_event_t event;

    if (tg_json_body_eq_text(method, TG_STR("notifications/progress"))) {
        ngx_tg_backend_conn_forward_progress(backend_conn, message);
        return;
    }

    event = tg_mcp_client_on_notification(&backend_conn->client, method,
                                          ngx_current_msec);

    if (event == TG_MCP_EVENT_NOT_OWN) {
        if (backend_conn->backend->protocol.notify != NULL) {
            backend_conn->backend->protocol.notify(
                backend_conn->backend->protocol.data, method, message);
        }

        return;
    }

    conn->is_finished |= ngx_tg_backend_conn_handle_mcp_event(backend_conn,
                                                              event);
}

/* Checks whether calls wait for the handshake of this connection. */
static ngx_uint_t
ngx_tg_backend_conn_is_needed(const ngx_tg_upstream_conn_t *conn)
{
    const ngx_tg_backend_conn_t *backend_conn = conn->data;

    return backend_conn->client.state != TG_MCP_OPEN
           && !ngx_queue_empty(&backend_conn->backend->waiting);
}

static const ngx_tg_upstream_conn_ops_t ngx_tg_backend_conn_ops = {
    .on_connect_failed = ngx_tg_backend_conn_on_connect_failed,
    .on_connected = ngx_tg_backend_conn_on_connected,
    .on_lost = ngx_tg_backend_conn_on_lost,
    .answer = ngx_tg_backend_conn_on_response,
    .notification = ngx_tg_backend_conn_on_notification,
    .is_needed = ngx_tg_backend_conn_is_needed,
};

void
ngx_tg_backend_conn_init(ngx_tg_backend_conn_t *backend_conn,
                         ngx_tg_backend_t *backend)
{
    ngx_tg_upstream_conn_t *conn;

    backend_conn->backend = backend;
    backend_conn->tick.handler = ngx_tg_backend_conn_on_timer;
    backend_conn->tick.data = backend_conn;
    backend_conn->tick.log = ngx_cycle->log;
    backend_conn->tick.cancelable = 1;

    conn = &backend_conn->conn;
    conn->ops = &ngx_tg_backend_conn_ops;
    conn->data = backend_conn;
    conn->name = backend->name;
    conn->sockaddr = &backend->sockaddr.sockaddr;
    conn->socklen = backend->socklen;
    conn->max_requests = NGX_TG_BACKEND_REQUESTS_MAX;
    conn->max_bytes = NGX_TG_BACKEND_WAITING_BYTES_MAX;
    conn->min_delay = NGX_TG_BACKEND_RETRY_MIN;
    conn->max_delay = NGX_TG_BACKEND_RETRY_MAX;
    conn->connect_time = NGX_TG_BACKEND_CONNECT_TIMEOUT;
    conn->sends_hello = backend->protocol.dialect == TG_DIALECT_JSONRPC
                        && !backend->protocol.is_mcp;
    ngx_tg_upstream_conn_init(conn, backend->protocol.dialect,
                              NGX_TG_BACKEND_FRAME_MAX);
    tg_caller_set_max_response(&conn->caller, NGX_TG_BACKEND_RESPONSE_MAX);
    tg_mcp_client_init(&backend_conn->client, tg_alloc_libc(), &conn->caller,
                       backend->protocol.is_mcp ? TG_MCP_DISCOVER_FIRST
                                                : TG_MCP_NO_HANDSHAKE,
                       TG_STR(TG_MCP_CLIENT_INFO("toolgate")));
    backend_conn->client.kinds = 0;
}

void
ngx_tg_backend_conn_deinit(ngx_tg_backend_conn_t *backend_conn)
{
    tg_mcp_client_on_disconnect(&backend_conn->client);
    ngx_tg_backend_conn_update_timer(backend_conn);
    tg_mcp_client_deinit(&backend_conn->client);
    ngx_tg_upstream_conn_deinit(&backend_conn->conn);
}
