/* Threads for long work: the order of their time slices. */
#include "protocol_help.h"

#include "runner/jobs/tg_thread_pool.h"

#include <stdatomic.h>

static uv_loop_t loop;
static tg_thread_pool_t *threads;

static void
begin(void)
{
    CU_ASSERT_FATAL(uv_loop_init(&loop) == 0);
    threads = tg_thread_pool_new(&loop);
    CU_ASSERT_FATAL(threads != NULL);
}

static void
end(void)
{
    tg_thread_pool_close(threads);
    uv_run(&loop, UV_RUN_DEFAULT);
    CU_ASSERT(uv_loop_close(&loop) == 0);
}

typedef struct {
    tg_thread_work_t work;
    unsigned slices; /* slices that it needs */
    unsigned ran;
} slices_t;

static atomic_uint ended;
static unsigned n_done, short_ended_at;

static int
slices_run(tg_thread_work_t *work)
{
    slices_t *slices;

    slices = (slices_t *) work;
    slices->ran++;

    /* Long work cannot end before the short work has. */
    return slices->slices != 0 ? slices->ran < slices->slices
                               : atomic_load(&ended) == 0;
}

static void
slices_done(tg_thread_work_t *work)
{
    slices_t *slices;

    slices = (slices_t *) work;
    n_done++;

    if (slices->slices != 0) {
        short_ended_at = n_done;
        atomic_store(&ended, 1);
    }
}

HELP_TEST(turns, "work takes turns")
{
    static slices_t works[TG_THREAD_POOL_WORKS_MAX];
    static slices_t more;
    size_t i;

    begin();
    atomic_store(&ended, 0);
    n_done = 0;
    memset(works, 0, sizeof(works));

    for (i = 0; i < TG_THREAD_POOL_WORKS_MAX; i++) {
        works[i].work.run = slices_run;
        works[i].work.done = slices_done;
        works[i].slices = i == TG_THREAD_POOL_WORKS_MAX - 1 ? 3 : 0;
        CU_ASSERT(tg_thread_pool_add(threads, &works[i].work) == 0);
    }

    CU_ASSERT(tg_thread_pool_add(threads, &more.work) == -1);

    while (n_done < TG_THREAD_POOL_WORKS_MAX) {
        uv_run(&loop, UV_RUN_ONCE);
    }

    CU_ASSERT(short_ended_at == 1);
    CU_ASSERT(works[TG_THREAD_POOL_WORKS_MAX - 1].ran == 3);
    end();
}

/* Work whose later slices wait for a signal. */
typedef struct {
    tg_thread_work_t work;
    unsigned ran;
} slow_t;

#define N_SLOW 6

static uv_sem_t resume_work;
static atomic_uint n_later, is_over, new_ran_at;

static int
slow_run(tg_thread_work_t *work)
{
    slow_t *slow;

    slow = (slow_t *) work;

    if (slow->ran++ != 0) {
        atomic_fetch_add(&n_later, 1);
        uv_sem_wait(&resume_work);
    }

    return atomic_load(&is_over) == 0;
}

static int
new_run(tg_thread_work_t *work)
{
    (void) work;
    atomic_store(&new_ran_at, atomic_load(&n_later));

    return 0;
}

static void
count_done(tg_thread_work_t *work)
{
    (void) work;
    n_done++;
}

static void
wait_for_later(unsigned n)
{
    while (atomic_load(&n_later) < n) {
        uv_sleep(1);
    }
}

HELP_TEST(new, "new work runs before later slices")
{
    slow_t slow[N_SLOW];
    tg_thread_work_t fresh;
    size_t i;

    begin();
    CU_ASSERT_FATAL(uv_sem_init(&resume_work, 0) == 0);
    memset(slow, 0, sizeof(slow));
    n_done = 0;

    for (i = 0; i < N_SLOW; i++) {
        slow[i].work.run = slow_run;
        slow[i].work.done = count_done;
        CU_ASSERT(tg_thread_pool_add(threads, &slow[i].work) == 0);
    }

    /* Each thread runs a later slice; all other work needs more. */
    wait_for_later(TG_THREAD_POOL_SIZE);
    fresh.run = new_run;
    fresh.done = count_done;
    CU_ASSERT(tg_thread_pool_add(threads, &fresh) == 0);
    uv_sem_post(&resume_work);
    wait_for_later(TG_THREAD_POOL_SIZE + 1);
    CU_ASSERT(atomic_load(&new_ran_at) == TG_THREAD_POOL_SIZE);

    atomic_store(&is_over, 1);

    for (i = 0; i < 2 * N_SLOW; i++) {
        uv_sem_post(&resume_work);
    }

    while (n_done < N_SLOW + 1) {
        uv_run(&loop, UV_RUN_ONCE);
    }

    end();
    uv_sem_destroy(&resume_work);
}
