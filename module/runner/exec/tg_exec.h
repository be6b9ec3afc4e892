/*
 * The job type `exec`: runs one program, until its last process has ended.
 *
 * While the job is RUNNING, the main process runs, then its outputs are
 * drained, because a descendant may still write. The job keeps its slot until
 * all processes have ended, but its limits only until the call is answered or
 * dropped and the main process has ended. So main processes never exceed a
 * limit, and a client may call again while background processes are being
 * ended.
 */
#ifndef TG_EXEC_H
#define TG_EXEC_H

#include "runner/exec/tg_exec_output.h"
#include "runner/exec/tg_exec_params.h"
#include "runner/process/tg_program.h"
#include "runner/jobs/tg_job.h"

/* Receives the outputs as they arrive, instead of the response or also. */
typedef void (*tg_exec_sink_pt)(void *data, int is_err, tg_str_t bytes);

/* Default timeout in ms. */
#define TG_EXEC_TIMEOUT_DEFAULT 60000

/* Time in ms for descendants to write after the main process has ended. */
#define TG_EXEC_DRAIN_MS 200

/* Maximum size of a pipe of a program without privileges, in bytes. */
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
 * Sends the outputs of a job that is not submitted to a sink, and with
 * is_answer_copied also to the response.
 */
void tg_exec_set_sink(tg_job_t *job, tg_exec_sink_pt sink, void *data,
                      int is_answer_copied);

void tg_exec_pause(tg_job_t *job);

void tg_exec_resume(tg_job_t *job);

/*
 * Starts the program and opens pipe ends (tg_exec_start.c). *input gets the
 * input that did not fit into the pipe. Returns 0, or an errno after a failure.
 */
int tg_exec_spawn(tg_exec_t *exec, tg_str_t *input);

/* Writes the response for a time slice; its end also ends the job. */
void tg_exec_write_response(tg_sched_source_t *source);

/* Stops writing the response and frees its memory. */
void tg_exec_end_response(tg_exec_t *exec);

/* Fails the call. `rc` is that of tg_exec_output_add_stdout() or _stderr(). */
void tg_exec_on_overflow(tg_exec_t *exec, int rc);

/* Ends the remaining processes. For is_forced see tg_program_end(). */
void tg_exec_end_processes(tg_exec_t *exec, int is_forced);

#endif
