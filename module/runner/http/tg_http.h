/*
 * HTTP client of the runner: libcurl on the loop. One exchange is a request and
 * its response, which is passed on as it arrives. The caller handles redirects.
 * Does not depend on jobs.
 *
 * Connections are kept. Nothing is used that the caller did not ask for: no
 * cookies, netrc, proxy from the environment or other protocols. Certificates
 * are verified.
 *
 *  header header … head  body body …  done
 *
 * Each exchange is a source of the scheduler. The ops are called from the loop,
 * never from tg_http_exchange_start(). After done() or
 * tg_http_exchange_cancel() the exchange is invalid.
 */
#ifndef TG_HTTP_H
#define TG_HTTP_H

#include "base/tg_list.h"
#include "runner/http/tg_curl_loop.h"

#include <sys/queue.h>

/* Default timeout of connecting, including TLS, in ms. */
#define TG_HTTP_CONNECT_MS 10000

/* Maximum size of a response's headers in bytes. */
#define TG_HTTP_HEADERS_MAX 65536

/* Maximum number of cancelled name lookups, whose threads cannot be stopped. */
#define TG_HTTP_LOOKUPS_MAX 64

typedef struct tg_http_exchange_s tg_http_exchange_t;
typedef TAILQ_HEAD(tg_http_exchange_list_s,
                   tg_http_exchange_s) tg_http_exchange_list_t;

/* State shared by all exchanges of a loop. */
typedef struct tg_http_pool_s {
    tg_curl_loop_t loop;
    tg_http_exchange_list_t exchanges;
    unsigned nabandoned; /* exchanges cancelled during their name lookup */
} tg_http_pool_t;

/* A request. All members are copied except the body, which must stay valid. */
typedef struct {
    const char *method;
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated */
    tg_str_t body;              /* body of the request; absent: no body */
    int is_public;              /* only public addresses are allowed */
    const char *proxy;          /* URL of the proxy, or NULL */

    /* File of trusted CAs; NULL: the system's CAs. */
    const char *ca_file;

    /* Timeout of connecting; 0: TG_HTTP_CONNECT_MS. */
    uint64_t connect_ms;

    uint64_t timeout_ms; /* timeout of the exchange; 0: none */

    /* The response is a stream, without compression. */
    int is_stream;
} tg_http_request_t;

typedef enum {
    TG_HTTP_OK,      /* the response was read completely */
    TG_HTTP_STOPPED, /* head() or body() stopped the exchange */
    TG_HTTP_REFUSED, /* the address is not public */
    TG_HTTP_FAILED   /* there was no response, or only a part of it */
} tg_http_exchange_result_t;

typedef struct {
    tg_http_exchange_result_t result;
    int was_sent;         /* the server may have received the request */
    int has_long_headers; /* the headers are larger than the maximum */
    const char *why;      /* reason of a failure */

    /* Target of a redirect, see tg_url_append_normalized(); or NULL. */
    const char *redirect;
} tg_http_exchange_end_t;

typedef struct {
    void (*header)(void *ctx, tg_str_t name, tg_str_t value);

    /* Called after all headers. Returns non-zero to stop the exchange. */
    int (*head)(void *ctx, int status);

    /*
     * Receives bytes of the body. TG_AGAIN consumes them, and pauses until
     * tg_http_exchange_resume(); other codes except TG_OK stop the exchange.
     */
    int (*body)(void *ctx, const char *data, size_t len);

    /* Called at the end. The data of `end` is valid until done() returns. */
    void (*done)(void *ctx, const tg_http_exchange_end_t *end);
} tg_http_exchange_ops_t;

void tg_http_pool_init(tg_http_pool_t *pool, tg_uv_sched_t *sched);

void tg_http_pool_close(tg_http_pool_t *pool);

/*
 * Starts an exchange. TG_NOMEM; or with *why: TG_MISSING, libcurl is missing;
 * TG_LIMIT, too many name lookups.
 */
int tg_http_exchange_start(tg_http_pool_t *pool,
                           const tg_http_request_t *request,
                           const tg_http_exchange_ops_t *ops, void *ctx,
                           tg_http_exchange_t **http, const char **why);

/* Continues a body in the next slice, after body() returned TG_AGAIN. */
void tg_http_exchange_resume(tg_http_exchange_t *http);

/*
 * Sets the number of bytes that the caller stores of this response. TG_LIMIT:
 * all sources store too much, so that the exchange should fail.
 */
int tg_http_exchange_set_held_bytes(tg_http_exchange_t *http, size_t bytes);

/*
 * Cancels the exchange, and closes its connection unless the response was read.
 * Must not be called from header(), head() or body().
 */
void tg_http_exchange_cancel(tg_http_exchange_t *http);

#endif
