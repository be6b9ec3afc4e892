/*
 * All jobs of the runner: queued jobs, running jobs and their limits.
 *
 * A job keeps its slot as long as any resource of the job is left, because
 * slots bound the load of the machine. Its limits (tg_limit.h) bound calls and
 * may be released earlier: see tg_job_unref_limits().
 */
#ifndef TG_JOBS_H
#define TG_JOBS_H

#include "base/tg_list.h"
#include "protocol/tg_peer.h"
#include "runner/output/tg_output_store.h"
#include "runner/jobs/tg_limit.h"
#include "transport/tg_uv_sched.h"

#include <sys/queue.h>

/*
 * Maximum number of programs that run at the same time. This many keep any
 * machine busy.
 */
#define TG_JOBS_RUNNING_MAX 64

/*
 * Maximum number of queued calls. Above it, an immediate failure is better than
 * a late result.
 */
#define TG_JOBS_QUEUE_MAX 1024

/*
 * Maximum size of the parameters of all calls together, in bytes. The largest
 * part is standard input.
 */
#define TG_JOBS_BYTES_MAX 268435456

/*
 * Interval in ms at which the runner checks again whether a peer that reads too
 * slowly can be served.
 */
#define TG_JOBS_RETRY_MS 20

/*
 * Time in ms to adopt a detached job. A worker takes over a session in
 * milliseconds, a machine under load in seconds.
 */
#define TG_DETACHED_MS 30000

typedef struct tg_jobs_s tg_jobs_t;
typedef struct tg_job_s tg_job_t;
typedef TAILQ_HEAD(tg_job_list_s, tg_job_s) tg_job_list_t;

typedef struct {
    /*
     * Checks whether a call of this peer may start, or the peer has too much
     * unread output. If not, the check is repeated soon.
     */
    int (*can_start)(void *host, tg_peer_t *peer);

    /*
     * Checks whether a large response may be written to this peer now, or the
     * peer has too many unread bytes. If not, the host calls
     * tg_jobs_on_peer_drained() later.
     */
    int (*can_respond)(void *host, tg_peer_t *peer);

    /*
     * Checks whether a progress notification may be sent to this peer now. If
     * not, the check is repeated soon.
     */
    int (*can_notify)(void *host, tg_peer_t *peer);

    /*
     * Called after a message was written to the peer outside the handling of
     * the peer's own input.
     */
    void (*notified)(void *host, tg_peer_t *peer);

    /* Called when no job is left, not even a detached one. */
    void (*idle)(void *host);
} tg_jobs_ops_t;

struct tg_jobs_s {
    uv_loop_t *loop;
    tg_uv_sched_t sched; /* scheduler of the runner's loop */
    const tg_jobs_ops_t *ops;
    void *host;
    uv_timer_t retry_timer;          /* next attempt to start queued jobs */
    tg_output_store_t *output_store; /* storage of large results, or NULL */
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

/*
 * Continues large responses. Called when a peer has read what was written to
 * it.
 */
void tg_jobs_on_peer_drained(tg_jobs_t *jobs);

/* --- queue, slots and limits of a job --- */

/* Acquires the limits of the job. TG_NOMEM: the job has acquired none. */
int tg_job_ref_limits(tg_job_t *job);

/* Appends the job to the queue. */
void tg_job_enqueue(tg_job_t *job);

/* Moves the job from the queue to the running jobs, with or without a slot. */
void tg_job_move_to_running(tg_job_t *job);

/* Removes the job from the list that contains it. */
void tg_job_remove_from_list(tg_job_t *job);

/* Releases the limits of the job. Returns 1 if the job had any. */
int tg_job_unref_limits(tg_job_t *job);

/*
 * Returns the first limit of the job that is exhausted, and the name of its
 * directive in *name. Returns NULL if there is none.
 */
const tg_limit_t *tg_job_find_busy_limit(const tg_job_t *job,
                                         const char **name);

/*
 * printf() format of the current load. Arguments: nrunning, nqueued, "s" or ""
 * for the verb.
 */
#define TG_JOBS_LOAD_FORMAT "%u programs are running and %u wait%s"

#endif
