/*
 * Threads for work that a client asked for and that may take long, such as a
 * search for a pattern.  libuv's own pool is for the task stores alone: no
 * client's work may wait there, or tasks would wait for it.
 *
 * Works take turns: run() does a time slice, and one that needs more goes to
 * the end of another queue than new ones.  One thread at a time runs new works,
 * and none waits while they do; the others run those that need more.  So a
 * short work waits for the short first slices of other new ones, and for the
 * end of one long slice at most.
 */
#ifndef TG_THREAD_POOL_H
#define TG_THREAD_POOL_H

#include <sys/queue.h>
#include <uv.h>

/* More would take processors from those who serve everybody. */
#define TG_THREAD_POOL_SIZE 2
/* Priority of the threads, below that of the event loops. */
#define TG_THREAD_POOL_NICE 5
/* Works at a time; more are refused. */
#define TG_THREAD_POOL_WORKS_MAX 256

typedef struct tg_thread_pool_s tg_thread_pool_t;
typedef struct tg_thread_work_s tg_thread_work_t;

/* Embedded in what it is about. */
struct tg_thread_work_s {
    TAILQ_ENTRY(tg_thread_work_s) next;
    /*
     * In a thread: 1 if another time slice is needed, 0 at the end.  The first
     * slice must be short, a millisecond or so.
     */
    int (*run)(tg_thread_work_t *work);
    /* In the loop, once, after the last time slice. */
    void (*done)(tg_thread_work_t *work);
};

/* Starts the threads.  NULL: there is no memory, or no thread. */
tg_thread_pool_t *tg_thread_pool_new(uv_loop_t *loop);

/* Queues work: 0, or -1 when TG_THREAD_POOL_WORKS_MAX are queued already. */
int tg_thread_pool_add(tg_thread_pool_t *threads, tg_thread_work_t *work);

/* Ends the threads and frees them; there is no work left. */
void tg_thread_pool_close(tg_thread_pool_t *threads);

#endif
