/*
 * A program of the runner: its main process and all descendants. The owner
 * embeds it, and may free it when its handles are closed.
 *
 *   start ──▶ running ──▶ exited ──▶ end ──▶ gone
 *                └──────▶ end ──▶ exited ──▶ gone
 */
#ifndef TG_PROGRAM_H
#define TG_PROGRAM_H

#include "protocol/tg_outcome.h"
#include "runner/process/tg_programs.h"
#include "runner/process/tg_spawn.h"

/* Time from SIGTERM to SIGKILL, in ms. */
#define TG_PROGRAM_GRACE_MS 2000

/* Interval in ms of checks whether processes have ended after SIGTERM. */
#define TG_PROGRAM_TICK_MS 100

/* Interval in ms of checks whether processes have ended after SIGKILL. */
#define TG_PROGRAM_KILL_TICK_MS 10

typedef struct {
    /* Called when the main process has ended, with program->status. */
    void (*on_exited)(tg_program_t *program);

    /* Called after tg_program_end(), when no process is left. */
    void (*on_gone)(tg_program_t *program);
} tg_program_ops_t;

struct tg_program_s {
    tg_programs_t *programs;
    const tg_program_ops_t *ops;
    void *host;
    tg_program_t *next; /* list of programs whose main process is not reaped */

    uint32_t serial;      /* serial number (tg_process_tag.h) */
    unsigned long cgroup; /* number of the cgroup (tg_cgroup.h); 0: none */
    int is_limited;       /* the cgroup has limits */

    /* Pid of the main process, also of its group and session; 0: none. */
    pid_t pid;

    int status;

    /* The main process has ended; on_exited() is pending. */
    int is_exit_unreported;

    int has_ended; /* the main process is a zombie */
    int is_ending; /* the remaining processes are being ended */

    /* Processes that left the session are ended as well. */
    int is_forced;

    /* SIGSTOP was sent to the main process before SIGKILL. */
    int is_stopped;

    uint64_t ended_at; /* time of SIGTERM */
    uint64_t checked_at;

    /* Available to the host until tg_program_end(). The host closes it. */
    uv_timer_t timer;
};

/* Initializes the program and its timer. The timer's data is the program. */
void tg_program_init(tg_program_t *program, tg_programs_t *programs,
                     const tg_program_ops_t *ops, void *host);

/*
 * Starts the program, if possible in a cgroup. Returns 0, or an errno of the
 * step *step. The first `nfds` of `fds` become descriptors 0, 1, 2 and so on.
 * `cwd` may differ from params->cwd.
 */
int tg_program_start(tg_program_t *program, const tg_program_params_t *params,
                     const char *cwd, const int *fds, int nfds,
                     tg_spawn_step_t *step);

/* Appends why the program `name` did not start. Returns the failure. */
tg_failure_t tg_program_append_start_error(tg_buf_t *text,
                                           const tg_programs_t *programs,
                                           const tg_program_params_t *params,
                                           const char *name,
                                           tg_spawn_step_t step, int err);

/*
 * Ends the remaining processes by SIGTERM, later SIGKILL. ops->on_gone() may
 * run before this returns. is_forced: also those that left the session, which
 * are daemons otherwise.
 */
void tg_program_end(tg_program_t *program, int is_forced);

/* --- internal functions of this folder --- */

void tg_program_on_exited(tg_program_t *program);

/* Calls ops->on_gone() if no process of an ending program is left. */
void tg_program_check_ended(tg_program_t *program);

/* Detects ended main processes, and assigns orphans to programs. */
void tg_reaper_scan(tg_programs_t *programs);

#endif
