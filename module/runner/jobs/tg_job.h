/*
 * A job: one call that takes time. The job type (tg_job_type_t) does the work;
 * this file handles the queue, deadlines, limits, progress and the response.
 *
 *   QUEUED ──▶ RUNNING ──▶ ENDING ──▶ DONE
 *      └──────────┴─────────────────▶
 *
 * The call is answered once, unless the caller dropped it. A detached job
 * (tg_job_detach.h) has no call and stores its progress and result. A job is
 * freed when it is DONE, not detached, and its handles are closed.
 */
#ifndef TG_JOB_H
#define TG_JOB_H

#include "runner/jobs/tg_job_result.h"
#include "runner/jobs/tg_job_params.h"
#include "runner/jobs/tg_jobs.h"
#include "runner/jobs/tg_progress.h"

/* Minimum time between progress notifications, in ms; enough for people. */
#define TG_JOB_PROGRESS_INTERVAL_MS 50

/* Minimum time between the last progress and the response, in ms. */
#define TG_JOB_PROGRESS_GAP_MS 10

/* Size in bytes. Only one job at a time writes a response larger than this. */
#define TG_JOB_LARGE_RESPONSE 65536

/* Stored results, in bytes, at which no queued detached job is started. */
#define TG_DETACHED_BACKLOG 67108864
#define TG_HANDOFF_TOKEN_MAX 64

typedef enum {
    TG_JOB_QUEUED,  /* waits for a slot or a limit */
    TG_JOB_RUNNING, /* the work is in progress */
    TG_JOB_ENDING,  /* answered or cancelled; the work is being stopped */
    TG_JOB_DONE     /* the work is over and its resources are released */
} tg_job_state_t;

/* A job type. `host` is an object that all jobs of the type share. */
typedef struct {
    const char *name; /* name of the method */

    /* Params that only this type has (tg_job_params.h), or NULL. */
    const tg_json_field_t *fields;

    uint64_t timeout_ms; /* default of timeout_ms */

    int needs_no_slot; /* the job may run without a slot */

    /*
     * Parses the type's params, sets job->work and adds its size to job->bytes.
     * Returns the codes of tg_job_params_read().
     */
    int (*read)(tg_job_t *job, const tg_str_t *values, const char **why);

    /*
     * Starts the work. Returns 0, or -1 after it has failed the call. NULL: the
     * job is never queued.
     */
    int (*start)(tg_job_t *job);

    /*
     * Ends the unwanted work of a job that is ENDING. Must call
     * tg_job_set_done(), when the last resource is released.
     */
    void (*stop)(tg_job_t *job);

    void (*free)(tg_job_t *job);

    /* Reads progress. Returns 1 if the value increased. May be NULL. */
    int (*poll_progress)(tg_job_t *job);

    /* Lets the type read more progress after a notification. May be NULL. */
    void (*resume_progress)(tg_job_t *job);

    /* Returns the pid of the process that works, or 0. May be NULL. */
    pid_t (*pid)(const tg_job_t *job);
} tg_job_type_t;

/* Owner of a job that the runner itself created, without a caller. */
typedef struct {
    /* Called when the job starts running. Its deadline counts from now. */
    void (*on_started)(tg_job_t *job);

    /* Receives the job's result, once, unless the job was cancelled. */
    void (*answer)(tg_job_t *job, const tg_buf_t *json);

    /* Called before the job is freed. */
    void (*on_gone)(tg_job_t *job);
} tg_job_owner_t;

struct tg_job_s {
    tg_jobs_t *jobs;
    const tg_job_type_t *type;
    void *host; /* object that all jobs of the type share */
    void *work; /* data of the job type */
    tg_job_state_t state;
    tg_job_params_t params;
    size_t bytes;
    tg_call_t *call;             /* NULL when answered, dropped or detached */
    const tg_job_owner_t *owner; /* NULL if the job has a caller */
    void *owner_data;

    /* Link in the queue, in `slots` or in `without_slot` (tg_jobs.c). */
    TAILQ_ENTRY(tg_job_s) link;
    tg_limit_t *limits[TG_JOB_LIMITS_MAX];
    unsigned nlimits; /* number of limits; 0 after they were released */
    int has_started;

    /* Times of the loop's clock, in ms. */
    uint64_t submitted_at;
    uint64_t started_at;
    uint64_t ended_at; /* time of the end; 0 while the work continues */
    const char *rule;  /* directive that failed the job, or NULL */

