/* TLS to backends: context, handshake, check of the certificate, directives. */
#include "nginx/upstream/ngx_tg_tls.h"

#if (NGX_STREAM_SSL)

#define NGX_TG_TLS_POOL_SIZE 256

ngx_conf_bitmask_t ngx_tg_tls_protocols[] = {
    { ngx_string("TLSv1"), NGX_SSL_TLSv1 },
    { ngx_string("TLSv1.1"), NGX_SSL_TLSv1_1 },
    { ngx_string("TLSv1.2"), NGX_SSL_TLSv1_2 },
    { ngx_string("TLSv1.3"), NGX_SSL_TLSv1_3 },
    { ngx_null_string, 0 }
};

static const ngx_tg_tls_t ngx_tg_tls_default = {
    .enable = 0,
    .verify = 1,
    .server_name = 1,
    .session_reuse = 1,
    .verify_depth = 1,
    .protocols = NGX_CONF_BITMASK_SET | NGX_SSL_TLSv1_2 | NGX_SSL_TLSv1_3,
    .ciphers = ngx_string("DEFAULT"),
};

ngx_int_t
ngx_tg_tls_create_context(ngx_conf_t *cf, ngx_tg_tls_t *tls)
{
    ngx_pool_cleanup_t *cln;

    if (tls->ssl != NULL) {
        return NGX_OK;
    }

    tls->ssl = ngx_pcalloc(cf->pool, sizeof(ngx_ssl_t));
    if (tls->ssl == NULL) {
        return NGX_ERROR;
    }

    tls->ssl->log = cf->log;

    if (ngx_ssl_create(tls->ssl, tls->protocols, NULL) != NGX_OK) {
        return NGX_ERROR;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        ngx_ssl_cleanup_ctx(tls->ssl);
        return NGX_ERROR;
    }

    cln->handler = ngx_ssl_cleanup_ctx;
    cln->data = tls->ssl;

    if (tls->certificate.len != 0
        && ngx_ssl_certificate(cf, tls->ssl, &tls->certificate,
                               &tls->certificate_key, NULL)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (tls->verify
        && (ngx_ssl_trusted_certificate(cf, tls->ssl, &tls->trusted_certificate,
                                        (ngx_int_t) tls->verify_depth)
                != NGX_OK
            || ngx_ssl_crl(cf, tls->ssl, &tls->crl) != NGX_OK))
    {
        return NGX_ERROR;
    }

    return ngx_ssl_ciphers(cf, tls->ssl, &tls->ciphers, 0) == NGX_OK
               ? ngx_ssl_client_session_cache(cf, tls->ssl, tls->session_reuse)
               : NGX_ERROR;
}

/* --- handshake --- */

/* Sets the server name if it is a host name, as RFC 6066 requires. */
static ngx_int_t
ngx_tg_tls_set_server_name(ngx_connection_t *c, const ngx_str_t *name)
{
    u_char text[TLSEXT_MAXLEN_host_name + 1];

    if (name->len == 0 || name->len > TLSEXT_MAXLEN_host_name
        || name->data[0] == '[' || name->data[0] == '/'
        || ngx_inet_addr(name->data, name->len) != INADDR_NONE)
    {
        return NGX_OK;
    }

    (void) ngx_cpystrn(text, name->data, name->len + 1);

    return SSL_set_tlsext_host_name(c->ssl->connection, (char *) text) != 0
               ? NGX_OK
               : NGX_ERROR;
}

ngx_int_t
ngx_tg_tls_start_handshake(ngx_connection_t *c, const ngx_tg_tls_t *tls,
                           const ngx_str_t *name, ngx_ssl_session_t *session,
                           ngx_connection_handler_pt done,
                           ngx_connection_handler_pt save)
{
    ngx_int_t rc;

    c->pool = ngx_create_pool(NGX_TG_TLS_POOL_SIZE, c->log);

    if (c->pool == NULL
        || ngx_ssl_create_connection(tls->ssl, c, NGX_SSL_CLIENT) != NGX_OK
        || (tls->server_name && ngx_tg_tls_set_server_name(c, name) != NGX_OK)
        || (session != NULL && ngx_ssl_set_session(c, session) != NGX_OK))
    {
        return NGX_ERROR;
    }

    if (tls->session_reuse) {
        c->ssl->save_session = save;
    }

    rc = ngx_ssl_handshake(c);

    if (rc == NGX_AGAIN) {
        c->ssl->handler = done;
    }

    return rc;
}

const char *
ngx_tg_tls_verify_peer(ngx_connection_t *c, const ngx_tg_tls_t *tls,
                       const ngx_str_t *name)
{
    static u_char text[256];

    ngx_str_t host;
    long rc;

    if (!c->ssl->handshaked) {
        return "the TLS handshake failed";
    }

    if (!tls->verify) {
        return NULL;
    }

    rc = SSL_get_verify_result(c->ssl->connection);

    if (rc != X509_V_OK) {
        (void) ngx_snprintf(text, sizeof(text),
                            "its certificate is not trusted: %s%Z",
                            X509_verify_cert_error_string(rc));
        return (const char *) text;
    }

    host = *name;

    if (ngx_ssl_check_host(c, &host) != NGX_OK) {
        (void) ngx_snprintf(text, sizeof(text),
                            "its certificate is not that of \"%*s\"%Z",
                            ngx_min(name->len, sizeof(text) / 2), name->data);
        return (const char *) text;
    }

    return NULL;
}

ngx_ssl_session_t *
ngx_tg_tls_get_session(ngx_connection_t *c)
{
    return ngx_ssl_get_session(c);
}

void
ngx_tg_tls_session_free(ngx_ssl_session_t *session)
{
    if (session != NULL) {
        ngx_ssl_free_session(session);
    }
}

#else

ngx_conf_bitmask_t ngx_tg_tls_protocols[] = { { ngx_null_string, 0 } };

static const ngx_tg_tls_t ngx_tg_tls_default;

ngx_int_t
ngx_tg_tls_create_context(ngx_conf_t *cf, ngx_tg_tls_t *tls)
{
    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "this NGINX was built without TLS for streams; "
                  "\"tool_pass_ssl\" needs --with-stream_ssl_module");

    return NGX_ERROR;
}

