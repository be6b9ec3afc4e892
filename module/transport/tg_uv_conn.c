/* State, output and end of a connection. */
#include "transport/tg_uv_conn_impl.h"

#include <sys/socket.h>

static void tg_uv_conn_on_write_done(tg_uv_conn_t *conn, int err);
static void tg_uv_conn_on_handle_closed(tg_uv_conn_t *conn);

void
tg_uv_conn_init_base(tg_uv_conn_t *conn, tg_uv_sched_t *sched,
                     const tg_uv_conn_ops_t *ops, void *host, tg_buf_t *out)
{
    memset(conn, 0, sizeof(*conn));
    conn->loop = sched->loop;
    conn->sched = sched;
    conn->ops = ops;
    conn->host = host;
    conn->out = out;
    conn->in = &conn->ends[0];
    conn->out_end = &conn->ends[0];
    conn->ends[0].saved_flags = -1;
    conn->ends[1].saved_flags = -1;
    conn->state = TG_UV_CONN_CONNECTING;
    conn->on_write_done = tg_uv_conn_on_write_done;
    conn->on_handle_closed = tg_uv_conn_on_handle_closed;

    tg_buf_init(&conn->in_buf, tg_alloc_libc());
    tg_buf_init(&conn->writing, tg_alloc_libc());
    (void) uv_idle_init(conn->loop, &conn->close_notifier);
    conn->close_notifier.data = conn;
}

/* Counts handles. After the last one, closes or tries the next address. */
static void
tg_uv_conn_on_handle_closed(tg_uv_conn_t *conn)
{
    if (--conn->nopen != 0) {
        return;
    }

    if (conn->state == TG_UV_CONN_CONNECTING) {
        conn->on_address_closed(conn);
        return;
    }

    conn->state = TG_UV_CONN_CLOSED;
    tg_uv_conn_close_tls(conn);
    uv_freeaddrinfo(conn->addrinfo_list);
    tg_buf_deinit(&conn->in_buf);
    tg_buf_deinit(&conn->writing);
    conn->ops->closed(conn->host, conn->err);
}

static void
tg_uv_on_close_notifier(uv_handle_t *handle)
{
    tg_uv_conn_on_handle_closed(handle->data);
}

void
tg_uv_conn_close_with_error(tg_uv_conn_t *conn, int err)
{
    if (conn->state >= TG_UV_CONN_CLOSING) {
        return;
    }

    conn->state = TG_UV_CONN_CLOSING;
    tg_sched_dequeue(&conn->sched->sched, &conn->source);

    if (conn->err == 0) {
        conn->err = err;
    }

    if (conn->is_resolving) {
        /* The callback is called in any case. */
        (void) uv_cancel((uv_req_t *) &conn->lookup);
    }

    tg_uv_io_close(conn, &conn->ends[0]);
    tg_uv_io_close(conn, &conn->ends[1]);
    conn->nopen++;
    uv_close((uv_handle_t *) &conn->close_notifier, tg_uv_on_close_notifier);
}

void
tg_uv_conn_close(tg_uv_conn_t *conn)
{
    tg_uv_conn_close_with_error(conn, 0);
}

void
tg_uv_conn_close_after_flush(tg_uv_conn_t *conn)
{
    if (conn->state == TG_UV_CONN_CONNECTING) {
        tg_uv_conn_close_with_error(conn, 0);
        return;
    }

    if (conn->state != TG_UV_CONN_OPEN) {
        return;
    }

    conn->state = TG_UV_CONN_FLUSHING;
    tg_sched_dequeue(&conn->sched->sched, &conn->source);
    tg_uv_conn_read_stop(conn);
    tg_uv_conn_flush(conn);

    if (conn->state == TG_UV_CONN_FLUSHING && !conn->is_writing) {
        tg_uv_conn_close_with_error(conn, 0);
    }
}

int
tg_uv_conn_fail_open(tg_uv_conn_t *conn, int err)
{
    tg_uv_conn_close_with_error(conn, err);

    return err;
}

static int
tg_uv_conn_start_reading(tg_uv_conn_t *conn)
{
    int rc;

    conn->state = TG_UV_CONN_OPEN;
    rc = tg_uv_conn_read_start(conn);

    return rc == 0 ? 0 : tg_uv_conn_fail_open(conn, rc);
}

