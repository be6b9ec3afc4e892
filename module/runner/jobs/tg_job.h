/*
 * A job: one call that takes time, from its arrival to the last that is left
 * of it.  What it does is its kind's business; when, for how long, for whom
 * and how many at once is the same for all.
 *
 *   QUEUED ──▶ RUNNING ──▶ ENDING ──▶ DONE
 *      └──────────┴─────────────────▶
 *
 * Its call is answered on the way, once, unless the caller dropped it.  A job
 * that is held (tg_job_detach.h) has no call, and keeps what it has to say.  It
 * is freed when it is DONE, not held, and its handles are closed.
 */
#ifndef TG_JOB_H
#define TG_JOB_H

#include "runner/jobs/tg_job_result.h"
#include "runner/jobs/tg_job_params.h"
#include "runner/jobs/tg_jobs.h"
#include "runner/jobs/tg_progress.h"

/*
 * Between two notifications of progress: as often as a person wants to hear
 * of it.
 */
#define TG_JOB_PROGRESS_INTERVAL_MS 50
/* Between the last one and the answer. */
#define TG_JOB_PROGRESS_GAP_MS 10
/* An answer that is larger is written in its turn. */
#define TG_JOB_LARGE_RESPONSE 65536
/* Bytes of kept answers at which no held job is started that waits. */
#define TG_DETACHED_BACKLOG 67108864
#define TG_HANDOFF_TOKEN_MAX 64

typedef enum {
    TG_JOB_QUEUED,  /* waits for a slot or a place */
    TG_JOB_RUNNING, /* does what it is for */
    TG_JOB_ENDING,  /* nobody waits; what is left of it is being ended */
    TG_JOB_DONE     /* nothing is left */
} tg_job_state_t;

/* A kind of job.  host is what its jobs share. */
typedef struct {
    const char *name; /* of its method */

    /* Its own members of params (tg_job_params.h), NULL at the end. */
    const char *const *members;

    uint64_t timeout_ms; /* the deadline when none was given */

    int needs_no_slot; /* it runs there: it needs no slot */

    /*
     * Reads its members and sets job->work; adds what that takes to
     * job->bytes.  Returns as tg_job_params_read().
     */
    int (*read)(tg_job_t *job, const tg_str_t *values, const char **why);

    /*
     * Starts the work: 0, or -1 when it has failed the call instead.  NULL:
     * it runs from the beginning, and waits for no place.
     */
    int (*start)(tg_job_t *job);

    /*
     * Nobody waits any more, the job is ENDING: ends the work, and calls
     * tg_job_set_done(), now or when nothing is left of it.
     */
    void (*stop)(tg_job_t *job);

    /* Frees job->work. */
    void (*free)(tg_job_t *job);

    /*
     * Both may be NULL.  Takes what progress there is right now: says whether
     * it rose.  And: progress was told, now there may be more.
     */
    int (*poll_progress)(tg_job_t *job);
    void (*resume_progress)(tg_job_t *job);

    /* The process that does the work, 0: there is none.  May be NULL. */
    pid_t (*pid)(const tg_job_t *job);
} tg_job_type_t;

/* Of a job that the runner itself has asked for: nobody else waits for it. */
typedef struct {
    /* It RUNS; its deadline is from now on. */
    void (*on_started)(tg_job_t *job);

    /* Its answer, which is the job's own; once, and not if it is cancelled. */
    void (*answer)(tg_job_t *job, const tg_buf_t *json);

    /* Nothing is left of it, and it is freed. */
    void (*on_gone)(tg_job_t *job);
} tg_job_owner_t;

struct tg_job_s {
    tg_jobs_t *jobs;
    const tg_job_type_t *kind;
    void *host; /* of the kind */
    void *work; /* the kind's own */
    tg_job_state_t state;
    tg_job_params_t params;
    size_t bytes;
    tg_call_t *call; /* NULL once answered or dropped, and while held */
    const tg_job_owner_t *owner; /* NULL: it is a caller's */
    void *owner_data;

    /* Of tg_jobs.c: its place in the queue, among the slots or elsewhere. */
    TAILQ_ENTRY(tg_job_s) link;
    tg_limit_t *limits[TG_JOB_LIMITS_MAX];
    unsigned nlimits; /* 0 when the places are given back */
    int has_started;

