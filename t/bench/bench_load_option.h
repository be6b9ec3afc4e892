/*
 * The command line of the load generator; what its options mean is at the top
 * of bench_load_main.c.
 */
#ifndef BENCH_LOAD_OPTION_H
#define BENCH_LOAD_OPTION_H

#include "bench_wire.h"

#include <stdint.h>
#include <sys/types.h>

#define LOAD_PIDS 16
#define LOAD_DEPTH_MAX 4096

typedef struct {
    const char *socket;
    const bench_wire_t *wire;
    const char *tool;
    const char *reply;
    const char *data;
    unsigned connections;
    unsigned depth;
    size_t size;
    uint64_t ms;
    uint64_t calls;
    uint64_t warm_ms;
    uint64_t stall_ms; /* longer than any call: the server hangs */
    unsigned idle;
    int cpu;
    unsigned npids;
    pid_t pids[LOAD_PIDS];
    int has_windows;
} load_option_t;

extern load_option_t load_option;

/* Fills load_option, or ends the program. */
void load_options(int argc, char **argv);

#endif
