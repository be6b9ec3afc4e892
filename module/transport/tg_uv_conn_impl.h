/*
 * What the files of a connection share: tg_uv_conn.c, its input and its
 * connecting.  For the files of this folder only.
 */
#ifndef TG_UV_CONN_IMPL_H
#define TG_UV_CONN_IMPL_H

#include "transport/tg_uv_conn_io.h"
#include "transport/tg_uv_tls.h"

/* All of tg_uv_conn_init() but for reading. */
void tg_uv_conn_init_base(tg_uv_conn_t *conn, tg_uv_sched_t *sched,
                          const tg_uv_conn_ops_t *ops, void *host,
                          tg_buf_t *out);

/* It ends; idempotent. */
void tg_uv_conn_close_with_error(tg_uv_conn_t *conn, int err);

/* A function that opens failed: closed follows, and only it. */
int tg_uv_conn_fail_open(tg_uv_conn_t *conn, int err);

/* It connected; or did not, and ends. */
void tg_uv_conn_complete_connect(tg_uv_conn_t *conn);
void tg_uv_conn_fail_connect(tg_uv_conn_t *conn, int err);

#endif
