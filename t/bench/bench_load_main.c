/*
 * The load generator: connections x depth x size in any dialect, each reply
 * compared byte for byte, what it cost the server and how long it took.
 *
 *   bench_load --socket PATH [--dialect NAME] [--connections N] [--depth N]
 *       [--size BYTES] [--data KIND] [--tool NAME] [--reply TEXT]
 *       [--ms N | --calls N]
 *       [--warm-ms N] [--stall-ms N] [--idle N] [--cpu PROCESSOR]
 *       [--pid PID]... [--windows]
 *
 * Each connection keeps `depth` calls in flight: it sends as many as replies
 * came, in one write.  After the warm-up the time, the CPU time of all
 * --pid and the latencies are measured.  --idle connections make one call
 * each before that and stay open.  --data is what the argument looks like
 * (bench_data.h); the tool makes a text of it.  --reply is what the tool
 * answers where that is not its argument; @PATH: the contents of this file.
 *
 * --windows: it says "ready" on stdout, then goes on until SIGTERM, however
 * long; each SIGUSR1 ends a window, and the longest latency in each of them
 * is what pause_… are about.
 *
 * One line of NAME=VALUE on stdout, times in ns; any wrong reply, and any
 * reply that does not come, ends it with 1 and a message.
 */
#include "bench_data.h"
#include "bench_load_option.h"
#include "bench_util.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOAD_EVENTS 512

typedef struct {
    int fd;
    uint32_t number;

    char *out; /* depth requests, ready but for their ids */
    size_t sent;
    size_t to_send;
    int is_stale; /* they are not there */

    char *in;
    size_t len;

    uint32_t next_id;  /* of the next request */
    uint32_t wanted;   /* the id of the next reply */
    uint64_t *started; /* of the calls in flight, by id modulo depth */
    unsigned inflight;
} load_conn_t;

static bench_data_t argument, answer;
static size_t request_size, reply_size, in_cap;
static char *expected; /* one reply, with room for mark and id */
static int epoll_fd;
static bench_histogram_t histogram;
static int is_measuring;
static uint64_t done, now;
static load_conn_t *conns;
static uint64_t idle_kb;

static volatile sig_atomic_t is_window_over, is_stopped;
static bench_histogram_t windows;
static uint64_t longest; /* in this window */

/* --- windows --- */

static void
load_signal(int sig)
{
    if (sig == SIGTERM) {
        is_stopped = 1;
    }

    is_window_over = 1;
}

static void
load_windows(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = load_signal;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    puts("ready");
    fflush(stdout);
}

/* A call that is under way counts where it ends. */
static void
load_window(void)
{
    if (is_window_over) {
        is_window_over = 0;
        bench_count(&windows, longest);
        longest = 0;
    }
}

/* --- one connection --- */

static void
load_mark(char *text, const bench_data_t *data, uint32_t number)
{
    if (data->len >= data->mark + BENCH_MARK) {
        bench_put_id(text + data->mark, number);
    }
}

static void
load_request(load_conn_t *conn, char *dst)
{
    char *arg;

    arg = dst + bench_request_head(load_option.wire);
    bench_put_request(load_option.wire, dst, load_option.size,
                      load_option.tool);
    memcpy(arg, argument.text, argument.len);
    load_mark(arg, &argument, conn->number);
}

static void
load_open(load_conn_t *conn, uint32_t number)
{
    conn->number = number;
    conn->fd = bench_connect(load_option.socket);
    bench_unblock(conn->fd);
    conn->out = bench_alloc(request_size * load_option.depth);
    conn->in = bench_alloc(in_cap);
    conn->started = bench_alloc(sizeof(*conn->started) * load_option.depth);
    conn->is_stale = 1;
}

static void
load_close(load_conn_t *conn)
{
    close(conn->fd);
    free(conn->out);
    free(conn->in);
    free(conn->started);
}

static void
load_write(load_conn_t *conn)
{
    ssize_t n;

    while (conn->sent < conn->to_send) {
        n = send(conn->fd, conn->out + conn->sent, conn->to_send - conn->sent,
                 MSG_NOSIGNAL);

        if (n == -1 && errno == EAGAIN) {
            return;
        }

        if (n == -1) {
            bench_die("the server closed connection %u", conn->number);
        }

        conn->sent += (size_t) n;
    }
}

/* The requests, written anew; what is left of others stays in front. */
static void
load_prepare(load_conn_t *conn, size_t left)
{
    unsigned i;

    if (left != 0) {
        memmove(conn->out, conn->out + conn->sent, left);
    }

    for (i = 0;
         left + request_size * (i + 1) <= request_size * load_option.depth; i++)
    {
        load_request(conn, conn->out + left + request_size * i);
    }

    conn->is_stale = left != 0;
}

