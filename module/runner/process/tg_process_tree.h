/*
 * Reads the descendants of a process from /proc. Programs can leave their group
 * and session, but not the tree below the nearest subreaper. The start time
 * distinguishes processes with the same pid, so that no other one is signalled.
 */
#ifndef TG_PROCESS_TREE_H
#define TG_PROCESS_TREE_H

#include "base/tg_base.h"

#include <dirent.h>
#include <sys/types.h>

/* Maximum processes in a tree; more are found in the next scan. */
#define TG_PROCESS_TREE_MAX 512

/* Time in ns between two rounds of killing processes. */
#define TG_PROCESS_KILL_WAIT_NS 20000000

typedef struct {
    pid_t pid;
    pid_t ppid;
    pid_t pgrp;
    pid_t sid;
    uint64_t start; /* start time in clock ticks after boot */
    int is_zombie;
} tg_proc_t;

typedef struct {
    tg_proc_t procs[TG_PROCESS_TREE_MAX];
    size_t n;
} tg_process_tree_t;

/* Reads one process. TG_MISSING: it is gone; TG_INVALID: a malformed file. */
int tg_proc_read(pid_t pid, tg_proc_t *proc);

/* Returns the next pid in a directory of /proc, or 0 at the end. */
pid_t tg_proc_dir_next_pid(DIR *dir);

/* Receives the pid of a process. Returns 0 to end the iteration. */
typedef int (*tg_pid_visit_pt)(void *ctx, pid_t pid);

/* Calls take() for each child of a process. */
void tg_proc_for_each_child(pid_t parent, tg_pid_visit_pt take, void *ctx);

/* Calls take() for each pid in a file. Returns 0 if take() ended that. */
int tg_pid_list_for_each(int fd, tg_pid_visit_pt take, void *ctx);

/* Adds a process, if it exists. Returns 0: full tree. A tg_pid_visit_pt. */
int tg_process_tree_add_one(void *tree, pid_t pid);

/* Adds the descendants of root, nearest first; some may be missed. */
void tg_process_tree_add_descendants(tg_process_tree_t *tree, pid_t root);

/* Adds root, if it exists, and its descendants. */
void tg_process_tree_add(tg_process_tree_t *tree, pid_t root);

/* Signals exactly the process that was read, or returns -1: it is gone. */
int tg_proc_signal(const tg_proc_t *proc, int sig);

/*
 * Kills and reaps all descendants of the caller, a subreaper. Blocks, and
 * leaves SIGCHLD blocked.
 */
void tg_process_tree_kill_all(void);

#endif
