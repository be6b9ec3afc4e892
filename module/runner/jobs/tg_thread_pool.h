/*
 * Thread pool for long work on behalf of clients, such as a search for a
 * pattern. The task stores alone use libuv's own pool: if clients' work waited
 * there, tasks would have to wait for it.
 *
 * run() does one time slice of a work. A work that needs more is queued after
 * other unfinished works, separately from new ones. Only one thread at a time
 * runs new works, and always prefers them; the other threads run unfinished
 * works. So a short work waits only for the short first slices of other new
 * works, and for at most one long slice.
 */
#ifndef TG_THREAD_POOL_H
#define TG_THREAD_POOL_H

#include <sys/queue.h>
#include <uv.h>

/*
 * Number of threads. More would take CPU time from the processes that serve all
 * clients.
 */
#define TG_THREAD_POOL_SIZE 2

/* Nice value of the threads, below the priority of the event loops. */
#define TG_THREAD_POOL_NICE 5

/* Maximum number of works in the pool. More are rejected. */
#define TG_THREAD_POOL_WORKS_MAX 256

typedef struct tg_thread_pool_s tg_thread_pool_t;
typedef struct tg_thread_work_s tg_thread_work_t;

/* One work. Embedded in the object that it works on. */
struct tg_thread_work_s {
    TAILQ_ENTRY(tg_thread_work_s) next;

    /*
     * Runs one time slice in a thread. Returns 1 if the work needs another
     * slice, 0 if it is finished. The first slice must be short, about a
     * millisecond.
     */
    int (*run)(tg_thread_work_t *work);

    /* Called once in the loop, after the last time slice. */
    void (*done)(tg_thread_work_t *work);
};

/*
 * Starts the threads. Returns NULL if there is no memory or no thread could
 * start.
 */
tg_thread_pool_t *tg_thread_pool_new(uv_loop_t *loop);

/*
 * Queues a work. Returns 0, or -1 if the pool has TG_THREAD_POOL_WORKS_MAX
 * works already.
 */
int tg_thread_pool_add(tg_thread_pool_t *threads, tg_thread_work_t *work);

/* Ends the threads and frees the pool. The pool must be empty. */
void tg_thread_pool_close(tg_thread_pool_t *threads);

#endif
