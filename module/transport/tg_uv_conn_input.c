/* Input of a connection, in time slices. */
#include "transport/tg_uv_conn_impl.h"

int
tg_uv_conn_is_slice_over(tg_uv_conn_t *conn, size_t size)
{
    return tg_sched_is_slice_over(&conn->sched->sched, &conn->source, size);
}

static int
tg_uv_conn_is_read_paused(const tg_uv_conn_t *conn)
{
    return conn->source.is_queued
           || (conn->is_paused
               && (!conn->is_reading_while_paused
                   || conn->in_buf.len >= TG_UV_READ_SIZE));
}

/*
 * Passes in_buf to the protocol, again after TG_LIMIT because of output that
 * the kernel accepts at once: no write callback would follow.
 */
static void
tg_uv_conn_process_input(tg_uv_conn_t *conn)
{
    size_t consumed, had;
    int rc;

    do {
        if (conn->buffer_cache != NULL) {
            tg_uv_buffer_borrow(conn->out, &conn->buffer_cache->out);
        }

        consumed = 0;
        conn->is_in_input_callback = 1;
        rc = conn->ops->input(conn->host, conn->in_buf.data, conn->in_buf.len,
                              &consumed);
        conn->is_in_input_callback = 0;

        if (conn->state != TG_UV_CONN_OPEN) {
            return;
        }

        tg_buf_consume(&conn->in_buf, consumed);

        if (conn->in_buf.len == 0) {
            tg_buf_reset(&conn->in_buf, TG_UV_READ_SIZE);
        }

        conn->is_reading_while_paused = rc == TG_AGAIN
                                        && !conn->source.is_queued;
        conn->is_paused = rc == TG_LIMIT || conn->is_reading_while_paused;

        if (rc != TG_OK && rc != TG_LIMIT && rc != TG_AGAIN && rc != TG_CLOSED)
        {
            tg_uv_conn_close_with_error(conn,
                                        rc == TG_NOMEM ? UV_ENOMEM : UV_EPROTO);
            return;
        }

        if (rc == TG_CLOSED) {
            tg_uv_conn_close_after_flush(conn);
            return;
        }

        had = conn->out->len;
        tg_uv_conn_flush(conn);

        /* No write will end and resume the input. */
        if (conn->is_paused && conn->is_broken) {
            tg_uv_conn_close_with_error(conn, 0);
            return;
        }
        if (!conn->is_paused || had == 0 || conn->is_writing
            || conn->in_buf.len == 0 || conn->state != TG_UV_CONN_OPEN)
        {
            return;
        }
    } while (!tg_uv_conn_is_slice_over(conn, had));

    conn->is_paused = 0;
    conn->is_reading_while_paused = 0;
}

static void
tg_uv_conn_on_eof(tg_uv_conn_t *conn)
{
    conn->is_eof = 1;
    tg_uv_conn_read_stop(conn);

    if (conn->ops->eof == NULL || conn->is_broken) {
        tg_uv_conn_close_with_error(conn, 0);
        return;
    }

    conn->ops->eof(conn->host);
}

/*
 * Decrypts input or continues the handshake. nread may be 0 or an error.
 * Returns what to do once in_buf is served: 0 to wait, or UV_EOF or an error.
 */
static int
tg_uv_conn_decrypt_input(tg_uv_conn_t *conn, ssize_t nread)
{
    int rc;

    rc = nread < 0 ? (int) nread : tg_uv_conn_decrypt(conn, (size_t) nread);

    /* Send messages of the handshake, or its alert. */
    tg_uv_conn_flush(conn);

    if (conn->state == TG_UV_CONN_CONNECTING) {
        if (tg_uv_conn_is_tls_open(conn)) {
            tg_uv_conn_complete_connect(conn);
        } else if (rc != 0) {
            tg_uv_conn_fail_connect(conn, rc);
        }
    }

    return rc;
}

static void
tg_uv_conn_on_read(tg_uv_conn_t *conn, ssize_t nread)
{
    size_t had;
    int rc;

    if (conn->state != TG_UV_CONN_OPEN && conn->state != TG_UV_CONN_CONNECTING)
    {
        return;
    }

    tg_sched_begin_slice(&conn->sched->sched);
    had = conn->in_buf.len;
    rc = nread < 0 ? (int) nread : 0;

    if (conn->tls_conn != NULL) {
        rc = tg_uv_conn_decrypt_input(conn, nread);
    } else if (nread > 0) {
        conn->in_buf.len += (size_t) nread;
    }

    if (conn->state == TG_UV_CONN_OPEN && conn->in_buf.len != had
        && !conn->is_reading_while_paused && !conn->source.is_queued)
    {
        tg_uv_conn_process_input(conn);
    }

    if (conn->state != TG_UV_CONN_OPEN) {
        return;
    }

    /* TLS may report EOF together with bytes: serve those first. */
    if (tg_uv_conn_is_read_paused(conn) && (rc == 0 || conn->tls_conn != NULL))
    {
        tg_uv_conn_read_stop(conn);
    } else if (rc == UV_EOF) {
        tg_uv_conn_on_eof(conn);
    } else if (rc < 0) {
        tg_uv_conn_close_with_error(conn, rc);
    }
}

static void
tg_uv_conn_run_slice(tg_sched_source_t *source)
{
    tg_uv_conn_t *conn;
    int rc;

    conn = TG_CONTAINER_OF(source, tg_uv_conn_t, source);

    if (conn->in_buf.len != 0 && !conn->is_paused) {
        tg_uv_conn_process_input(conn);
    }

    if (conn->buffer_cache != NULL) {
        tg_uv_buffer_recycle(&conn->in_buf, &conn->buffer_cache->in);
    }

    if (conn->state != TG_UV_CONN_OPEN || conn->is_eof
        || tg_uv_conn_is_read_paused(conn))
    {
        return;
    }

    rc = tg_uv_conn_read_start(conn);

    if (rc != 0) {
        tg_uv_conn_close_with_error(conn, rc);
        return;
    }

    if (conn->tls_conn != NULL) {
        tg_uv_conn_on_read(conn, 0);
    }
}

void
tg_uv_conn_init(tg_uv_conn_t *conn, tg_uv_sched_t *sched,
                const tg_uv_conn_ops_t *ops, void *host, tg_buf_t *out)
{
    tg_uv_conn_init_base(conn, sched, ops, host, out);
    conn->source.run = tg_uv_conn_run_slice;
    conn->on_read = tg_uv_conn_on_read;
}