ngx_int_t
ngx_tg_tls_start_handshake(ngx_connection_t *c, const ngx_tg_tls_t *tls,
                           const ngx_str_t *name, ngx_ssl_session_t *session,
                           ngx_connection_handler_pt done,
                           ngx_connection_handler_pt save)
{
    return NGX_ERROR;
}

const char *
ngx_tg_tls_verify_peer(ngx_connection_t *c, const ngx_tg_tls_t *tls,
                       const ngx_str_t *name)
{
    return NULL;
}

ngx_ssl_session_t *
ngx_tg_tls_get_session(ngx_connection_t *c)
{
    return NULL;
}

void
ngx_tg_tls_session_free(ngx_ssl_session_t *session)
{
}

#endif

/* --- directives --- */

void
ngx_tg_tls_init_unset(ngx_tg_tls_t *tls)
{
    tls->enable = NGX_CONF_UNSET;
    tls->verify = NGX_CONF_UNSET;
    tls->server_name = NGX_CONF_UNSET;
    tls->session_reuse = NGX_CONF_UNSET;
    tls->verify_depth = NGX_CONF_UNSET_UINT;
}

ngx_uint_t
ngx_tg_tls_is_unset(const ngx_tg_tls_t *tls)
{
    ngx_tg_tls_t unset;

    ngx_memzero(&unset, sizeof(unset));
    ngx_tg_tls_init_unset(&unset);

    return ngx_memcmp(&unset, tls, sizeof(unset)) == 0;
}

void
ngx_tg_tls_merge(ngx_tg_tls_t *tls, const ngx_tg_tls_t *prev)
{
    if (prev == NULL) {
        prev = &ngx_tg_tls_default;
    }

    ngx_conf_merge_value(tls->enable, prev->enable, 0);
    ngx_conf_merge_value(tls->verify, prev->verify, 1);
    ngx_conf_merge_value(tls->server_name, prev->server_name, 1);
    ngx_conf_merge_value(tls->session_reuse, prev->session_reuse, 1);
    ngx_conf_merge_uint_value(tls->verify_depth, prev->verify_depth, 1);
    ngx_conf_merge_bitmask_value(tls->protocols, prev->protocols,
                                 prev->protocols);
    ngx_conf_merge_str_value(tls->certificate, prev->certificate, "");
    ngx_conf_merge_str_value(tls->certificate_key, prev->certificate_key, "");
    ngx_conf_merge_str_value(tls->trusted_certificate,
                             prev->trusted_certificate, "");
    ngx_conf_merge_str_value(tls->crl, prev->crl, "");
    ngx_conf_merge_str_value(tls->ciphers, prev->ciphers, "DEFAULT");
    ngx_conf_merge_str_value(tls->name, prev->name, "");
}

const char *
ngx_tg_tls_check_conf(const ngx_tg_tls_t *tls, const ngx_str_t *name)
{
    if ((tls->certificate.len == 0) != (tls->certificate_key.len == 0)) {
        return "has one of \"tool_pass_ssl_certificate\" and "
               "\"tool_pass_ssl_certificate_key\"; add the other one";
    }

    if (!tls->verify) {
        return NULL;
    }

    if (tls->trusted_certificate.len == 0) {
        return "cannot verify its backend's certificate; set the trusted "
               "certificates with \"tool_pass_ssl_trusted_certificate FILE\", "
               "or write "
               "\"tool_pass_ssl_verify off\"";
    }

    return name->len == 0 || name->data[0] == '/'
               ? "has a backend at a Unix socket, whose certificate has "
                 "another name than its path; add \"tool_pass_ssl_name NAME\""
               : NULL;
}
