/*
 * A server's address: the path of a Unix socket, with or without `unix:`;
 * HOST:PORT; or tls:HOST:PORT.
 */
#ifndef TG_UV_ENDPOINT_H
#define TG_UV_ENDPOINT_H

#include "transport/tg_uv_tls.h"

#define TG_UV_HOST_MAX 255
/* Size of a text about an endpoint, or why it cannot be reached. */
#define TG_UV_ERROR_SIZE 512
/* Size of a complete explanation that includes what to do. */
#define TG_UV_EXPLAIN_SIZE 1024

struct tg_uv_endpoint_s {
    const char *text;              /* as written, without `unix:` */
    char host[TG_UV_HOST_MAX + 1]; /* empty: text is a path */
    const char *port;
    tg_uv_tls_ctx_t *tls; /* NULL: no TLS */
};

int tg_uv_address_is_path(const char *text);

int tg_uv_address_is_tls(const char *text);

/* Reads unset options from the environment (TOOLGATE_CA and others). */
void tg_uv_tls_options_read_env(tg_uv_tls_options_t *options);

/*
 * Parses an address without looking up its host. text must outlive the
 * endpoint; options that are NULL come from the environment. TG_OK; TG_INVALID:
 * why says what is wrong, and the endpoint needs no free.
 */
int tg_uv_endpoint_parse(tg_uv_endpoint_t *endpoint, const char *text,
                         const tg_uv_tls_options_t *options,
                         char why[TG_UV_ERROR_SIZE]);
void tg_uv_endpoint_free(tg_uv_endpoint_t *endpoint);

/* Returns the user's socket, or the machine's if that does not exist. */
const char *tg_uv_endpoint_get_default(int *is_there);

/* Messages for people, in whole sentences. */

/* Writes why there is no connection. err is the libuv error. */
void tg_uv_endpoint_explain_error(const tg_uv_endpoint_t *endpoint, int err,
                                  char text[TG_UV_EXPLAIN_SIZE]);

/* Writes how to start a server that listens on the endpoint. */
void tg_uv_endpoint_write_start_hint(const tg_uv_endpoint_t *endpoint,
                                     char text[TG_UV_ERROR_SIZE]);

/* Writes who owns a socket, or which folder prevents access to it. */
void tg_uv_endpoint_write_access_hint(const tg_uv_endpoint_t *endpoint,
                                      char text[TG_UV_ERROR_SIZE]);

#endif
