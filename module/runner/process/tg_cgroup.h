/*
 * A cgroup (version 2) of its own for each program, where the runner may
 * divide the one that it is in.  Whatever a program starts stays in it, unless
 * it means to leave: it is the same user's.  It is killed in one step, however
 * fast it forks, and it can be limited.
 *
 *   BASE/                 the runner's
 *     toolgate.MARK.PID/  of the runner with this tag (tg_process_tag.h)
 *       runner/           it and its guardian, if BASE had to be empty
 *       1/                of one program
 *
 * A cgroup that programs could be limited in must not hold processes itself.
 */
#ifndef TG_CGROUP_H
#define TG_CGROUP_H

#include "runner/process/tg_cgroup_file.h"
#include "runner/process/tg_process_tree.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How long is waited at the start for what an earlier runner left to die. */
#define TG_CGROUP_WAIT_MS 1000

/*
 * Those with a daemon in it that are tried again; what is beyond it stays,
 * empty or not, until the runner leaves.
 */
#define TG_CGROUP_NONEMPTY_MAX 128

/* Empty ones that wait for another program: to make one takes longer. */
#define TG_CGROUP_SPARE_MAX 16

typedef struct {
    char dir[TG_CGROUP_PATH_MAX
             - 64];     /* toolgate.MARK.PID; empty: there is none */
    int lock;           /* of dir, as long as the runner lives */
    const char *why;    /* why not, or why nothing can be limited */
    unsigned long last; /* the number of the last one */
    /* that could not be removed */
    unsigned long nonempty[TG_CGROUP_NONEMPTY_MAX];
    unsigned nonempty_count;
    unsigned long spare[TG_CGROUP_SPARE_MAX];
    unsigned nspare;
} tg_cgroups_t;

/* 0: no limit. */
typedef struct {
    uint64_t memory; /* bytes */
    uint64_t pids;
} tg_cgroup_limits_t;

/*
 * Looks for a cgroup that may be divided: below base, or NULL, the calling
 * process's own.  guardian is moved along with the caller.  What runners with
 * this mark left there that live no more is killed; empty ones of others that
 * live no more are removed.
 */
void tg_cgroups_open(tg_cgroups_t *cgroups, const char *base,
                     uint64_t process_tag, pid_t guardian);

/* Removes of those that programs left what has become empty. */
void tg_cgroups_remove_empty(tg_cgroups_t *cgroups);

/* Removes all; no process may be left in them. */
void tg_cgroups_close(tg_cgroups_t *cgroups);

/*
 * Makes the cgroup of one program, or takes one that was kept, if it needs no
 * limits.  0, and its number, and a descriptor to
 * start it in (tg_clone.h); or the errno of what could not be limited.
 */
int tg_cgroup_create(tg_cgroups_t *cgroups, const tg_cgroup_limits_t *limits,
                     unsigned long *number, int *fd);

/* Kills all that is in it. */
void tg_cgroup_kill(const tg_cgroups_t *cgroups, unsigned long number);

/* Those that are in it. */
void tg_cgroup_for_each_pid(const tg_cgroups_t *cgroups, unsigned long number,
                            tg_pid_visit_pt take, void *ctx);

/* Was something in it killed because it had no memory left? */
int tg_cgroup_has_oom_kill(const tg_cgroups_t *cgroups, unsigned long number);

/* The cgroup that a process is, or a zombie was, in; 0: none of these. */
unsigned long tg_cgroup_find_by_pid(const tg_cgroups_t *cgroups, pid_t pid);

/* Removes it, now or when what is left in it has ended. */
void tg_cgroup_remove(tg_cgroups_t *cgroups, unsigned long number);

/*
 * The same, but one that is as good as new is kept for another program.  It
 * must have no limits, nor have been killed: some kernels kill whatever is
 * started in such a one later, too.
 */
void tg_cgroup_recycle(tg_cgroups_t *cgroups, unsigned long number);

#endif
