/* A connection's ends: streams by libuv, files by uv_fs requests. */
#include "transport/tg_uv_conn_impl.h"

#include <fcntl.h>
#include <unistd.h>

int
tg_uv_io_init_pipe(tg_uv_conn_t *conn, tg_uv_io_t *end)
{
    int rc;

    rc = uv_pipe_init(conn->loop, &end->as.pipe, 0);

    if (rc == 0) {
        end->type = TG_UV_IO_STREAM;
        end->as.handle.data = conn;
    }

    return rc;
}

int
tg_uv_io_init_tcp(tg_uv_conn_t *conn, tg_uv_io_t *end)
{
    int rc;

    rc = uv_tcp_init(conn->loop, &end->as.tcp);

    if (rc == 0) {
        end->type = TG_UV_IO_STREAM;
        end->as.handle.data = conn;
    }

    return rc;
}

/*
 * Other processes (a shell, other programs of the group) may share the open
 * file and expect it to block, so tg_uv_io_close() restores its flags.
 */
int
tg_uv_io_open_fd(tg_uv_conn_t *conn, tg_uv_io_t *end, int fd, int is_readable)
{
    int rc;

    end->fd = fd;
    end->saved_flags = fcntl(fd, F_GETFL);

    if (end->saved_flags == -1) {
        return uv_translate_sys_error(errno);
    }

    switch (uv_guess_handle(fd)) {
    case UV_NAMED_PIPE:
    case UV_TCP:
        rc = tg_uv_io_init_pipe(conn, end);
        rc = rc != 0 ? rc : uv_pipe_open(&end->as.pipe, fd);
        break;
    case UV_TTY:
        rc = uv_tty_init(conn->loop, &end->as.tty, fd, is_readable);
        end->type = rc == 0 ? TG_UV_IO_STREAM : TG_UV_IO_NONE;
        break;
    case UV_FILE:
        end->type = TG_UV_IO_FILE;
        rc = 0;
        break;
    default:
        rc = UV_ENOTSUP;
    }

    if (end->type == TG_UV_IO_STREAM) {
        end->as.handle.data = conn;
    }

    return rc;
}

static void
tg_uv_on_close(uv_handle_t *handle)
{
    tg_uv_conn_t *conn;

    conn = handle->data;
    conn->on_handle_closed(conn);
}

void
tg_uv_io_close(tg_uv_conn_t *conn, tg_uv_io_t *end)
{
    if (end->type == TG_UV_IO_NONE) {
        return;
    }

    if (end->saved_flags != -1) {
        (void) fcntl(end->fd, F_SETFL, end->saved_flags);
    }

    conn->nopen++;

    if (end->type == TG_UV_IO_STREAM) {
        uv_close(&end->as.handle, tg_uv_on_close);
        return;
    }

    if (end->is_busy) {
        /* The callback is called in any case; nopen counts it. */
        (void) uv_cancel((uv_req_t *) &end->fs);
        return;
    }

    conn->nopen--;

    if (end->fd > STDERR_FILENO) {
        (void) close(end->fd);
    }
}

/* Ends a file request. Returns 1 if its result can still be used. */
static int
tg_uv_conn_complete_file_io(tg_uv_conn_t *conn, tg_uv_io_t *end,
                            ssize_t *result)
{
    *result = end->fs.result;
    uv_fs_req_cleanup(&end->fs);
    end->is_busy = 0;

    if (conn->state < TG_UV_CONN_CLOSING) {
        return 1;
    }

    if (end->fd > STDERR_FILENO) {
        (void) close(end->fd);
    }

    conn->on_handle_closed(conn);

    return 0;
}

static void
tg_uv_on_file_read(uv_fs_t *req)
{
    tg_uv_conn_t *conn;
    ssize_t nread;
    int rc;

    conn = req->data;

    if (!tg_uv_conn_complete_file_io(conn, conn->in, &nread)) {
        return;
    }

    conn->on_read(conn, nread == 0 ? UV_EOF : nread);

    if (conn->state == TG_UV_CONN_OPEN && !conn->is_eof && !conn->is_paused
        && !conn->source.is_queued)
    {
        rc = tg_uv_conn_read_start(conn);

        if (rc != 0) {
            conn->on_read(conn, rc);
        }
    }
}

