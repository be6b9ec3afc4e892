/* TLS to backends: directives and handshake. */
#ifndef _NGX_TG_TLS_H_INCLUDED_
#define _NGX_TG_TLS_H_INCLUDED_

#include "nginx/ngx_tg.h"

#if (NGX_STREAM_SSL)
#include <ngx_event_openssl.h>
#else
typedef struct ssl_session_st ngx_ssl_session_t;
#endif

/* Settings of the directives tool_pass_ssl…. */
typedef struct {
    ngx_flag_t enable;
    ngx_flag_t verify;
    ngx_flag_t server_name;
    ngx_flag_t session_reuse;
    ngx_uint_t verify_depth;
    ngx_uint_t protocols;
    ngx_str_t certificate;
    ngx_str_t certificate_key;
    ngx_str_t trusted_certificate;
    ngx_str_t crl;
    ngx_str_t ciphers;
    ngx_str_t name;
    ngx_ssl_t *ssl; /* NULL: TLS is off */
} ngx_tg_tls_t;

extern ngx_conf_bitmask_t ngx_tg_tls_protocols[];

#define NGX_TG_TLS_COMMAND(suffix, type, args, set, field, post)               \
    {                                                                          \
        ngx_string("tool_pass_ssl" suffix), (type) | (args), set,              \
            NGX_STREAM_SRV_CONF_OFFSET, NGX_TG_TLS_OFFSET(field), post         \
    }

/* Commands; the including file defines NGX_TG_TLS_OFFSET(field). */
#define NGX_TG_TLS_COMMANDS(type)                                              \
    NGX_TG_TLS_COMMAND("", type, NGX_CONF_FLAG, ngx_conf_set_flag_slot,        \
                       enable, NULL),                                          \
        NGX_TG_TLS_COMMAND("_verify", type, NGX_CONF_FLAG,                     \
                           ngx_conf_set_flag_slot, verify, NULL),              \
        NGX_TG_TLS_COMMAND("_server_name", type, NGX_CONF_FLAG,                \
                           ngx_conf_set_flag_slot, server_name, NULL),         \
        NGX_TG_TLS_COMMAND("_session_reuse", type, NGX_CONF_FLAG,              \
                           ngx_conf_set_flag_slot, session_reuse, NULL),       \
        NGX_TG_TLS_COMMAND("_verify_depth", type, NGX_CONF_TAKE1,              \
                           ngx_conf_set_num_slot, verify_depth, NULL),         \
        NGX_TG_TLS_COMMAND("_protocols", type, NGX_CONF_1MORE,                 \
                           ngx_conf_set_bitmask_slot, protocols,               \
                           ngx_tg_tls_protocols),                              \
        NGX_TG_TLS_COMMAND("_certificate", type, NGX_CONF_TAKE1,               \
                           ngx_conf_set_str_slot, certificate, NULL),          \
        NGX_TG_TLS_COMMAND("_certificate_key", type, NGX_CONF_TAKE1,           \
                           ngx_conf_set_str_slot, certificate_key, NULL),      \
        NGX_TG_TLS_COMMAND("_trusted_certificate", type, NGX_CONF_TAKE1,       \
                           ngx_conf_set_str_slot, trusted_certificate, NULL),  \
        NGX_TG_TLS_COMMAND("_crl", type, NGX_CONF_TAKE1,                       \
                           ngx_conf_set_str_slot, crl, NULL),                  \
        NGX_TG_TLS_COMMAND("_ciphers", type, NGX_CONF_TAKE1,                   \
                           ngx_conf_set_str_slot, ciphers, NULL),              \
        NGX_TG_TLS_COMMAND("_name", type, NGX_CONF_TAKE1,                      \
                           ngx_conf_set_str_slot, name, NULL)

void ngx_tg_tls_init_unset(ngx_tg_tls_t *tls);

ngx_uint_t ngx_tg_tls_is_unset(const ngx_tg_tls_t *tls);

/* Takes unset settings from prev, or the defaults if prev is NULL. */
void ngx_tg_tls_merge(ngx_tg_tls_t *tls, const ngx_tg_tls_t *prev);

/* Returns NULL, or an error text that continues the name of the tool. */
const char *ngx_tg_tls_check_conf(const ngx_tg_tls_t *tls,
                                  const ngx_str_t *name);

/* Creates the TLS context and reads the certificates. Logs errors. */
ngx_int_t ngx_tg_tls_create_context(ngx_conf_t *cf, ngx_tg_tls_t *tls);

/*
 * Starts the handshake; session may be NULL. NGX_AGAIN: done() is called at the
 * end. save() is called when there is a session to resume
 * (ngx_ssl_get_session()).
 */
ngx_int_t ngx_tg_tls_start_handshake(ngx_connection_t *c,
                                     const ngx_tg_tls_t *tls,
                                     const ngx_str_t *name,
                                     ngx_ssl_session_t *session,
                                     ngx_connection_handler_pt done,
                                     ngx_connection_handler_pt save);

/* Checks the certificate. Returns NULL, or an error until the next call. */
const char *ngx_tg_tls_verify_peer(ngx_connection_t *c, const ngx_tg_tls_t *tls,
                                   const ngx_str_t *name);

/* Returns the session, to be freed with ngx_tg_tls_session_free(). */
ngx_ssl_session_t *ngx_tg_tls_get_session(ngx_connection_t *c);
/* Frees a session; NULL is allowed. */
void ngx_tg_tls_session_free(ngx_ssl_session_t *session);

#endif
