/* Time slices and memory of the sources of an event loop. */
#include "protocol_help.h"

#include "base/tg_sched.h"

typedef struct {
    tg_sched_source_t source; /* first */
    unsigned left;            /* steps that are left */
    size_t step;              /* size of each step */
    unsigned nslices;
} test_source_t;

static tg_sched_t test_sched;
static uint64_t test_clock;
static unsigned test_nwakes;
static unsigned test_nasked;

static uint64_t
test_now(void *host)
{
    test_nasked++;

    return test_clock++;
}

static void
test_wake(void *host)
{
    test_nwakes++;
}

/* Works until the slice is over or no step is left. */
static void
test_work(tg_sched_source_t *source)
{
    test_source_t *test = (test_source_t *) source;

    test->nslices++;

    while (test->left != 0) {
        test->left--;

        if (tg_sched_is_slice_over(&test_sched, source, test->step)) {
            return;
        }
    }
}

static void
test_init(test_source_t *test, unsigned left, size_t step)
{
    memset(test, 0, sizeof(*test));
    test->source.run = test_work;
    test->left = left;
    test->step = step;
}

static void
test_begin(void)
{
    memset(&test_sched, 0, sizeof(test_sched));
    test_sched.now = test_now;
    test_sched.wake = test_wake;
    test_sched.memory_max = 1000;
    test_nwakes = 0;
    test_nasked = 0;
    test_clock = 1;
}

/* Works like an event handler. */
static void
test_event(test_source_t *test)
{
    tg_sched_begin_slice(&test_sched);
    test_work(&test->source);
}

HELP_TEST(light, "a source with little work asks no clock and never waits")
{
    test_source_t light;

    test_begin();
    test_init(&light, 7, 100);
    test_event(&light);
    CU_ASSERT(light.left == 0 && !light.source.is_queued);
    CU_ASSERT(test_nasked == 0 && test_nwakes == 0);
    CU_ASSERT(!tg_sched_run_next(&test_sched));
}

HELP_TEST(round, "sources with much work take turns, one slice each")
{
    test_source_t a, b, light;
    unsigned n;

    test_begin();
    test_init(&a, 1000000, 10);
    test_init(&b, 1000000, 10);
    test_event(&a);
    test_event(&b);
    CU_ASSERT(a.left != 0 && a.source.is_queued);
    CU_ASSERT(b.left != 0 && b.source.is_queued);
    CU_ASSERT(test_nwakes == 1);

    for (n = 0; n < 10; n++) {
        CU_ASSERT(tg_sched_run_next(&test_sched));
        test_init(&light, 1, 10);
        test_event(&light);
        CU_ASSERT(light.left == 0);
    }

    CU_ASSERT(a.nslices == 6 && b.nslices == 6);
    tg_sched_dequeue(&test_sched, &a.source);
    tg_sched_dequeue(&test_sched, &a.source);
    CU_ASSERT(tg_sched_run_next(&test_sched) && b.nslices == 7);
    tg_sched_dequeue(&test_sched, &b.source);
    CU_ASSERT(!tg_sched_run_next(&test_sched) && b.nslices == 7);
    CU_ASSERT(test_sched.first == NULL && test_sched.last == NULL);
}

HELP_TEST(events, "events of a source that waits do not serve it")
{
    test_source_t test;
    unsigned left;

    test_begin();
    test_init(&test, 1000000, 10);
    test_event(&test);
    left = test.left;
    test_event(&test);
    CU_ASSERT(test.left == left - 1);
    tg_sched_dequeue(&test_sched, &test.source);
}

HELP_TEST(large, "large steps end a slice by their size, whatever the clock")
{
    test_source_t test;

    test_begin();
    test_init(&test, 10, TG_SCHED_SLICE_STEPS);
    test_event(&test);
    CU_ASSERT(test.left == 9);

    while (tg_sched_run_next(&test_sched)) {
    }

    CU_ASSERT(test.left == 0 && test.nslices == 11);
}

HELP_TEST(time, "a slice ends when its time has passed")
{
    test_source_t test;

    test_begin();
    test_init(&test, 2, 5000);
    CU_ASSERT(!tg_sched_is_slice_over(&test_sched, &test.source, 5000));
    test_clock += TG_SCHED_SLICE_US - 2;
    CU_ASSERT(!tg_sched_is_slice_over(&test_sched, &test.source, 5000));
    CU_ASSERT(tg_sched_is_slice_over(&test_sched, &test.source, 5000));
    CU_ASSERT(test.source.is_queued);
    tg_sched_dequeue(&test_sched, &test.source);
}

HELP_TEST(memory, "a source learns that it exceeds its memory limit")
{
    test_source_t a, b;

    test_begin();
    test_init(&a, 0, 0);
    test_init(&b, 0, 0);
    a.source.memory_max = 600;
    CU_ASSERT(tg_sched_set_memory(&test_sched, &a.source, 600) == TG_OK);
    CU_ASSERT(tg_sched_set_memory(&test_sched, &a.source, 601) == TG_LIMIT);
    CU_ASSERT(tg_sched_set_memory(&test_sched, &a.source, 500) == TG_OK);
    CU_ASSERT(tg_sched_set_memory(&test_sched, &b.source, 500) == TG_OK);
    CU_ASSERT(tg_sched_set_memory(&test_sched, &b.source, 501) == TG_LIMIT);
    CU_ASSERT(test_sched.memory == 1001);
    /* A source that frees memory is never over its limit. */
    CU_ASSERT(tg_sched_set_memory(&test_sched, &a.source, 400) == TG_OK);
    CU_ASSERT(tg_sched_set_memory(&test_sched, &a.source, 0) == TG_OK);
    CU_ASSERT(tg_sched_set_memory(&test_sched, &b.source, 0) == TG_OK);
    CU_ASSERT(test_sched.memory == 0);
}