int
tg_uv_conn_accept(tg_uv_conn_t *conn, uv_stream_t *server)
{
    int rc;

    rc = tg_uv_io_init_pipe(conn, &conn->ends[0]);

    if (rc == 0) {
        rc = uv_accept(server, &conn->ends[0].as.stream);
    }

    return rc == 0 ? tg_uv_conn_start_reading(conn)
                   : tg_uv_conn_fail_open(conn, rc);
}

int
tg_uv_conn_open_fds(tg_uv_conn_t *conn, int in_fd, int out_fd)
{
    int rc;

    rc = tg_uv_io_open_fd(conn, &conn->ends[0], in_fd, 1);

    if (rc == 0 && out_fd == in_fd && conn->in->type == TG_UV_IO_FILE) {
        rc = UV_EINVAL;
    }

    if (rc == 0 && out_fd != in_fd) {
        conn->out_end = &conn->ends[1];
        rc = tg_uv_io_open_fd(conn, &conn->ends[1], out_fd, 0);
    }

    return rc == 0 ? tg_uv_conn_start_reading(conn)
                   : tg_uv_conn_fail_open(conn, rc);
}

void
tg_uv_conn_fail_connect(tg_uv_conn_t *conn, int err)
{
    conn->err = err;
    conn->ops->connected(conn->host, err);
    tg_uv_conn_close_with_error(conn, err);
}

void
tg_uv_conn_complete_connect(tg_uv_conn_t *conn)
{
    conn->state = TG_UV_CONN_OPEN;
    conn->ops->connected(conn->host, 0);

    if (conn->state == TG_UV_CONN_OPEN && tg_uv_conn_start_reading(conn) == 0) {
        tg_uv_conn_flush(conn);
    }
}

/*
 * The other side no longer reads, but its last messages (a response, a shutdown
 * notice) may still be in the socket. Shutting down our receiving half makes
 * them readable and then EOF, even if only half of the connection is closed.
 */
static void
tg_uv_conn_handle_write_error(tg_uv_conn_t *conn, int err)
{
    uv_os_fd_t fd;

    conn->err = err;
    conn->is_broken = 1;

    if (conn->state == TG_UV_CONN_OPEN && !conn->is_paused && !conn->is_eof
        && conn->in == conn->out_end
        && uv_fileno(&conn->in->as.handle, &fd) == 0
        && shutdown(fd, SHUT_RD) == 0)
    {
        return;
    }

    tg_uv_conn_close_with_error(conn, err);
}

/*
 * Moves the bytes of out after the first n to `writing`, or copies them if
 * ops->written is set, because the host removes them itself.
 */
static int
tg_uv_conn_move_output(tg_uv_conn_t *conn, size_t n)
{
    tg_buf_t buf;

    if (conn->ops->written != NULL) {
        tg_buf_append(&conn->writing, conn->out->data + n, conn->out->len - n);

        if (tg_buf_has_failed(&conn->writing)) {
            return UV_ENOMEM;
        }

        conn->ops->written(conn->host, conn->out->len);
        return 0;
    }

    if (n == conn->out->len) {
        tg_buf_reset(conn->out, TG_UV_READ_SIZE);

        if (conn->buffer_cache != NULL) {
            tg_uv_buffer_recycle(conn->out, &conn->buffer_cache->out);
        }

        return 0;
    }

    buf = conn->writing;
    conn->writing = *conn->out;
    *conn->out = buf;
    conn->written = n;

    return 0;
}

/* Encrypts the output and appends it to `writing` with TLS's own messages. */
static int
tg_uv_conn_encrypt_output(tg_uv_conn_t *conn)
{
    size_t len;
    int rc;

    len = tg_uv_conn_is_tls_open(conn) ? conn->out->len : 0;
    rc = len != 0 ? tg_uv_conn_encrypt(conn, conn->out->data, len) : 0;

    if (rc == 0 && len != 0 && conn->ops->written != NULL) {
        conn->ops->written(conn->host, len);
    } else if (rc == 0 && len != 0) {
        tg_buf_reset(conn->out, TG_UV_READ_SIZE);
    }

    if (rc == 0 && conn->state == TG_UV_CONN_FLUSHING) {
        tg_uv_conn_shutdown_tls(conn);
    }

    return rc == 0 ? tg_uv_conn_append_ciphertext(conn, &conn->writing) : rc;
}

