/* A thread pool that prefers the first time slice of new works. */
#include "runner/jobs/tg_thread_pool.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

typedef TAILQ_HEAD(tg_thread_work_list_s,
                   tg_thread_work_s) tg_thread_work_list_t;

struct tg_thread_pool_s {
    uv_async_t async; /* wakes the loop when a work is finished */
    uv_thread_t threads[TG_THREAD_POOL_SIZE];
    unsigned nthreads;
    unsigned nworks; /* queued, running or finished; only for the loop */

    /* Members protected by the mutex. */
    uv_mutex_t mutex;
    uv_cond_t cond;
    tg_thread_work_list_t unstarted; /* works before their first time slice */
    tg_thread_work_list_t queued;    /* works that need another time slice */
    unsigned nfirst_slices;          /* threads that run a first time slice */
    tg_thread_work_list_t finished;
    int is_closing;
};

/* --- functions of the threads --- */

static tg_thread_work_t *
tg_thread_pool_take(tg_thread_work_list_t *works)
{
    tg_thread_work_t *work;

    work = TAILQ_FIRST(works);

    if (work != NULL) {
        TAILQ_REMOVE(works, work, next);
    }

    return work;
}

/*
 * Returns the next work, or NULL when the pool closes. Prefers a new work,
 * unless another thread runs one. The caller holds the mutex.
 */
static tg_thread_work_t *
tg_thread_pool_wait_next(tg_thread_pool_t *threads, int *is_first_slice)
{
    tg_thread_work_t *work;

    for (;;) {
        work = threads->nfirst_slices == 0
                   ? tg_thread_pool_take(&threads->unstarted)
                   : NULL;
        *is_first_slice = work != NULL;

        if (work == NULL) {
            work = tg_thread_pool_take(&threads->queued);
        }

        if (work == NULL) {
            work = tg_thread_pool_take(&threads->unstarted);
            *is_first_slice = work != NULL;
        }

        if (work != NULL || threads->is_closing) {
            return work;
        }

        uv_cond_wait(&threads->cond, &threads->mutex);
    }
}

static void
tg_thread_pool_run(void *arg)
{
    tg_thread_work_t *work;
    tg_thread_pool_t *threads;
    int needs_more, is_first_slice;

    threads = arg;

    /* On Linux, this affects the calling thread only. */
    (void) setpriority(PRIO_PROCESS, (id_t) gettid(), TG_THREAD_POOL_NICE);
    uv_mutex_lock(&threads->mutex);

    while ((work = tg_thread_pool_wait_next(threads, &is_first_slice)) != NULL)
    {
        threads->nfirst_slices += (unsigned) is_first_slice;
        uv_mutex_unlock(&threads->mutex);
        needs_more = work->run(work);
        uv_mutex_lock(&threads->mutex);
        threads->nfirst_slices -= (unsigned) is_first_slice;

        if (needs_more) {
            TAILQ_INSERT_TAIL(&threads->queued, work, next);
        } else {
            TAILQ_INSERT_TAIL(&threads->finished, work, next);
            (void) uv_async_send(&threads->async);
        }
    }

    uv_mutex_unlock(&threads->mutex);
}

/* --- functions of the loop --- */

static void
tg_thread_pool_on_finished(uv_async_t *async)
{
    tg_thread_work_list_t finished;
    tg_thread_work_t *work;
    tg_thread_pool_t *threads;

    threads = async->data;
    TAILQ_INIT(&finished);
    uv_mutex_lock(&threads->mutex);
    TAILQ_CONCAT(&finished, &threads->finished, next);
    uv_mutex_unlock(&threads->mutex);

    while ((work = TAILQ_FIRST(&finished)) != NULL) {
        TAILQ_REMOVE(&finished, work, next);

        if (--threads->nworks == 0) {
            uv_unref((uv_handle_t *) async);
        }

        work->done(work);
    }
}

int
tg_thread_pool_add(tg_thread_pool_t *threads, tg_thread_work_t *work)
{
    if (threads->nworks >= TG_THREAD_POOL_WORKS_MAX) {
        return -1;
    }

    if (threads->nworks++ == 0) {
        uv_ref((uv_handle_t *) &threads->async);
    }

    uv_mutex_lock(&threads->mutex);
    TAILQ_INSERT_TAIL(&threads->unstarted, work, next);
    uv_cond_signal(&threads->cond);
    uv_mutex_unlock(&threads->mutex);

    return 0;
}

static void
tg_thread_pool_on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void
tg_thread_pool_close(tg_thread_pool_t *threads)
{
    unsigned i;

    uv_mutex_lock(&threads->mutex);
    threads->is_closing = 1;
    uv_cond_broadcast(&threads->cond);
    uv_mutex_unlock(&threads->mutex);

    for (i = 0; i < threads->nthreads; i++) {
        (void) uv_thread_join(&threads->threads[i]);
    }

    uv_cond_destroy(&threads->cond);
    uv_mutex_destroy(&threads->mutex);
    uv_close((uv_handle_t *) &threads->async, tg_thread_pool_on_closed);
}

tg_thread_pool_t *
tg_thread_pool_new(uv_loop_t *loop)
{
    tg_thread_pool_t *threads;
    uv_thread_t *thread;

    threads = calloc(1, sizeof(*threads));

    if (threads == NULL
        || uv_async_init(loop, &threads->async, tg_thread_pool_on_finished)
               != 0)
    {
        free(threads);
        return NULL;
    }

    threads->async.data = threads;
    uv_unref((uv_handle_t *) &threads->async);
    TAILQ_INIT(&threads->unstarted);
    TAILQ_INIT(&threads->queued);
    TAILQ_INIT(&threads->finished);
    (void) uv_mutex_init(&threads->mutex);
    (void) uv_cond_init(&threads->cond);

    while (threads->nthreads < TG_THREAD_POOL_SIZE) {
        thread = &threads->threads[threads->nthreads];

        if (uv_thread_create(thread, tg_thread_pool_run, threads) != 0) {
            break;
        }

        threads->nthreads++;
    }

    if (threads->nthreads == 0) {
        tg_thread_pool_close(threads);
        return NULL;
    }

    return threads;
}
