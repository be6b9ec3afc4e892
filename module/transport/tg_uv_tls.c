/* TLS with OpenSSL on memory BIOs. */
#include "transport/tg_uv_tls.h"

#include "transport/tg_uv_openssl.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct tg_uv_tls_ctx_s {
    const tg_uv_openssl_t *lib;
    SSL_CTX *ctx;
    char *name; /* expected name in the certificate */
    int is_ip;
    char why[256];
};

struct tg_uv_tls_conn_s {
    tg_uv_tls_ctx_t *tls;
    SSL *ssl;
    BIO *in; /* in and out are owned by ssl */
    BIO *out;
    int is_open;
    int is_over; /* close notification was sent */
};

static const char *
tg_uv_openssl_get_reason(const tg_uv_openssl_t *lib)
{
    const char *reason;

    reason = lib->ERR_reason_error_string(lib->ERR_peek_error());

    return reason != NULL ? reason : "unknown reason";
}

/* Fails for a key with a password: there is no one to enter it. */
static int
tg_uv_tls_refuse_password(char *buf, int size, int is_writing, void *ctx)
{
    return -1;
}

static int
tg_uv_tls_ctx_load_ca(tg_uv_tls_ctx_t *tls, const tg_uv_tls_options_t *options,
                      char *why, size_t size)
{
    const tg_uv_openssl_t *lib;
    int rc;

    lib = tls->lib;
    lib->SSL_CTX_set_verify(tls->ctx, SSL_VERIFY_PEER, NULL);
    rc = options->ca != NULL
             ? lib->SSL_CTX_load_verify_locations(tls->ctx, options->ca, NULL)
             : lib->SSL_CTX_set_default_verify_paths(tls->ctx);

    if (rc != 1) {
        (void) snprintf(why, size, "%s has no trusted certificates: %s",
                        options->ca != NULL ? options->ca : "this system",
                        tg_uv_openssl_get_reason(lib));
    }

    return rc == 1 ? TG_OK : TG_INVALID;
}

static int
tg_uv_tls_ctx_load_certificate(tg_uv_tls_ctx_t *tls,
                               const tg_uv_tls_options_t *options, char *why,
                               size_t size)
{
    const tg_uv_openssl_t *lib;
    const char *key;

    lib = tls->lib;
    key = options->key != NULL ? options->key : options->certificate;

    if (key == NULL) {
        return TG_OK;
    }

    if (options->certificate == NULL) {
        (void) snprintf(why, size, "a key needs its certificate");
        return TG_INVALID;
    }

    lib->SSL_CTX_set_default_passwd_cb(tls->ctx, tg_uv_tls_refuse_password);

    if (lib->SSL_CTX_use_certificate_chain_file(tls->ctx, options->certificate)
        != 1)
    {
        (void) snprintf(why, size, "%s is not a certificate in PEM format: %s",
                        options->certificate, tg_uv_openssl_get_reason(lib));
        return TG_INVALID;
    }

    if (lib->SSL_CTX_use_PrivateKey_file(tls->ctx, key, SSL_FILETYPE_PEM) != 1
        || lib->SSL_CTX_check_private_key(tls->ctx) != 1)
    {
        (void) snprintf(why, size,
                        "%s is not the key of that certificate in PEM format "
                        "without a password: %s",
                        key, tg_uv_openssl_get_reason(lib));
        return TG_INVALID;
    }

    return TG_OK;
}

static int
tg_uv_tls_ctx_init(tg_uv_tls_ctx_t *tls, const tg_uv_tls_options_t *options,
                   char *why, size_t size)
{
    const tg_uv_openssl_t *lib;
    struct in6_addr address;

    lib = tls->lib;
    lib->ERR_clear_error();
    tls->is_ip = inet_pton(AF_INET, tls->name, &address) == 1
                 || inet_pton(AF_INET6, tls->name, &address) == 1;
    tls->ctx = lib->SSL_CTX_new(lib->TLS_client_method());

    if (tls->ctx == NULL) {
        (void) snprintf(why, size, "TLS cannot be used: %s",
                        tg_uv_openssl_get_reason(lib));
        return TG_INVALID;
    }

    (void) lib->SSL_CTX_ctrl(tls->ctx, SSL_CTRL_SET_MIN_PROTO_VERSION,
                             TLS1_2_VERSION, NULL);
    /* Bridges are idle for hours: release the buffers. */
    (void) lib->SSL_CTX_ctrl(tls->ctx, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS,
                             NULL);

    return tg_uv_tls_ctx_load_ca(tls, options, why, size) == TG_OK
               ? tg_uv_tls_ctx_load_certificate(tls, options, why, size)
               : TG_INVALID;
}

