/*
 * What any way to run a program has to pay: posix_spawn and wait.
 *
 *   bench_spawn [--count N] [--cpu PROCESSOR] PROGRAM
 *
 * One line of NAME=VALUE, times in ns; cpu is that of the program's starts,
 * in this process and in its children.
 */
#include "bench_util.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static uint64_t
spawn_cpu_of(int who)
{
    struct rusage usage;

    getrusage(who, &usage);

    return ((uint64_t) usage.ru_utime.tv_sec + (uint64_t) usage.ru_stime.tv_sec)
               * 1000000000
           + ((uint64_t) usage.ru_utime.tv_usec
              + (uint64_t) usage.ru_stime.tv_usec)
                 * 1000;
}

static uint64_t
spawn_cpu(void)
{
    return spawn_cpu_of(RUSAGE_SELF) + spawn_cpu_of(RUSAGE_CHILDREN);
}

static void
spawn_once(char *program)
{
    char *command[2];
    int rc, status;
    pid_t pid;

    command[0] = program;
    command[1] = NULL;
    rc = posix_spawn(&pid, program, NULL, NULL, command, environ);

    if (rc != 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        errno = rc;
        bench_die("cannot run %s", program);
    }
}

int
main(int argc, char **argv)
{
    static bench_histogram_t histogram;
    uint64_t start, cpu;
    long count, n;
    int i;

    count = 200;

    for (i = 1; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--count") == 0) {
            count = bench_number(argv[i + 1]);
        } else if (strcmp(argv[i], "--cpu") == 0) {
            bench_pin((int) bench_number(argv[i + 1]));
        } else {
            break;
        }
    }

    if (i + 1 != argc) {
        bench_die("usage: bench_spawn [--count N] [--cpu PROCESSOR] PROGRAM");
    }

    bench_end_with_parent();
    cpu = spawn_cpu();

    for (n = 0; n < count; n++) {
        start = bench_now();
        spawn_once(argv[i]);
        bench_count(&histogram, bench_now() - start);
    }

    printf("count=%ld cpu=%.0f p50=%" PRIu64 " p90=%" PRIu64 " max=%" PRIu64
           "\n",
           count, (double) (spawn_cpu() - cpu) / (double) count,
           bench_percentile(&histogram, 0.5), bench_percentile(&histogram, 0.9),
           histogram.largest);

    return 0;
}
