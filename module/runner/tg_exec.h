/*
 * One program: from the call of `exec` to the last process that it left.
 *
 * It goes through the states below.  Its call is answered on the way, once,
 * unless the caller dropped it; its slot is held until none of its processes
 * is left, as slots bound processes.
 *
 * The places of its kinds (tg_limit.h), which bound calls, are given back
 * earlier: as soon as the call is answered or dropped and the main process is
 * reaped.  So two calls of a kind never overlap beyond its limit, be it
 * because a program ignores SIGTERM; but whoever has an answer may call
 * again, also while what the program left in the background is being ended.
 *
 *   QUEUED ──▶ RUNNING ──▶ DRAINING ──▶ ENDING ──▶ DONE
 *      └──────────┴────────────┴──────────────────▶
 */
#ifndef TG_EXEC_H
#define TG_EXEC_H

#include "runner/tg_exec_output.h"
#include "runner/tg_execs.h"
#include "runner/tg_progress.h"
#include "runner/tg_spawn.h"

/* What a descendant may still write after its program has ended. */
#define TG_EXEC_DRAIN_MS 200
/* The largest pipe that a program can make of its own: what it may hold. */
#define TG_EXEC_PIPE_MAX 1048576
/* From SIGTERM to SIGKILL. */
#define TG_EXEC_GRACE_MS 2000
/* How often the processes that are being ended are looked for. */
#define TG_EXEC_TICK_MS 100
/*
 * How often progress is looked for: as often as a person wants to hear of
 * it.  Between two looks the pipe holds back a program that says more.
 */
#define TG_EXEC_PACE_MS 50

/* Our ends of the program's pipes, by its descriptors. */
enum {
    TG_EXEC_IN,
    TG_EXEC_OUT,
    TG_EXEC_ERR,
    TG_EXEC_PROGRESS
};

typedef enum {
    TG_EXEC_QUEUED,   /* waits for a slot or a place */
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
    tg_call_t *call; /* NULL once answered or dropped, and while held */
    tg_held_t *held; /* between two calls, or NULL */
    tg_exec_state_t state;
    tg_exec_params_t params;
    tg_limit_t *limits[TG_EXEC_LIMITS_MAX];
    unsigned nlimits; /* 0 when the places are given back */

    /* As of the loop's clock. */
    uint64_t arrived_at;
    uint64_t started_at;
    uint64_t reaped_at;

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

    tg_progress_t progress;
    uv_timer_t pace; /* until the next look at it */

    uv_timer_t timer; /* the deadline, the drain, the ticks */
    uv_pipe_t pipes[TG_SPAWN_FDS];
    unsigned open_pipes; /* bits: those that have to be closed */
    uv_write_t write;
    unsigned nhandles; /* that are not closed */
};

/*
 * Queues what params say, and takes them over in any case; the deadline runs
 * from now.  The caller sets call.  NULL when there is no memory.
 */
tg_exec_t *tg_exec_new(tg_execs_t *execs, tg_exec_params_t *params);

/* The first of its kinds that has no place for it, or NULL. */
const tg_limit_t *tg_exec_blocker(const tg_exec_t *exec, const char **name);

/* Starts a queued one, or answers its call with what hindered it. */
void tg_exec_start(tg_exec_t *exec);

/* Nobody waits for the answer any more; it is not held. */
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

/*
 * tg_exec_tell.c: answers the call, if there still is one: with how the
 * program ended, a failure, or that its time is over.
 */
void tg_exec_tell_end(tg_exec_t *exec);
void tg_exec_tell_failure(tg_exec_t *exec, const char *failure,
                          const tg_buf_t *text);
void tg_exec_tell_timeout(tg_exec_t *exec);

/* What the caller hears when there is no memory for the answer. */
#define TG_EXEC_NO_MEMORY                                                      \
    "toolgate-runner has no memory left for this answer; try again."

/*
 * tg_exec_progress.c: begins to look for progress.  Also: is there any that
 * moves a deadline which is now?  Last: tells what there still is, before
 * the answer.
 */
void tg_exec_progress_start(tg_exec_t *exec);
int tg_exec_progress_at_deadline(tg_exec_t *exec);
void tg_exec_progress_last(tg_exec_t *exec);

/*
 * Tells whoever adopted it, soon, what nobody was told of.  And: writes the
 * notification for the call of a raw id; progress are its members.
 */
void tg_exec_progress_adopted(tg_exec_t *exec);
void tg_exec_put_progress(tg_peer_t *peer, tg_str_t id, tg_str_t progress);

/* tg_exec_run.c: closes one of the pipes. */
void tg_exec_close_pipe(tg_exec_t *exec, int i);

/*
 * tg_exec_run.c: takes what is in both outputs right now, without waiting
 * for the loop.  TG_OK, or as tg_exec_output_out().
 */
int tg_exec_read_rest(tg_exec_t *exec);

/* tg_exec.c: the deadline, anew from now on but never beyond the cap. */
void tg_exec_set_deadline(tg_exec_t *exec);

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
