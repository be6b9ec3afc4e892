/*
 * The ends of a connection: opening, and the differences between streams and
 * files. For the files of this folder only.
 */
#ifndef TG_UV_CONN_IO_H
#define TG_UV_CONN_IO_H

#include "transport/tg_transport.h"

/* Initializes an end as a pipe. Returns 0 or a libuv error. */
int tg_uv_io_init_pipe(tg_uv_conn_t *conn, tg_uv_io_t *end);
/* Initializes an end as TCP. Returns 0 or a libuv error. */
int tg_uv_io_init_tcp(tg_uv_conn_t *conn, tg_uv_io_t *end);
/* Opens an end from a descriptor of any type. Returns 0 or a libuv error. */
int tg_uv_io_open_fd(tg_uv_conn_t *conn, tg_uv_io_t *end, int fd,
                     int is_readable);

/*
 * Closes the end. For a stream or a pending file request,
 * conn->on_handle_closed() follows.
 */
void tg_uv_io_close(tg_uv_conn_t *conn, tg_uv_io_t *end);

/*
 * Starts to read until tg_uv_conn_read_stop(). Results go to conn->on_read().
 * Returns 0 or a libuv error.
 */
int tg_uv_conn_read_start(tg_uv_conn_t *conn);

/* Stops reading a stream. A pending read of a file still completes. */
void tg_uv_conn_read_stop(tg_uv_conn_t *conn);

/*
 * Writes conn->writing from conn->written on. conn->on_write_done() reports
 * the result. Returns 0 or a libuv error.
 */
int tg_uv_conn_write_start(tg_uv_conn_t *conn);

/*
 * Writes what the kernel accepts at once. Returns the number of bytes, 0, or a
 * libuv error.
 */
ssize_t tg_uv_conn_try_write(tg_uv_conn_t *conn, const char *data, size_t len);

#endif
