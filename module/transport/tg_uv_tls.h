/*
 * TLS to servers. Certificates and host names are always verified. A context is
 * shared by all connections to a server. TLS works on memory buffers, whose
 * bytes the connection moves.
 */
#ifndef TG_UV_TLS_H
#define TG_UV_TLS_H

#include "transport/tg_transport.h"

typedef struct tg_uv_tls_ctx_s tg_uv_tls_ctx_t;

/* TLS options. Files are in PEM format. NULL: the default. */
typedef struct {
    const char *ca;          /* trusted CAs; default: those of the system */
    const char *certificate; /* client certificate; default: none */
    const char *key;         /* its key; default: in the certificate's file */
    const char *name;        /* expected name; default: host of the address */
} tg_uv_tls_options_t;

/* Creates a context for a host. NULL: why says what is wrong or missing. */
tg_uv_tls_ctx_t *tg_uv_tls_ctx_new(const tg_uv_tls_options_t *options,
                                   const char *host, char *why, size_t size);

/* Frees a context without connections; NULL is allowed. */
void tg_uv_tls_ctx_free(tg_uv_tls_ctx_t *tls);

/* Returns the TLS error of the last connection, or "". tls may be NULL. */
const char *tg_uv_tls_ctx_get_error(const tg_uv_tls_ctx_t *tls);

/* --- one connection, for tg_uv_conn.c; errors are those of libuv --- */

/* Creates conn->tls_conn and begins the handshake. Returns 0 or an error. */
int tg_uv_conn_open_tls(tg_uv_conn_t *conn, tg_uv_tls_ctx_t *tls);
void tg_uv_conn_close_tls(tg_uv_conn_t *conn);

int tg_uv_conn_is_tls_open(const tg_uv_conn_t *conn);

/*
 * Decrypts len bytes that follow the end of in_buf, and appends the plaintext
 * to in_buf. Returns 0; UV_EOF: the server ended its side; or an error, see
 * tg_uv_tls_ctx_get_error().
 */
int tg_uv_conn_decrypt(tg_uv_conn_t *conn, size_t len);

/* Encrypts bytes of the protocol. Returns 0 or an error. */
int tg_uv_conn_encrypt(tg_uv_conn_t *conn, const char *data, size_t len);
/* Encrypts the close notification, once. */
void tg_uv_conn_shutdown_tls(tg_uv_conn_t *conn);

/* Appends the encrypted output to out. Returns 0 or an error. */
int tg_uv_conn_append_ciphertext(tg_uv_conn_t *conn, tg_buf_t *out);

#endif
