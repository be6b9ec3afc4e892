/*
 * The processes below one of ours, read from /proc.
 *
 * Programs may leave their process group and session; what they cannot
 * leave is the tree below the nearest subreaper.  A process is told from a
 * later one with the same number by its start time, so that nothing else is
 * ever signalled.
 */
#ifndef TG_PROCESS_TREE_H
#define TG_PROCESS_TREE_H

#include "base/tg_base.h"

#include <dirent.h>
#include <sys/types.h>

/*
 * Processes that are read at once, which takes some milliseconds; those of a
 * bomb that are beyond it are found when these are dead, or in the next step.
 */
#define TG_PROCESS_TREE_MAX 512
/* How long a sweep waits for the killed to be gone before it looks again. */
#define TG_PROCESS_KILL_WAIT_NS 20000000

typedef struct {
    pid_t pid;
    pid_t ppid;
    pid_t pgrp;
    pid_t sid;
    uint64_t start; /* clock ticks after boot */
    int is_zombie;
} tg_proc_t;

typedef struct {
    tg_proc_t procs[TG_PROCESS_TREE_MAX];
    size_t n;
} tg_process_tree_t;

/* One process: TG_OK, or TG_MISSING when it is gone. */
int tg_proc_read(pid_t pid, tg_proc_t *proc);

/* The next number in a folder of /proc; 0: there is none. */
pid_t tg_proc_dir_next_pid(DIR *dir);

/* Takes the number of a process; 0: it wants no more. */
typedef int (*tg_pid_visit_pt)(void *ctx, pid_t pid);

/* The children of a process. */
void tg_proc_for_each_child(pid_t parent, tg_pid_visit_pt take, void *ctx);

/* Those in an open list, such as a thread's `children`; 0: as take() said. */
int tg_pid_list_for_each(int fd, tg_pid_visit_pt take, void *ctx);

/* Takes one for a tree, if it is there. */
int tg_process_tree_add_one(void *tree, pid_t pid);

/*
 * Adds what is below root, nearest first; and the same with root itself, if
 * that is alive.  What has a parent that ends meanwhile may be missing.
 */
void tg_process_tree_add_descendants(tg_process_tree_t *tree, pid_t root);
void tg_process_tree_add(tg_process_tree_t *tree, pid_t root);

/* Signals exactly the process that was read: 0, or -1 when it is gone. */
int tg_proc_signal(const tg_proc_t *proc, int sig);

/*
 * Kills and reaps everything below the calling process, a subreaper, until
 * it has no child left.  Blocks, and leaves SIGCHLD blocked.
 */
void tg_process_tree_kill_all(void);

#endif
