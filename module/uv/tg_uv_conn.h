/*
 * What the files of a connection share: tg_uv_conn.c, its input and its
 * connecting.  For the files of this folder only.
 */
#ifndef TG_UV_CONN_H
#define TG_UV_CONN_H

#include "uv/tg_uv_end.h"
#include "uv/tg_uv_tls.h"

/* It ends; idempotent. */
void tg_uv_conn_end(tg_uv_conn_t *conn, int err);

/* What was read, or an error; and the next time slice of a source. */
void tg_uv_conn_on_read(tg_uv_conn_t *conn, ssize_t nread);
void tg_uv_conn_run(tg_source_t *source);

/*
 * A read filled its buffer, so there is more: others have a time slice before
 * it is read.
 */
void tg_uv_conn_filled(tg_uv_conn_t *conn);

/* A function that opens failed: closed follows, and only it. */
int tg_uv_conn_failed(tg_uv_conn_t *conn, int err);

/* It connected; or did not, and ends. */
void tg_uv_conn_opened(tg_uv_conn_t *conn);
void tg_uv_conn_unopened(tg_uv_conn_t *conn, int err);

#endif
