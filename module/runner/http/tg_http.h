/*
 * HTTP for the runner: libcurl's multi interface on the loop.  One exchange
 * is a request and what comes back, as it comes; redirects are the caller's
 * business.  It knows nothing of jobs.
 *
 * Connections are kept for the next exchange.  There is nothing that nobody
 * asked for: no cookies, no netrc, no proxy of the environment, no other
 * protocol, and certificates are verified.
 *
 *     header header … head  body body …  done
 *
 * Each exchange is a source of the scheduler: its body is read in time slices.
 * ops are called from the loop, never from tg_http_exchange_start().  done is
 * the last one; then, or after tg_http_exchange_cancel(), the exchange is gone.
 */
#ifndef TG_HTTP_H
#define TG_HTTP_H

#include "runner/http/tg_curl_loop.h"

#include <sys/queue.h>

/* Until there is a connection, with its TLS. */
#define TG_HTTP_CONNECT_MS 10000
/* All headers of an answer. */
#define TG_HTTP_HEADERS_MAX 65536
/*
 * Lookups of names that nobody waits for any more, each a thread that
 * cannot be stopped.
 */
#define TG_HTTP_LOOKUPS_MAX 64

typedef struct tg_http_exchange_s tg_http_exchange_t;
typedef TAILQ_HEAD(tg_http_exchange_list_s,
                   tg_http_exchange_s) tg_http_exchange_list_t;

/* What all exchanges of a loop share. */
typedef struct tg_http_pool_s {
    tg_curl_loop_t loop;
    tg_http_exchange_list_t exchanges;
    unsigned nabandoned; /* of them: cancelled while their name is looked up */
} tg_http_pool_t;

/* Everything is copied, but the body, which must live until the end. */
typedef struct {
    const char *method;
    const char *url;
    const char *const *headers; /* "Name: value", NULL at the end */
    tg_str_t body;              /* absent: none */
    int is_public;              /* only to public addresses */
    const char *proxy;          /* its URL, or NULL */
    const char *ca_file;        /* of those to trust, or NULL: the system's */
    uint64_t connect_ms;        /* 0: TG_HTTP_CONNECT_MS */
    uint64_t timeout_ms;        /* of the whole exchange; 0: the caller's */
    int is_stream;              /* the answer comes bit by bit, not packed */
} tg_http_request_t;

typedef enum {
    TG_HTTP_OK,      /* the whole answer was read */
    TG_HTTP_STOPPED, /* head or body wanted no more */
    TG_HTTP_REFUSED, /* the address is not public */
    TG_HTTP_FAILED   /* there was no answer, or not all of it */
} tg_http_exchange_result_t;

typedef struct {
    tg_http_exchange_result_t result;
    int was_sent;         /* the request, or part of it, may have arrived */
    int has_long_headers; /* its headers are larger than is read */
    const char *why;      /* of one that failed */
    const char
        *redirect; /* where to, see tg_url_append_normalized(); or NULL */
} tg_http_exchange_end_t;

typedef struct {
    void (*header)(void *ctx, tg_str_t name, tg_str_t value);

    /* All headers are there; returns non-zero to read no more. */
    int (*head)(void *ctx, int status);

    /*
     * Bytes of the body: TG_OK; TG_AGAIN: they were taken, the next ones are
     * read after tg_http_exchange_resume(); else no more is read.
     */
    int (*body)(void *ctx, const char *data, size_t len);

    /* What end says lives until it returns. */
    void (*done)(void *ctx, const tg_http_exchange_end_t *end);
} tg_http_exchange_ops_t;

void tg_http_pool_init(tg_http_pool_t *pool, tg_uv_sched_t *sched);

/* Closes the handles, and whatever goes on. */
void tg_http_pool_close(tg_http_pool_t *pool);

/*
 * Starts an exchange: TG_OK; TG_NOMEM; TG_MISSING: libcurl is; TG_LIMIT: too
 * much is being looked up.  *why says what to do.
 */
int tg_http_exchange_start(tg_http_pool_t *pool,
                           const tg_http_request_t *request,
                           const tg_http_exchange_ops_t *ops, void *ctx,
                           tg_http_exchange_t **http, const char **why);

/* Reads the body on, in the next time slice, after body() returned TG_AGAIN. */
void tg_http_exchange_resume(tg_http_exchange_t *http);

/*
 * Says how many bytes are held of this answer.  TG_OK, or TG_LIMIT: all
 * sources of the loop together hold too many, so that it should fail.
 */
int tg_http_exchange_set_held_bytes(tg_http_exchange_t *http, size_t bytes);

/*
 * Nobody wants it any more; its connection, unless the answer was read, is
 * closed.  Not from header, head or body.
 */
void tg_http_exchange_cancel(tg_http_exchange_t *http);

#endif
