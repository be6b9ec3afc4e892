/*
 * Fuzzes the HTTP messages of an MCP server and messages of workers. There is
 * no HTTP: commands act on the open exchanges.
 *
 * Input: lines; those of a worker are as in runner_world.h. `T` lets time
 * pass. Other lines begin with the position of an exchange among the open
 * ones, from `a` on, and what happens to it:
 *
 *   h STATUS TYPE SESSION   its head; TYPE is j (JSON), e (events) or other
 *   b TEXT                  part of its body; | is a newline, $ its request id
 *   d f n                   done, failed, or failed before it was sent
 */
#include "runner_world.h"

#include "base/tg_json.h"

#define WEB_MAX 64

typedef struct {
    const tg_http_exchange_ops_t *ops;
    tg_mcp_exchange_t *exchange;
    int status; /* 0: no head yet */
    int is_delete;
} web_t;

static web_t *web[WEB_MAX];
static size_t nweb;
static uint64_t web_now;
static int web_is_ending;

/* --- functions that are replaced --- */

int __real_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);
int __wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);
uint64_t __wrap_uv_now(const uv_loop_t *loop);
int __wrap_tg_curl_loop_open(tg_curl_loop_t *loop, const char **why);
int __wrap_tg_http_exchange_start(tg_http_pool_t *pool,
                                  const tg_http_request_t *request,
                                  const tg_http_exchange_ops_t *ops, void *ctx,
                                  tg_http_exchange_t **http, const char **why);
void __wrap_tg_http_exchange_cancel(tg_http_exchange_t *http);
void __wrap_tg_http_exchange_resume(tg_http_exchange_t *http);
int __wrap_tg_http_exchange_set_held_bytes(tg_http_exchange_t *http,
                                           size_t bytes);

/* Timers expire only with the command `T`. */
int
__wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                      uint64_t repeat)
{
    return __real_uv_timer_start(timer, cb, timeout == 0 ? 0 : UINT32_MAX,
                                 repeat);
}

uint64_t
__wrap_uv_now(const uv_loop_t *loop)
{
    return web_now;
}

int
__wrap_tg_curl_loop_open(tg_curl_loop_t *loop, const char **why)
{
    return TG_OK;
}

/* Each request is valid HTTP, and each body is one message. */
static void
web_check(const tg_http_request_t *request)
{
    const char *const *header;
    const char *p;

    FUZZ(strcmp(request->url, "http://a/") == 0 && request->is_stream);
    FUZZ((strcmp(request->method, "POST") == 0)
         == (request->body.data != NULL));

    for (header = request->headers; *header != NULL; header++) {
        FUZZ(strpbrk(*header, ":;") != NULL);

        for (p = *header; *p != '\0'; p++) {
            FUZZ((*p >= ' ' && *p <= '~') || *p == '\t' || *p & 0x80);
        }
    }

    if (request->body.data != NULL) {
        FUZZ(tg_json_validate(request->body, NULL) == TG_OK);
        FUZZ(memchr(request->body.data, '\n', request->body.len) == NULL);
    }
}

int
__wrap_tg_http_exchange_start(tg_http_pool_t *pool,
                              const tg_http_request_t *request,
                              const tg_http_exchange_ops_t *ops, void *ctx,
                              tg_http_exchange_t **http, const char **why)
{
    web_t *made;

    web_check(request);

    if (nweb == WEB_MAX) {
        *why = "no more";
        return TG_LIMIT;
    }

    made = calloc(1, sizeof(*made));
    FUZZ(made != NULL);
    made->ops = ops;
    made->exchange = ctx;
    made->is_delete = strcmp(request->method, "DELETE") == 0;
    web[nweb++] = made;
    *http = (tg_http_exchange_t *) (void *) made;

    return TG_OK;
}

void
__wrap_tg_http_exchange_cancel(tg_http_exchange_t *http)
{
    size_t i;

    for (i = 0; web[i] != (web_t *) (void *) http; i++) {
        FUZZ(i + 1 < nweb);
    }

    free(web[i]);
    memmove(&web[i], &web[i + 1], (--nweb - i) * sizeof(web[0]));
}

void
__wrap_tg_http_exchange_resume(tg_http_exchange_t *http)
{
}

int
__wrap_tg_http_exchange_set_held_bytes(tg_http_exchange_t *http, size_t bytes)
{
    return TG_OK;
}

/* --- commands --- */

