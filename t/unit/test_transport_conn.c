/* The transport, between two connections or against a bare descriptor. */
#include "transport_host.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEST_LIMIT 65536

typedef struct {
    tg_uv_conn_t conn;
    tg_buf_t out;
    tg_buf_t got;
    size_t written;
    int err; /* argument of closed */
    int connect_err;
    int is_connected;
    int is_eof;
    int is_closed;
    int is_echo;      /* send back the input, but pause beyond TEST_LIMIT */
    int is_greeting;  /* send "hello" when connected */
    int stays_on_eof; /* finish only after a last message */
    int result;       /* result of input, unless is_echo */
    size_t message;   /* bytes after which input checks its slice; or 0 */
    size_t steps;     /* that each message takes */
    unsigned nserved; /* messages since the last check */
} test_end_t;

static void
test_on_connected(void *host, int err)
{
    test_end_t *end = host;

    end->is_connected = 1;
    end->connect_err = err;

    if (end->is_greeting) {
        tg_buf_append_cstr(&end->out, "hello");
    }
}

/* Handles messages until the slice is over. */
static int
test_serve(test_end_t *end, const char *data, size_t len, size_t *consumed)
{
    while (len - *consumed >= end->message) {
        tg_buf_append(&end->got, data + *consumed, end->message);
        *consumed += end->message;
        end->nserved++;

        if (tg_uv_conn_is_slice_over(&end->conn, end->steps)) {
            return TG_AGAIN;
        }
    }

    return TG_OK;
}

static int
test_on_input(void *host, const char *data, size_t len, size_t *consumed)
{
    test_end_t *end;
    size_t n;

    end = host;

    if (end->message != 0) {
        return test_serve(end, data, len, consumed);
    }

    if (!end->is_echo) {
        tg_buf_append(&end->got, data, len);
        *consumed = len;
        return end->result;
    }

    /* Odd portions, so that bytes are left. */
    while (*consumed < len) {
        if (end->out.len > TEST_LIMIT) {
            return TG_LIMIT;
        }

        n = len - *consumed < 4093 ? len - *consumed : 4093;
        tg_buf_append(&end->out, data + *consumed, n);
        *consumed += n;
    }

    return TG_OK;
}

static void
test_on_eof(void *host)
{
    test_end_t *end = host;

    end->is_eof = 1;

    if (end->stays_on_eof) {
        tg_buf_append_cstr(&end->out, "last word");
    }

    tg_uv_conn_close_after_flush(&end->conn);
}

static void
test_on_written(void *host, size_t len)
{
    test_end_t *end = host;

    end->written += len;
    tg_buf_consume(&end->out, len);
}

static void
test_on_closed(void *host, int err)
{
    test_end_t *end = host;

    end->err = err;
    end->is_closed = 1;
}

static const tg_uv_conn_ops_t test_ops = {
    .connected = test_on_connected,
    .input = test_on_input,
    .closed = test_on_closed,
};
static const tg_uv_conn_ops_t test_eof_ops = {
    .connected = test_on_connected,
    .input = test_on_input,
    .eof = test_on_eof,
    .closed = test_on_closed,
};
static const tg_uv_conn_ops_t test_count_ops = {
    .connected = test_on_connected,
    .input = test_on_input,
    .written = test_on_written,
    .closed = test_on_closed,
};

static void
test_end_init(test_end_t *end, const tg_uv_conn_ops_t *ops)
{
    memset(end, 0, sizeof(*end));
    tg_buf_init(&end->out, tg_alloc_libc());
    tg_buf_init(&end->got, tg_alloc_libc());
    tg_uv_conn_init(&end->conn, &host_sched, ops, end, &end->out);
}

static void
test_end_deinit(test_end_t *end)
{
    tg_buf_deinit(&end->out);
    tg_buf_deinit(&end->got);
}

static void
test_text(tg_buf_t *buf, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        tg_buf_append_char(buf, (char) ('a' + i % 23));
    }
}

static int
test_is_text(const tg_buf_t *buf, size_t len)
{
    size_t i;

    if (buf->len != len) {
        return 0;
    }

    for (i = 0; i < len; i++) {
        if (buf->data[i] != (char) ('a' + i % 23)) {
            return 0;
        }
    }

    return 1;
}

