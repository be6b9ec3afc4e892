/*
 * An agent: talks MCP to a program over its standard input and output, as
 * agents start their servers.
 *
 *   bench_agent [--starts N] [--calls N] [--size BYTES] [--cpu PROCESSOR]
 *       COMMAND [ARG ...]
 *
 * Starts the program N times and measures from before the start to its
 * answer to `initialize`; then makes calls of the tool `echo` in the last one
 * and measures the round trip.  One line of NAME=VALUE, times in ns, memory
 * in KiB.  The program runs on the same processor as the agent.
 *
 *   bench_agent --answer
 *
 * is a program that does nothing else but answer: what starting any costs.
 */
#include "bench_util.h"
#include "bench_wire.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Until a program that does not answer is given up. */
#define AGENT_WAIT_MS 30000

#define AGENT_HELLO                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"                  \
    "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n"
#define AGENT_READY                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"

extern char **environ;

typedef struct {
    pid_t pid;
    int in;  /* what the program says */
    int out; /* what it is told */
} agent_t;

static char line[1 << 21];

static void
agent_spawn(agent_t *agent, char **command)
{
    posix_spawn_file_actions_t actions;
    int to[2], from[2], rc;

    if (pipe(to) == -1 || pipe(from) == -1) {
        bench_die("pipe");
    }

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    posix_spawn_file_actions_addclose(&actions, to[1]);
    posix_spawn_file_actions_addclose(&actions, from[0]);
    posix_spawn_file_actions_addclose(&actions, to[0]);
    posix_spawn_file_actions_addclose(&actions, from[1]);
    rc = posix_spawn(&agent->pid, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);

    if (rc != 0) {
        errno = rc;
        bench_die("cannot start %s", command[0]);
    }

    close(to[0]);
    close(from[1]);
    agent->out = to[1];
    agent->in = from[0];
}

static void
agent_say(const agent_t *agent, const char *text, size_t len)
{
    if (write(agent->out, text, len) != (ssize_t) len) {
        bench_die("the program does not read");
    }
}

/* One line into `line`; its length. */
static size_t
agent_hear(const agent_t *agent)
{
    struct pollfd pfd;
    size_t len;
    ssize_t n;

    len = 0;
    pfd.fd = agent->in;
    pfd.events = POLLIN;

    do {
        if (poll(&pfd, 1, AGENT_WAIT_MS) != 1) {
            bench_die("the program does not answer");
        }

        n = read(agent->in, line + len, sizeof(line) - 1 - len);

        if (n <= 0) {
            bench_die("the program ended");
        }

        len += (size_t) n;
        line[len] = '\0';
    } while (line[len - 1] != '\n');

    return len;
}

static void
agent_end(const agent_t *agent)
{
    int status;

    close(agent->out);

    if (waitpid(agent->pid, &status, 0) == -1 || status != 0) {
        bench_die("the program ended with status %d", status);
    }

    close(agent->in);
}

static void
agent_start(agent_t *agent, char **command, bench_histogram_t *histogram)
{
    uint64_t start;

    start = bench_now();
    agent_spawn(agent, command);
    agent_say(agent, AGENT_HELLO, sizeof(AGENT_HELLO) - 1);
    (void) agent_hear(agent);
    bench_count(histogram, bench_now() - start);

    if (strstr(line, "\"result\"") == NULL) {
        errno = 0;
        bench_die("not initialized: %s", line);
    }
}

/* A call's reply has its id and its text, whatever else is in it. */
static void
agent_check(const char *request)
{
    const bench_wire_t *wire;
    const char *id, *arg;

    wire = bench_wire("jsonrpc");
    id = request + bench_request_id(wire);
    arg = request + bench_request_head(wire);

    if (memmem(line, strlen(line), id, BENCH_ID) == NULL
        || memmem(line, strlen(line), arg, strcspn(arg, "\"") + 1) == NULL)
    {
        errno = 0;
        bench_die("a wrong answer: %.200s", line);
    }
}

static void
agent_call(const agent_t *agent, long calls, size_t size,
           bench_histogram_t *histogram)
{
    const bench_wire_t *wire;
    uint64_t start;
    char *request;
    size_t len;
    long i;

    wire = bench_wire("jsonrpc");
    len = bench_request_head(wire) + size + bench_request_tail(wire);
    request = bench_alloc(len + 1);
    bench_put_request(wire, request, size, "echo");
    memset(request + bench_request_head(wire), 'a', size);

    /* The first ones find everything cold. */
    for (i = -calls / 10; i < calls; i++) {
        bench_put_id(request + bench_request_id(wire), (uint32_t) (i + calls));
        start = bench_now();
        agent_say(agent, request, len);
        (void) agent_hear(agent);

        if (i >= 0) {
            bench_count(histogram, bench_now() - start);
        }

        agent_check(request);
    }

    free(request);
}

static int
agent_answer(void)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n";
    ssize_t n;

    while ((n = read(0, line, sizeof(line))) > 0) {
        if (write(1, text, sizeof(text) - 1) == -1) {
            return 1;
        }
    }

    return n == 0 ? 0 : 1;
}

static void
agent_run(char **command, long starts, long calls, size_t size)
{
    static bench_histogram_t start, call;
    uint64_t rss;
    agent_t agent;
    long i;

    rss = 0;

    for (i = 0; i < starts; i++) {
        agent_start(&agent, command, &start);

        if (i == starts - 1 && calls != 0) {
            agent_say(&agent, AGENT_READY, sizeof(AGENT_READY) - 1);
            agent_call(&agent, calls, size, &call);
        }

        rss = bench_rss_of(agent.pid);
        agent_end(&agent);
    }

    printf("start_p50=%" PRIu64 " start_p90=%" PRIu64 " start_max=%" PRIu64
           " rss=%" PRIu64 " call_p50=%" PRIu64 " call_p99=%" PRIu64 "\n",
           bench_percentile(&start, 0.5), bench_percentile(&start, 0.9),
           start.largest, rss, bench_percentile(&call, 0.5),
           bench_percentile(&call, 0.99));
}

int
main(int argc, char **argv)
{
    long starts, calls, size;
    int i;

    if (argc == 2 && strcmp(argv[1], "--answer") == 0) {
        return agent_answer();
    }

    bench_end_with_parent();
    starts = 1;
    calls = 0;
    size = 64;

    for (i = 1; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--starts") == 0) {
            starts = bench_number(argv[i + 1]);
        } else if (strcmp(argv[i], "--calls") == 0) {
            calls = bench_number(argv[i + 1]);
        } else if (strcmp(argv[i], "--size") == 0) {
            size = bench_number(argv[i + 1]);
        } else if (strcmp(argv[i], "--cpu") == 0) {
            bench_pin((int) bench_number(argv[i + 1]));
        } else {
            break;
        }
    }

    if (i >= argc || starts < 1) {
        bench_die("usage: bench_agent [--starts N] [--calls N] [--size BYTES] "
                  "[--cpu PROCESSOR] COMMAND [ARG ...]");
    }

    agent_run(argv + i, starts, calls, (size_t) size);

    return 0;
}
