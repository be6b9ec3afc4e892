/*
 * Gives each program its own cgroup (version 2), if the runner may divide its
 * own. Descendants stay in it, unless they leave it on purpose, as processes of
 * the same user can. It can be limited, and killed in one step, however fast
 * its processes fork.
 *
 *   BASE/                 cgroup of the runner
 *     toolgate.TAG.PID/   cgroups of the runner with this process tag
 *                         (tg_process_tag.h)
 *       runner/           runner and supervisor, if BASE had to be empty
 *       1/                cgroup of one program
 *
 * A cgroup whose children have limits must not contain processes.
 */
#ifndef TG_CGROUP_H
#define TG_CGROUP_H

#include "runner/process/tg_cgroup_file.h"
#include "runner/process/tg_process_tree.h"
#include "spec/tg_program_spec.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum wait for the end of an earlier runner's processes, in ms. */
#define TG_CGROUP_WAIT_MS 1000

/* Maximum number of cgroups with daemons whose removal is repeated. */
#define TG_CGROUP_NONEMPTY_MAX 128

/* Maximum number of empty cgroups kept for later programs. */
#define TG_CGROUP_SPARE_MAX 16

typedef struct {
    /* Path of toolgate.TAG.PID; empty: there are no cgroups. */
    char dir[TG_CGROUP_PATH_MAX - 64];

    /* Descriptor of `dir`, locked as long as the runner lives. */
    int lock;

    /* Reason why there are no cgroups or limits, or NULL. */
    const char *why;

    unsigned long last; /* number of the newest cgroup */

    /* Numbers of cgroups that could not be removed yet. */
    unsigned long nonempty[TG_CGROUP_NONEMPTY_MAX];
    unsigned nonempty_count;
    unsigned long spare[TG_CGROUP_SPARE_MAX];
    unsigned nspare;
} tg_cgroups_t;

/*
 * Finds a cgroup to divide: `base`, or the caller's own if base is NULL. Moves
 * the caller and its supervisor if necessary. Kills the processes of dead
 * runners with this process tag, and removes other dead runners' empty cgroups.
 * On failure cgroups->dir is empty and cgroups->why says why.
 */
void tg_cgroups_open(tg_cgroups_t *cgroups, const char *base,
                     uint64_t process_tag, pid_t supervisor);

/* Removes cgroups that have become empty after their program ended. */
void tg_cgroups_remove_empty(tg_cgroups_t *cgroups);

/* Removes all cgroups, which must not contain processes. */
void tg_cgroups_close(tg_cgroups_t *cgroups);

/*
 * Creates a cgroup, or reuses a spare one without limits. Returns 0, its number
 * and a descriptor for tg_clone_child(), which the caller closes; or an errno
 * value.
 */
int tg_cgroup_create(tg_cgroups_t *cgroups, const tg_program_options_t *limits,
                     unsigned long *number, int *fd);

/* Kills all processes in the cgroup. */
void tg_cgroup_kill(const tg_cgroups_t *cgroups, unsigned long number);

/* Calls take() for each process in the cgroup. */
void tg_cgroup_for_each_pid(const tg_cgroups_t *cgroups, unsigned long number,
                            tg_pid_visit_pt take, void *ctx);

/* Checks whether the kernel killed a process because of the memory limit. */
int tg_cgroup_has_oom_kill(const tg_cgroups_t *cgroups, unsigned long number);

/* Returns the number of the program's cgroup with this process, or 0. */
unsigned long tg_cgroup_find_by_pid(const tg_cgroups_t *cgroups, pid_t pid);

/* Removes the cgroup, now or after its last process has ended. */
void tg_cgroup_remove(tg_cgroups_t *cgroups, unsigned long number);

/*
 * Keeps an unchanged cgroup for another program, or else removes it. It must
 * not have had limits or been killed: some kernels kill processes that start
 * later in it.
 */
void tg_cgroup_recycle(tg_cgroups_t *cgroups, unsigned long number);

#endif