/* Creates a connection on one half of a pair; returns the other half. */
static int
test_pair(test_end_t *end, const tg_uv_conn_ops_t *ops)
{
    int fds[2];

    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)
                    == 0);
    test_end_init(end, ops);
    CU_ASSERT_FATAL(tg_uv_conn_open_fds(&end->conn, fds[0], fds[0]) == 0);

    return fds[1];
}

static uv_pipe_t test_server;
static test_end_t *test_accepting;

static void
test_on_connection(uv_stream_t *server, int status)
{
    CU_ASSERT(status == 0);
    CU_ASSERT(tg_uv_conn_accept(&test_accepting->conn, server) == 0);
}

static void
test_listen(test_end_t *end)
{
    test_accepting = end;
    (void) unlink(help_path("s"));
    uv_pipe_init(&host_loop, &test_server, 0);
    CU_ASSERT_FATAL(uv_pipe_bind(&test_server, help_path("s")) == 0);
    CU_ASSERT_FATAL(
        uv_listen((uv_stream_t *) &test_server, 8, test_on_connection) == 0);
}

static void
test_unlisten(void)
{
    uv_close((uv_handle_t *) &test_server, NULL);
    uv_run(&host_loop, UV_RUN_NOWAIT);
}

HELP_TEST(connect_missing, "connect: missing")
{
    test_end_t end;

    (void) unlink(help_path("s"));
    test_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_connect_unix(&end.conn, help_path("s")) == 0);
    CU_ASSERT(!end.is_connected);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.is_connected);
    CU_ASSERT(end.connect_err == UV_ENOENT);
    CU_ASSERT(end.err == UV_ENOENT);
    test_end_deinit(&end);
}

HELP_TEST(connect_long_path, "connect: long path")
{
    test_end_t end;
    char path[200];

    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    test_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_connect_unix(&end.conn, path) == UV_ENAMETOOLONG);
    CU_ASSERT(!end.is_closed);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(!end.is_connected);
    test_end_deinit(&end);
}

HELP_TEST(close_while_connecting, "connect: closed meanwhile")
{
    test_end_t server, client;

    test_end_init(&server, &test_ops);
    test_listen(&server);
    test_end_init(&client, &test_ops);
    CU_ASSERT(tg_uv_conn_connect_unix(&client.conn, help_path("s")) == 0);
    tg_uv_conn_close(&client.conn);
    tg_uv_conn_close(&client.conn);
    CU_ASSERT(host_until(&client.is_closed));
    CU_ASSERT(!client.is_connected);
    CU_ASSERT(host_until(&server.is_closed));
    test_unlisten();
    test_end_deinit(&server);
    test_end_deinit(&client);
}

HELP_TEST(echo, "an echo of 8 MiB, much more than both sockets hold")
{
    test_end_t server, client;
    size_t size;
    pid_t pid;
    uid_t uid;

    size = 8 << 20;
    test_end_init(&server, &test_ops);
    server.is_echo = 1;
    test_listen(&server);
    test_end_init(&client, &test_ops);
    test_text(&client.out, size);
    CU_ASSERT(tg_uv_conn_connect_unix(&client.conn, help_path("s")) == 0);

    while (client.got.len < size && !client.is_closed) {
        uv_run(&host_loop, UV_RUN_ONCE);
    }

    CU_ASSERT(test_is_text(&client.got, size));
    CU_ASSERT(tg_uv_conn_get_peer_cred(&server.conn, &pid, &uid) == 0);
    CU_ASSERT(pid == getpid());
    CU_ASSERT(uid == getuid());
    CU_ASSERT(tg_uv_conn_get_backlog(&client.conn) == 0);

    tg_uv_conn_close(&client.conn);
    CU_ASSERT(host_until(&server.is_closed));
    CU_ASSERT(host_until(&client.is_closed));
    CU_ASSERT(server.err == 0);
    test_unlisten();
    test_end_deinit(&server);
    test_end_deinit(&client);
}

