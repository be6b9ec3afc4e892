/* OpenSSL, loaded at the first `tls:` address: most programs need none. */
#ifndef TG_UV_OPENSSL_H
#define TG_UV_OPENSSL_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define TG_UV_OPENSSL_FUNCTIONS(X)                                             \
    X(TLS_client_method)                                                       \
    X(SSL_CTX_new)                                                             \
    X(SSL_CTX_free)                                                            \
    X(SSL_CTX_ctrl)                                                            \
    X(SSL_CTX_set_verify)                                                      \
    X(SSL_CTX_load_verify_locations)                                           \
    X(SSL_CTX_set_default_verify_paths)                                        \
    X(SSL_CTX_use_certificate_chain_file)                                      \
    X(SSL_CTX_use_PrivateKey_file)                                             \
    X(SSL_CTX_set_default_passwd_cb)                                           \
    X(SSL_CTX_check_private_key)                                               \
    X(SSL_new)                                                                 \
    X(SSL_free)                                                                \
    X(SSL_set_bio)                                                             \
    X(SSL_set_connect_state)                                                   \
    X(SSL_set1_host)                                                           \
    X(SSL_get0_param)                                                          \
    X(SSL_ctrl)                                                                \
    X(SSL_do_handshake)                                                        \
    X(SSL_read)                                                                \
    X(SSL_write)                                                               \
    X(SSL_shutdown)                                                            \
    X(SSL_get_error)                                                           \
    X(SSL_get_verify_result)                                                   \
    X(X509_VERIFY_PARAM_set1_ip_asc)                                           \
    X(X509_verify_cert_error_string)                                           \
    X(BIO_new)                                                                 \
    X(BIO_free)                                                                \
    X(BIO_s_mem)                                                               \
    X(BIO_read)                                                                \
    X(BIO_write)                                                               \
    X(BIO_ctrl_pending)                                                        \
    X(ERR_clear_error)                                                         \
    X(ERR_peek_error)                                                          \
    X(ERR_reason_error_string)

#define TG_UV_OPENSSL_MEMBER(name) __typeof__(name) *name;

typedef struct {
    TG_UV_OPENSSL_FUNCTIONS(TG_UV_OPENSSL_MEMBER)
} tg_uv_openssl_t;

/* Loads OpenSSL once. NULL: *why says what to install. */
const tg_uv_openssl_t *tg_uv_openssl_load(const char **why);

#endif
