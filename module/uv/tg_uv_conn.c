#include "uv/tg_uv_conn.h"

#include <sys/socket.h>

static void tg_uv_conn_on_wrote(tg_uv_conn_t *conn, int err);
static void tg_uv_conn_on_gone(tg_uv_conn_t *conn);

void
tg_uv_conn_set(tg_uv_conn_t *conn, tg_uv_sched_t *sched,
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
    conn->ends[0].flags = -1;
    conn->ends[1].flags = -1;
    conn->state = TG_UV_CONNECTING;
    conn->on_wrote = tg_uv_conn_on_wrote;
    conn->on_gone = tg_uv_conn_on_gone;

    tg_buf_init(&conn->in_buf, tg_alloc_libc());
    tg_buf_init(&conn->writing, tg_alloc_libc());
    (void) uv_idle_init(conn->loop, &conn->token);
    conn->token.data = conn;
}

/* A handle or a request is over; after the last one the connection is. */
static void
tg_uv_conn_on_gone(tg_uv_conn_t *conn)
{
    if (--conn->nopen != 0) {
        return;
    }

    if (conn->state == TG_UV_CONNECTING) {
        conn->on_given_up(conn);
        return;
    }

    conn->state = TG_UV_CLOSED;
    tg_uv_secure_close(conn);
    uv_freeaddrinfo(conn->addresses);
    tg_buf_deinit(&conn->in_buf);
    tg_buf_deinit(&conn->writing);
    conn->ops->closed(conn->host, conn->err);
}

static void
tg_uv_on_token(uv_handle_t *handle)
{
    tg_uv_conn_on_gone(handle->data);
}

void
tg_uv_conn_end(tg_uv_conn_t *conn, int err)
{
    if (conn->state >= TG_UV_CLOSING) {
        return;
    }

    conn->state = TG_UV_CLOSING;
    tg_source_leave(&conn->sched->sched, &conn->source);

    if (conn->err == 0) {
        conn->err = err;
    }

    if (conn->is_looking) {
        /* Its callback comes in any case. */
        (void) uv_cancel((uv_req_t *) &conn->lookup);
    }

    tg_uv_end_close(conn, &conn->ends[0]);
    tg_uv_end_close(conn, &conn->ends[1]);
    conn->nopen++;
    uv_close((uv_handle_t *) &conn->token, tg_uv_on_token);
}

void
tg_uv_conn_close(tg_uv_conn_t *conn)
{
    tg_uv_conn_end(conn, 0);
}

void
tg_uv_conn_finish(tg_uv_conn_t *conn)
{
    if (conn->state == TG_UV_CONNECTING) {
        tg_uv_conn_end(conn, 0);
        return;
    }

    if (conn->state != TG_UV_OPEN) {
        return;
    }

    conn->state = TG_UV_FLUSHING;
    tg_source_leave(&conn->sched->sched, &conn->source);
    tg_uv_end_stop(conn);
    tg_uv_conn_flush(conn);

    if (conn->state == TG_UV_FLUSHING && !conn->is_writing) {
        tg_uv_conn_end(conn, 0);
    }
}

int
tg_uv_conn_failed(tg_uv_conn_t *conn, int err)
{
    tg_uv_conn_end(conn, err);

    return err;
}

static int
tg_uv_conn_start(tg_uv_conn_t *conn)
{
    int rc;

    conn->state = TG_UV_OPEN;
    rc = tg_uv_end_read(conn);

    return rc == 0 ? 0 : tg_uv_conn_failed(conn, rc);
}

int
tg_uv_conn_accept(tg_uv_conn_t *conn, uv_stream_t *server)
{
    int rc;

    rc = tg_uv_end_pipe(conn, &conn->ends[0]);

    if (rc == 0) {
        rc = uv_accept(server, &conn->ends[0].as.stream);
    }

    return rc == 0 ? tg_uv_conn_start(conn) : tg_uv_conn_failed(conn, rc);
}

int
tg_uv_conn_open(tg_uv_conn_t *conn, int in_fd, int out_fd)
{
    int rc;

    rc = tg_uv_end_open(conn, &conn->ends[0], in_fd, 1);

    if (rc == 0 && out_fd == in_fd && conn->in->kind == TG_UV_END_FILE) {
        rc = UV_EINVAL;
    }

    if (rc == 0 && out_fd != in_fd) {
        conn->out_end = &conn->ends[1];
        rc = tg_uv_end_open(conn, &conn->ends[1], out_fd, 0);
    }

    return rc == 0 ? tg_uv_conn_start(conn) : tg_uv_conn_failed(conn, rc);
}

void
tg_uv_conn_unopened(tg_uv_conn_t *conn, int err)
{
    conn->err = err;
    conn->ops->connected(conn->host, err);
    tg_uv_conn_end(conn, err);
}

void
tg_uv_conn_opened(tg_uv_conn_t *conn)
{
    conn->state = TG_UV_OPEN;
    conn->ops->connected(conn->host, 0);

    if (conn->state == TG_UV_OPEN && tg_uv_conn_start(conn) == 0) {
        tg_uv_conn_flush(conn);
    }
}

/*
 * The other side no longer reads, but what it sent before it went may still
 * be in the socket: a last answer, a farewell.  Shutting down our receiving
 * half makes that readable, then the end, also when the other side has
 * closed only half of the connection.
 */
static void
tg_uv_conn_broke(tg_uv_conn_t *conn, int err)
{
    uv_os_fd_t fd;

    conn->err = err;
    conn->is_broken = 1;

    if (conn->state == TG_UV_OPEN && !conn->is_paused && !conn->is_eof
        && conn->in == conn->out_end
        && uv_fileno(&conn->in->as.handle, &fd) == 0
        && shutdown(fd, SHUT_RD) == 0)
    {
        return;
    }

    tg_uv_conn_end(conn, err);
}

