/*
 * The job type `exec`: runs one program, from its start to the end of its last
 * process.
 *
 * While the job is RUNNING, first the main process runs, then its outputs are
 * drained, because a descendant may still write. The job keeps its slot until
 * all processes have ended. It releases its limits as soon as the call is
 * answered or dropped and the main process has ended. So the main processes of
 * calls never exceed a limit, even if a program ignores SIGTERM; but a client
 * with a response may call again while background processes of the program are
 * still being ended.
 */
#ifndef TG_EXEC_H
#define TG_EXEC_H

#include "runner/exec/tg_exec_output.h"
#include "runner/exec/tg_exec_params.h"
#include "runner/process/tg_program.h"
#include "runner/jobs/tg_job.h"

/*
 * Receives the outputs as they arrive, instead of the response or in addition
 * to it.
 */
typedef void (*tg_exec_sink_pt)(void *data, int is_err, tg_str_t bytes);

/* Default timeout in ms. */
#define TG_EXEC_TIMEOUT_DEFAULT 60000

/*
 * Time in ms during which descendants may still write after the main process
 * has ended.
 */
#define TG_EXEC_DRAIN_MS 200

/*
 * Size in bytes of the largest pipe that a program without privileges can
 * create.
 */
#define TG_EXEC_PIPE_MAX 1048576

/* Indices of the runner's pipe ends, equal to the program's descriptors. */
enum {
    TG_EXEC_IN,
    TG_EXEC_OUT,
    TG_EXEC_ERR,
    TG_EXEC_PROGRESS
};

typedef struct {
    tg_job_t *job;
    tg_programs_t *programs;
    tg_exec_params_t params;
    tg_program_t program; /* the program; its timer also ends the drain */

    tg_exec_output_t output;

    /* Receiver of outputs; NULL: stdout becomes the response. */
    tg_exec_sink_pt sink;

    void *sink_data;
    int is_answer_copied;  /* output goes to the sink and into the response */
    unsigned nreading;     /* number of outputs that are still open */
    int has_progress;      /* the last read found new progress */
    int has_sent_progress; /* the last progress before the response was sent */
    int is_complete;       /* the response waits or is being written */
    int is_answering;      /* the response is being written */
    tg_exec_response_t answer;

    /* Waits for permission to write a large response. */
    tg_sched_source_t source;

    uv_pipe_t pipes[TG_SPAWN_FDS];
    tg_uv_stream_reader_t readers[TG_SPAWN_FDS]; /* readers of the outputs */
    unsigned open_pipes;                         /* bit set of open pipes */
    uv_write_t write;
} tg_exec_t;

/* The job type. The host of its jobs is a tg_programs_t. */
extern const tg_job_type_t tg_exec_job_type;

/*
 * Sends the outputs of a job that is not submitted yet to a sink. If
 * is_answer_copied is set, the response contains them as well.
 */
void tg_exec_set_sink(tg_job_t *job, tg_exec_sink_pt sink, void *data,
                      int is_answer_copied);

/* Pauses reading the outputs of a running job. */
void tg_exec_pause(tg_job_t *job);

/* Resumes reading the outputs. */
void tg_exec_resume(tg_job_t *job);

/*
 * Starts the program and opens the runner's pipe ends (tg_exec_start.c). *input
 * gets the part of the input that did not fit into the pipe. Returns 0, or an
 * errno value after it has failed the call.
 */
int tg_exec_spawn(tg_exec_t *exec, tg_str_t *input);

/*
 * Writes the response until the time slice is over (tg_exec_response.c). The
 * end of the response also ends the job.
 */
void tg_exec_write_response(tg_sched_source_t *source);

/* Stops writing the response and frees its memory. */
void tg_exec_end_response(tg_exec_t *exec);

/*
 * Fails the call and stops the job because of its output. `rc` is the result of
 * tg_exec_output_add_stdout() or tg_exec_output_add_stderr().
 */
void tg_exec_on_overflow(tg_exec_t *exec, int rc);

/*
 * Ends the remaining processes after the response, or when the caller waits no
 * longer. For is_forced see tg_program_end().
 */
void tg_exec_end_processes(tg_exec_t *exec, int is_forced);

#endif
