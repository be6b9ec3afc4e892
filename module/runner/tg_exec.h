/*
 * One program: from the call of `exec` to the last process that it left.
 *
 * It goes through the states below.  Its call is answered on the way, once,
 * unless the caller dropped it; its slot is held until none of its processes
 * is left.
 *
 *   QUEUED ──▶ RUNNING ──▶ DRAINING ──▶ ENDING ──▶ DONE
 *      └──────────┴────────────┴──────────────────▶
 */
#ifndef TG_EXEC_H
#define TG_EXEC_H

#include "runner/tg_exec_output.h"
#include "runner/tg_execs.h"

/* What a descendant may still write after its program has ended. */
#define TG_EXEC_DRAIN_MS 200
/* From SIGTERM to SIGKILL. */
#define TG_EXEC_GRACE_MS 2000
/* How often the processes that are being ended are looked for. */
#define TG_EXEC_TICK_MS 100

typedef enum {
    TG_EXEC_QUEUED,   /* waits for a slot */
    TG_EXEC_RUNNING,  /* its main process runs */
    TG_EXEC_DRAINING, /* that has ended, but the outputs are still open */
    TG_EXEC_ENDING,   /* nobody waits; its processes are being ended */
    TG_EXEC_DONE      /* has no process; freed when its handles are closed */
} tg_exec_state_t;

/* A process known to belong to an exec that is being ended. */
typedef struct {
    pid_t pid;
    pid_t sid;
    uint64_t start;
} tg_exec_member_t;

struct tg_exec_s {
    tg_execs_t *execs;
    tg_exec_t *next; /* in the queue or among those that have a slot */
    tg_exec_t *prev;
    tg_call_t *call; /* NULL once answered or dropped */
    tg_exec_state_t state;
    tg_exec_params_t params;

    pid_t pid; /* the main process; also its group and session */
    int status;
    unsigned has_slot:1;
    unsigned is_reaped:1;
    unsigned is_forced:1; /* what left the session is ended too */
    uint64_t ended_at;    /* when SIGTERM was sent */
    tg_exec_member_t *members;
    size_t nmembers;

    tg_exec_output_t output;
    unsigned nreading; /* outputs that have not come to their end */

    uv_timer_t timer; /* the deadline, the drain, the ticks */
    uv_pipe_t pipes[3];
    unsigned open_pipes; /* bits: those that have to be closed */
    uv_write_t write;
    unsigned nhandles; /* that are not closed */
};

/*
 * Queues what params say, and takes them over in any case; the deadline runs
 * from now.  The caller sets call.  NULL when there is no memory.
 */
tg_exec_t *tg_exec_new(tg_execs_t *execs, tg_exec_params_t *params);

/* Starts a queued one, or answers its call with what hindered it. */
void tg_exec_start(tg_exec_t *exec);

/* Nobody waits for the answer any more. */
void tg_exec_cancel(tg_exec_t *exec);

/* The main process was reaped. */
void tg_exec_exited(tg_exec_t *exec, int status);

/* Some process has ended: is one that is being ended done with? */
void tg_exec_look(tg_exec_t *exec);

/* --- for the other files of exec --- */

/*
 * tg_exec_run.c: starts the program.  0, or what hindered it as kind and text
 * of a failure.
 */
int tg_exec_run(tg_exec_t *exec, const char **failure, tg_buf_t *text);

/* tg_exec.c: an output came to its end; it cannot be taken (TG_LIMIT, …). */
void tg_exec_on_eof(tg_exec_t *exec);
void tg_exec_on_overflow(tg_exec_t *exec, int rc);

/* Counts down the handles; the last one frees an exec that is DONE. */
void tg_exec_on_closed(uv_handle_t *handle);

/*
 * tg_exec_end.c: sends SIGTERM to all that is left of the program; later
 * SIGKILL.  Both say whether anything is left.
 */
int tg_exec_end(tg_exec_t *exec);
int tg_exec_end_again(tg_exec_t *exec);

#endif
