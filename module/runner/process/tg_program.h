/*
 * A program that the runner started: its main process, and all that this has
 * started, up to the last of them.
 *
 *   start ──▶ runs ──▶ exited ──▶ finish ──▶ gone
 *               └───────▶ finish ──▶ exited ──▶ gone
 *
 * Whose it is embeds it, and may free it when its handles are closed.
 */
#ifndef TG_PROGRAM_H
#define TG_PROGRAM_H

#include "protocol/tg_outcome.h"
#include "runner/process/tg_programs.h"
#include "runner/process/tg_spawn.h"

/* From SIGTERM to SIGKILL. */
#define TG_PROGRAM_GRACE_MS 2000
/*
 * How often the processes that are being ended are looked for: those that
 * have time to end, and those that are killed.
 */
#define TG_PROGRAM_TICK_MS 100
#define TG_PROGRAM_KILL_TICK_MS 10

typedef struct {
    /* The main process has ended, which was news: program->status. */
    void (*on_exited)(tg_program_t *program);

    /* It was to be ended, and nothing is left of it. */
    void (*on_gone)(tg_program_t *program);
} tg_program_ops_t;

struct tg_program_s {
    tg_programs_t *programs;
    const tg_program_ops_t *ops;
    void *host;
    tg_program_t *next; /* of all whose main process is not reaped */

    uint32_t serial;      /* tg_process_tag.h */
    unsigned long cgroup; /* tg_cgroup.h; 0: none */
    int is_limited;       /* that has limits */
    pid_t pid; /* the main process; also its group and session; 0: none */
    int status;
    int is_exit_unreported; /* it has ended, which nobody was told of */
    int has_ended;          /* but is not reaped */
    int is_ending;          /* what is left of it is being ended */
    int is_forced;          /* what left the session is ended too */
    int is_stopped;         /* before it is killed */
    uint64_t ended_at;      /* when SIGTERM was sent */
    uint64_t checked_at;

    /* The host's until tg_program_end(); who opens it also closes it. */
    uv_timer_t timer;
};

/* timer is opened, and its data is the program. */
void tg_program_init(tg_program_t *program, tg_programs_t *programs,
                     const tg_program_ops_t *ops, void *host);

/*
 * Starts it, in a cgroup of its own where there are such: 0; or the errno of
 * *step.  The first nfds of fds become its descriptors; cwd may be another
 * one than that of params.
 */
int tg_program_start(tg_program_t *program, const tg_program_params_t *params,
                     const char *cwd, const int *fds, int nfds,
                     tg_spawn_step_t *step);

/* Appends what hindered its start; name is that of what is not there then. */
tg_failure_t tg_program_append_start_error(tg_buf_t *text,
                                           const tg_programs_t *programs,
                                           const tg_program_params_t *params,
                                           const char *name,
                                           tg_spawn_step_t step, int err);

/*
 * Ends what is left of it, with SIGTERM and later with SIGKILL; ops->gone
 * follows, maybe at once.  is_forced: also what has left the program's
 * session, which else counts as a daemon that was wanted.
 */
void tg_program_end(tg_program_t *program, int is_forced);

/* --- for the other files of this folder --- */

/* Its main process has ended. */
void tg_program_on_exited(tg_program_t *program);

/* Some process has ended: is it done with, if it is being ended? */
void tg_program_check_ended(tg_program_t *program);

/*
 * tg_reaper.c: looks which main processes have ended, which is news, and
 * whose the processes are that they left.
 */
void tg_reaper_scan(tg_programs_t *programs);

#endif
