/*
 * Shares one event loop between all sources of work: clients, backends, MCP
 * servers, HTTP responses, the output of programs, due automation rules.
 *
 * Time. A source works in time slices. An event handler begins a slice,
 * handles one message or step after another, and checks after each one whether
 * the slice is over. If so, the source enters a queue. Each iteration of the
 * loop runs the first queued source once, after all other events. So a source
 * with little work waits for one slice at most, however many sources flood the
 * loop. A single step is never divided; its length is bounded where the step
 * is defined.
 *
 * Memory. A source reports the number of bytes it holds because of data that
 * its peer sent or does not read. Each source has a bound, and all sources of
 * a loop together have another. A source over either bound stops reading, or
 * fails.
 *
 * The owner of the loop supplies the clock and wakes the loop; see nginx/sched
 * and transport/tg_uv_sched.c. Nothing here allocates.
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
    int is_queued;                  /* 1 while the source is in the queue */
};

struct tg_sched_s {
    /* Returns the time in µs of a monotonic clock. */
    uint64_t (*now)(void *host);
    /*
     * Arranges a call of tg_sched_run_next() in the next loop iteration, after
     * its events.
     */
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

/* Begins a slice of a source. */
void tg_sched_begin_slice(tg_sched_t *sched);

/*
 * Checks whether the slice is over, after a message or step of `steps` steps.
 * Returns 1 if so: the source is in the queue then, and its run() is called
 * later. Reads no clock for a few small messages.
 */
int tg_sched_is_slice_over(tg_sched_t *sched, tg_sched_source_t *source,
                           size_t steps);

/* Appends a source to the queue, unless the source is already queued. */
void tg_sched_enqueue(tg_sched_t *sched, tg_sched_source_t *source);

/* Removes a source from the queue, if the source is queued. */
void tg_sched_dequeue(tg_sched_t *sched, tg_sched_source_t *source);

/*
 * Removes the first source from the queue and runs one slice of it. Returns 1
 * if more sources are queued: the caller then calls again in the next loop
 * iteration.
 */
int tg_sched_run_next(tg_sched_t *sched);

/*
 * Sets the number of bytes that a source holds; the source sets 0 before its
 * end. Returns TG_OK, or TG_LIMIT if the number has grown and exceeds the
 * bound of the source or of the loop. After TG_LIMIT the new number counts;
 * the source must release memory and read nothing until then, or fail.
 */
int tg_sched_set_memory(tg_sched_t *sched, tg_sched_source_t *source,
                        size_t bytes);

#endif
