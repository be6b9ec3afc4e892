/* HTTP exchanges: libcurl's callbacks, options, start and end. */
#include "runner/http/tg_http.h"

#include "base/tg_url.h"
#include "runner/http/tg_public_address.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

struct tg_http_exchange_s {
    tg_http_pool_t *pool;
    TAILQ_ENTRY(tg_http_exchange_s) link;
    tg_sched_source_t source;
    CURL *easy;
    struct curl_slist *headers;
    const tg_http_exchange_ops_t *ops; /* NULL: the exchange was cancelled */
    void *ctx;
    size_t header_bytes;
    int status;
    int is_public;
    int is_idempotent;  /* the request may be repeated */
    int is_resolving;   /* the name of the host is being looked up */
    int is_refused;     /* the address is not public, but must be */
    int has_headers;    /* all headers were read */
    int is_stopped;     /* the exchange was stopped by head() or body() */
    int is_held_by_ops; /* body() has paused; see tg_http_exchange_resume() */
    int is_paused;      /* libcurl holds back bytes of the body */
    unsigned nsent;     /* number of attempts to send the request */
    char error[CURL_ERROR_SIZE];
};

static tg_sched_t *
tg_http_exchange_get_sched(const tg_http_exchange_t *http)
{
    return &http->pool->loop.sched->sched;
}

/* --- libcurl's callbacks --- */

/* Called before a name lookup. For a literal address it ends at once. */
static int
tg_http_exchange_on_resolve(void *resolver, void *reserved, void *ctx)
{
    tg_http_exchange_t *http;

    http = ctx;
    http->is_resolving = 1;

    return 0;
}

static curl_socket_t
tg_http_exchange_on_open_socket(void *ctx, curlsocktype purpose,
                                struct curl_sockaddr *address)
{
    tg_http_exchange_t *http;

    http = ctx;
    http->is_resolving = 0;

    if (http->ops == NULL) {
        return CURL_SOCKET_BAD;
    }

    if (http->is_public
        && !tg_address_is_public(&address->addr, address->addrlen)) {
        http->is_refused = 1;
        return CURL_SOCKET_BAD;
    }

    return socket(address->family, address->socktype | SOCK_CLOEXEC,
                  address->protocol);
}

/*
 * Called with a connection, perhaps a kept one. If that is closed, only an
 * idempotent request is sent again, as it may have been executed.
 */
static int
tg_http_exchange_on_connected(void *ctx, char *remote, char *local,
                              int remote_port, int local_port)
{
    tg_http_exchange_t *http;

    http = ctx;
    http->is_resolving = 0;

    if (http->is_public && !tg_address_is_public_text(remote)) {
        http->is_refused = 1;
    }

    if (http->ops == NULL || http->is_refused
        || (http->nsent != 0 && !http->is_idempotent))
    {
        return CURL_PREREQFUNC_ABORT;
    }

    http->nsent++;

    return CURL_PREREQFUNC_OK;
}

/* Passes on a header "Name: value", without the line end. */
static void
tg_http_exchange_parse_header(tg_http_exchange_t *http, tg_str_t line)
{
    const char *colon;
    tg_str_t value;

    colon = memchr(line.data, ':', line.len);

    if (colon == NULL || http->ops->header == NULL) {
        return;
    }

    value = tg_str(colon + 1, line.len - (size_t) (colon + 1 - line.data));

    while (value.len != 0 && (*value.data == ' ' || *value.data == '\t')) {
        value = tg_str_skip(value, 1);
    }

    http->ops->header(http->ctx,
                      tg_str(line.data, (size_t) (colon - line.data)), value);
}

/* Handles a line of the headers. Ignores informational responses (1xx). */
static int
tg_http_exchange_on_header_line(tg_http_exchange_t *http, tg_str_t line)
{
    while (line.len != 0 && strchr("\r\n \t", line.data[line.len - 1]) != NULL)
    {
        line.len--;
    }

    if (line.len > 9 && memcmp(line.data, "HTTP/", 5) == 0) {
        long status;

        status = 0;
        (void) http->pool->loop.curl->easy_getinfo(http->easy,
                                                   CURLINFO_RESPONSE_CODE,
                                                   &status);
        http->status = (int) status;
        return 0;
    }

    if (http->status < 200) {
        return 0;
    }

    if (line.len != 0) {
        tg_http_exchange_parse_header(http, line);
        return 0;
    }

    http->has_headers = 1;

    return http->ops->head != NULL && http->ops->head(http->ctx, http->status);
}

