/*
 * Work that may wait for a disk, done one after the other by a thread of
 * libuv's pool: what has gathered while that was busy is done as one batch.
 */
#ifndef TG_WORK_QUEUE_H
#define TG_WORK_QUEUE_H

#include <sys/queue.h>
#include <uv.h>

/* Works of a batch: none of them waits for more than so many others. */
#define TG_WORK_QUEUE_BATCH_MAX 256

typedef struct tg_work_item_s tg_work_item_t;
typedef TAILQ_HEAD(tg_work_list_s, tg_work_item_s) tg_work_list_t;

/* Embedded in what it is about. */
struct tg_work_item_s {
    TAILQ_ENTRY(tg_work_item_s) next;
    void (*done)(
        tg_work_item_t *work); /* in the loop, in the order of asking */
};

typedef struct {
    uv_loop_t *loop;
    uv_work_t req;
    tg_work_list_t waiting;
    tg_work_list_t batch;
    int is_busy;

    /* In a thread: does all of a batch. */
    void (*run)(void *host, const tg_work_list_t *batch);

    /* In the loop: nothing is left to do.  May be NULL. */
    void (*idle)(void *host);
    void *host;
} tg_work_queue_t;

void tg_work_queue_init(tg_work_queue_t *work_queue, uv_loop_t *loop,
                        void (*run)(void *host, const tg_work_list_t *batch),
                        void (*idle)(void *host), void *host);

/* work->done follows, never from within this. */
void tg_work_queue_add(tg_work_queue_t *work_queue, tg_work_item_t *work);

int tg_work_queue_is_idle(const tg_work_queue_t *work_queue);

#endif
