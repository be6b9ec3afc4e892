/*
 * What the programs of the bench share: time, processors, sockets, the CPU
 * time of other processes, percentiles.  All of it ends the program when it
 * fails: a bench that goes on after an error measures something else.
 */
#ifndef BENCH_UTIL_H
#define BENCH_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void bench_die(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* Nanoseconds of the monotonic clock. */
uint64_t bench_now(void);

/* Runs on this processor only; negative: anywhere. */
void bench_pin(int cpu);

/* The program ends when its parent does, however that ends. */
void bench_end_with_parent(void);

/* As many descriptors as the system lets it have. */
void bench_raise_files(void);

/* Zero bytes of memory. */
void *bench_alloc(size_t size);

/* Returns text, or if it is @PATH the contents of this file. */
const char *bench_read_text(const char *text);

/* A whole number that is not negative. */
long bench_number(const char *text);

int bench_listen(const char *path);
int bench_connect(const char *path);
void bench_unblock(int fd);

/* CPU time of a process in ns, its user and kernel time together. */
uint64_t bench_cpu_of(pid_t pid);

/* Resident memory in KiB. */
uint64_t bench_rss_of(pid_t pid);

/*
 * A histogram of durations in ns: 32 steps an octave, so that a percentile
 * is right within 3 %.
 */
#define BENCH_STEPS 32
#define BENCH_BUCKETS (BENCH_STEPS * 48)

typedef struct {
    uint64_t count;
    uint64_t largest;
    uint64_t buckets[BENCH_BUCKETS];
} bench_histogram_t;

void bench_count(bench_histogram_t *histogram, uint64_t ns);

/* The duration that this share (0.5: half) of all does not exceed. */
uint64_t bench_percentile(const bench_histogram_t *histogram, double share);

#endif