static size_t
tg_http_exchange_on_header(char *data, size_t size, size_t n, void *ctx)
{
    tg_http_exchange_t *http;

    http = ctx;
    n *= size;
    http->header_bytes += n;

    if (http->ops == NULL || http->header_bytes > TG_HTTP_HEADERS_MAX) {
        return 0;
    }

    if (http->has_headers
        || tg_http_exchange_on_header_line(http, tg_str(data, n)) == 0)
    {
        return n;
    }

    http->is_stopped = 1;

    return 0;
}

static size_t
tg_http_exchange_on_body(char *data, size_t size, size_t n, void *ctx)
{
    tg_http_exchange_t *http;
    int rc;

    http = ctx;
    n *= size;

    if (http->ops == NULL) {
        return 0;
    }

    if (http->is_held_by_ops
        || tg_sched_is_slice_over(tg_http_exchange_get_sched(http),
                                  &http->source, n))
    {
        http->is_paused = 1;
        return CURL_WRITEFUNC_PAUSE;
    }

    rc = http->ops->body(http->ctx, data, n);

    if (rc == TG_OK || rc == TG_AGAIN) {
        http->is_held_by_ops = rc == TG_AGAIN;
        return n;
    }

    http->is_stopped = 1;

    return n + 1;
}

/* Runs a slice: libcurl delivers the bytes that it holds back, and reads on. */
static void
tg_http_exchange_run(tg_sched_source_t *source)
{
    tg_curl_loop_t *loop;
    tg_http_exchange_t *http;
    CURLcode code;

    http = TG_CONTAINER_OF(source, tg_http_exchange_t, source);
    loop = &http->pool->loop;

    if (!http->is_paused || http->is_held_by_ops) {
        return;
    }

    http->is_paused = 0;
    code = loop->curl->easy_pause(http->easy, CURLPAUSE_CONT);

    /* libcurl does not report this failure by a message. */
    if (code != CURLE_OK) {
        loop->on_done(loop, http->easy, code);
    }
}

void
tg_http_exchange_resume(tg_http_exchange_t *http)
{
    http->is_held_by_ops = 0;

    if (http->is_paused) {
        tg_sched_enqueue(tg_http_exchange_get_sched(http), &http->source);
    }
}

int
tg_http_exchange_set_held_bytes(tg_http_exchange_t *http, size_t bytes)
{
    return tg_sched_set_memory(tg_http_exchange_get_sched(http), &http->source,
                               bytes);
}

/* --- start --- */

static int
tg_http_method_is_idempotent(const char *method)
{
    static const char *const safe[] = { "GET",    "HEAD", "OPTIONS",
                                        "DELETE", "PUT",  NULL };

    return tg_str_find(tg_str_from_cstr(method), safe) >= 0;
}

static int
tg_http_exchange_add_header(tg_http_exchange_t *http, const char *header)
{
    struct curl_slist *list;

    list = http->pool->loop.curl->slist_append(http->headers, header);

    if (list == NULL) {
        return TG_NOMEM;
    }

    http->headers = list;

    return TG_OK;
}

/* Adds the headers. Names without a value suppress libcurl's own headers. */
static int
tg_http_exchange_add_headers(tg_http_exchange_t *http,
                             const tg_http_request_t *request)
{
    static const char type[] = "Content-Type:";
    const char *const *header;
    int has_type, rc;

    has_type = 0;
    rc = tg_http_exchange_add_header(http, "Expect:");

    for (header = request->headers; rc == TG_OK && *header != NULL; header++) {
        has_type |= strncasecmp(*header, type, sizeof(type) - 1) == 0;
        rc = tg_http_exchange_add_header(http, *header);
    }

    return rc == TG_OK && !has_type ? tg_http_exchange_add_header(http, type)
                                    : rc;
}

