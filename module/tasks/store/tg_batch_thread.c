/*
 * Work queue: runs batches of blocking work in a thread of libuv's pool.
 */
#include "tasks/store/tg_batch_thread.h"

static void tg_batch_thread_start_batch(tg_batch_thread_t *thread);

void
tg_batch_thread_init(tg_batch_thread_t *thread, uv_loop_t *loop,
                     void (*run)(void *host, const tg_work_list_t *batch),
                     void (*idle)(void *host), void *host)
{
    thread->loop = loop;
    thread->run = run;
    thread->idle = idle;
    thread->host = host;
    thread->is_busy = 0;
    thread->req.data = thread;
    TAILQ_INIT(&thread->waiting);
    TAILQ_INIT(&thread->batch);
}

static void
tg_batch_thread_run_batch(uv_work_t *req)
{
    tg_batch_thread_t *thread;

    thread = req->data;
    thread->run(thread->host, &thread->batch);
}

/* Completes the batch. Items that the callbacks add go to the next batch. */
static void
tg_batch_thread_on_done(uv_work_t *req, int status)
{
    tg_batch_thread_t *thread;
    tg_work_item_t *work;

    thread = req->data;

    while ((work = TAILQ_FIRST(&thread->batch)) != NULL) {
        TAILQ_REMOVE(&thread->batch, work, next);
        work->done(work);
    }

    thread->is_busy = 0;

    if (!TAILQ_EMPTY(&thread->waiting)) {
        tg_batch_thread_start_batch(thread);
    } else if (thread->idle != NULL) {
        thread->idle(thread->host);
    }
}

static void
tg_batch_thread_start_batch(tg_batch_thread_t *thread)
{
    tg_work_item_t *work;
    unsigned n;

    for (n = 0; n < TG_BATCH_THREAD_BATCH_MAX; n++) {
        work = TAILQ_FIRST(&thread->waiting);

        if (work == NULL) {
            break;
        }

        TAILQ_REMOVE(&thread->waiting, work, next);
        TAILQ_INSERT_TAIL(&thread->batch, work, next);
    }

    thread->is_busy = 1;
    (void) uv_queue_work(thread->loop, &thread->req, tg_batch_thread_run_batch,
                         tg_batch_thread_on_done);
}

void
tg_batch_thread_add(tg_batch_thread_t *thread, tg_work_item_t *work)
{
    TAILQ_INSERT_TAIL(&thread->waiting, work, next);

    if (!thread->is_busy) {
        tg_batch_thread_start_batch(thread);
    }
}

int
tg_batch_thread_is_idle(const tg_batch_thread_t *thread)
{
    return !thread->is_busy && TAILQ_EMPTY(&thread->waiting);
}
