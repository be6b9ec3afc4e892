/* The scheduler of an event loop. */
#include "base/tg_sched.h"

#include "base/tg_list.h"

/* Messages or steps between clock readings: a small part of a slice. */
#define TG_SCHED_UNTIMED_MESSAGES 8
#define TG_SCHED_UNTIMED_STEPS 4096

void
tg_sched_begin_slice(tg_sched_t *sched)
{
    /* Set at the first clock reading, which most slices never reach. */
    sched->slice_end = 0;
    sched->steps = 0;
    sched->untimed_steps = 0;
    sched->untimed_messages = 0;
}

static int
tg_sched_is_slice_young(tg_sched_t *sched, size_t steps)
{
    if (steps > TG_SCHED_UNTIMED_STEPS
        || sched->untimed_steps > TG_SCHED_UNTIMED_STEPS)
    {
        return 0;
    }

    sched->untimed_steps += (unsigned) steps;
    sched->untimed_messages++;

    return sched->untimed_messages < TG_SCHED_UNTIMED_MESSAGES
           && sched->untimed_steps <= TG_SCHED_UNTIMED_STEPS;
}

static int
tg_sched_has_slice_time(tg_sched_t *sched)
{
    uint64_t now;

    now = sched->now(sched->host);
    sched->untimed_steps = 0;
    sched->untimed_messages = 0;

    if (sched->slice_end == 0) {
        sched->slice_end = now + TG_SCHED_SLICE_US;
    }

    return now < sched->slice_end && sched->steps < TG_SCHED_SLICE_STEPS;
}

int
tg_sched_is_slice_over(tg_sched_t *sched, tg_sched_source_t *source,
                       size_t steps)
{
    if (source->is_queued) {
        return 1;
    }

    sched->steps += steps;

    if (tg_sched_is_slice_young(sched, steps) || tg_sched_has_slice_time(sched))
    {
        return 0;
    }

    tg_sched_enqueue(sched, source);

    return 1;
}

void
tg_sched_enqueue(tg_sched_t *sched, tg_sched_source_t *source)
{
    if (source->is_queued) {
        return;
    }

    source->is_queued = 1;
    TG_LIST_INSERT(sched->first, sched->last, sched->last, source);

    if (sched->first == source) {
        sched->wake(sched->host);
    }
}

void
tg_sched_dequeue(tg_sched_t *sched, tg_sched_source_t *source)
{
    if (source->is_queued) {
        source->is_queued = 0;
        TG_LIST_REMOVE(sched->first, sched->last, source);
    }
}

int
tg_sched_run_next(tg_sched_t *sched)
{
    tg_sched_source_t *source;

    source = sched->first;

    if (source == NULL) {
        return 0;
    }

    tg_sched_dequeue(sched, source);
    tg_sched_begin_slice(sched);
    source->run(source);

    return sched->first != NULL;
}

int
tg_sched_set_memory(tg_sched_t *sched, tg_sched_source_t *source, size_t bytes)
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
