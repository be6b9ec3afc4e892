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
#include "runner/exec/tg_programs.h"
#include "runner/exec/tg_spawn.h"
#include "runner/tg_job.h"

/* The deadline when none was given. */
#define TG_EXEC_TIMEOUT 60000
/* What a descendant may still write after its program has ended. */
#define TG_EXEC_DRAIN_MS 200
/* The largest pipe that a program can make of its own: what it may hold. */
#define TG_EXEC_PIPE_MAX 1048576
/* From SIGTERM to SIGKILL. */
#define TG_EXEC_GRACE_MS 2000
/*
 * How often the processes that are being ended are looked for: those that
 * have time to end, and those that are killed.
 */
#define TG_EXEC_TICK_MS 100
#define TG_EXEC_SWEEP_MS 10

/* Our ends of the program's pipes, by its descriptors. */
enum {
    TG_EXEC_IN,
    TG_EXEC_OUT,
    TG_EXEC_ERR,
    TG_EXEC_PROGRESS
};

struct tg_exec_s {
    tg_job_t *job;
    tg_programs_t *programs;
    tg_exec_t *next; /* of all whose main process is not reaped */
    tg_exec_params_t params;

    unsigned long cgroup; /* tg_cgroup.h; 0: none */
    pid_t pid; /* the main process; also its group and session; 0: none */
    int status;
    int is_news;       /* it has ended, which nobody was told of */
    int has_ended;     /* but is not reaped */
    int is_forced;     /* what left the session is ended too */
    int is_stopped;    /* before it is killed */
    uint64_t ended_at; /* when SIGTERM was sent */
    uint64_t looked_at;

    tg_exec_output_t output;
    unsigned nreading; /* outputs that have not come to their end */
    int has_risen;     /* the progress that was read */
    int is_apart;      /* what was to be told before the answer */

    uv_timer_t timer; /* the drain, the ticks */
    uv_pipe_t pipes[TG_SPAWN_FDS];
    unsigned open_pipes; /* bits: those that have to be closed */
    uv_write_t write;
};

/* Its jobs' host is a tg_programs_t. */
extern const tg_kind_t tg_exec_kind;

/* The main process has ended, which was news. */
void tg_exec_exited(tg_exec_t *exec);

/* Some process has ended: is one that is being ended done with? */
void tg_exec_look(tg_exec_t *exec);

/* --- for the other files of exec --- */

/*
 * tg_exec_start.c: starts the program with our ends of its pipes open; input
 * is what did not go into its pipe.  0; or an errno, and the job has failed.
 */
int tg_exec_spawn(tg_exec_t *exec, tg_str_t *input);

/*
 * tg_exec_end.c: sends SIGTERM to all that is left of the program; later
 * SIGKILL.  Both say whether anything is left.
 */
int tg_exec_end(tg_exec_t *exec);
int tg_exec_end_again(tg_exec_t *exec);

/* Is its time for an end of its own over? */
int tg_exec_is_over(const tg_exec_t *exec);

/* Nothing is left but the main process, which has ended. */
void tg_exec_reap(tg_exec_t *exec);

/*
 * tg_orphans.c: looks which main processes have ended, which is news, and
 * whose the processes are that they left.
 */
void tg_orphans_look(tg_programs_t *programs);

#endif
