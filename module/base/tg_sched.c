/*
 * The scheduler of an event loop: time slices and memory of its sources.
 */
#include "base/tg_sched.h"

#include "base/tg_list.h"

/*
 * This many small messages in a row take so little of a slice that the clock
 * is not asked.
 */
#define TG_SLICE_FEW 8
#define TG_SLICE_SMALL 4096

void
tg_slice_begin(tg_sched_t *sched)
{
    /* Most sources are done before the clock is asked. */
    sched->end = 0;
    sched->steps = 0;
    sched->unasked = 0;
    sched->unasked_count = 0;
}

static int
tg_slice_is_young(tg_sched_t *sched, size_t steps)
{
    if (steps > TG_SLICE_SMALL || sched->unasked > TG_SLICE_SMALL) {
        return 0;
    }

    sched->unasked += (unsigned) steps;
    sched->unasked_count++;

    return sched->unasked_count < TG_SLICE_FEW
           && sched->unasked <= TG_SLICE_SMALL;
}

static int
tg_slice_has_time(tg_sched_t *sched)
{
    uint64_t now;

    now = sched->now(sched->host);
    sched->unasked = 0;
    sched->unasked_count = 0;

    if (sched->end == 0) {
        sched->end = now + TG_SLICE_TIME;
    }

    return now < sched->end && sched->steps < TG_SLICE_STEPS;
}

int
tg_slice_is_over(tg_sched_t *sched, tg_source_t *source, size_t steps)
{
    if (source->is_waiting) {
        return 1;
    }

    sched->steps += steps;

    if (tg_slice_is_young(sched, steps) || tg_slice_has_time(sched)) {
        return 0;
    }

    tg_source_wait(sched, source);

    return 1;
}

void
tg_source_wait(tg_sched_t *sched, tg_source_t *source)
{
    if (source->is_waiting) {
        return;
    }

    source->is_waiting = 1;
    TG_LIST_INSERT(sched->first, sched->last, sched->last, source);

    if (sched->first == source) {
        sched->wake(sched->host);
    }
}

void
tg_source_leave(tg_sched_t *sched, tg_source_t *source)
{
    if (source->is_waiting) {
        source->is_waiting = 0;
        TG_LIST_REMOVE(sched->first, sched->last, source);
    }
}

int
tg_sched_run(tg_sched_t *sched)
{
    tg_source_t *source;

    source = sched->first;

    if (source == NULL) {
        return 0;
    }

    tg_source_leave(sched, source);
    tg_slice_begin(sched);
    source->run(source);

    return sched->first != NULL;
}

int
tg_source_hold(tg_sched_t *sched, tg_source_t *source, size_t bytes)
{
    int is_more;

    is_more = bytes > source->memory;
    sched->memory = sched->memory - source->memory + bytes;
    source->memory = bytes;

    if (is_more
        && (sched->memory > sched->memory_max
            || (source->memory_max != 0 && bytes > source->memory_max)))
    {
        return TG_LIMIT;
    }

    return TG_OK;
}