HELP_TEST(backpressure, "a peer that does not read: the queue stays bounded")
{
    test_end_t end;
    char chunk[4096];
    size_t sent;
    ssize_t n;
    int fd, tries;

    fd = test_pair(&end, &test_ops);
    end.is_echo = 1;
    memset(chunk, 'x', sizeof(chunk));
    CU_ASSERT_FATAL(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    sent = 0;

    /* Until no more is accepted although the loop had every chance. */
    for (tries = 0; tries < 100 && sent < (64u << 20); /* void */) {
        n = write(fd, chunk, sizeof(chunk));
        sent += n > 0 ? (size_t) n : 0;
        tries = n > 0 ? 0 : tries + 1;
        uv_run(&host_loop, UV_RUN_NOWAIT);
    }

    CU_ASSERT(tries == 100);
    CU_ASSERT(end.conn.is_paused);
    CU_ASSERT(tg_uv_conn_get_backlog(&end.conn) < 4 * TEST_LIMIT);

    while (sent > 0 && !end.is_closed) {
        uv_run(&host_loop, UV_RUN_NOWAIT);
        n = read(fd, chunk, sizeof(chunk));
        sent -= n > 0 ? (size_t) n : 0;
    }

    CU_ASSERT(sent == 0);
    CU_ASSERT(!end.conn.is_paused);
    close(fd);
    CU_ASSERT(host_until(&end.is_closed));
    test_end_deinit(&end);
}

HELP_TEST(finish_flushes, "finish flushes")
{
    test_end_t server, client;
    size_t size;

    size = 4 << 20;
    test_end_init(&server, &test_ops);
    test_listen(&server);
    test_end_init(&client, &test_ops);
    client.is_greeting = 1;
    CU_ASSERT(tg_uv_conn_connect_unix(&client.conn, help_path("s")) == 0);

    while (server.got.len < 5 && !server.is_closed) {
        uv_run(&host_loop, UV_RUN_ONCE);
    }

    test_text(&server.out, size);
    tg_uv_conn_close_after_flush(&server.conn);
    tg_uv_conn_close_after_flush(&server.conn);
    CU_ASSERT(!server.is_closed);
    CU_ASSERT(host_until(&client.is_closed));
    CU_ASSERT(test_is_text(&client.got, size));
    CU_ASSERT(host_until(&server.is_closed));
    CU_ASSERT(server.err == 0);
    test_unlisten();
    test_end_deinit(&server);
    test_end_deinit(&client);
}

HELP_TEST(half_close, "half-close")
{
    test_end_t end;
    char text[32];
    ssize_t n;
    int fd;

    fd = test_pair(&end, &test_eof_ops);
    end.stays_on_eof = 1;
    CU_ASSERT(write(fd, "x", 1) == 1);
    CU_ASSERT(shutdown(fd, SHUT_WR) == 0);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.is_eof);
    CU_ASSERT(end.got.len == 1);
    n = read(fd, text, sizeof(text));
    CU_ASSERT(n == 9 && memcmp(text, "last word", 9) == 0);
    CU_ASSERT(read(fd, text, sizeof(text)) == 0);
    close(fd);
    test_end_deinit(&end);
}

HELP_TEST(results_of_input, "results of input")
{
    test_end_t end;
    char text[8];
    int fd;

    fd = test_pair(&end, &test_ops);
    end.result = TG_CLOSED;
    tg_buf_append_cstr(&end.out, "bye");
    CU_ASSERT(write(fd, "x", 1) == 1);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.err == 0);
    CU_ASSERT(read(fd, text, sizeof(text)) == 3);
    close(fd);
    test_end_deinit(&end);

    fd = test_pair(&end, &test_ops);
    end.result = TG_NOMEM;
    CU_ASSERT(write(fd, "x", 1) == 1);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.err == UV_ENOMEM);
    close(fd);
    test_end_deinit(&end);
}

HELP_TEST(failed_out, "an incomplete output must never be sent")
{
    test_end_t end;
    char text[8];
    int fd;

    fd = test_pair(&end, &test_ops);
    tg_buf_append_cstr(&end.out, "half of");
    end.out.failed = 1;
    tg_uv_conn_flush(&end.conn);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.err == UV_ENOMEM);
    CU_ASSERT(read(fd, text, sizeof(text)) == 0);
    close(fd);
    test_end_deinit(&end);
}

