/* Shared by the files of a connection, for this folder only. */
#ifndef TG_UV_CONN_IMPL_H
#define TG_UV_CONN_IMPL_H

#include "transport/tg_uv_conn_io.h"
#include "transport/tg_uv_tls.h"

/* Initializes a connection without its input part, for tg_uv_conn_init(). */
void tg_uv_conn_init_base(tg_uv_conn_t *conn, tg_uv_sched_t *sched,
                          const tg_uv_conn_ops_t *ops, void *host,
                          tg_buf_t *out);

/* Closes at once with an error for ops->closed. Idempotent. */
void tg_uv_conn_close_with_error(tg_uv_conn_t *conn, int err);

/* Closes after a failed open function and returns err. */
int tg_uv_conn_fail_open(tg_uv_conn_t *conn, int err);

void tg_uv_conn_complete_connect(tg_uv_conn_t *conn);

void tg_uv_conn_fail_connect(tg_uv_conn_t *conn, int err);

#endif
