/*
 * Thread pool for clients' long work, such as a search for a pattern. The task
 * stores alone use libuv's own pool, where tasks would wait for that work.
 *
 * run() does one time slice. Unfinished works are queued separately from new
 * ones. One thread at a time prefers and runs new works; the others run
 * unfinished ones. So a short work waits only for short first slices, and for
 * at most one long slice.
 */
#ifndef TG_THREAD_POOL_H
#define TG_THREAD_POOL_H

#include <sys/queue.h>
#include <uv.h>

/* Number of threads; more would take CPU time from other processes. */
#define TG_THREAD_POOL_SIZE 2

/* Nice value of the threads, below the priority of the event loops. */
#define TG_THREAD_POOL_NICE 5

/* Maximum number of works in the pool. More are rejected. */
#define TG_THREAD_POOL_WORKS_MAX 256

typedef struct tg_thread_pool_s tg_thread_pool_t;
typedef struct tg_thread_work_s tg_thread_work_t;

/* One work, embedded in the object that it works on. */
struct tg_thread_work_s {
    TAILQ_ENTRY(tg_thread_work_s) next;

    /*
     * Runs one time slice in a thread. Returns 1 if another is needed. The
     * first one must be short, about a millisecond.
     */
    int (*run)(tg_thread_work_t *work);

    /* Called once in the loop, after the last time slice. */
    void (*done)(tg_thread_work_t *work);
};

/* Starts the threads. Returns NULL if no memory or thread is available. */
tg_thread_pool_t *tg_thread_pool_new(uv_loop_t *loop);

/* Queues a work. Returns -1 if there are TG_THREAD_POOL_WORKS_MAX works. */
int tg_thread_pool_add(tg_thread_pool_t *threads, tg_thread_work_t *work);

/* Ends the threads and frees the pool, which must be empty. */
void tg_thread_pool_close(tg_thread_pool_t *threads);

#endif
