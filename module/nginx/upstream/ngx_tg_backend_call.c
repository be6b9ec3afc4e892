/* Calls of a backend: the queue of waiting calls, and sending them. */
#include "nginx/upstream/ngx_tg_backend_impl.h"

static void
ngx_tg_backend_call_end(ngx_tg_backend_call_t *query,
                        const tg_response_t *answer)
{
    query->backend->ncalls--;
    query->backend = NULL;
    query->answer(query->data, answer);
}

static void
ngx_tg_backend_call_on_response(void *data, const tg_response_t *answer)
{
    ngx_tg_backend_call_t *query = data;
    ngx_tg_backend_t *backend;

    backend = query->backend;
    query->was_open |= query->request.is_drained;
    ngx_tg_backend_call_end(query, answer);
    ngx_tg_backend_send_waiting(backend);
}

static void
ngx_tg_backend_call_on_progress(void *data, const tg_message_t *message)
{
    ngx_tg_backend_call_t *query = data;

    query->progress(query->data, message);
}

/*
 * Returns the params of a passed-on method, with the request's id as progress
 * token: the caller's has no meaning for the backend.
 */
static tg_str_t
ngx_tg_backend_call_make_params(ngx_tg_backend_call_t *query, uint64_t id,
                                tg_buf_t *room)
{
    tg_str_t params, token;
    size_t at;

    params = query->call.arguments;
    token = query->token;

    if (token.data == NULL) {
        return params;
    }

    at = (size_t) (token.data - params.data);
    tg_buf_append(room, params.data, at);
    tg_buf_append_uint(room, id);
    tg_buf_append(room, token.data + token.len, params.len - at - token.len);

    return tg_buf_view(room);
}

static int
ngx_tg_backend_conn_send_call(ngx_tg_backend_conn_t *backend_conn,
                              ngx_tg_backend_call_t *query)
{
    ngx_tg_upstream_conn_t *conn;
    tg_buf_t more;
    int rc;

    conn = &backend_conn->conn;
    query->request.data = query;
    query->request.answer = ngx_tg_backend_call_on_response;
    query->request.progress = ngx_tg_backend_call_on_progress;
    query->sent_at = ngx_current_msec;
    query->was_open = conn->state == NGX_TG_UPSTREAM_CONN_OPEN;
    tg_buf_init(&more, tg_alloc_libc());

    if (query->is_method) {
        rc = ngx_tg_upstream_conn_send_request(
            conn, query->call.name,
            ngx_tg_backend_call_make_params(query, conn->caller.next_id, &more),
            &query->request);
    } else if (query->call.method.data != NULL) {
        tg_mcp_client_write_request_params(&backend_conn->client, &query->call,
                                           conn->caller.next_id, &more);
        rc = tg_buf_has_failed(&more)
                 ? TG_NOMEM
                 : ngx_tg_upstream_conn_send_request(conn, query->call.method,
                                                     tg_buf_view(&more),
                                                     &query->request);
    } else {
        /* Always request progress, because it extends the timeout. */
        tg_mcp_client_write_call_params(&backend_conn->client, &query->call,
                                        conn->caller.next_id, &more);
        rc = tg_buf_has_failed(&more)
                 ? TG_NOMEM
                 : ngx_tg_upstream_conn_send_tool_call(conn, query->call.name,
                                                       query->call.arguments,
                                                       tg_buf_view(&more),
                                                       &query->request);
    }

    tg_buf_deinit(&more);

    return rc;
}

/* --- selection of a connection --- */

static ngx_uint_t
ngx_tg_backend_conn_is_hung(const ngx_tg_backend_conn_t *backend_conn)
{
    return backend_conn->hung_at != 0
           && (ngx_msec_int_t) (backend_conn->conn.last_read_at
                                - backend_conn->hung_at)
                  <= 0;
}

/* Checks whether a connection takes a call, now or when it is open. */
static ngx_uint_t
ngx_tg_backend_conn_can_take_call(const ngx_tg_backend_conn_t *backend_conn)
{
    if (backend_conn->backend->protocol.dialect == TG_DIALECT_IPC) {
        return backend_conn->conn.nrequests == 0;
    }

    return !ngx_tg_backend_conn_is_hung(backend_conn)
           && !backend_conn->conn.caller.is_leaving;
}

