/*
 * The processes below one of ours, read from /proc.
 *
 * Programs may leave their process group and session; what they cannot
 * leave is the tree below the nearest subreaper.  A process is told from a
 * later one with the same number by its start time, so that nothing else is
 * ever signalled.
 */
#ifndef TG_TREE_H
#define TG_TREE_H

#include "base/tg_base.h"

#include <sys/types.h>

typedef struct {
    pid_t pid;
    pid_t ppid;
    pid_t pgrp;
    pid_t sid;
    uint64_t start; /* clock ticks after boot */
    int is_zombie;
    int mark; /* of whoever walks the tree; 0 after a scan */
} tg_proc_t;

typedef struct {
    tg_proc_t *procs; /* by rising pid */
    size_t n;
    size_t cap;
} tg_tree_t;

void tg_tree_init(tg_tree_t *tree);
void tg_tree_deinit(tg_tree_t *tree);

/*
 * Reads the descendants of root anew, without root.  TG_OK; TG_NOMEM or
 * TG_MISSING (no /proc), and the tree is empty then.
 */
int tg_tree_scan(tg_tree_t *tree, pid_t root);

/* NULL when pid is no descendant. */
tg_proc_t *tg_tree_find(const tg_tree_t *tree, pid_t pid);

/* Signals exactly the process that was read: 0, or -1 when it is gone. */
int tg_proc_signal(const tg_proc_t *proc, int sig);

/*
 * Kills and reaps everything below the calling process, a subreaper, until
 * it has no child left.  Blocks, and leaves SIGCHLD blocked.
 */
void tg_tree_sweep(void);

#endif
