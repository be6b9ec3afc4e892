/*
 * Where a server is, as people write it: the path of a Unix socket, with
 * `unix:` in front of it or not; HOST:PORT; or tls:HOST:PORT.
 */
#ifndef TG_UV_PLACE_H
#define TG_UV_PLACE_H

#include "uv/tg_uv_tls.h"

#define TG_UV_HOST_MAX 255
/* Room for what is said of one, or of why it cannot be reached. */
#define TG_UV_WHY 512
/* The same for all of it, with what to do. */
#define TG_UV_EXPLAIN 1024

struct tg_uv_place_s {
    const char *text;              /* as it was written, but for `unix:` */
    char host[TG_UV_HOST_MAX + 1]; /* empty: it is a path */
    const char *port;
    tg_uv_tls_t *tls; /* NULL: none */
};

/* Is it a path, or an address of TLS? */
int tg_uv_is_path(const char *text);
int tg_uv_is_tls(const char *text);

/* Adds what the environment says of TLS (TOOLGATE_CA and so on). */
void tg_uv_place_env(tg_uv_tls_options_t *options);

/*
 * text lives as long as the place; what options does not say of TLS, the
 * environment may.  Nothing is looked up.  TG_OK, or TG_BAD and why, for
 * people; then the place holds nothing.
 */
int tg_uv_place_find(tg_uv_place_t *place, const char *text,
                     const tg_uv_tls_options_t *options, char why[TG_UV_WHY]);
void tg_uv_place_free(tg_uv_place_t *place);

/*
 * Where one is without being told: of the user, else of the machine.  Static,
 * and the latter one where neither is there.
 */
const char *tg_uv_place_default(int *is_there);

/* --- for people: whole sentences --- */

/* Why there is no connection, of which this libuv error is the reason. */
void tg_uv_place_explain(const tg_uv_place_t *place, int err,
                         char text[TG_UV_EXPLAIN]);

/* What to do so that somebody listens there. */
void tg_uv_place_start(const tg_uv_place_t *place, char text[TG_UV_WHY]);

/* Whom a socket belongs to, or which folder keeps us from it. */
void tg_uv_place_rights(const tg_uv_place_t *place, char text[TG_UV_WHY]);

#endif