tg_uv_tls_ctx_t *
tg_uv_tls_ctx_new(const tg_uv_tls_options_t *options, const char *host,
                  char *why, size_t size)
{
    const tg_uv_openssl_t *lib;
    const char *missing;
    tg_uv_tls_ctx_t *tls;

    lib = tg_uv_openssl_load(&missing);

    if (lib == NULL) {
        (void) snprintf(why, size, "%s", missing);
        return NULL;
    }

    tls = calloc(1, sizeof(*tls));

    if (tls != NULL) {
        tls->lib = lib;
        tls->name = strdup(options->name != NULL ? options->name : host);
    }

    if (tls == NULL || tls->name == NULL) {
        (void) snprintf(why, size, "out of memory");

    } else if (tg_uv_tls_ctx_init(tls, options, why, size) == TG_OK) {
        return tls;
    }

    tg_uv_tls_ctx_free(tls);

    return NULL;
}

void
tg_uv_tls_ctx_free(tg_uv_tls_ctx_t *tls)
{
    if (tls != NULL) {
        if (tls->ctx != NULL) {
            tls->lib->SSL_CTX_free(tls->ctx);
        }

        free(tls->name);
        free(tls);
    }
}

const char *
tg_uv_tls_ctx_get_error(const tg_uv_tls_ctx_t *tls)
{
    return tls != NULL ? tls->why : "";
}

/* Keeps the error; the server may have rejected the client certificate. */
static int
tg_uv_tls_conn_set_error(const tg_uv_tls_conn_t *tls_conn)
{
    tg_uv_tls_ctx_t *tls;
    long verified;

    tls = tls_conn->tls;
    verified = tls->lib->SSL_get_verify_result(tls_conn->ssl);

    if (!tls_conn->is_open
        && (verified == X509_V_ERR_HOSTNAME_MISMATCH
            || verified == X509_V_ERR_IP_ADDRESS_MISMATCH))
    {
        (void) snprintf(tls->why, sizeof(tls->why),
                        "its certificate is not valid for %s", tls->name);

    } else if (!tls_conn->is_open && verified != X509_V_OK) {
        (void) snprintf(tls->why, sizeof(tls->why),
                        "its certificate is not trusted: %s",
                        tls->lib->X509_verify_cert_error_string(verified));
    } else {
        (void) snprintf(tls->why, sizeof(tls->why), "TLS failed: %s",
                        tg_uv_openssl_get_reason(tls->lib));
    }

    return UV_EPROTO;
}

/* Converts an SSL error: 0 if more input is needed, UV_EOF, or UV_EPROTO. */
static int
tg_uv_tls_conn_map_error(const tg_uv_tls_conn_t *tls_conn, int rc)
{
    switch (tls_conn->tls->lib->SSL_get_error(tls_conn->ssl, rc)) {
    case SSL_ERROR_NONE:
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return 0;

    case SSL_ERROR_ZERO_RETURN:
        return UV_EOF;

    default:
        return tg_uv_tls_conn_set_error(tls_conn);
    }
}

static int
tg_uv_tls_conn_handshake(tg_uv_tls_conn_t *tls_conn)
{
    int rc;

    tls_conn->tls->lib->ERR_clear_error();
    rc = tls_conn->tls->lib->SSL_do_handshake(tls_conn->ssl);
    tls_conn->is_open = rc == 1;

    return rc == 1 ? 0 : tg_uv_tls_conn_map_error(tls_conn, rc);
}

/* Sets the name for the check of the certificate and for SNI. */
static int
tg_uv_tls_conn_set_server_name(const tg_uv_tls_conn_t *tls_conn)
{
    const tg_uv_openssl_t *lib;
    tg_uv_tls_ctx_t *tls;

    tls = tls_conn->tls;
    lib = tls->lib;

    if (tls->is_ip) {
        return lib->X509_VERIFY_PARAM_set1_ip_asc(
                   lib->SSL_get0_param(tls_conn->ssl), tls->name)
               == 1;
    }

    return lib->SSL_set1_host(tls_conn->ssl, tls->name) == 1
           && lib->SSL_ctrl(tls_conn->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME,
                            TLSEXT_NAMETYPE_host_name, tls->name)
                  == 1;
}

