/*
 * Runs blocking work, such as disk access, in a thread of libuv's pool. Items
 * that are added meanwhile form the next batch.
 */
#ifndef TG_BATCH_THREAD_H
#define TG_BATCH_THREAD_H

#include <sys/queue.h>
#include <uv.h>

#define TG_BATCH_THREAD_BATCH_MAX 256

typedef struct tg_work_item_s tg_work_item_t;
typedef TAILQ_HEAD(tg_work_list_s, tg_work_item_s) tg_work_list_t;

/* A work item, embedded in the caller's struct. */
struct tg_work_item_s {
    TAILQ_ENTRY(tg_work_item_s) next;
    /* Called in the loop, in the order in which the items were added. */
    void (*done)(tg_work_item_t *work);
};

typedef struct {
    uv_loop_t *loop;
    uv_work_t req;
    tg_work_list_t waiting;
    tg_work_list_t batch;
    int is_busy;

    /* Runs all items of a batch, in a thread. */
    void (*run)(void *host, const tg_work_list_t *batch);

    /* Called in the loop when the queue becomes empty. May be NULL. */
    void (*idle)(void *host);
    void *host;
} tg_batch_thread_t;

/* Initializes a queue with the members of these names. */
void tg_batch_thread_init(tg_batch_thread_t *thread, uv_loop_t *loop,
                          void (*run)(void *host, const tg_work_list_t *batch),
                          void (*idle)(void *host), void *host);

/* Adds an item; work->done is called after this function has returned. */
void tg_batch_thread_add(tg_batch_thread_t *thread, tg_work_item_t *work);

int tg_batch_thread_is_idle(const tg_batch_thread_t *thread);

#endif