/* Returns space at the end of in_buf. *size is 0 if memory is exhausted. */
static char *
tg_uv_conn_reserve_input(tg_uv_conn_t *conn, size_t *size)
{
    tg_buf_t *buf;

    buf = &conn->in_buf;

    if (conn->buffer_cache != NULL) {
        tg_uv_buffer_borrow(buf, &conn->buffer_cache->in);
    }

    if (tg_buf_reserve(buf, TG_UV_READ_SIZE) != TG_OK) {
        *size = 0;
        return NULL;
    }

    *size = buf->cap - buf->len;

    return buf->data + buf->len;
}

static int
tg_uv_conn_read_file_start(tg_uv_conn_t *conn)
{
    uv_buf_t buf;
    size_t size;
    int rc;

    if (conn->in->is_busy) {
        return 0;
    }

    buf.base = tg_uv_conn_reserve_input(conn, &size);
    buf.len = size;

    if (size == 0) {
        return UV_ENOMEM;
    }

    conn->in->fs.data = conn;
    rc = uv_fs_read(conn->loop, &conn->in->fs, conn->in->fd, &buf, 1, -1,
                    tg_uv_on_file_read);
    conn->in->is_busy = rc == 0;

    return rc;
}

static void
tg_uv_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    size_t size;

    buf->base = tg_uv_conn_reserve_input(handle->data, &size);
    buf->len = size;
}

static void
tg_uv_on_read(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    tg_uv_conn_t *conn;

    conn = stream->data;

    if (nread != 0) {
        conn->on_read(conn, nread);
    }

    /* The buffer was filled, so there is more: let other sources run first. */
    if (nread > 0 && (size_t) nread == buf->len
        && conn->state == TG_UV_CONN_OPEN) {
        tg_sched_enqueue(&conn->sched->sched, &conn->source);
        tg_uv_conn_read_stop(conn);
    }

    if (conn->buffer_cache != NULL) {
        tg_uv_buffer_recycle(&conn->in_buf, &conn->buffer_cache->in);
    }
}

int
tg_uv_conn_read_start(tg_uv_conn_t *conn)
{
    int rc;

    if (conn->in->type == TG_UV_IO_FILE) {
        return tg_uv_conn_read_file_start(conn);
    }

    rc = uv_read_start(&conn->in->as.stream, tg_uv_on_alloc, tg_uv_on_read);

    return rc == UV_EALREADY ? 0 : rc;
}

void
tg_uv_conn_read_stop(tg_uv_conn_t *conn)
{
    if (conn->in->type == TG_UV_IO_STREAM) {
        (void) uv_read_stop(&conn->in->as.stream);
    }
}

static void
tg_uv_on_file_write(uv_fs_t *req)
{
    tg_uv_conn_t *conn;
    ssize_t n;
    int rc;

    conn = req->data;

    if (!tg_uv_conn_complete_file_io(conn, conn->out_end, &n)) {
        return;
    }

    rc = n < 0 ? (int) n : 0;

    if (rc == 0) {
        conn->written += (size_t) n;

        if (conn->written < conn->writing.len) {
            rc = tg_uv_conn_write_start(conn);

            if (rc == 0) {
                return;
            }
        }
    }

    conn->on_write_done(conn, rc);
}

static void
tg_uv_on_write(uv_write_t *req, int status)
{
    tg_uv_conn_t *conn;

    conn = req->data;
    conn->on_write_done(conn, status);
}

int
tg_uv_conn_write_start(tg_uv_conn_t *conn)
{
    tg_uv_io_t *end;
    uv_buf_t buf;
    int rc;

    end = conn->out_end;
    buf.base = conn->writing.data + conn->written;
    buf.len = conn->writing.len - conn->written;

    if (end->type == TG_UV_IO_STREAM) {
        conn->write.data = conn;
        return uv_write(&conn->write, &end->as.stream, &buf, 1, tg_uv_on_write);
    }

    end->fs.data = conn;
    rc = uv_fs_write(conn->loop, &end->fs, end->fd, &buf, 1, -1,
                     tg_uv_on_file_write);
    end->is_busy = rc == 0;

    return rc;
}

ssize_t
tg_uv_conn_try_write(tg_uv_conn_t *conn, const char *data, size_t len)
{
    uv_buf_t buf;
    int n;

    if (conn->out_end->type == TG_UV_IO_FILE) {
        return 0;
    }

    /* uv_try_write() returns an int; a socket never accepts more at once. */
    buf = uv_buf_init((char *) (uintptr_t) data,
                      (unsigned) (len < INT32_MAX ? len : INT32_MAX));
    n = uv_try_write(&conn->out_end->as.stream, &buf, 1);

    return n == UV_EAGAIN ? 0 : n;
}
