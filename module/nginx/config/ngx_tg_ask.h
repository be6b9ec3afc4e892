/* `ask`: what a tool, prompt or resource asks its client before it runs. */
#ifndef _NGX_TG_ASK_H_INCLUDED_
#define _NGX_TG_ASK_H_INCLUDED_

#include "base/tg_sha256.h"
#include "nginx/config/ngx_tg_listing.h"
#include "protocol/tg_peer.h"

/* Maximum number of `ask` in a block. */
#define NGX_TG_ASKS_MAX TG_INPUTS_MAX

typedef enum {
    NGX_TG_ASK_FORM,
    NGX_TG_ASK_URL,
    NGX_TG_ASK_ROOTS,
    NGX_TG_ASK_SAMPLING
} ngx_tg_ask_type_t;

typedef struct {
    tg_str_t name;
    ngx_tg_ask_type_t type;
    ngx_stream_complex_value_t *message;
    ngx_stream_complex_value_t *url;
    ngx_stream_complex_value_t *condition; /* NULL: always asked */
    tg_str_t schema;                       /* raw requestedSchema of a form */
    tg_schema_t *compiled;                 /* of `schema` */
    int64_t max_tokens;                    /* of sampling */
    ngx_uint_t has_else;
    ngx_uint_t runs_anyway; /* `else run` */
    /* not asked together with those before it, as its values may use them */
    ngx_uint_t is_dependent;
    /* of the whole block: answers are for this version of it only */
    unsigned char digest[TG_SHA256_SIZE];
} ngx_tg_ask_t;

/* ask NAME form|url|roots|sampling { } */
char *ngx_tg_conf_read_ask(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* ask_timeout TIME */
char *ngx_tg_conf_set_ask_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);

/* tool_state_key file=PATH|credential=NAME [file=PATH|credential=NAME] */
char *ngx_tg_conf_set_state_key(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Checks the asks of a block that was read, and the variables about them in its
 * values; first is the index of its first value in value_sources. Returns
 * NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_tool_check_asks(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                                 ngx_uint_t first);

/*
 * Finds the ask that a variable's name begins with, after its prefix. *field
 * becomes the rest, empty for the whole answer. Returns NULL if there is none.
 */
const ngx_tg_ask_t *ngx_tg_ask_find(const ngx_array_t *asks, tg_str_t name,
                                    tg_str_t *field);

#endif
