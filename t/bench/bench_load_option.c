#include "bench_load_option.h"

#include "bench_util.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

load_option_t load_option = { .tool = "echo",
                              .data = "text",
                              .connections = 1,
                              .depth = 1,
                              .size = 64,
                              .ms = 500,
                              .warm_ms = 100,
                              .stall_ms = 60000,
                              .cpu = -1 };

static void
load_take(int c, const char *text)
{
    switch (c) {
    case 's':
        load_option.socket = text;
        break;
    case 'd':
        load_option.wire = bench_wire(text);
        break;
    case 'c':
        load_option.connections = (unsigned) bench_number(text);
        break;
    case 'D':
        load_option.depth = (unsigned) bench_number(text);
        break;
    case 'S':
        load_option.size = (size_t) bench_number(text);
        break;
    case 't':
        load_option.tool = text;
        break;
    case 'r':
        load_option.reply = text;
        break;
    case 'a':
        load_option.data = text;
        break;
    case 'm':
        load_option.ms = (uint64_t) bench_number(text);
        break;
    case 'n':
        load_option.calls = (uint64_t) bench_number(text);
        break;
    case 'w':
        load_option.warm_ms = (uint64_t) bench_number(text);
        break;
    case 'x':
        load_option.stall_ms = (uint64_t) bench_number(text);
        break;
    case 'i':
        load_option.idle = (unsigned) bench_number(text);
        break;
    case 'C':
        load_option.cpu = (int) bench_number(text);
        break;
    case 'p':
        if (load_option.npids == LOAD_PIDS) {
            bench_die("at most %d --pid", LOAD_PIDS);
        }

        load_option.pids[load_option.npids++] = (pid_t) bench_number(text);
        break;
    case 'W':
        load_option.has_windows = 1;
        break;
    default:
        exit(1);
    }
}

void
load_options(int argc, char **argv)
{
    static const struct option names[] = {
        { "socket", required_argument, NULL, 's' },
        { "dialect", required_argument, NULL, 'd' },
        { "connections", required_argument, NULL, 'c' },
        { "depth", required_argument, NULL, 'D' },
        { "size", required_argument, NULL, 'S' },
        { "tool", required_argument, NULL, 't' },
        { "reply", required_argument, NULL, 'r' },
        { "data", required_argument, NULL, 'a' },
        { "ms", required_argument, NULL, 'm' },
        { "calls", required_argument, NULL, 'n' },
        { "warm-ms", required_argument, NULL, 'w' },
        { "stall-ms", required_argument, NULL, 'x' },
        { "idle", required_argument, NULL, 'i' },
        { "cpu", required_argument, NULL, 'C' },
        { "windows", no_argument, NULL, 'W' },
        { "pid", required_argument, NULL, 'p' },
        { NULL, 0, NULL, 0 },
    };
    int c;

    load_option.wire = bench_wire("jsonrpc");

    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        load_take(c, optarg);
    }

    if (optind != argc || load_option.socket == NULL || load_option.wire == NULL
        || load_option.connections == 0 || load_option.depth == 0
        || load_option.depth > LOAD_DEPTH_MAX || strlen(load_option.tool) != 4)
    {
        bench_die("wrong arguments; see the top of bench_load_main.c");
    }
}