static void
tg_uv_conn_flush_tls(tg_uv_conn_t *conn)
{
    int rc;

    if (conn->state >= TG_UV_CONN_CLOSING || conn->is_writing
        || conn->is_broken) {
        return;
    }

    rc = tg_buf_has_failed(conn->out) ? UV_ENOMEM
                                      : tg_uv_conn_encrypt_output(conn);
    conn->written = 0;

    if (rc == 0 && conn->writing.len != 0) {
        rc = tg_uv_conn_write_start(conn);
        conn->is_writing = rc == 0;
    }

    if (rc != 0) {
        tg_uv_conn_close_with_error(conn, rc);
    }
}

void
tg_uv_conn_flush(tg_uv_conn_t *conn)
{
    ssize_t n;
    int rc;

    if (conn->tls_conn != NULL) {
        tg_uv_conn_flush_tls(conn);
        return;
    }

    if ((conn->state != TG_UV_CONN_OPEN && conn->state != TG_UV_CONN_FLUSHING)
        || conn->is_writing || conn->is_broken)
    {
        return;
    }

    /* The output is incomplete. */
    if (tg_buf_has_failed(conn->out)) {
        tg_uv_conn_close_with_error(conn, UV_ENOMEM);
        return;
    }

    if (conn->out->len == 0) {
        return;
    }

    n = tg_uv_conn_try_write(conn, conn->out->data, conn->out->len);

    if (n < 0) {
        tg_uv_conn_handle_write_error(conn, (int) n);
        return;
    }

    rc = tg_uv_conn_move_output(conn, (size_t) n);

    if (rc == 0 && conn->writing.len != 0) {
        rc = tg_uv_conn_write_start(conn);
        conn->is_writing = rc == 0;
    }

    if (rc != 0) {
        tg_uv_conn_close_with_error(conn, rc);
    }
}

void
tg_uv_conn_resume(tg_uv_conn_t *conn)
{
    if (conn->state != TG_UV_CONN_OPEN || conn->is_in_input_callback
        || !conn->is_paused)
    {
        return;
    }

    conn->is_paused = 0;
    conn->is_reading_while_paused = 0;
    tg_sched_enqueue(&conn->sched->sched, &conn->source);
}

static void
tg_uv_conn_on_write_done(tg_uv_conn_t *conn, int err)
{
    conn->is_writing = 0;

    if (conn->state >= TG_UV_CONN_CLOSING) {
        return;
    }

    tg_buf_reset(&conn->writing, TG_UV_READ_SIZE);
    conn->written = 0;

    if (err != 0 && conn->state == TG_UV_CONN_CONNECTING) {
        tg_uv_conn_fail_connect(conn, err);
        return;
    }

    if (err != 0) {
        tg_uv_conn_handle_write_error(conn, err);
        return;
    }

    tg_uv_conn_flush(conn);

    if (conn->state == TG_UV_CONN_FLUSHING && !conn->is_writing) {
        tg_uv_conn_close_with_error(conn, 0);
        return;
    }

    tg_uv_conn_resume(conn);

    if (conn->ops->drained != NULL && conn->state == TG_UV_CONN_OPEN
        && !conn->is_writing)
    {
        conn->ops->drained(conn->host);
    }
}

size_t
tg_uv_conn_get_backlog(const tg_uv_conn_t *conn)
{
    return conn->out->len + conn->writing.len - conn->written;
}

int
tg_uv_conn_get_peer_cred(const tg_uv_conn_t *conn, pid_t *pid, uid_t *uid)
{
    struct ucred cred;
    socklen_t len;
    uv_os_fd_t fd;
    int rc;

    if (conn->in->type != TG_UV_IO_STREAM) {
        return UV_ENOTSOCK;
    }

    rc = uv_fileno(&conn->in->as.handle, &fd);

    if (rc != 0) {
        return rc;
    }

    len = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0) {
        return uv_translate_sys_error(errno);
    }

    *pid = cred.pid;
    *uid = cred.uid;

    return 0;
}

void
tg_uv_output_drop(tg_buf_t *out, size_t len)
{
    if (len == out->len) {
        tg_buf_reset(out, TG_UV_READ_SIZE);
    } else {
        tg_buf_consume(out, len);
    }
}
