/*
 * The ends of a connection, streams and files, for the files of this folder
 * only. Functions return 0 or a libuv error.
 */
#ifndef TG_UV_CONN_IO_H
#define TG_UV_CONN_IO_H

#include "transport/tg_transport.h"

int tg_uv_io_init_pipe(tg_uv_conn_t *conn, tg_uv_io_t *end);
int tg_uv_io_init_tcp(tg_uv_conn_t *conn, tg_uv_io_t *end);
/* Opens an end on a descriptor of any type. */
int tg_uv_io_open_fd(tg_uv_conn_t *conn, tg_uv_io_t *end, int fd,
                     int is_readable);

/* Closes an end. conn->on_handle_closed() follows if it was in use. */
void tg_uv_io_close(tg_uv_conn_t *conn, tg_uv_io_t *end);

/* Starts to read; conn->on_read() receives results until a stop. */
int tg_uv_conn_read_start(tg_uv_conn_t *conn);

/* Connects to conn->next_address, or else to a later one. */
void tg_uv_conn_connect_next_address(tg_uv_conn_t *conn);

/* Stops reading a stream. A pending read of a file still completes. */
void tg_uv_conn_read_stop(tg_uv_conn_t *conn);

/* Writes conn->writing from conn->written on; see conn->on_write_done(). */
int tg_uv_conn_write_start(tg_uv_conn_t *conn);

/* Returns the number of bytes that the kernel accepted, 0, or an error. */
ssize_t tg_uv_conn_try_write(tg_uv_conn_t *conn, const char *data, size_t len);

#endif
