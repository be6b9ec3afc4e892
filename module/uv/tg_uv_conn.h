/*
 * What a connection is told until it is open, by tg_uv_connect.c.  For the
 * files of this folder only.
 */
#ifndef TG_UV_CONN_H
#define TG_UV_CONN_H

#include "uv/tg_uv_end.h"
#include "uv/tg_uv_tls.h"

/* It ends; idempotent. */
void tg_uv_conn_end(tg_uv_conn_t *conn, int err);

/* A function that opens failed: closed follows, and only it. */
int tg_uv_conn_failed(tg_uv_conn_t *conn, int err);

/* It connected; or did not, and ends. */
void tg_uv_conn_opened(tg_uv_conn_t *conn);
void tg_uv_conn_unopened(tg_uv_conn_t *conn, int err);

#endif