#define TG_HTTP_SET_OPTION(option, value)                                      \
    (rc |= curl->easy_setopt(http->easy, CURLOPT_##option, value))

static int
tg_http_exchange_set_request(tg_http_exchange_t *http,
                             const tg_http_request_t *request)
{
    const tg_curl_t *curl;
    unsigned rc;

    curl = http->pool->loop.curl;
    rc = 0;
    TG_HTTP_SET_OPTION(URL, request->url);
    TG_HTTP_SET_OPTION(HTTPHEADER, http->headers);

    if (request->body.data != NULL) {
        TG_HTTP_SET_OPTION(POSTFIELDSIZE_LARGE, (curl_off_t) request->body.len);
        TG_HTTP_SET_OPTION(POSTFIELDS, request->body.data);
    }

    if (strcmp(request->method, "HEAD") == 0) {
        TG_HTTP_SET_OPTION(NOBODY, 1L);
    } else {
        TG_HTTP_SET_OPTION(CUSTOMREQUEST, request->method);
    }

    TG_HTTP_SET_OPTION(PROXY, request->proxy != NULL ? request->proxy : "");
    TG_HTTP_SET_OPTION(NOPROXY, "");
    TG_HTTP_SET_OPTION(CONNECTTIMEOUT_MS, request->connect_ms != 0
                                              ? (long) request->connect_ms
                                              : (long) TG_HTTP_CONNECT_MS);
    TG_HTTP_SET_OPTION(TIMEOUT_MS, (long) request->timeout_ms);
    TG_HTTP_SET_OPTION(TCP_KEEPALIVE, request->is_stream ? 1L : 0L);
    TG_HTTP_SET_OPTION(ACCEPT_ENCODING, request->is_stream ? NULL : "gzip");

    if (request->ca_file != NULL) {
        TG_HTTP_SET_OPTION(CAINFO, request->ca_file);
        TG_HTTP_SET_OPTION(CAPATH, NULL);
    }

    return rc == 0 ? TG_OK : TG_NOMEM;
}

static int
tg_http_exchange_set_options(tg_http_exchange_t *http)
{
    const tg_curl_t *curl;
    unsigned rc;

    curl = http->pool->loop.curl;
    rc = 0;
    TG_HTTP_SET_OPTION(PRIVATE, http);
    TG_HTTP_SET_OPTION(ERRORBUFFER, http->error);
    TG_HTTP_SET_OPTION(NOSIGNAL, 1L);
    TG_HTTP_SET_OPTION(PROTOCOLS_STR, "http,https");
    TG_HTTP_SET_OPTION(HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
    TG_HTTP_SET_OPTION(SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
    TG_HTTP_SET_OPTION(PATH_AS_IS, 1L);
    TG_HTTP_SET_OPTION(DISALLOW_USERNAME_IN_URL, 1L);
    TG_HTTP_SET_OPTION(SUPPRESS_CONNECT_HEADERS, 1L);
    TG_HTTP_SET_OPTION(USERAGENT, "toolgate/" TG_VERSION);
    /* A name lookup must not delay the end after a timeout. */
    TG_HTTP_SET_OPTION(QUICK_EXIT, 1L);
    TG_HTTP_SET_OPTION(MAXAGE_CONN, (long) (TG_HTTP_KEEPALIVE_MS / 1000));
    TG_HTTP_SET_OPTION(RESOLVER_START_FUNCTION, tg_http_exchange_on_resolve);
    TG_HTTP_SET_OPTION(RESOLVER_START_DATA, http);
    TG_HTTP_SET_OPTION(OPENSOCKETFUNCTION, tg_http_exchange_on_open_socket);
    TG_HTTP_SET_OPTION(OPENSOCKETDATA, http);
    TG_HTTP_SET_OPTION(PREREQFUNCTION, tg_http_exchange_on_connected);
    TG_HTTP_SET_OPTION(PREREQDATA, http);
    TG_HTTP_SET_OPTION(HEADERFUNCTION, tg_http_exchange_on_header);
    TG_HTTP_SET_OPTION(HEADERDATA, http);
    TG_HTTP_SET_OPTION(WRITEFUNCTION, tg_http_exchange_on_body);
    TG_HTTP_SET_OPTION(WRITEDATA, http);

    return rc == 0 ? TG_OK : TG_NOMEM;
}

static void
tg_http_exchange_free(tg_http_exchange_t *http)
{
    const tg_curl_t *curl;

    curl = http->pool->loop.curl;

    if (http->easy != NULL) {
        curl->easy_cleanup(http->easy);
    }

    curl->slist_free_all(http->headers);
    free(http);
}

int
tg_http_exchange_start(tg_http_pool_t *pool, const tg_http_request_t *request,
                       const tg_http_exchange_ops_t *ops, void *ctx,
                       tg_http_exchange_t **made, const char **why)
{
    tg_http_exchange_t *http;
    int rc;

    rc = tg_curl_loop_open(&pool->loop, why);

    if (rc != TG_OK) {
        return rc;
    }

    if (pool->nabandoned >= TG_HTTP_LOOKUPS_MAX) {
        *why = "too many DNS lookups are pending, as the name servers do not "
               "answer; try again later";
        return TG_LIMIT;
    }

    http = calloc(1, sizeof(*http));

    if (http == NULL) {
        return TG_NOMEM;
    }

    http->pool = pool;
    http->source.run = tg_http_exchange_run;
    http->ops = ops;
    http->ctx = ctx;
    http->is_public = request->is_public;
    http->is_idempotent = tg_http_method_is_idempotent(request->method);
    http->easy = pool->loop.curl->easy_init();

    if (http->easy == NULL
        || tg_http_exchange_add_headers(http, request) != TG_OK
        || tg_http_exchange_set_options(http) != TG_OK
        || tg_http_exchange_set_request(http, request) != TG_OK
        || tg_curl_loop_add(&pool->loop, http->easy) != TG_OK)
    {
        tg_http_exchange_free(http);
        return TG_NOMEM;
    }

    TAILQ_INSERT_TAIL(&pool->exchanges, http, link);
    *made = http;

    return TG_OK;
}

/* --- end --- */

/* Frees the exchange. Closes its connection, unless the response was read. */
static void
tg_http_exchange_end(tg_http_exchange_t *http)
{
    tg_http_pool_t *pool;

    pool = http->pool;
    TAILQ_REMOVE(&pool->exchanges, http, link);
    pool->nabandoned -= http->ops == NULL;
    tg_sched_dequeue(tg_http_exchange_get_sched(http), &http->source);
    (void) tg_http_exchange_set_held_bytes(http, 0);
    tg_curl_loop_remove(&pool->loop, http->easy);
    tg_http_exchange_free(http);
}

void
tg_http_exchange_cancel(tg_http_exchange_t *http)
{
    if (!http->is_resolving) {
        tg_http_exchange_end(http);
        return;
    }

    /* Removing the exchange now would wait for its name lookup. */
    http->ops = NULL;
    http->pool->nabandoned++;
}

/* Checks for large headers, also by libcurl's own limit of 100 KiB. */
static int
tg_http_exchange_has_long_headers(const tg_http_exchange_t *http, CURLcode code)
{
    return http->header_bytes > TG_HTTP_HEADERS_MAX
           || (http->nsent != 0 && !http->has_headers
               && (code == CURLE_OUT_OF_MEMORY || (int) code == 100));
}

static const char *
tg_http_exchange_get_error(const tg_http_exchange_t *http, CURLcode code)
{
    if (tg_http_exchange_has_long_headers(http, code)) {
        return "the headers of the response are larger than 64 KiB";
    }

    if (code == CURLE_ABORTED_BY_CALLBACK && http->nsent != 0) {
        return "the server closed the connection without a response";
    }

    return http->error[0] != '\0' ? http->error
                                  : http->pool->loop.curl->easy_strerror(code);
}

/* Returns the target of a redirect, normalized, or NULL. */
static const char *
tg_http_exchange_get_redirect(const tg_http_exchange_t *http, tg_buf_t *to)
{
    char *redirect;

    redirect = NULL;
    (void) http->pool->loop.curl->easy_getinfo(http->easy,
                                               CURLINFO_REDIRECT_URL,
                                               &redirect);

    if (redirect == NULL) {
        return NULL;
    }

    tg_url_append_normalized(to, tg_str_from_cstr(redirect));
    tg_buf_append_char(to, '\0');

    return tg_buf_has_failed(to) ? redirect : to->data;
}

static void
tg_http_exchange_on_curl_done(tg_curl_loop_t *loop, CURL *easy, CURLcode code)
{
    tg_http_exchange_end_t end;
    tg_http_exchange_t *http;
    tg_buf_t to;

    http = NULL;
    (void) loop->curl->easy_getinfo(easy, CURLINFO_PRIVATE, &http);
    tg_buf_init(&to, tg_alloc_libc());

    if (http->ops != NULL) {
        end.result = http->is_stopped   ? TG_HTTP_STOPPED
                     : code == CURLE_OK ? TG_HTTP_OK
                     : http->is_refused ? TG_HTTP_REFUSED
                                        : TG_HTTP_FAILED;
        end.was_sent = http->nsent != 0;
        end.has_long_headers = tg_http_exchange_has_long_headers(http, code);
        end.why = tg_http_exchange_get_error(http, code);
        end.redirect = tg_http_exchange_get_redirect(http, &to);
        http->ops->done(http->ctx, &end);
    }

    tg_buf_deinit(&to);
    tg_http_exchange_end(http);
}

/* --- pool --- */

void
tg_http_pool_init(tg_http_pool_t *pool, tg_uv_sched_t *sched)
{
    tg_curl_loop_init(&pool->loop, sched, tg_http_exchange_on_curl_done);
    TAILQ_INIT(&pool->exchanges);
    pool->nabandoned = 0;
}

void
tg_http_pool_close(tg_http_pool_t *pool)
{
    tg_http_exchange_t *http, *next;

    TG_TAILQ_FOREACH_SAFE(http, &pool->exchanges, link, next)
    {
        tg_http_exchange_end(http);
    }

    tg_curl_loop_close(&pool->loop);
}
