/*
 * The limit: a raw echo.  One thread, epoll; finds where a frame ends,
 * copies its argument (and its id, or replies could not be told apart) into
 * a fixed reply, parses nothing, and writes once a readable event.
 *
 *   bench_echo SOCKET DIALECT|passed [PROCESSOR [DATA BYTES]]
 *
 * DATA (bench_data.h) has to be escaped in an answer: then that text is ready,
 * and what is copied is as long as what a tool writes.  Ends with its parent.
 */
#include "bench_data.h"
#include "bench_util.h"
#include "bench_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* What is read at once where no more is expected. */
#define ECHO_READ 65536
#define ECHO_EVENTS 512

typedef struct {
    char *data;
    size_t cap;
    size_t len;
} echo_buf_t;

typedef struct {
    int fd;
    echo_buf_t in;
    size_t scanned;
    echo_buf_t out;
    size_t sent;
    uint32_t events;
} echo_conn_t;

static const bench_wire_t *wire;
static size_t request_head, request_tail, reply_head, reply_tail;
static size_t request_id, reply_id;
/* Head and tail of a reply without an argument. */
static char fixed[512];
/* It answers Toolgate, not a client. */
static int is_passed;
static int epoll_fd;
/* With text NULL, what came is the answer. */
static bench_data_t argument, answer;

static void
echo_reserve(echo_buf_t *buf, size_t more)
{
    size_t cap;

    if (buf->cap - buf->len >= more) {
        return;
    }

    cap = buf->cap * 2 > buf->len + more ? buf->cap * 2 : buf->len + more;
    buf->data = realloc(buf->data, cap);
    buf->cap = cap;

    if (buf->data == NULL) {
        bench_die("no memory");
    }
}

static void
echo_close(echo_conn_t *conn)
{
    close(conn->fd);
    free(conn->in.data);
    free(conn->out.data);
    free(conn);
}

static void
echo_watch(echo_conn_t *conn, uint32_t events)
{
    struct epoll_event event;

    if (conn->events != events) {
        event.events = events;
        event.data.ptr = conn;
        epoll_ctl(epoll_fd, EPOLL_CTL_MOD, conn->fd, &event);
        conn->events = events;
    }
}

/* The length of the frame at the start of data; 0: it is not whole yet. */
static size_t
echo_frame(echo_conn_t *conn, const char *data, size_t len)
{
    const unsigned char *u;
    const char *newline;
    size_t size;

    if (wire->has_prefix) {
        if (len < 4) {
            return 0;
        }

        u = (const unsigned char *) data;
        size = 4
               + ((size_t) u[0] << 24 | (size_t) u[1] << 16 | (size_t) u[2] << 8
                  | (size_t) u[3]);

        return size <= len ? size : 0;
    }

    newline = memchr(data + conn->scanned, '\n', len - conn->scanned);
    conn->scanned = newline != NULL ? 0 : len;

    return newline != NULL ? (size_t) (newline - data) + 1 : 0;
}

static void
echo_reply(echo_conn_t *conn, const char *frame, size_t size)
{
    const char *text;
    size_t arg, total;
    char *dst;

    if (size < request_head + request_tail) {
        bench_die("a frame that is not of the bench");
    }

    text = frame + request_head;
    arg = size - request_head - request_tail;

    if (answer.text != NULL && arg != argument.len) {
        bench_die("an argument of another size");
    }

    if (answer.text != NULL) {
        memcpy(answer.text + answer.mark, text + argument.mark, BENCH_MARK);
        text = answer.text;
        arg = answer.len;
    }

    total = reply_head + arg + reply_tail;
    echo_reserve(&conn->out, total);
    dst = conn->out.data + conn->out.len;
    conn->out.len += total;

    memcpy(dst, fixed, reply_head);
    memcpy(dst + reply_head, text, arg);
    memcpy(dst + reply_head + arg, fixed + reply_head, reply_tail);

    if (wire->has_id) {
        memcpy(dst + reply_id, frame + request_id, BENCH_ID);
    }

    if (wire->has_prefix) {
        total -= 4;
        dst[0] = (char) (total >> 24);
        dst[1] = (char) (total >> 16);
        dst[2] = (char) (total >> 8);
        dst[3] = (char) total;
    }
}

/*
 * Of what Toolgate passes on: its ids have any length, and stand in a token
 * behind the argument, too.  Other messages have no id.
 */