int
tg_uv_conn_open_tls(tg_uv_conn_t *conn, tg_uv_tls_ctx_t *tls)
{
    const tg_uv_openssl_t *lib;
    tg_uv_tls_conn_t *tls_conn;

    lib = tls->lib;
    tls->why[0] = '\0';
    tls_conn = calloc(1, sizeof(*tls_conn));

    if (tls_conn == NULL) {
        return UV_ENOMEM;
    }

    conn->tls_conn = tls_conn;
    tls_conn->tls = tls;
    tls_conn->ssl = lib->SSL_new(tls->ctx);
    tls_conn->in = lib->BIO_new(lib->BIO_s_mem());
    tls_conn->out = lib->BIO_new(lib->BIO_s_mem());

    if (tls_conn->ssl == NULL || tls_conn->in == NULL || tls_conn->out == NULL)
    {
        (void) lib->BIO_free(tls_conn->in);
        (void) lib->BIO_free(tls_conn->out);
        return UV_ENOMEM;
    }

    lib->SSL_set_bio(tls_conn->ssl, tls_conn->in, tls_conn->out);
    lib->SSL_set_connect_state(tls_conn->ssl);

    return tg_uv_tls_conn_set_server_name(tls_conn)
               ? tg_uv_tls_conn_handshake(tls_conn)
               : UV_ENOMEM;
}

void
tg_uv_conn_close_tls(tg_uv_conn_t *conn)
{
    if (conn->tls_conn != NULL) {
        conn->tls_conn->tls->lib->SSL_free(conn->tls_conn->ssl);
        free(conn->tls_conn);
        conn->tls_conn = NULL;
    }
}

int
tg_uv_conn_is_tls_open(const tg_uv_conn_t *conn)
{
    return conn->tls_conn->is_open;
}

int
tg_uv_conn_decrypt(tg_uv_conn_t *conn, size_t len)
{
    const tg_uv_openssl_t *lib;
    tg_uv_tls_conn_t *tls_conn;
    tg_buf_t *buf;
    int n, rc;

    buf = &conn->in_buf;
    tls_conn = conn->tls_conn;
    lib = tls_conn->tls->lib;

    if (len != 0
        && lib->BIO_write(tls_conn->in, buf->data + buf->len, (int) len)
               != (int) len)
    {
        return UV_ENOMEM;
    }

    rc = tls_conn->is_open ? 0 : tg_uv_tls_conn_handshake(tls_conn);

    while (rc == 0 && tls_conn->is_open) {
        if (tg_buf_reserve(buf, TG_UV_READ_SIZE) != TG_OK) {
            return UV_ENOMEM;
        }

        lib->ERR_clear_error();
        n = lib->SSL_read(tls_conn->ssl, buf->data + buf->len, TG_UV_READ_SIZE);

        if (n <= 0) {
            return tg_uv_tls_conn_map_error(tls_conn, n);
        }

        buf->len += (size_t) n;
    }

    return rc;
}

int
tg_uv_conn_encrypt(tg_uv_conn_t *conn, const char *data, size_t len)
{
    tg_uv_tls_conn_t *tls_conn;
    int n, part;

    tls_conn = conn->tls_conn;

    for (/* void */; len != 0; data += n, len -= (size_t) n) {
        part = len < INT_MAX ? (int) len : INT_MAX;
        tls_conn->tls->lib->ERR_clear_error();
        n = tls_conn->tls->lib->SSL_write(tls_conn->ssl, data, part);

        /* A memory BIO accepts all bytes unless memory is exhausted. */
        if (n <= 0) {
            return tg_uv_tls_conn_set_error(tls_conn);
        }
    }

    return 0;
}

void
tg_uv_conn_shutdown_tls(tg_uv_conn_t *conn)
{
    tg_uv_tls_conn_t *tls_conn;

    tls_conn = conn->tls_conn;

    if (tls_conn->is_open && !tls_conn->is_over) {
        tls_conn->is_over = 1;
        tls_conn->tls->lib->ERR_clear_error();
        (void) tls_conn->tls->lib->SSL_shutdown(tls_conn->ssl);
    }
}

int
tg_uv_conn_append_ciphertext(tg_uv_conn_t *conn, tg_buf_t *out)
{
    tg_uv_tls_conn_t *tls_conn;
    size_t len;
    int n;

    tls_conn = conn->tls_conn;

    while ((len = tls_conn->tls->lib->BIO_ctrl_pending(tls_conn->out)) != 0) {
        len = len < INT_MAX ? len : INT_MAX;

        if (tg_buf_reserve(out, len) != TG_OK) {
            return UV_ENOMEM;
        }

        n = tls_conn->tls->lib->BIO_read(tls_conn->out, out->data + out->len,
                                         (int) len);

        if (n <= 0) {
            return UV_ENOMEM;
        }

        out->len += (size_t) n;
    }

    return 0;
}
