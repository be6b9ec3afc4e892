/*
 * Work that may wait for a disk, done one after the other by a thread of
 * libuv's pool: what has gathered while that was busy is done as one batch.
 */
#ifndef TG_LANE_H
#define TG_LANE_H

#include <sys/queue.h>
#include <uv.h>

/* Works of a batch: none of them waits for more than so many others. */
#define TG_LANE_BATCH 256

typedef struct tg_work_s tg_work_t;
typedef TAILQ_HEAD(tg_works_s, tg_work_s) tg_works_t;

/* Embedded in what it is about. */
struct tg_work_s {
    TAILQ_ENTRY(tg_work_s) next;
    void (*done)(tg_work_t *work); /* in the loop, in the order of asking */
};

typedef struct {
    uv_loop_t *loop;
    uv_work_t req;
    tg_works_t waiting;
    tg_works_t batch;
    int is_busy;

    /* In a thread: does all of a batch. */
    void (*run)(void *host, const tg_works_t *batch);

    /* In the loop: nothing is left to do.  May be NULL. */
    void (*idle)(void *host);
    void *host;
} tg_lane_t;

void tg_lane_init(tg_lane_t *lane, uv_loop_t *loop,
                  void (*run)(void *host, const tg_works_t *batch),
                  void (*idle)(void *host), void *host);

/* work->done follows, never from within this. */
void tg_lane_add(tg_lane_t *lane, tg_work_t *work);

int tg_lane_is_idle(const tg_lane_t *lane);

#endif
