/* An HTTP server in the test's loop, which sends its next reply each time. */
#ifndef RUNNER_SERVER_H
#define RUNNER_SERVER_H

#include "runner_host.h"

#define SERVER_CLIENTS 64

typedef struct {
    uv_tcp_t tcp;
    tg_buf_t in;
    int is_open;
} server_client_t;

typedef struct {
    uv_tcp_t listener;
    int port;
    server_client_t clients[SERVER_CLIENTS];
    int nclients;
    int nopen;
    int nrequests;
    tg_buf_t request;           /* the last request */
    const char *const *replies; /* the last one is repeated */
    const char *sent; /* the rest of a reply that the test sends in parts */
} server_t;

static server_t server;

/* Pseudo-replies: close the connection, or send nothing. */
#define SERVER_CLOSE "close"
#define SERVER_SILENT "silent"

static inline void
server_on_closed(uv_handle_t *handle)
{
    server_client_t *client;

    client = handle->data;
    tg_buf_deinit(&client->in);
    server.nopen--;
}

static inline void
server_close(server_client_t *client)
{
    if (client->is_open) {
        client->is_open = 0;
        uv_close((uv_handle_t *) &client->tcp, server_on_closed);
    }
}

static inline void
server_on_written(uv_write_t *write, int status)
{
    free(write);
}

static inline void
server_write(server_client_t *client, const char *data, size_t len)
{
    uv_write_t *write;
    uv_buf_t buf;

    write = malloc(sizeof(*write) + len);
    CU_ASSERT_FATAL(write != NULL);
    buf = uv_buf_init((char *) (write + 1), (unsigned) len);
    memcpy(buf.base, data, len);
    CU_ASSERT(uv_write(write, (uv_stream_t *) &client->tcp, &buf, 1,
                       server_on_written)
              == 0);
}

/* Sends a reply, which ends in "\r\n\r\n" and a body, or without the body. */
static inline void
server_reply(server_client_t *client)
{
    const char *reply;

    server.nrequests++;
    reply = *server.replies;

    if (server.replies[1] != NULL) {
        server.replies++;
    }

    if (strcmp(reply, SERVER_CLOSE) == 0) {
        server_close(client);
    } else if (strcmp(reply, SERVER_SILENT) != 0) {
        server_write(client, reply, strlen(reply));

        if (strstr(reply, "Connection: close") != NULL) {
            server_close(client);
        }
    }
}

/* Returns the length of the request at the start of a text, or 0. */
static inline size_t
server_request_len(tg_str_t text)
{
    const char *end, *length;
    size_t len;

    end = memmem(text.data, text.len, "\r\n\r\n", 4);

    if (end == NULL) {
        return 0;
    }

    len = (size_t) (end - text.data) + 4;
    length = memmem(text.data, len, "Content-Length: ", 16);
    len += length != NULL ? (size_t) atoi(length + 16) : 0;

    return len <= text.len ? len : 0;
}

static inline void
server_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    static char chunk[65536];

    *buf = uv_buf_init(chunk, sizeof(chunk));
}

static inline void
server_on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    server_client_t *client;
    size_t len;

    client = stream->data;

    if (n < 0) {
        server_close(client);
        return;
    }

    tg_buf_append(&client->in, buf->base, (size_t) n);
    len = server_request_len(tg_buf_view(&client->in));

    if (len != 0) {
        tg_buf_truncate(&server.request, 0);
        tg_buf_append(&server.request, client->in.data, len);
        tg_buf_consume(&client->in, len);
        server_reply(client);
    }
}

static inline void
server_on_connection(uv_stream_t *listener, int status)
{
    server_client_t *client;

    CU_ASSERT_FATAL(status == 0 && server.nclients < SERVER_CLIENTS);
    client = &server.clients[server.nclients++];
    uv_tcp_init(&host.loop, &client->tcp);
    client->tcp.data = client;
    client->is_open = 1;
    server.nopen++;
    tg_buf_init(&client->in, tg_alloc_libc());
    CU_ASSERT(uv_accept(listener, (uv_stream_t *) &client->tcp) == 0);
    CU_ASSERT(uv_read_start((uv_stream_t *) &client->tcp, server_on_alloc,
                            server_on_read)
              == 0);
}

static inline void
server_start(const char *const *replies)
{
    struct sockaddr_in address;
    int len;

    memset(&server, 0, sizeof(server));
    server.replies = replies;
    tg_buf_init(&server.request, tg_alloc_libc());
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(&host.loop, &server.listener);
    CU_ASSERT_FATAL(
        uv_tcp_bind(&server.listener, (const struct sockaddr *) &address, 0)
        == 0);
    CU_ASSERT_FATAL(
        uv_listen((uv_stream_t *) &server.listener, 16, server_on_connection)
        == 0);
    len = sizeof(address);
    uv_tcp_getsockname(&server.listener, (struct sockaddr *) &address, &len);
    server.port = ntohs(address.sin_port);
}

static inline int
server_has_no_clients(void *ctx)
{
    return server.nopen == 0;
}

/* Its clients may still be open: libcurl keeps connections. */
static inline void
server_stop(void)
{
    int i;

    for (i = 0; i < server.nclients; i++) {
        server_close(&server.clients[i]);
    }

    uv_close((uv_handle_t *) &server.listener, NULL);
    CU_ASSERT(host_until(server_has_no_clients, NULL));
    CU_ASSERT(host_until(host_no_exec, NULL));
    tg_buf_deinit(&server.request);
}

static inline int
server_got(const char *text)
{
    return memmem(server.request.data, server.request.len, text, strlen(text))
           != NULL;
}

static inline int
server_has_requests(void *ctx)
{
    return server.nrequests >= *(int *) ctx;
}

/*
 * Returns the params of a GET of a path at this host and the server's port,
 * with the host on the list; `more` has further members, %d in it is the port.
 */
static inline const char *
server_params(const char *at, const char *path, const char *more)
{
    static char text[8192];
    int n;

    n = snprintf(text, sizeof(text),
                 "{\"tool\":\"t\",\"method\":\"GET\",\"url\":\"http://%s:%d%s\""
                 ",\"hosts\":[\"127.0.0.1:*\"]%s}",
                 at, server.port, path, more);
    CU_ASSERT_FATAL(n > 0 && (size_t) n < sizeof(text));

    return text;
}

static inline int
server_call(const char *path, const char *more)
{
    (void) host_request("http", server_params("127.0.0.1", path, more));

    return host_recv();
}

#define SERVER_OK(body_len)                                                    \
    "HTTP/1.1 200 OK\r\nContent-Length: " body_len "\r\n"

#endif
