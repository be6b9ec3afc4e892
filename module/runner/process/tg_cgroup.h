/*
 * Gives each program its own cgroup (version 2), if the runner may divide the
 * cgroup that it runs in. The descendants of a program stay in its cgroup,
 * unless they leave it on purpose, which they can as processes of the same
 * user. A cgroup can be killed in one step, however fast its processes fork,
 * and can be limited.
 *
 *   BASE/                 cgroup of the runner
 *     toolgate.TAG.PID/   cgroups of the runner with this process tag
 *                         (tg_process_tag.h)
 *       runner/           runner and supervisor, if BASE had to be empty
 *       1/                cgroup of one program
 *
 * The kernel requires that a cgroup whose children have limits contains no
 * processes itself.
 */
#ifndef TG_CGROUP_H
#define TG_CGROUP_H

#include "runner/process/tg_cgroup_file.h"
#include "runner/process/tg_process_tree.h"
#include "spec/tg_program_spec.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Maximum time at the start, in ms, to wait for the end of processes that an
 * earlier runner left.
 */
#define TG_CGROUP_WAIT_MS 1000

/*
 * Maximum number of cgroups that contain daemons and whose removal is repeated.
 * Further ones stay until the runner exits, even when they are empty.
 */
#define TG_CGROUP_NONEMPTY_MAX 128

/*
 * Maximum number of empty cgroups kept for later programs. Creating one takes
 * longer.
 */
#define TG_CGROUP_SPARE_MAX 16

typedef struct {
    /* Path of toolgate.TAG.PID; empty: there are no cgroups. */
    char dir[TG_CGROUP_PATH_MAX - 64];

    /* Descriptor of `dir`, locked as long as the runner lives. */
    int lock;

    /* Reason why there are no cgroups or no limits, or NULL. */
    const char *why;

    unsigned long last; /* number of the newest cgroup */

    /* Numbers of cgroups that could not be removed yet. */
    unsigned long nonempty[TG_CGROUP_NONEMPTY_MAX];
    unsigned nonempty_count;
    unsigned long spare[TG_CGROUP_SPARE_MAX];
    unsigned nspare;
} tg_cgroups_t;

/*
 * Finds a cgroup that may be divided: `base`, or the calling process's own if
 * base is NULL. Moves the caller and the supervisor `guardian` if necessary.
 * Kills the processes of dead runners with this process tag, and removes empty
 * cgroups of other dead runners. On failure cgroups->dir is empty and
 * cgroups->why says why.
 */
void tg_cgroups_open(tg_cgroups_t *cgroups, const char *base,
                     uint64_t process_tag, pid_t guardian);

/* Removes the cgroups that have become empty after their program ended. */
void tg_cgroups_remove_empty(tg_cgroups_t *cgroups);

/* Removes all cgroups. They must not contain processes any more. */
void tg_cgroups_close(tg_cgroups_t *cgroups);

/*
 * Creates a cgroup for one program, or reuses a spare one if there are no
 * limits. Returns 0, its number and a descriptor for tg_clone_child(), which
 * the caller closes; or an errno value if it could not be created or limited.
 */
int tg_cgroup_create(tg_cgroups_t *cgroups, const tg_program_options_t *limits,
                     unsigned long *number, int *fd);

/* Kills all processes in the cgroup. */
void tg_cgroup_kill(const tg_cgroups_t *cgroups, unsigned long number);

/* Calls take() for each process in the cgroup. */
void tg_cgroup_for_each_pid(const tg_cgroups_t *cgroups, unsigned long number,
                            tg_pid_visit_pt take, void *ctx);

/*
 * Checks whether the kernel killed a process in the cgroup because of its
 * memory limit.
 */
int tg_cgroup_has_oom_kill(const tg_cgroups_t *cgroups, unsigned long number);

/*
 * Returns the number of the program's cgroup that contains a process or
 * contained a zombie, or 0 if it is in another cgroup.
 */
unsigned long tg_cgroup_find_by_pid(const tg_cgroups_t *cgroups, pid_t pid);

/* Removes the cgroup, now or after the last process in it has ended. */
void tg_cgroup_remove(tg_cgroups_t *cgroups, unsigned long number);

/*
 * Keeps the cgroup for another program if it is unchanged, otherwise removes
 * it. The caller must not pass a cgroup that had limits or was killed: some
 * kernels kill processes that are started later in a killed cgroup.
 */
void tg_cgroup_recycle(tg_cgroups_t *cgroups, unsigned long number);

#endif
