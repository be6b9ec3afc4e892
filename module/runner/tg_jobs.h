/*
 * All jobs: who waits, who runs, and of which limits.
 *
 * A slot is for as long as anything of a job is left, as slots bound what
 * the machine has to carry.  The places of its limits (tg_limit.h), which
 * bound calls, are given back earlier: see tg_jobs_give_back().
 */
#ifndef TG_JOBS_H
#define TG_JOBS_H

#include "core/tg_peer.h"
#include "runner/spill/tg_spill.h"
#include "runner/tg_limit.h"
#include "uv/tg_uv_sched.h"

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
#define TG_HELD_MS 30000

typedef struct tg_jobs_s tg_jobs_t;
typedef struct tg_job_s tg_job_t;
typedef TAILQ_HEAD(tg_job_list_s, tg_job_s) tg_job_list_t;

typedef struct {
    /*
     * May a call of this peer be started, or has the peer too much unread?
     * It is asked again soon.
     */
    int (*may_start)(void *host, tg_peer_t *peer);

    /*
     * May a large answer be written to this peer now, or are there too many
     * bytes that it has not taken?  tg_jobs_drained() follows then.
     */
    int (*may_answer)(void *host, tg_peer_t *peer);

    /* May it be told of progress now?  If not, it is asked again soon. */
    int (*may_tell)(void *host, tg_peer_t *peer);

    /* Something was written to the peer outside its own input. */
    void (*told)(void *host, tg_peer_t *peer);

    /* The last job is gone, and none is held. */
    void (*idle)(void *host);
} tg_jobs_ops_t;

struct tg_jobs_s {
    uv_loop_t *loop;
    tg_uv_sched_t sched; /* of the runner's loop */
    const tg_jobs_ops_t *ops;
    void *host;
    uv_timer_t retry;    /* of jobs that wait */
    tg_spills_t *spills; /* where large results are stored; NULL: nowhere */
    tg_limit_t *limits;

    tg_job_list_t queue; /* first come */
    tg_job_list_t slots;
    tg_job_list_t elsewhere; /* they run without a slot */
    tg_job_t *next; /* in the queue: whose turn it is to be looked at */
    unsigned nqueued;
    unsigned nrunning; /* slots in use */
    unsigned njobs;    /* all, those that only wait for their handles too */
    size_t bytes;
    uint64_t nstarted;

    tg_job_t *answering;   /* its large answer is being written; or NULL */
    tg_job_list_t answers; /* wait with large ones, first come */

    tg_job_list_t held; /* the oldest first, which expires first */
    unsigned nheld;
    size_t held_bytes; /* of answers */
    uint64_t held_ms;  /* how long; TG_HELD_MS */
    uv_timer_t expiry; /* of the oldest */
};

void tg_jobs_init(tg_jobs_t *jobs, uv_loop_t *loop, const tg_jobs_ops_t *ops,
                  void *host);

/* Closes the handles; only when there is no job any more. */
void tg_jobs_close(tg_jobs_t *jobs);

/* A peer has taken what was written to it. */
void tg_jobs_drained(tg_jobs_t *jobs);

/* --- a job's places; TG_NOMEM leaves it without any --- */

int tg_jobs_take_limits(tg_job_t *job);
void tg_jobs_queue(tg_job_t *job);
void tg_jobs_start(tg_job_t *job); /* out of the queue, into a slot or so */
void tg_jobs_leave(tg_job_t *job); /* whichever it is in */

/* Gives the places of its limits back; says whether there were any. */
int tg_jobs_give_back(tg_job_t *job);

/* The first of its limits that has no place for it, or NULL. */
const tg_limit_t *tg_jobs_blocker(const tg_job_t *job, const char **name);

/* Of nrunning, nqueued, and the end of what these do. */
#define TG_JOBS_LOAD "%u programs are running and %u wait%s"

#endif
