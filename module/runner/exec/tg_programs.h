/*
 * What the jobs of the kind `exec` share: the environment that every program
 * gets, and the news that one has ended.
 */
#ifndef TG_PROGRAMS_H
#define TG_PROGRAMS_H

#include "runner/exec/tg_exec_params.h"
#include "runner/exec/tg_tree.h"
#include "runner/tg_jobs.h"

typedef struct {
    const tg_jobs_t *jobs;
    tg_exec_env_t env;
    int null_fd; /* the standard input of programs that get none */
    uv_signal_t sigchld;

    tg_tree_t tree; /* below this process, as of tree_at */
    uint64_t tree_at;
    int has_tree;
    char chunk[65536]; /* what was just read; never outlives a callback */
} tg_programs_t;

/*
 * The calling process must be a subreaper and ignore SIGPIPE.  0 or a libuv
 * error, after which nothing needs to be freed.
 */
int tg_programs_init(tg_programs_t *programs, const tg_jobs_t *jobs,
                     uv_loop_t *loop);

/* Closes the handle; only when there is no job any more. */
void tg_programs_close(tg_programs_t *programs);

/* Behind the loop's end. */
void tg_programs_deinit(tg_programs_t *programs);

#endif
