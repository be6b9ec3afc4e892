/*
 * The kind `exec`: one program, from its start to the last process that it
 * left.
 *
 * While its job is RUNNING, the main process runs, and then its outputs are
 * drained: a descendant may still have something to say.  Its slot is held
 * until none of its processes is left.  The places of its limits are given
 * back as soon as the call is answered or dropped and the main process has
 * ended.  So two calls of a kind never overlap beyond its limit, be it
 * because a program ignores SIGTERM; but whoever has an answer may call
 * again, also while what the program left in the background is being ended.
 */
#ifndef TG_EXEC_H
#define TG_EXEC_H

#include "runner/exec/tg_exec_output.h"
#include "runner/exec/tg_exec_params.h"
#include "runner/process/tg_program.h"
#include "runner/jobs/tg_job.h"

/* Takes outputs as they come, in place of the answer or besides it. */
typedef void (*tg_exec_sink_pt)(void *data, int is_err, tg_str_t bytes);

/* The deadline when none was given. */
#define TG_EXEC_TIMEOUT_DEFAULT 60000
/* What a descendant may still write after its program has ended. */
#define TG_EXEC_DRAIN_MS 200
/* The largest pipe that a program can make of its own: what it may hold. */
#define TG_EXEC_PIPE_MAX 1048576

/* Our ends of the program's pipes, by its descriptors. */
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
    tg_program_t program; /* its timer also ends the drain */

    tg_exec_output_t output;
    tg_exec_sink_pt sink; /* NULL: stdout becomes the answer */
    void *sink_data;
    int is_answer_copied;  /* what the sink has the answer has, too */
    unsigned nreading;     /* outputs that have not come to their end */
    int has_progress;      /* the progress that was read */
    int has_sent_progress; /* what was to be told before the answer */
    int is_complete;       /* the answer waits, or is being written */
    int is_answering;      /* the answer is being written */
    tg_exec_response_t answer;
    tg_sched_source_t source; /* waits while a large answer is being written */

    uv_pipe_t pipes[TG_SPAWN_FDS];
    tg_uv_stream_reader_t readers[TG_SPAWN_FDS]; /* of the outputs */
    unsigned open_pipes; /* bits: those that have to be closed */
    uv_write_t write;
} tg_exec_t;

/* Its jobs' host is a tg_programs_t. */
extern const tg_job_type_t tg_exec_job_type;

/*
 * Of a job of this kind that has not been entered: its outputs go to the sink,
 * and is_copied to the answer, too.  And while it runs: no more for now, and
 * more again.
 */
void tg_exec_set_sink(tg_job_t *job, tg_exec_sink_pt sink, void *data,
                      int is_answer_copied);
void tg_exec_pause(tg_job_t *job);
void tg_exec_resume(tg_job_t *job);

/*
 * tg_exec_start.c: starts the program with our ends of its pipes open; input
 * is what did not go into its pipe.  0; or an errno, and the job has failed.
 */
int tg_exec_spawn(tg_exec_t *exec, tg_str_t *input);

/*
 * tg_exec_response.c: writes the answer until the time slice is over; with its
 * end the job ends.  And gives it up.
 */
void tg_exec_write_response(tg_sched_source_t *source);
void tg_exec_end_response(tg_exec_t *exec);

/*
 * Answers that the output was too much, for rc of tg_exec_output_add_stdout().
 */
void tg_exec_on_overflow(tg_exec_t *exec, int rc);

/* Nobody waits any more; ends the processes that are left. */
void tg_exec_end_processes(tg_exec_t *exec, int is_forced);

#endif