/* A host that counts output drops each byte once, small and large. */
HELP_TEST(written, "counting of output")
{
    test_end_t end;
    HELP_BUFFER(got);
    size_t size;
    ssize_t n;
    int fd;

    size = 3 << 20;
    fd = test_pair(&end, &test_count_ops);
    CU_ASSERT_FATAL(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    test_text(&end.out, size);
    tg_uv_conn_flush(&end.conn);
    CU_ASSERT(end.out.len == 0);
    CU_ASSERT(end.written == size);
    CU_ASSERT(tg_uv_conn_get_backlog(&end.conn) > 0);

    while (got.len < size && !end.is_closed) {
        uv_run(&host_loop, UV_RUN_NOWAIT);
        CU_ASSERT_FATAL(tg_buf_reserve(&got, 65536) == TG_OK);
        n = read(fd, got.data + got.len, 65536);
        got.len += n > 0 ? (size_t) n : 0;
    }

    CU_ASSERT(test_is_text(&got, size));
    close(fd);
    CU_ASSERT(host_until(&end.is_closed));
    test_end_deinit(&end);
}

HELP_TEST(broken, "data sent before the peer closed is still read")
{
    test_end_t end;
    int fd;

    fd = test_pair(&end, &test_count_ops);
    CU_ASSERT(write(fd, "farewell", 8) == 8);
    close(fd);
    tg_buf_append_cstr(&end.out, "too late");
    tg_uv_conn_flush(&end.conn);
    CU_ASSERT(end.written == 0);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.err == UV_EPIPE);
    CU_ASSERT(end.got.len == 8);
    test_end_deinit(&end);

    /* A peer that only stopped reading must not block the close. */
    fd = test_pair(&end, &test_count_ops);
    CU_ASSERT(shutdown(fd, SHUT_RD) == 0);
    tg_buf_append_cstr(&end.out, "unheard");
    tg_uv_conn_flush(&end.conn);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.err == UV_EPIPE);
    close(fd);
    test_end_deinit(&end);
}

/*
 * Two connections flood the loop: each iteration serves one slice of one of
 * them besides new input, nothing is lost, and a third connection is served in
 * the iteration in which its message arrives.
 */
HELP_TEST(slices, "floods are served in slices")
{
    test_end_t floods[2], light;
    int fds[2], fd, i, n;
    HELP_BUFFER(text);

    test_text(&text, 100000);

    for (i = 0; i < 2; i++) {
        fds[i] = test_pair(&floods[i], &test_ops);
        floods[i].message = 1000;
        floods[i].steps = TG_SCHED_SLICE_STEPS / 2;
        CU_ASSERT_FATAL(write(fds[i], text.data, text.len)
                        == (ssize_t) text.len);
    }

    fd = test_pair(&light, &test_ops);
    uv_run(&host_loop, UV_RUN_NOWAIT);

    for (n = 0; n < 10; n++) {
        CU_ASSERT(write(fd, "x", 1) == 1);
        floods[0].nserved = 0;
        floods[1].nserved = 0;
        uv_run(&host_loop, UV_RUN_NOWAIT);
        CU_ASSERT(light.got.len == (size_t) n + 1);
        CU_ASSERT(floods[0].nserved + floods[1].nserved == 2);
    }

    for (i = 0; i < 2; i++) {
        CU_ASSERT(shutdown(fds[i], SHUT_WR) == 0);
        CU_ASSERT(host_until(&floods[i].is_closed));
        CU_ASSERT(test_is_text(&floods[i].got, text.len));
        close(fds[i]);
        test_end_deinit(&floods[i]);
    }

    tg_uv_conn_close(&light.conn);
    CU_ASSERT(host_until(&light.is_closed));
    close(fd);
    test_end_deinit(&light);
}

HELP_TEST(slice_closed, "a connection that waits for its slice can be closed")
{
    test_end_t end;
    HELP_BUFFER(text);
    int fd;

    fd = test_pair(&end, &test_ops);
    end.message = 1;
    end.steps = TG_SCHED_SLICE_STEPS;
    test_text(&text, 1000);
    CU_ASSERT(write(fd, text.data, text.len) == (ssize_t) text.len);
    uv_run(&host_loop, UV_RUN_NOWAIT);
    CU_ASSERT(end.nserved == 1);
    CU_ASSERT(end.conn.source.is_queued);
    tg_uv_conn_close(&end.conn);
    CU_ASSERT(!end.conn.source.is_queued);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.nserved == 1);
    close(fd);
    test_end_deinit(&end);
}
