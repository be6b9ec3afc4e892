/*
 * Shares one event loop between all sources of work: clients, backends, MCP
 * servers, HTTP responses, output of programs, due automation rules.
 *
 * Time: a source works in slices. An event handler begins a slice, handles one
 * message or step after another, and checks after each whether the slice is
 * over. If so, the source is queued. Each loop iteration runs the first queued
 * source once, after all other events, so a source with little work waits for
 * one slice at most. A single step is never divided.
 *
 * Memory: a source reports the bytes it holds because of data that its peer
 * sent or does not read. Each source has a bound, and all sources of a loop
 * together have another. A source over either bound stops reading, or fails.
 *
 * The loop's owner supplies the clock and wakes the loop; see nginx/sched and
 * transport/tg_uv_sched.c. Nothing here allocates.
 */
#ifndef TG_SCHED_H
#define TG_SCHED_H

#include "base/tg_base.h"

typedef struct tg_sched_s tg_sched_t;
typedef struct tg_sched_source_s tg_sched_source_t;

struct tg_sched_source_s {
    /* Runs one slice. May free the source, after tg_sched_dequeue(). */
    void (*run)(tg_sched_source_t *source);
    size_t memory_max; /* bound in bytes; 0: only the bound of the loop */

    /* Read-only outside of tg_sched.c. */
    tg_sched_source_t *next, *prev; /* queue links */
    size_t memory;                  /* bytes that the source holds */
    int is_queued;
};

struct tg_sched_s {
    /* Returns the time in µs of a monotonic clock. */
    uint64_t (*now)(void *host);
    /* Has the loop call tg_sched_run_next() after its next events. */
    void (*wake)(void *host);
    void *host;
    size_t memory_max; /* bound for the bytes of all sources together */

    /* Read-only outside of tg_sched.c. */
    tg_sched_source_t *first, *last;
    size_t memory;
    /* end of the slice in µs; 0: the clock was not read yet */
    uint64_t slice_end;
    uint64_t steps;            /* steps of the current slice */
    unsigned untimed_steps;    /* steps since the last clock reading */
    unsigned untimed_messages; /* messages since the last clock reading */
};

/* The length of a slice in µs: the time of some fifty usual calls. */
#define TG_SCHED_SLICE_US 50
/*
 * Maximum steps of a slice. They take about as long as a slice; a step is, for
 * example, one byte read or one comparison.
 */
#define TG_SCHED_SLICE_STEPS 262144

void tg_sched_begin_slice(tg_sched_t *sched);

/*
 * Checks after a message of `steps` steps. Returns 1 if the slice is over: the
 * source is queued and its run() called later. Reads no clock for a few small
 * messages.
 */
int tg_sched_is_slice_over(tg_sched_t *sched, tg_sched_source_t *source,
                           size_t steps);

void tg_sched_enqueue(tg_sched_t *sched, tg_sched_source_t *source);

void tg_sched_dequeue(tg_sched_t *sched, tg_sched_source_t *source);

/*
 * Runs one slice of the first queued source. Returns 1 if more are queued: the
 * caller then calls again in the next loop iteration.
 */
int tg_sched_run_next(tg_sched_t *sched);

/*
 * Sets the bytes that a source holds, 0 before its end. TG_LIMIT: the number
 * has grown and exceeds a bound. The number counts even then; the source must
 * release memory and read nothing until then, or fail.
 */
int tg_sched_set_memory(tg_sched_t *sched, tg_sched_source_t *source,
                        size_t bytes);

#endif