    /* As of the loop's clock. */
    uint64_t submitted_at;
    uint64_t started_at;
    uint64_t ended_at; /* 0: its work goes on */
    const char *rule;  /* the directive by which it failed, or NULL */

    tg_progress_t progress;
    uint64_t progress_sent_at;

    /* Of tg_job_respond.c: it waits with a large answer. */
    TAILQ_ENTRY(tg_job_s) writing;
    tg_sched_source_t *source; /* NULL: it does not */

    /* Of tg_job_detach.c. */
    TAILQ_ENTRY(tg_job_s) detached;
    uint64_t detached_until;
    char token[TG_HANDOFF_TOKEN_MAX];
    size_t token_len; /* 0: it is not held */
    tg_buf_t answer;
    int has_answer;

    uv_timer_t timer;          /* the deadline */
    uv_timer_t progress_timer; /* until the next notification of progress */
    unsigned nhandles;
};

/*
 * Reads what is asked of a new job, which then waits for nothing yet.
 * Returns as tg_job_params_read().
 */
int tg_job_create(tg_jobs_t *jobs, const tg_job_type_t *kind, void *host,
                  tg_str_t raw, tg_job_t **job, const char **why);

/*
 * Queues it; the deadline runs from now.  One that has no start RUNS at once.
 * The caller sets its call or holds it.  TG_NOMEM: it is freed.
 */
int tg_job_submit(tg_job_t *job);

/* Frees one that did not enter. */
void tg_job_discard(tg_job_t *job);

/* Starts of those that wait what may be started. */
void tg_jobs_start_queued(tg_jobs_t *jobs);

/* Nobody waits for the answer any more, nor is it held. */
void tg_job_cancel(tg_job_t *job);

/* It is not held any more. */
void tg_job_free_if_closed(tg_job_t *job);

/* --- for the kinds --- */

/* The work has ended: from here on there is no deadline. */
void tg_job_on_work_ended(tg_job_t *job);

/* It was answered, though something may be left that has to be ended. */
void tg_job_set_ending(tg_job_t *job);

/* The same, and the kind is to end what is left: its stop() is called. */
void tg_job_stop(tg_job_t *job);

/* Nothing is left of it. */
void tg_job_set_done(tg_job_t *job);

/* The places of its limits are free, as nothing of the call itself is left. */
void tg_job_release_limits(tg_job_t *job);

/* Progress was read; has_risen: the deadline is put off. */
void tg_job_on_progress(tg_job_t *job, int has_progress);

/* Counts a handle of the kind's; the last one that closes frees the job. */
void tg_job_ref_handle(tg_job_t *job);
void tg_job_unref_handle(tg_job_t *job);

/* --- tg_job_respond.c: what the caller hears --- */

/* Is there anybody who waits, now or as the one who will adopt it? */
int tg_job_is_wanted(const tg_job_t *job);

/*
 * May a large answer be written and told now?  Only one is at a time, and only
 * while its peer takes what it gets: so small answers do not wait for many
 * large ones.  0: the source waits, and its run() asks again.  After 1,
 * tg_job_release_writer() follows, as it may after 0.
 */
int tg_job_acquire_writer(tg_job_t *job, tg_sched_source_t *source);
void tg_job_release_writer(tg_job_t *job);

/*
 * Answers the call, or keeps the answer, which is then taken over, for
 * whoever adopts the job.  Last progress is told before it.  Nothing happens
 * when nobody wants it.
 */
void tg_job_respond(tg_job_t *job, tg_buf_t *json);
void tg_job_fail(tg_job_t *job, tg_failure_t failure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Answers that its time is over. */
void tg_job_fail_timeout(tg_job_t *job);
int tg_job_is_past_max_timeout(const tg_job_t *job);

tg_run_stats_t tg_job_get_run_stats(const tg_job_t *job);

/*
 * Tells of progress: now, unless that was done just before.  And: soon, not
 * from here.
 */
void tg_job_notify_progress(tg_job_t *job);
void tg_job_notify_progress_soon(tg_job_t *job);

/*
 * Looks for progress that nobody has read, and tells it now.  Says whether
 * somebody has just been told of some.
 */
int tg_job_flush_progress(tg_job_t *job);

/* Tells the caller of request what is new, before its answer. */
void tg_job_notify_progress_to(tg_job_t *job, tg_peer_t *peer,
                               const tg_request_t *request);

#endif
