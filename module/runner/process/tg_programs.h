/*
 * What all programs share: the environment that every one gets, and the news
 * that one has ended.
 */
#ifndef TG_PROGRAMS_H
#define TG_PROGRAMS_H

#include "runner/process/tg_program_params.h"
#include "runner/process/tg_process_tree.h"
#include "runner/output/tg_output_store.h"

#include <uv.h>

typedef struct tg_program_s tg_program_t;

/* A child of the runner that is no main process; see tg_reaper.c. */
typedef struct {
    pid_t pid;
    pid_t sid;
    const tg_program_t *program; /* NULL: nobody's, a daemon that was wanted */
} tg_orphan_t;

typedef struct {
    tg_program_base_env_t env;
    tg_output_store_t
        *output_store; /* of what they put out; NULL: the host has none */
    /* of every program (tg_process_tag.h); the host sets it */
    uint64_t process_tag;
    uint32_t last;        /* the serial of the last one */
    tg_cgroups_t cgroups; /* none, unless the host looks for one */
    int null_fd;          /* the standard input of programs that get none */
    uv_signal_t sigchld;
    int children_fd;      /* the list of the runner's own, or -1 */
    tg_program_t *first;  /* those whose main process is not reaped */
    tg_orphan_t *orphans; /* by pid */
    size_t norphans;
    size_t size;             /* for how many there is room */
    int has_more_orphans;    /* that are not written down yet */
    uv_timer_t rescan_timer; /* then */
    tg_process_tree_t tree;  /* neither of these outlives a callback */
    char chunk[65536];
} tg_programs_t;

/*
 * The calling process must be a subreaper and ignore SIGPIPE.  0 or a libuv
 * error, after which nothing needs to be freed.
 */
int tg_programs_init(tg_programs_t *programs, uv_loop_t *loop);

/* Closes its handles; only when there is no program any more. */
void tg_programs_close(tg_programs_t *programs);

/* Behind the loop's end. */
void tg_programs_deinit(tg_programs_t *programs);

#endif
