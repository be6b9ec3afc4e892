/*
 * Shares one event loop between all sources of work: clients, backends, MCP
 * servers, HTTP responses, the output of programs, rules that are due.
 *
 * Time.  A source works in time slices.  An event handler begins a slice,
 * handles one message or step after the other, and asks after each whether
 * the slice is over.  Then the source waits in a queue, and each iteration of
 * the loop runs the first waiting source, once, after everything else.  So a
 * light source waits for one slice at most, however many others flood the
 * loop.  A single step is never divided; its length is bounded where it is
 * defined.
 *
 * Memory.  A source reports how many bytes it holds because of what its party
 * sent or does not take.  Each source has a bound of its own, and all sources
 * of a loop have one together; a source over either stops reading, or fails.
 *
 * The owner of the loop supplies the clock and wakes the loop; see
 * nginx/stream and uv.  Nothing here allocates.
 */
#ifndef TG_SCHED_H
#define TG_SCHED_H

#include "base/tg_base.h"

typedef struct tg_sched_s tg_sched_t;
typedef struct tg_sched_source_s tg_sched_source_t;

struct tg_sched_source_s {
    /* Runs one slice.  May free the source, after tg_sched_dequeue(). */
    void (*run)(tg_sched_source_t *source);
    size_t memory_max; /* bytes; 0: the bound of the loop alone */

    /* Read-only outside of tg_sched.c. */
    tg_sched_source_t *next, *prev; /* in the queue */
    size_t memory;                  /* bytes that it holds */
    int is_queued;                  /* in the queue */
};

struct tg_sched_s {
    /* Microseconds of a clock that never goes back. */
    uint64_t (*now)(void *host);
    /*
     * Has tg_sched_run_next() called in the next iteration, after its events.
     */
    void (*wake)(void *host);
    void *host;
    size_t memory_max; /* bytes that all sources may hold together */

    /* Read-only outside of tg_sched.c. */
    tg_sched_source_t *first, *last;
    size_t memory;
    uint64_t slice_end; /* of the slice, in microseconds; 0: not asked yet */
    uint64_t steps;     /* of the slice */
    unsigned untimed_steps;    /* steps since the clock was asked */
    unsigned untimed_messages; /* messages since then */
};

/* The length of a slice in microseconds: some fifty usual calls. */
#define TG_SCHED_SLICE_US 50
/* The steps that take as long: a byte that is read, a comparison. */
#define TG_SCHED_SLICE_STEPS 262144

/* The slice of this source begins. */
void tg_sched_begin_slice(tg_sched_t *sched);

/*
 * Asks after a message or step that took `steps` whether the slice is over.
 * Returns 1 if so: the source waits, and its run() is called later.  Few
 * small messages are counted without asking the clock.
 */
int tg_sched_is_slice_over(tg_sched_t *sched, tg_sched_source_t *source,
                           size_t steps);

/* Puts a source at the end of the queue, if it is not in it. */
void tg_sched_enqueue(tg_sched_t *sched, tg_sched_source_t *source);

/* Takes a source from the queue, if it is in it. */
void tg_sched_dequeue(tg_sched_t *sched, tg_sched_source_t *source);

/*
 * Runs the first source that waits, after taking it from the queue.  Returns
 * 1 while others wait: call again in the next iteration of the loop.
 */
int tg_sched_run_next(tg_sched_t *sched);

/*
 * Says how many bytes a source holds now; 0 before it ends.  Returns TG_OK, or
 * TG_LIMIT where it holds more than before and is over its own bound or the
 * loop's: then the bytes are counted, and the source must give some back,
 * read nothing more until then, or fail.
 */
int tg_sched_set_memory(tg_sched_t *sched, tg_sched_source_t *source,
                        size_t bytes);

#endif
