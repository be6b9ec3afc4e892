/*
 * A program that has libtoolgate.
 *
 *   bench_host [--cpu PROCESSOR] [--cycles N]
 *
 * With --cycles, N times a start and a stop with a tool: one line of
 * NAME=VALUE, times in ns.  Else it serves the tool of the bench, which says
 * its text again, writes its socket in a line, and ends with its parent.
 */
#include "api/toolgate.h"
#include "bench_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
host_echo(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    char *text;

    (void) data;
    text = toolgate_argument(arguments, len, "text");

    if (text == NULL || toolgate_reply(call, text, strlen(text)) != 0) {
        bench_die("%s", toolgate_error());
    }

    toolgate_free(text);
}

static toolgate_server_t *
host_new(void)
{
    toolgate_server_t *server;

    server = toolgate_server_new("bench");

    if (server == NULL
        || toolgate_add_tool(server, "echo", "Answers with its text.",
                             "{\"type\":\"object\",\"properties\":{\"text\":"
                             "{\"type\":\"string\"}},\"required\":[\"text\"]}",
                             host_echo, NULL)
               != 0)
    {
        bench_die("%s", toolgate_error());
    }

    return server;
}

static void
host_cycle(toolgate_server_t *server, long count)
{
    static bench_histogram_t started, stopped;
    uint64_t start, half;
    long i;

    for (i = 0; i < count; i++) {
        start = bench_now();

        if (toolgate_start(server) != 0) {
            bench_die("%s", toolgate_error());
        }

        half = bench_now();

        if (toolgate_stop(server) != 0) {
            bench_die("%s", toolgate_error());
        }

        bench_count(&started, half - start);
        bench_count(&stopped, bench_now() - half);
    }

    printf("count=%ld start_p50=%" PRIu64 " start_p90=%" PRIu64
           " stop_p50=%" PRIu64 " stop_p90=%" PRIu64 "\n",
           count, bench_percentile(&started, 0.5),
           bench_percentile(&started, 0.9), bench_percentile(&stopped, 0.5),
           bench_percentile(&stopped, 0.9));
}

static void
host_serve(toolgate_server_t *server)
{
    bench_end_with_parent();

    if (toolgate_start(server) != 0) {
        bench_die("%s", toolgate_error());
    }

    printf("%s\n", toolgate_socket(server));
    fflush(stdout);

    for (;;) {
        pause();
    }
}

int
main(int argc, char **argv)
{
    toolgate_server_t *server;
    long cycles;
    int i;

    cycles = 0;

    for (i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--cycles") == 0) {
            cycles = bench_number(argv[i + 1]);
        } else if (strcmp(argv[i], "--cpu") == 0) {
            bench_pin((int) bench_number(argv[i + 1]));
        } else {
            break;
        }
    }

    if (i != argc) {
        bench_die("usage: bench_host [--cpu PROCESSOR] [--cycles N]");
    }

    server = host_new();

    if (cycles > 0) {
        host_cycle(server, cycles);
    } else {
        host_serve(server);
    }

    toolgate_server_free(server);

    return 0;
}