ngx_tg_backend_conn_t *
ngx_tg_backend_select_conn(ngx_tg_backend_t *backend)
{
    ngx_tg_backend_conn_t *backend_conn, *best;
    ngx_uint_t i;

    best = NULL;

    for (i = 0; i < backend->nconns; i++) {
        backend_conn = &backend->conns[i];

        if (ngx_tg_backend_conn_can_take_call(backend_conn)
            && (best == NULL || backend_conn->conn.state > best->conn.state))
        {
            best = backend_conn;
        }
    }

    return best;
}

void
ngx_tg_backend_send_waiting(ngx_tg_backend_t *backend)
{
    ngx_tg_backend_conn_t *backend_conn;
    ngx_tg_backend_call_t *query;

    while (!ngx_queue_empty(&backend->waiting)) {
        backend_conn = ngx_tg_backend_select_conn(backend);

        if (backend_conn == NULL) {
            return;
        }

        if (backend->protocol.is_mcp
            && backend_conn->client.state != TG_MCP_OPEN) {
            ngx_tg_upstream_conn_connect(&backend_conn->conn);
            return;
        }

        query = ngx_queue_data(ngx_queue_head(&backend->waiting),
                               ngx_tg_backend_call_t, queue);
        ngx_queue_remove(&query->queue);
        query->is_waiting = 0;

        if (ngx_tg_backend_conn_send_call(backend_conn, query) != TG_OK) {
            ngx_tg_backend_call_end(query, NULL);
        }
    }
}

void
ngx_tg_backend_fail_waiting(ngx_tg_backend_t *backend)
{
    ngx_tg_backend_call_t *query;
    tg_response_t answer;
    ngx_queue_t waiting;

    if (ngx_queue_empty(&backend->waiting)) {
        return;
    }

    /* Take the calls out first: their answer() may send new calls. */
    waiting = backend->waiting;
    waiting.next->prev = &waiting;
    waiting.prev->next = &waiting;
    ngx_queue_init(&backend->waiting);

    ngx_memzero(&answer, sizeof(answer));
    answer.kind = TG_RESPONSE_NOT_STARTED;

    while (!ngx_queue_empty(&waiting)) {
        query = ngx_queue_data(ngx_queue_head(&waiting), ngx_tg_backend_call_t,
                               queue);
        ngx_queue_remove(&query->queue);
        query->is_waiting = 0;
        query->was_open = 0;
        ngx_tg_backend_call_end(query, &answer);
    }
}

/* --- functions for callers --- */

void
ngx_tg_backend_send_call(ngx_tg_backend_t *backend,
                         ngx_tg_backend_call_t *query)
{
    query->backend = backend;
    query->is_waiting = 1;
    backend->is_used = 1;
    backend->ncalls++;
    ngx_queue_insert_tail(&backend->waiting, &query->queue);
    ngx_tg_backend_send_waiting(backend);
}

void
ngx_tg_backend_call_cancel(ngx_tg_backend_call_t *query, ngx_uint_t is_late)
{
    ngx_tg_backend_t *backend;
    ngx_tg_backend_conn_t *backend_conn;
    ngx_tg_upstream_conn_t *conn;

    backend = query->backend;

    if (backend == NULL) {
        return;
    }

    backend->ncalls--;
    query->backend = NULL;

    if (query->is_waiting) {
        ngx_queue_remove(&query->queue);
        query->is_waiting = 0;
        return;
    }

    conn = query->request.conn;
    backend_conn = conn->data;

    if (is_late && (ngx_msec_int_t) (conn->last_read_at - query->sent_at) <= 0)
    {
        backend_conn->hung_at = ngx_current_msec;
    }

    ngx_tg_upstream_request_cancel(&query->request, !query->is_method);

    /*
     * A dialect without ids has no cancellation, and a hung server does not
     * react: close the connection.
     */
    if (backend->protocol.dialect == TG_DIALECT_IPC
        || (ngx_tg_backend_conn_is_hung(backend_conn) && conn->nrequests == 0))
    {
        ngx_tg_upstream_conn_end(conn);
    }
}
