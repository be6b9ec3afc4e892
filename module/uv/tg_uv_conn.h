/*
 * What the halves of a connection ask of each other: tg_uv_connect.c, until
 * it is open, and tg_uv_conn.c.  For the files of this folder only.
 */
#ifndef TG_UV_CONN_H
#define TG_UV_CONN_H

#include "uv/tg_uv_end.h"
#include "uv/tg_uv_tls.h"

/* --- tg_uv_conn.c --- */

/* It ends; idempotent. */
void tg_uv_conn_end(tg_uv_conn_t *conn, int err);

/* A function that opens failed: closed follows, and only it. */
int tg_uv_conn_failed(tg_uv_conn_t *conn, int err);

/* It is open, and reads: 0, or it failed. */
int tg_uv_conn_start(tg_uv_conn_t *conn);

/* --- tg_uv_connect.c --- */

/* It did not come to be open. */
void tg_uv_connect_failed(tg_uv_conn_t *conn, int err);

/* The handle of an address that was given up is closed. */
void tg_uv_connect_next(tg_uv_conn_t *conn);

/*
 * Opens what came over TLS, or goes on with its handshake; nread may be an
 * error, or 0.  What is to be done once in_buf was read: 0: wait for more;
 * UV_EOF or an error: it ends.
 */
int tg_uv_connect_unseal(tg_uv_conn_t *conn, ssize_t nread);

#endif