    tg_progress_t progress;
    uint64_t progress_sent_at;

    /* Log messages that wait, one per line (tg_job_message.h). */
    tg_buf_t messages;
    unsigned nmessages_omitted;

    /* Link in the queue for large responses (tg_job_respond.c). */
    TAILQ_ENTRY(tg_job_s) writing;
    tg_sched_source_t *source; /* NULL if the job is not in that queue */

    /* State of a detached job. `detached_until` is a loop time in ms. */
    TAILQ_ENTRY(tg_job_s) detached;
    uint64_t detached_until;
    char token[TG_HANDOFF_TOKEN_MAX];
    size_t token_len; /* length of the handoff token; 0: not detached */
    tg_buf_t answer;
    int has_answer;

    uv_timer_t timer;          /* deadline of the job */
    uv_timer_t progress_timer; /* time of the next progress notification */
    unsigned nhandles;
};

/* Creates a job, not queued yet. Returns the codes of tg_job_params_read(). */
int tg_job_create(tg_jobs_t *jobs, const tg_job_type_t *type, void *host,
                  tg_str_t raw, tg_job_t **job, const char **why);

/*
 * Queues the job and starts its deadline; without start() it is RUNNING at
 * once. The caller must set job->call or detach the job. TG_NOMEM: the job is
 * freed.
 */
int tg_job_submit(tg_job_t *job);

/* Frees a job that was not submitted. */
void tg_job_discard(tg_job_t *job);

void tg_jobs_start_queued(tg_jobs_t *jobs);

/* Cancels the job: drops its call and ends its work. No result is sent. */
void tg_job_cancel(tg_job_t *job);

/* Frees a job that is not detached any more, if its handles are closed. */
void tg_job_free_if_closed(tg_job_t *job);

/* --- functions for job types --- */

/* Records the end of the work and stops the deadline timer. */
void tg_job_on_work_ended(tg_job_t *job);

/* Sets the state ENDING after the response, while resources remain. */
void tg_job_set_ending(tg_job_t *job);

void tg_job_stop(tg_job_t *job);

/* Sets the state DONE and gives the slot back. No resource may be left. */
void tg_job_set_done(tg_job_t *job);

/* Releases the limits, maybe before DONE, when only the slot is in use. */
void tg_job_release_limits(tg_job_t *job);

/* Handles progress. If has_progress is 1, it extends the deadline. */
void tg_job_on_progress(tg_job_t *job, int has_progress);

void tg_job_ref_handle(tg_job_t *job);

/* Counts one closed handle. The last one frees the job, or only its work. */
void tg_job_unref_handle(tg_job_t *job);

/* --- response and progress (tg_job_respond.c) --- */

/* Checks whether the job has a caller, an owner, or may be adopted. */
int tg_job_is_wanted(const tg_job_t *job);

/*
 * Asks to write a large response. One job at a time may, while its peer reads
 * fast enough, so that small responses do not wait for large ones. Returns 0 if
 * it must wait: the scheduler then runs `source`, which calls this again.
 */
int tg_job_acquire_writer(tg_job_t *job, tg_sched_source_t *source);

/* Gives the permission back, or leaves the queue of jobs that wait for it. */
void tg_job_release_writer(tg_job_t *job);

/*
 * Sends the remaining progress, then `json`. A detached job takes over and
 * stores the content. Does nothing if nobody wants the result.
 */
void tg_job_respond(tg_job_t *job, tg_buf_t *json);

/* Responds with a failure. `format` is a printf() format of its message. */
void tg_job_fail(tg_job_t *job, tg_failure_t failure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void tg_job_fail_timeout(tg_job_t *job);

/* Checks whether max_timeout_ms have passed since the submission. */
int tg_job_is_past_max_timeout(const tg_job_t *job);

tg_run_stats_t tg_job_get_run_stats(const tg_job_t *job);

/* Sends new progress now, or after TG_JOB_PROGRESS_INTERVAL_MS. */
void tg_job_notify_progress(tg_job_t *job);

/* Sends new progress in the next loop iteration. */
void tg_job_notify_progress_soon(tg_job_t *job);

/* Sends progress now. Returns 1 if some was sent in TG_JOB_PROGRESS_GAP_MS. */
int tg_job_flush_progress(tg_job_t *job);

/* Sends new progress for `request`, before its response. */
void tg_job_notify_progress_to(tg_job_t *job, tg_peer_t *peer,
                               const tg_request_t *request);

#endif
