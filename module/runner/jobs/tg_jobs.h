/*
 * All jobs: who waits, who runs, and of which limits.
 *
 * A slot is for as long as anything of a job is left, as slots bound what
 * the machine has to carry.  The places of its limits (tg_limit.h), which
 * bound calls, are given back earlier: see tg_job_unref_limits().
 */
#ifndef TG_JOBS_H
#define TG_JOBS_H

#include "protocol/tg_peer.h"
#include "runner/output/tg_output_store.h"
#include "runner/jobs/tg_limit.h"
#include "transport/tg_uv_sched.h"

#include <sys/queue.h>

/* Programs at once: enough to keep any machine busy. */
#define TG_JOBS_RUNNING_MAX 64
/* Calls that wait; beyond it an answer now is worth more than one later. */
#define TG_JOBS_QUEUE_MAX 1024
/* Bytes of parameters, standard inputs above all, of all calls together. */
#define TG_JOBS_BYTES_MAX 268435456
/* When to ask again for a peer that reads too slowly to be served. */
#define TG_JOBS_RETRY_MS 20
/*
 * How long somebody has time to adopt a job that is held: a worker takes over
 * a session in milliseconds, a machine under load in seconds.
 */
#define TG_DETACHED_MS 30000

typedef struct tg_jobs_s tg_jobs_t;
typedef struct tg_job_s tg_job_t;
typedef TAILQ_HEAD(tg_job_list_s, tg_job_s) tg_job_list_t;

typedef struct {
    /*
     * May a call of this peer be started, or has the peer too much unread?
     * It is asked again soon.
     */
    int (*can_start)(void *host, tg_peer_t *peer);

    /*
     * May a large answer be written to this peer now, or are there too many
     * bytes that it has not taken?  tg_jobs_on_peer_drained() follows then.
     */
    int (*can_respond)(void *host, tg_peer_t *peer);

    /* May it be told of progress now?  If not, it is asked again soon. */
    int (*can_notify)(void *host, tg_peer_t *peer);

    /* Something was written to the peer outside its own input. */
    void (*notified)(void *host, tg_peer_t *peer);

    /* The last job is gone, and none is held. */
    void (*idle)(void *host);
} tg_jobs_ops_t;

struct tg_jobs_s {
    uv_loop_t *loop;
    tg_uv_sched_t sched; /* of the runner's loop */
    const tg_jobs_ops_t *ops;
    void *host;
    uv_timer_t retry_timer; /* of jobs that wait */
    tg_output_store_t
        *output_store; /* where large results are stored; NULL: nowhere */
    tg_limit_t *limits;

    tg_job_list_t queue; /* first come */
    tg_job_list_t slots;
    tg_job_list_t without_slot; /* they run without a slot */
    tg_job_t *next; /* in the queue: whose turn it is to be looked at */
    unsigned nqueued;
    unsigned nrunning; /* slots in use */
    unsigned njobs;    /* all, those that only wait for their handles too */
    size_t bytes;
    uint64_t nstarted;

    tg_job_t *writing;          /* its large answer is being written; or NULL */
    tg_job_list_t writer_queue; /* wait with large ones, first come */

    tg_job_list_t detached; /* the oldest first, which expires first */
    unsigned ndetached;
    size_t detached_bytes;   /* of answers */
    uint64_t detached_ms;    /* how long; TG_DETACHED_MS */
    uv_timer_t detach_timer; /* of the oldest */
};

void tg_jobs_init(tg_jobs_t *jobs, uv_loop_t *loop, const tg_jobs_ops_t *ops,
                  void *host);

/* Closes the handles; only when there is no job any more. */
void tg_jobs_close(tg_jobs_t *jobs);

/* A peer has taken what was written to it. */
void tg_jobs_on_peer_drained(tg_jobs_t *jobs);

/* --- a job's places; TG_NOMEM leaves it without any --- */

int tg_job_ref_limits(tg_job_t *job);
void tg_job_enqueue(tg_job_t *job);
void tg_job_move_to_running(
    tg_job_t *job); /* out of the queue, into a slot or so */
void tg_job_remove_from_list(tg_job_t *job); /* whichever it is in */

/* Gives the places of its limits back; says whether there were any. */
int tg_job_unref_limits(tg_job_t *job);

/* The first of its limits that has no place for it, or NULL. */
const tg_limit_t *tg_job_find_busy_limit(const tg_job_t *job,
                                         const char **name);

/* Of nrunning, nqueued, and the end of what these do. */
#define TG_JOBS_LOAD_FORMAT "%u programs are running and %u wait%s"

#endif
