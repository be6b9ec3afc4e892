/*
 * The ends of a connection: what they are opened from, and the difference
 * between a stream and a file.  For the files of this folder only.
 */
#ifndef TG_UV_CONN_IO_H
#define TG_UV_CONN_IO_H

#include "transport/tg_transport.h"

/* All return 0 or a libuv error and leave the end closed then. */
int tg_uv_io_init_pipe(tg_uv_conn_t *conn, tg_uv_io_t *end);
int tg_uv_io_init_tcp(tg_uv_conn_t *conn, tg_uv_io_t *end);
int tg_uv_io_open_fd(tg_uv_conn_t *conn, tg_uv_io_t *end, int fd,
                     int is_readable);

/* Closes the end, and conn->on_gone follows once for it. */
void tg_uv_io_close(tg_uv_conn_t *conn, tg_uv_io_t *end);

/* Reads until tg_uv_conn_read_stop(); every result goes to conn->on_read. */
int tg_uv_conn_read_start(tg_uv_conn_t *conn);
void tg_uv_conn_read_stop(tg_uv_conn_t *conn);

/* Writes conn->writing from conn->written on; conn->on_wrote tells. */
int tg_uv_conn_write_start(tg_uv_conn_t *conn);

/* Writes what can be written at once: bytes, 0, or a libuv error. */
ssize_t tg_uv_conn_try_write(tg_uv_conn_t *conn, const char *data, size_t len);

#endif