/* Sends n more calls: so many are not in flight. */
static void
load_send(load_conn_t *conn, unsigned n)
{
    size_t left;
    unsigned i;

    left = conn->to_send - conn->sent;

    if (left != 0 || conn->is_stale) {
        load_prepare(conn, left);
    }

    conn->sent = 0;
    conn->to_send = left;

    for (i = 0; i < n; i++) {
        if (load_option.wire->has_id) {
            bench_put_id(conn->out + conn->to_send
                             + bench_request_id(load_option.wire),
                         conn->next_id);
        }

        conn->started[conn->next_id % load_option.depth] = now;
        conn->next_id++;
        conn->inflight++;
        conn->to_send += request_size;
    }

    load_write(conn);
}

/* Is this the next reply, or its first len bytes? */
static void
load_check(load_conn_t *conn, const char *reply, size_t len)
{
    const bench_wire_t *wire;
    size_t at;

    wire = load_option.wire;

    if (wire->has_id) {
        bench_put_id(expected + bench_reply_id(wire), conn->wanted);
    }

    if (load_option.reply == NULL) {
        load_mark(expected + bench_reply_head(wire), &answer, conn->number);
    }

    if (memcmp(reply, expected, reply_size) == 0) {
        return;
    }

    for (at = 0; reply[at] == expected[at]; at++) {
    }

    at = at > 40 ? at - 40 : 0;
    errno = 0;
    bench_die(
        "a wrong reply; from byte %zu\n  got      %.80s\n  expected %.80s", at,
        reply + at, expected + at);
}

static void
load_measure(uint64_t ns)
{
    bench_count(&histogram, ns);

    if (ns > longest) {
        longest = ns;
    }
}

/*
 * The length of a relay's notification at the start of data, or 0: clients
 * of that dialect are told of another catalogue unasked.
 */
static size_t
load_notification(const char *data, size_t len)
{
    static const char start[] = "{\"kind\":\"mcp_notification\",";
    const char *newline;

    if (len < sizeof(start) || memcmp(data, start, sizeof(start) - 1) != 0) {
        return 0;
    }

    newline = memchr(data, '\n', len);

    return newline != NULL ? (size_t) (newline - data) + 1 : 0;
}

/* Checks what whole replies came; how many. */
static unsigned
load_replies(load_conn_t *conn)
{
    size_t at, told;
    unsigned n;

    n = 0;

    for (at = 0; conn->len - at >= reply_size; at += reply_size) {
        while ((told = load_notification(conn->in + at, conn->len - at)) != 0) {
            at += told;
        }

        if (conn->len - at < reply_size) {
            break;
        }

        if (conn->inflight == 0) {
            errno = 0;
            bench_die("a reply that nobody asked for");
        }

        load_check(conn, conn->in + at, reply_size);

        if (is_measuring) {
            load_measure(now - conn->started[conn->wanted % load_option.depth]);
        }

        conn->wanted++;
        conn->inflight--;
        n++;
    }

    conn->len -= at;

    if (at != 0 && conn->len != 0) {
        memmove(conn->in, conn->in + at, conn->len);
    }

    return n;
}

/* Reads once; how many replies came. */
static unsigned
load_read(load_conn_t *conn)
{
    ssize_t n;

    n = recv(conn->fd, conn->in + conn->len, in_cap - conn->len, 0);

    if (n == -1 && errno == EAGAIN) {
        return 0;
    }

    if (n <= 0) {
        errno = n == 0 ? 0 : errno;
        bench_die("the server closed connection %u", conn->number);
    }

    conn->len += (size_t) n;
    now = bench_now();

    return load_replies(conn);
}

/* --- all of them --- */

static void
load_event(load_conn_t *conn, uint32_t events)
{
    unsigned n;

    if (events & EPOLLOUT) {
        load_write(conn);
    }

    n = load_read(conn);
    done += n;

    if (n != 0) {
        load_send(conn, n);
    }
}

/* A reply that is too short stays for ever the beginning of another. */
static void
load_stalled(void)
{
    unsigned i;

    for (i = 0; i < load_option.connections; i++) {
        load_check(&conns[i], conns[i].in, conns[i].len);
    }

    errno = 0;
    bench_die("no reply for %" PRIu64 " ms", load_option.stall_ms);
}

/* Until so many calls or, when that is 0, that time have passed. */
static void
load_run(uint64_t calls, uint64_t until)
{
    struct epoll_event events[LOAD_EVENTS];
    int i, n;

    done = 0;

    while (!is_stopped && (calls != 0 ? done < calls : now < until)) {
        n = epoll_wait(epoll_fd, events, LOAD_EVENTS,
                       (int) load_option.stall_ms);

        if (n == 0) {
            load_stalled();
        }

        for (i = 0; i < n; i++) {
            load_event(events[i].data.ptr, events[i].events);
        }

        now = bench_now();
        load_window();
    }
}

