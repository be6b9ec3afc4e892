/*
 * TLS towards servers: their certificates and names are verified, always.
 *
 * A context is what all connections to one server have in common; of each
 * connection tg_transport.h's functions take care.  Nothing of it reads or
 * writes a socket: bytes pass through memory, and the connection moves them.
 */
#ifndef TG_UV_TLS_H
#define TG_UV_TLS_H

#include "transport/tg_transport.h"

typedef struct tg_uv_tls_ctx_s tg_uv_tls_ctx_t;

/* Files are PEM; NULL: the default. */
typedef struct {
    const char *ca; /* what to trust; by default what the system does */
    const char *certificate; /* shown to a server that asks; none */
    const char *key;         /* its; by default in the same file */
    const char *name;        /* the certificate's; that of the address */
} tg_uv_tls_options_t;

/*
 * For connections to a host, a name or an address, which is copied.  NULL: why
 * says what is wrong with the options, or what is missing.
 */
tg_uv_tls_ctx_t *tg_uv_tls_ctx_new(const tg_uv_tls_options_t *options,
                                   const char *host, char *why, size_t size);

/* Without connections; NULL is none. */
void tg_uv_tls_ctx_free(tg_uv_tls_ctx_t *tls);

/* What TLS had against the last connection; "": nothing.  NULL is none. */
const char *tg_uv_tls_ctx_get_error(const tg_uv_tls_ctx_t *tls);

/* --- one connection, for tg_uv_conn.c; errors are libuv's --- */

/* Makes conn->secure, and what is said first. */
int tg_uv_conn_open_tls(tg_uv_conn_t *conn, tg_uv_tls_ctx_t *tls);
void tg_uv_conn_close_tls(tg_uv_conn_t *conn);

/* May the protocol speak? */
int tg_uv_conn_is_tls_open(const tg_uv_conn_t *conn);

/*
 * Takes len bytes that came, which stand behind the end of in_buf, and puts
 * what they say there.  0; UV_EOF: the server will say nothing more; or an
 * error, of which tg_uv_tls_ctx_get_error() tells.
 */
int tg_uv_conn_decrypt(tg_uv_conn_t *conn, size_t len);

/* Seals bytes of the protocol, or a goodbye. */
int tg_uv_conn_encrypt(tg_uv_conn_t *conn, const char *data, size_t len);
void tg_uv_conn_shutdown_tls(tg_uv_conn_t *conn);

/* Appends what is to be sent. */
int tg_uv_conn_append_ciphertext(tg_uv_conn_t *conn, tg_buf_t *out);

#endif
