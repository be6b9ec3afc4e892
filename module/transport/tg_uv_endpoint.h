/*
 * Where a server is, as people write it: the path of a Unix socket, with
 * `unix:` in front of it or not; HOST:PORT; or tls:HOST:PORT.
 */
#ifndef TG_UV_ENDPOINT_H
#define TG_UV_ENDPOINT_H

#include "transport/tg_uv_tls.h"

#define TG_UV_HOST_MAX 255
/* Room for what is said of one, or of why it cannot be reached. */
#define TG_UV_ERROR_SIZE 512
/* The same for all of it, with what to do. */
#define TG_UV_EXPLAIN_SIZE 1024

struct tg_uv_endpoint_s {
    const char *text;              /* as it was written, but for `unix:` */
    char host[TG_UV_HOST_MAX + 1]; /* empty: it is a path */
    const char *port;
    tg_uv_tls_ctx_t *tls; /* NULL: none */
};

/* Is it a path, or an address of TLS? */
int tg_uv_address_is_path(const char *text);
int tg_uv_address_is_tls(const char *text);

/* Adds what the environment says of TLS (TOOLGATE_CA and so on). */
void tg_uv_tls_options_read_env(tg_uv_tls_options_t *options);

/*
 * text lives as long as the place; what options does not say of TLS, the
 * environment may.  Nothing is looked up.  TG_OK, or TG_INVALID and why, for
 * people; then the place holds nothing.
 */
int tg_uv_endpoint_parse(tg_uv_endpoint_t *endpoint, const char *text,
                         const tg_uv_tls_options_t *options,
                         char why[TG_UV_ERROR_SIZE]);
void tg_uv_endpoint_free(tg_uv_endpoint_t *endpoint);

/*
 * Where one is without being told: of the user, else of the machine.  Static,
 * and the latter one where neither is there.
 */
const char *tg_uv_endpoint_get_default(int *is_there);

/* --- for people: whole sentences --- */

/* Why there is no connection, of which this libuv error is the reason. */
void tg_uv_endpoint_explain_error(const tg_uv_endpoint_t *endpoint, int err,
                                  char text[TG_UV_EXPLAIN_SIZE]);

/* What to do so that somebody listens there. */
void tg_uv_endpoint_write_start_hint(const tg_uv_endpoint_t *endpoint,
                                     char text[TG_UV_ERROR_SIZE]);

/* Whom a socket belongs to, or which folder keeps us from it. */
void tg_uv_endpoint_write_access_hint(const tg_uv_endpoint_t *endpoint,
                                      char text[TG_UV_ERROR_SIZE]);

#endif
