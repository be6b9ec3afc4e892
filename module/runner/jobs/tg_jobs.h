/*
 * All jobs of the runner: queued jobs, running jobs and their limits. A job
 * keeps its slot, which bounds the machine's load, as long as it has a
 * resource. Its limits (tg_limit.h) may be released earlier: see
 * tg_job_unref_limits().
 */
#ifndef TG_JOBS_H
#define TG_JOBS_H

#include "base/tg_list.h"
#include "protocol/tg_request.h"
#include "runner/jobs/tg_limit.h"
#include "transport/tg_uv_sched.h"

#include <sys/queue.h>

/* Maximum number of running programs; this many keep any machine busy. */
#define TG_JOBS_RUNNING_MAX 64

/* Maximum number of queued calls; then a failure is better than waiting. */
#define TG_JOBS_QUEUE_MAX 1024

/* Maximum size of all calls' params, in bytes; mostly standard input. */
#define TG_JOBS_BYTES_MAX 268435456

/* Interval of checks whether a slow peer has read enough, in ms. */
#define TG_JOBS_RETRY_MS 20

/* Time to adopt a detached job, in ms, enough on a loaded machine. */
#define TG_DETACHED_MS 30000

typedef struct tg_jobs_s tg_jobs_t;
typedef struct tg_job_s tg_job_t;
typedef TAILQ_HEAD(tg_job_list_s, tg_job_s) tg_job_list_t;

typedef struct {
    /*
     * Checks whether a call of this peer may start, or too much of its output
     * is unread. The check is repeated then.
     */
    int (*can_start)(void *host, tg_peer_t *peer);

    /*
     * Checks whether this peer may get a large response now. If not, the host
     * calls tg_jobs_on_peer_drained() later.
     */
    int (*can_respond)(void *host, tg_peer_t *peer);

    /* Checks whether progress may be sent now. If not, it is asked again. */
    int (*can_notify)(void *host, tg_peer_t *peer);

    /* Called after a message that was not caused by the peer's own input. */
    void (*notified)(void *host, tg_peer_t *peer);

    /* Called when no job is left, even a detached one. */
    void (*idle)(void *host);
} tg_jobs_ops_t;

struct tg_jobs_s {
    uv_loop_t *loop;
    tg_uv_sched_t sched; /* scheduler of the runner's loop */
    const tg_jobs_ops_t *ops;
    void *host;
    uv_timer_t retry_timer; /* next attempt to start queued jobs */
    struct tg_output_store_s *output_store; /* of large results, or NULL */
    tg_limit_t *limits;

    tg_job_list_t queue; /* queued jobs, oldest first */
    tg_job_list_t slots;
    tg_job_list_t without_slot; /* running jobs without a slot */
    tg_job_t *next; /* next queued job that tg_jobs_start_queued() checks */
    unsigned nqueued;
    unsigned nrunning; /* number of slots in use */
    unsigned njobs;    /* all jobs, also DONE ones whose handles are open */
    size_t bytes;
    uint64_t nstarted;

    /* Job whose large response is being written, or NULL. */
    tg_job_t *writing;

    /* Jobs that wait to write a large response, oldest first. */
    tg_job_list_t writer_queue;

    tg_job_list_t detached; /* detached jobs, the next to expire first */
    unsigned ndetached;
    size_t detached_bytes;   /* size of the stored results of detached jobs */
    uint64_t detached_ms;    /* time to adopt a job; default TG_DETACHED_MS */
    uv_timer_t detach_timer; /* expiry of the oldest detached job */
};

void tg_jobs_init(tg_jobs_t *jobs, uv_loop_t *loop, const tg_jobs_ops_t *ops,
                  void *host);

/* Closes the handles. No job may be left. */
void tg_jobs_close(tg_jobs_t *jobs);

/* Continues large responses, when a peer has read its output. */
void tg_jobs_on_peer_drained(tg_jobs_t *jobs);

/* --- queue, slots and limits of a job --- */

/* Acquires the job's limits. TG_NOMEM: it has acquired none. */
int tg_job_ref_limits(tg_job_t *job);

void tg_job_enqueue(tg_job_t *job);

/* Moves the job from the queue to the running jobs, maybe without a slot. */
void tg_job_move_to_running(tg_job_t *job);

void tg_job_remove_from_list(tg_job_t *job);

/* Releases the limits of the job. Returns 1 if the job had any. */
int tg_job_unref_limits(tg_job_t *job);

/* Returns the first exhausted limit and its directive's *name, or NULL. */
const tg_limit_t *tg_job_find_busy_limit(const tg_job_t *job,
                                         const char **name);

/* printf() format of the load, for nrunning, nqueued, and "s" or "". */
#define TG_JOBS_LOAD_FORMAT "%u programs are running and %u wait%s"

#endif