static void
web_end(web_t *ended, tg_http_exchange_result_t result, int was_sent)
{
    const tg_http_exchange_ops_t *ops;
    tg_mcp_exchange_t *exchange;
    tg_http_exchange_end_t end;

    ops = ended->ops;
    exchange = ended->exchange;
    end.result = result;
    end.was_sent = was_sent;
    end.has_long_headers = 0;
    end.why = "why";
    end.redirect = ended->status / 100 == 3 ? "http://b/" : NULL;
    __wrap_tg_http_exchange_cancel((tg_http_exchange_t *) (void *) ended);
    ops->done(exchange, &end);
}

/* Receives a head; returns 0 when the exchange has ended. */
static int
web_head(web_t *to, tg_str_t line)
{
    int status, i;
    tg_str_t type;

    if (to->status != 0 || line.len < 3) {
        return 1;
    }

    for (i = 0, status = 0; i < 3; i++) {
        status = status * 10 + (line.data[i] & 15) % 10;
    }

    if (status < 200) {
        return 1;
    }

    to->status = status;
    line.data += 3;
    line.len -= 3;

    if (line.len != 0) {
        type = line.data[0] == 'j'   ? TG_STR("application/json; charset=utf-8")
               : line.data[0] == 'e' ? TG_STR("text/event-stream")
                                     : TG_STR("text/html");
        to->ops->header(to->exchange, TG_STR("Content-Type"), type);
        to->ops->header(to->exchange, TG_STR("mcp-session-id"),
                        tg_str(line.data + 1, line.len - 1));
    }

    if (to->ops->head(to->exchange, to->status) != 0) {
        web_end(to, TG_HTTP_STOPPED, 1);
        return 0;
    }

    return 1;
}

static void
web_body(web_t *to, tg_str_t line)
{
    HELP_BUFFER(text);
    size_t i;
    int rc;

    if (to->status == 0 && !web_head(to, TG_STR("200e"))) {
        return;
    }

    for (i = 0; i < line.len; i++) {
        if (line.data[i] == '$') {
            tg_buf_append_uint(&text, to->exchange->request);
        } else {
            tg_buf_append_char(
                &text, (char) (line.data[i] == '|' ? '\n' : line.data[i]));
        }
    }

    rc = text.len != 0 ? to->ops->body(to->exchange, text.data, text.len)
                       : TG_OK;

    if (rc != TG_OK && rc != TG_AGAIN) {
        web_end(to, TG_HTTP_STOPPED, 1);
    }
}

static void
web_line(tg_str_t line)
{
    tg_str_t rest;
    web_t *to;

    if (line.len < 2 || line.data[0] < 'a'
        || (size_t) (line.data[0] - 'a') >= nweb) {
        return;
    }

    to = web[line.data[0] - 'a'];
    rest = tg_str(line.data + 2, line.len - 2);

    switch (line.data[1]) {
    case 'h':
        (void) web_head(to, rest);
        break;
    case 'b':
        web_body(to, rest);
        break;
    case 'd':
        web_end(to, to->status != 0 ? TG_HTTP_OK : TG_HTTP_FAILED, 1);
        break;
    case 'f':
        web_end(to, TG_HTTP_FAILED, 1);
        break;
    case 'n':
        web_end(to, TG_HTTP_FAILED, to->status != 0);
        break;
    default:
        break;
    }
}

/* Runs the timers that are due. */
static void
web_time(void)
{
    tg_mcp_conn_t *mcp_conn;
    tg_mcp_server_t *server;
    uv_timer_t *timers[2];
    int i;

    web_now += 1000;
    server = world_server();

    if (server == NULL) {
        return;
    }

    TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
    {
        timers[0] = &mcp_conn->timer;
        timers[1] = &mcp_conn->streamable.timer;

        for (i = 0; i < (mcp_conn->streamable.is_open ? 2 : 1); i++) {
            if (uv_is_active((uv_handle_t *) timers[i])) {
                (void) __real_uv_timer_start(timers[i], timers[i]->timer_cb, 0,
                                             0);
            }
        }
    }
}

/* Fails every exchange after the end of the input. */
static void
web_iterate(void)
{
    while (web_is_ending && nweb != 0) {
        web_end(web[0], TG_HTTP_FAILED, 1);
    }
}

FUZZ_TARGET(in)
{
    tg_str_t line;

    web_now = 1000000;
    web_is_ending = 0;
    world_begin("\"url\":\"http://a/\",\"headers\":[\"X: y\"],"
                "\"secrets\":[\"Authorization: Bearer secret\"]",
                web_iterate);
    world_run();

    while (in.pos != in.end) {
        line = fuzz_until_newline(&in);

        if (line.len != 0 && line.data[0] == 'T') {
            web_time();
        } else if (!world_run_line(line)) {
            web_line(line);
        }

        world_run();
    }

    web_is_ending = 1;
    world_end();
    FUZZ(nweb == 0);
}
