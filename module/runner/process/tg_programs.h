/* State shared by all programs: environment, SIGCHLD, table of orphans. */
#ifndef TG_PROGRAMS_H
#define TG_PROGRAMS_H

#include "runner/process/tg_cgroup.h"
#include "runner/process/tg_program_params.h"
#include "runner/process/tg_process_tree.h"
#include "runner/output/tg_output_store.h"

#include <uv.h>

typedef struct tg_program_s tg_program_t;

/* A child of the runner that is not a main process; see tg_reaper.c. */
typedef struct {
    pid_t pid;
    pid_t sid;

    /* NULL: the process is a daemon, which may continue. */
    const tg_program_t *program;
} tg_orphan_t;

typedef struct {
    tg_program_base_env_t env;
    tg_output_store_t *output_store; /* storage of large outputs; NULL: none */
    /* Process tag of all programs, set by the host. */
    uint64_t process_tag;
    uint32_t last;        /* serial number of the newest program */
    tg_cgroups_t cgroups; /* no cgroups, unless the host opens them */
    int null_fd;          /* standard input of programs without input */
    uv_signal_t sigchld;
    int children_fd;      /* list of the runner's children, or -1 */
    tg_program_t *first;  /* programs whose main process is not reaped */
    tg_orphan_t *orphans; /* sorted by pid */
    size_t norphans;
    size_t size;             /* allocated length of `orphans` */
    int has_more_orphans;    /* some orphans are not in the table yet */
    uv_timer_t rescan_timer; /* next scan if there are more orphans */

    /* Scratch space, which keeps no data between callbacks. */
    tg_process_tree_t tree;

    char chunk[65536];
} tg_programs_t;

/* Initializes the object, in a subreaper that ignores SIGPIPE. */
int tg_programs_init(tg_programs_t *programs, uv_loop_t *loop);

/* Closes the handles. No program may be left. */
void tg_programs_close(tg_programs_t *programs);

/* Frees memory and closes descriptors, after the end of the loop. */
void tg_programs_deinit(tg_programs_t *programs);

#endif