/* One call each, then silence. */
static void
load_idle(void)
{
    struct epoll_event none[1];
    load_conn_t conn;
    unsigned i;

    for (i = 0; i < load_option.idle; i++) {
        memset(&conn, 0, sizeof(conn));
        load_open(&conn, i);
        now = bench_now();
        load_send(&conn, 1);

        while (load_read(&conn) == 0) {
            /* Its turn to run. */
            (void) epoll_wait(epoll_fd, none, 1, 0);
            load_write(&conn);
        }

        /* The descriptor stays open to the end. */
        free(conn.out);
        free(conn.in);
        free(conn.started);
    }
}

static uint64_t
load_rss(void)
{
    uint64_t kb;
    unsigned i;

    kb = 0;

    for (i = 0; i < load_option.npids; i++) {
        kb += bench_rss_of(load_option.pids[i]);
    }

    return kb;
}

static uint64_t
load_cpu(void)
{
    uint64_t ns;
    unsigned i;

    ns = 0;

    for (i = 0; i < load_option.npids; i++) {
        ns += bench_cpu_of(load_option.pids[i]);
    }

    return ns;
}

static void
load_report(uint64_t took, uint64_t cpu)
{
    double calls;

    calls = done != 0 ? (double) done : 1;
    printf("idle_bytes=%.0f ",
           load_option.idle != 0
               ? (double) (idle_kb * 1024) / (double) load_option.idle
               : 0.0);
    printf("calls=%" PRIu64 " ns=%" PRIu64 " per_second=%.0f cpu=%.1f"
           " p50=%" PRIu64 " p90=%" PRIu64 " p99=%" PRIu64 " p999=%" PRIu64
           " max=%" PRIu64 "%c",
           done, took, calls * 1e9 / (double) took, (double) cpu / calls,
           bench_percentile(&histogram, 0.5), bench_percentile(&histogram, 0.9),
           bench_percentile(&histogram, 0.99),
           bench_percentile(&histogram, 0.999), histogram.largest,
           load_option.has_windows ? ' ' : '\n');

    if (load_option.has_windows) {
        printf("windows=%" PRIu64 " pause_p50=%" PRIu64 " pause_max=%" PRIu64
               "\n",
               windows.count, bench_percentile(&windows, 0.5), windows.largest);
    }
}

static void
load_all(void)
{
    struct epoll_event event;
    uint64_t start, cpu;
    unsigned i;

    idle_kb = load_rss();
    load_idle();
    idle_kb = load_rss() - idle_kb;
    conns = bench_alloc(sizeof(*conns) * load_option.connections);

    for (i = 0; i < load_option.connections; i++) {
        load_open(&conns[i], i);
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        event.data.ptr = &conns[i];

        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, conns[i].fd, &event) == -1) {
            bench_die("epoll_ctl");
        }
    }

    now = bench_now();

    for (i = 0; i < load_option.connections; i++) {
        load_send(&conns[i], load_option.depth);
    }

    load_run(0, now + load_option.warm_ms * 1000000);

    if (load_option.has_windows) {
        load_windows();
    }

    is_measuring = 1;
    cpu = load_cpu();
    start = now = bench_now();
    load_run(load_option.calls, start + load_option.ms * 1000000);
    load_report(bench_now() - start, load_cpu() - cpu);

    for (i = 0; i < load_option.connections; i++) {
        load_close(&conns[i]);
    }

    free(conns);
}

int
main(int argc, char **argv)
{
    load_options(argc, argv);
    bench_end_with_parent();
    bench_raise_files();
    bench_pin(load_option.cpu);

    bench_data(&argument, &answer, load_option.data, load_option.size);

    if (load_option.reply != NULL) {
        /* A text is its own answer. */
        if (answer.text != argument.text) {
            free(answer.text);
        }

        load_option.reply = bench_read_text(load_option.reply);
        answer = (bench_data_t){ (char *) (uintptr_t) load_option.reply,
                                 strlen(load_option.reply), 0 };
    }

    request_size = bench_request_head(load_option.wire) + load_option.size
                   + bench_request_tail(load_option.wire);
    reply_size = bench_reply_head(load_option.wire) + answer.len
                 + bench_reply_tail(load_option.wire);
    in_cap = reply_size * load_option.depth + 4096;

    expected = bench_alloc(reply_size + 1);
    bench_put_reply(load_option.wire, expected, answer.len);
    memcpy(expected + bench_reply_head(load_option.wire), answer.text,
           answer.len);

    epoll_fd = epoll_create1(EPOLL_CLOEXEC);

    if (epoll_fd == -1) {
        bench_die("epoll_create1");
    }

    load_all();

    return 0;
}
