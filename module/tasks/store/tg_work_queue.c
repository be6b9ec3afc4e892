/*
 * Work queue: runs batches of blocking work in a thread of libuv's pool.
 */
#include "tasks/store/tg_work_queue.h"

static void tg_work_queue_start_batch(tg_work_queue_t *work_queue);

void
tg_work_queue_init(tg_work_queue_t *work_queue, uv_loop_t *loop,
                   void (*run)(void *host, const tg_work_list_t *batch),
                   void (*idle)(void *host), void *host)
{
    work_queue->loop = loop;
    work_queue->run = run;
    work_queue->idle = idle;
    work_queue->host = host;
    work_queue->is_busy = 0;
    work_queue->req.data = work_queue;
    TAILQ_INIT(&work_queue->waiting);
    TAILQ_INIT(&work_queue->batch);
}

static void
tg_work_queue_run_batch(uv_work_t *req)
{
    tg_work_queue_t *work_queue;

    work_queue = req->data;
    work_queue->run(work_queue->host, &work_queue->batch);
}

/* Completes the batch. Items that the callbacks add go to the next batch. */
static void
tg_work_queue_on_done(uv_work_t *req, int status)
{
    tg_work_queue_t *work_queue;
    tg_work_item_t *work;

    work_queue = req->data;

    while ((work = TAILQ_FIRST(&work_queue->batch)) != NULL) {
        TAILQ_REMOVE(&work_queue->batch, work, next);
        work->done(work);
    }

    work_queue->is_busy = 0;

    if (!TAILQ_EMPTY(&work_queue->waiting)) {
        tg_work_queue_start_batch(work_queue);
    } else if (work_queue->idle != NULL) {
        work_queue->idle(work_queue->host);
    }
}

static void
tg_work_queue_start_batch(tg_work_queue_t *work_queue)
{
    tg_work_item_t *work;
    unsigned n;

    for (n = 0; n < TG_WORK_QUEUE_BATCH_MAX; n++) {
        work = TAILQ_FIRST(&work_queue->waiting);

        if (work == NULL) {
            break;
        }

        TAILQ_REMOVE(&work_queue->waiting, work, next);
        TAILQ_INSERT_TAIL(&work_queue->batch, work, next);
    }

    work_queue->is_busy = 1;
    (void) uv_queue_work(work_queue->loop, &work_queue->req,
                         tg_work_queue_run_batch, tg_work_queue_on_done);
}

void
tg_work_queue_add(tg_work_queue_t *work_queue, tg_work_item_t *work)
{
    TAILQ_INSERT_TAIL(&work_queue->waiting, work, next);

    if (!work_queue->is_busy) {
        tg_work_queue_start_batch(work_queue);
    }
}

int
tg_work_queue_is_idle(const tg_work_queue_t *work_queue)
{
    return !work_queue->is_busy && TAILQ_EMPTY(&work_queue->waiting);
}
