/* Requests on an upstream connection, and their responses. */
#include "nginx/upstream/ngx_tg_upstream_conn_impl.h"

/* Maximum size of a request without its params, in bytes. */
#define NGX_TG_REQUEST_ENVELOPE_MAX 1024

static void
ngx_tg_upstream_conn_on_response(void *host, void *tag,
                                 const tg_response_t *answer)
{
    ngx_tg_upstream_conn_t *conn = host;
    ngx_tg_upstream_request_t *request = tag;

    if (conn->ops->answer != NULL && conn->ops->answer(conn, tag, answer)) {
        return;
    }

    conn->nrequests--;
    request->conn = NULL;
    request->is_drained = conn->is_drained || conn->caller.is_leaving;
    request->has_broken = conn->is_dropping;
    request->answer(request->data, answer);
}

static void
ngx_tg_upstream_conn_on_notification(void *host, tg_str_t method,
                                     const tg_message_t *message)
{
    ngx_tg_upstream_conn_t *conn = host;

    conn->ops->notification(conn, method, message);
}

static void
ngx_tg_upstream_conn_on_shutdown(void *host, tg_str_t reason, int is_drained)
{
    ngx_tg_upstream_conn_t *conn = host;

    conn->is_drained = is_drained != 0;
    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0, "%V is shutting down: %*s",
                  &conn->name, reason.len, reason.data);
}

static void
ngx_tg_upstream_conn_on_log(void *host, const char *text)
{
    ngx_tg_upstream_conn_t *conn = host;

    if (ngx_tg_log_throttle_take(&conn->throttle, NGX_LOG_INFO, ngx_cycle->log))
    {
        ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0, "%V: %s", &conn->name,
                      text);
    }
}

static const tg_caller_ops_t ngx_tg_upstream_conn_caller_ops = {
    .answer = ngx_tg_upstream_conn_on_response,
    .notification = ngx_tg_upstream_conn_on_notification,
    .on_shutdown_notice = ngx_tg_upstream_conn_on_shutdown,
    .log = ngx_tg_upstream_conn_on_log,
    .is_slice_over = ngx_tg_upstream_conn_is_slice_over,
};

void
ngx_tg_upstream_conn_init(ngx_tg_upstream_conn_t *conn, tg_dialect_t dialect,
                          size_t max_frame)
{
    tg_caller_init(&conn->caller, tg_alloc_libc(),
                   &ngx_tg_upstream_conn_caller_ops, conn, dialect, max_frame);
    tg_buf_init(&conn->in, tg_alloc_libc());
    conn->source.run = ngx_tg_upstream_conn_on_slice;
    conn->delay = conn->min_delay;
    conn->timer.handler = ngx_tg_upstream_conn_on_timer;
    conn->timer.data = conn;
    /* A call has its own timer, which keeps the worker. */
    conn->timer.cancelable = 1;
}

void
ngx_tg_upstream_conn_deinit(ngx_tg_upstream_conn_t *conn)
{
    ngx_tg_upstream_conn_close(conn);
    tg_caller_deinit(&conn->caller);
    tg_buf_deinit(&conn->in);
}

/* --- requests --- */

/*
 * Checks whether `len` bytes are within the limits. First announces, on a new
 * connection, that unsent requests are sent again.
 */
static ngx_uint_t
ngx_tg_upstream_conn_has_room(ngx_tg_upstream_conn_t *conn, size_t len)
{
    if (conn->nrequests >= conn->max_requests
        || conn->caller.out.len + len
               > conn->max_bytes - NGX_TG_REQUEST_ENVELOPE_MAX)
    {
        return 0;
    }

    /* This must be the first message on the next connection. */
    if (conn->sends_hello && conn->caller.sent == 0) {
        (void) tg_caller_send_hello_resends(&conn->caller);
    }

    return 1;
}

/* Registers a request queued with the result rc, which it returns. */
static int
ngx_tg_upstream_conn_add_request(ngx_tg_upstream_conn_t *conn,
                                 ngx_tg_upstream_request_t *request, int rc)
{
    if (rc != TG_OK) {
        return rc;
    }

    request->conn = conn;
    conn->nrequests++;

    if (conn->connection != NULL) {
        conn->connection->idle = 0;
    }

    ngx_tg_upstream_conn_connect(conn);
    ngx_tg_upstream_conn_wake(conn);

    return TG_OK;
}

int
ngx_tg_upstream_conn_send_request(ngx_tg_upstream_conn_t *conn, tg_str_t method,
                                  tg_str_t params,
                                  ngx_tg_upstream_request_t *request)
{
    if (!ngx_tg_upstream_conn_has_room(conn, params.len)) {
        return TG_LIMIT;
    }

    return ngx_tg_upstream_conn_add_request(
        conn, request,
        tg_caller_send_request(&conn->caller, method, params, request,
                               &request->id));
}

int
ngx_tg_upstream_conn_send_tool_call(ngx_tg_upstream_conn_t *conn, tg_str_t name,
                                    tg_str_t arguments, tg_str_t more,
                                    ngx_tg_upstream_request_t *request)
{
    if (!ngx_tg_upstream_conn_has_room(conn, arguments.len + more.len)) {
        return TG_LIMIT;
    }

    return ngx_tg_upstream_conn_add_request(
        conn, request,
        tg_caller_call_tool(&conn->caller, name, arguments, more, request,
                            &request->id));
}

/* Returns the request's connection, or NULL if it was not in flight. */
static ngx_tg_upstream_conn_t *
ngx_tg_upstream_request_unlink(ngx_tg_upstream_request_t *request)
{
    ngx_tg_upstream_conn_t *conn;

    conn = request->conn;
    request->conn = NULL;

    if (conn != NULL) {
        conn->nrequests--;
    }

    return conn;
}

void
ngx_tg_upstream_request_cancel(ngx_tg_upstream_request_t *request,
                               ngx_uint_t method_is_mcp)
{
    ngx_tg_upstream_conn_t *conn;

    conn = ngx_tg_upstream_request_unlink(request);

    if (conn != NULL
        && tg_caller_cancel_request(&conn->caller, request->id,
                                    (int) method_is_mcp)
               == TG_OK)
    {
        ngx_tg_upstream_conn_wake(conn);
    }
}

void
ngx_tg_upstream_request_forget(ngx_tg_upstream_request_t *request)
{
    ngx_tg_upstream_conn_t *conn;

    conn = ngx_tg_upstream_request_unlink(request);

    if (conn != NULL) {
        (void) tg_caller_forget_request(&conn->caller, request->id);
    }
}

ngx_tg_upstream_request_t *
ngx_tg_upstream_conn_find_request(ngx_tg_upstream_conn_t *conn, tg_str_t raw)
{
    uint64_t id;

    return tg_caller_parse_id(raw, &id) == TG_OK
               ? tg_caller_find_tag(&conn->caller, id)
               : NULL;
}