static void
echo_passed(echo_conn_t *conn, const char *frame, size_t size)
{
    static const char token[] = "\"},\"_meta\":{\"progressToken\":}}}\n";
    size_t head, arg, digits;
    char *dst;

    if (size <= request_head || frame[request_id - 4] != 'i') {
        return;
    }

    digits = strspn(frame + request_id, "0123456789");
    head = request_head - BENCH_ID + digits;
    arg = size - head - digits - (sizeof(token) - 1);
    echo_reserve(&conn->out, reply_head + digits + arg + reply_tail);
    dst = conn->out.data + conn->out.len;

    memcpy(dst, fixed, reply_id);
    dst += reply_id;
    memcpy(dst, frame + request_id, digits);
    dst += digits;
    memcpy(dst, fixed + reply_id + BENCH_ID, reply_head - reply_id - BENCH_ID);
    dst += reply_head - reply_id - BENCH_ID;
    memcpy(dst, frame + head, arg);
    memcpy(dst + arg, fixed + reply_head, reply_tail);
    conn->out.len = (size_t) (dst + arg + reply_tail - conn->out.data);
}

/* 0: the connection is gone. */
static int
echo_write(echo_conn_t *conn)
{
    ssize_t n;

    n = send(conn->fd, conn->out.data + conn->sent, conn->out.len - conn->sent,
             MSG_NOSIGNAL);

    if (n == -1 && errno != EAGAIN) {
        return 0;
    }

    conn->sent += n == -1 ? 0 : (size_t) n;

    if (conn->sent < conn->out.len) {
        /* It reads its replies before it is read from again. */
        echo_watch(conn, EPOLLOUT);
        return 1;
    }

    conn->sent = 0;
    conn->out.len = 0;
    echo_watch(conn, EPOLLIN);

    return 1;
}

static int
echo_read(echo_conn_t *conn)
{
    size_t at, size;
    ssize_t n;

    echo_reserve(&conn->in, ECHO_READ);
    n = recv(conn->fd, conn->in.data + conn->in.len,
             conn->in.cap - conn->in.len, 0);

    if (n <= 0) {
        return n == -1 && errno == EAGAIN;
    }

    conn->in.len += (size_t) n;

    for (at = 0; at < conn->in.len; at += size) {
        size = echo_frame(conn, conn->in.data + at, conn->in.len - at);

        if (size == 0) {
            break;
        }

        if (is_passed) {
            echo_passed(conn, conn->in.data + at, size);
        } else {
            echo_reply(conn, conn->in.data + at, size);
        }
    }

    conn->in.len -= at;

    if (at != 0 && conn->in.len != 0) {
        memmove(conn->in.data, conn->in.data + at, conn->in.len);
    }

    return conn->out.len == 0 || echo_write(conn);
}

static void
echo_accept(int listener)
{
    struct epoll_event event;
    echo_conn_t *conn;
    int fd;

    fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd == -1) {
        return;
    }

    conn = bench_alloc(sizeof(*conn));
    conn->fd = fd;
    conn->events = EPOLLIN;
    event.events = EPOLLIN;
    event.data.ptr = conn;

    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == -1) {
        bench_die("epoll_ctl");
    }
}

static void
echo_serve(int listener)
{
    struct epoll_event events[ECHO_EVENTS];
    echo_conn_t *conn;
    int i, n, is_alive;

    for (;;) {
        n = epoll_wait(epoll_fd, events, ECHO_EVENTS, -1);

        for (i = 0; i < n; i++) {
            conn = events[i].data.ptr;

            if (conn == NULL) {
                echo_accept(listener);
                continue;
            }

            is_alive = events[i].events & EPOLLOUT ? echo_write(conn)
                                                   : echo_read(conn);

            if (!is_alive) {
                echo_close(conn);
            }
        }
    }
}

int
main(int argc, char **argv)
{
    struct epoll_event event;
    int listener;

    is_passed = argc >= 3 && strcmp(argv[2], "passed") == 0;
    wire = argc >= 3 ? bench_wire(is_passed ? "jsonrpc" : argv[2]) : NULL;

    if (wire == NULL) {
        bench_die("usage: bench_echo SOCKET ipc|jsonrpc|relay|passed "
                  "[PROCESSOR [DATA BYTES]]");
    }

    if (argc > 5) {
        bench_data(&argument, &answer, argv[4], (size_t) bench_number(argv[5]));
    }

    bench_end_with_parent();
    bench_raise_files();
    bench_pin(argc > 3 ? (int) bench_number(argv[3]) : -1);

    request_head = bench_request_head(wire);
    request_tail = bench_request_tail(wire);
    request_id = bench_request_id(wire);
    reply_head = bench_reply_head(wire);
    reply_tail = bench_reply_tail(wire);
    reply_id = bench_reply_id(wire);
    bench_put_reply(wire, fixed, 0);

    listener = bench_listen(argv[1]);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    event.events = EPOLLIN;
    event.data.ptr = NULL;

    if (epoll_fd == -1
        || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &event) == -1)
    {
        bench_die("epoll");
    }

    echo_serve(listener);
}