/*
 * Moves what is in out, but for the first n bytes, to writing.  A protocol
 * that keeps account of its output drops it itself, so that is copied.
 */
static int
tg_uv_conn_take(tg_uv_conn_t *conn, size_t n)
{
    tg_buf_t buf;

    if (conn->ops->written != NULL) {
        tg_buf_put(&conn->writing, conn->out->data + n, conn->out->len - n);

        if (tg_buf_failed(&conn->writing)) {
            return UV_ENOMEM;
        }

        conn->ops->written(conn->host, conn->out->len);
        return 0;
    }

    if (n == conn->out->len) {
        tg_buf_reset(conn->out, TG_UV_READ);

        if (conn->spare != NULL) {
            tg_uv_give_back(conn->out, &conn->spare->out);
        }

        return 0;
    }

    buf = conn->writing;
    conn->writing = *conn->out;
    *conn->out = buf;
    conn->written = n;

    return 0;
}

/* The protocol's bytes as TLS has them, and TLS's own. */
static int
tg_uv_conn_seal(tg_uv_conn_t *conn)
{
    size_t len;
    int rc;

    len = tg_uv_secure_is_open(conn) ? conn->out->len : 0;
    rc = len != 0 ? tg_uv_secure_put(conn, conn->out->data, len) : 0;

    if (rc == 0 && len != 0 && conn->ops->written != NULL) {
        conn->ops->written(conn->host, len);
    } else if (rc == 0 && len != 0) {
        tg_buf_reset(conn->out, TG_UV_READ);
    }

    if (rc == 0 && conn->state == TG_UV_FLUSHING) {
        tg_uv_secure_bye(conn);
    }

    return rc == 0 ? tg_uv_secure_take(conn, &conn->writing) : rc;
}

static void
tg_uv_conn_flush_sealed(tg_uv_conn_t *conn)
{
    int rc;

    if (conn->state >= TG_UV_CLOSING || conn->is_writing || conn->is_broken) {
        return;
    }

    rc = tg_buf_failed(conn->out) ? UV_ENOMEM : tg_uv_conn_seal(conn);
    conn->written = 0;

    if (rc == 0 && conn->writing.len != 0) {
        rc = tg_uv_end_write(conn);
        conn->is_writing = rc == 0;
    }

    if (rc != 0) {
        tg_uv_conn_end(conn, rc);
    }
}

void
tg_uv_conn_flush(tg_uv_conn_t *conn)
{
    ssize_t n;
    int rc;

    if (conn->secure != NULL) {
        tg_uv_conn_flush_sealed(conn);
        return;
    }

    if ((conn->state != TG_UV_OPEN && conn->state != TG_UV_FLUSHING)
        || conn->is_writing || conn->is_broken)
    {
        return;
    }

    /* Something is missing in what the protocol wrote. */
    if (tg_buf_failed(conn->out)) {
        tg_uv_conn_end(conn, UV_ENOMEM);
        return;
    }

    if (conn->out->len == 0) {
        return;
    }

    n = tg_uv_end_try(conn, conn->out->data, conn->out->len);

    if (n < 0) {
        tg_uv_conn_broke(conn, (int) n);
        return;
    }

    rc = tg_uv_conn_take(conn, (size_t) n);

    if (rc == 0 && conn->writing.len != 0) {
        rc = tg_uv_end_write(conn);
        conn->is_writing = rc == 0;
    }

    if (rc != 0) {
        tg_uv_conn_end(conn, rc);
    }
}

void
tg_uv_conn_resume(tg_uv_conn_t *conn)
{
    if (conn->state != TG_UV_OPEN || conn->is_feeding || !conn->is_paused) {
        return;
    }

    conn->is_paused = 0;
    conn->is_listening = 0;
    tg_source_wait(&conn->sched->sched, &conn->source);
}

static void
tg_uv_conn_on_wrote(tg_uv_conn_t *conn, int err)
{
    conn->is_writing = 0;

    if (conn->state >= TG_UV_CLOSING) {
        return;
    }

    tg_buf_reset(&conn->writing, TG_UV_READ);
    conn->written = 0;

    if (err != 0 && conn->state == TG_UV_CONNECTING) {
        tg_uv_conn_unopened(conn, err);
        return;
    }

    if (err != 0) {
        tg_uv_conn_broke(conn, err);
        return;
    }

    tg_uv_conn_flush(conn);

    if (conn->state == TG_UV_FLUSHING && !conn->is_writing) {
        tg_uv_conn_end(conn, 0);
        return;
    }

    tg_uv_conn_resume(conn);

    if (conn->ops->drained != NULL && conn->state == TG_UV_OPEN
        && !conn->is_writing)
    {
        conn->ops->drained(conn->host);
    }
}

size_t
tg_uv_conn_backlog(const tg_uv_conn_t *conn)
{
    return conn->out->len + conn->writing.len - conn->written;
}

int
tg_uv_conn_peer(const tg_uv_conn_t *conn, pid_t *pid, uid_t *uid)
{
    struct ucred cred;
    socklen_t len;
    uv_os_fd_t fd;
    int rc;

    if (conn->in->kind != TG_UV_END_STREAM) {
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
tg_uv_drop(tg_buf_t *out, size_t len)
{
    if (len == out->len) {
        tg_buf_reset(out, TG_UV_READ);
    } else {
        tg_buf_drop(out, len);
    }
}
