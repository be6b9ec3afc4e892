/*
 * Ending a program: which processes belong to it, and the signals.
 */
#include "runner/exec/tg_exec.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int
tg_exec_owns(const tg_exec_t *exec, const tg_proc_t *proc)
{
    return exec->is_forced || proc->sid == exec->pid || proc->pgrp == exec->pid;
}

/* Whoever is found twice is signalled twice, which does no harm. */
static void
tg_exec_find_in_cgroup(const tg_exec_t *exec)
{
    pid_t pids[TG_TREE_MAX];
    size_t i, n;

    n = tg_cgroup_read(&exec->programs->cgroups, exec->cgroup, pids);

    for (i = 0; i < n; i++) {
        tg_tree_put(&exec->programs->tree, pids[i]);
    }
}

/*
 * What is left of the program, as far as it is to be ended, in the tree.
 * Zombies count: what they leave may not be seen before they are reaped.
 */
static void
tg_exec_find(tg_exec_t *exec)
{
    tg_programs_t *programs;
    tg_tree_t *tree;
    size_t i, n;

    programs = exec->programs;
    tree = &programs->tree;
    tree->n = 0;

    if (!exec->has_ended) {
        tg_tree_add(tree, exec->pid);
    }

    for (i = 0; i < programs->norphans; i++) {
        if (programs->orphans[i].exec == exec) {
            tg_tree_add(tree, programs->orphans[i].pid);
        }
    }

    if (exec->is_forced && exec->cgroup != 0) {
        tg_exec_find_in_cgroup(exec);
    }

    for (i = 0, n = 0; i < tree->n; i++) {
        if (tg_exec_owns(exec, &tree->procs[i])) {
            tree->procs[n++] = tree->procs[i];
        }
    }

    tree->n = n;
}

/* One that is stopped would not notice. */
static void
tg_exec_terminate(const tg_exec_t *exec)
{
    const tg_proc_t *proc;
    const tg_tree_t *tree;
    size_t i;

    tree = &exec->programs->tree;

    for (i = 0; i < tree->n; i++) {
        proc = &tree->procs[i];

        if (proc->pgrp != exec->pid) {
            (void) tg_proc_signal(proc, SIGTERM);
            (void) tg_proc_signal(proc, SIGCONT);
        }
    }

    /* The group as a whole, which no fork in progress escapes. */
    (void) kill(-exec->pid, SIGTERM);
    (void) kill(-exec->pid, SIGCONT);
}

/*
 * In a cgroup all at once.  Else the main process last: as long as it lives,
 * whatever is forked meanwhile becomes its child, wherever its parent has
 * gone.  So it is stopped, and killed when there was nothing below it after
 * that.
 */
static void
tg_exec_kill(tg_exec_t *exec)
{
    const tg_tree_t *tree;
    size_t i, nothers;

    tree = &exec->programs->tree;

    if (exec->is_forced && exec->cgroup != 0) {
        tg_cgroup_kill(&exec->programs->cgroups, exec->cgroup);
    }

    for (i = 0, nothers = 0; i < tree->n; i++) {
        if (tree->procs[i].pid != exec->pid) {
            (void) tg_proc_signal(&tree->procs[i], SIGKILL);
            nothers += !tree->procs[i].is_zombie;
        }
    }

    if (exec->has_ended) {
        (void) kill(-exec->pid, SIGKILL);
        return;
    }

    (void) kill(exec->pid,
                exec->is_stopped && nothers == 0 ? SIGKILL : SIGSTOP);
    exec->is_stopped = 1;
}

int
tg_exec_end(tg_exec_t *exec)
{
    exec->ended_at = uv_now(exec->job->jobs->loop);
    tg_exec_find(exec);

    if (exec->has_ended && exec->programs->tree.n == 0) {
        return 0;
    }

    tg_exec_terminate(exec);

    return 1;
}

int
tg_exec_is_over(const tg_exec_t *exec)
{
    return uv_now(exec->job->jobs->loop) - exec->ended_at >= TG_EXEC_GRACE_MS;
}

int
tg_exec_end_again(tg_exec_t *exec)
{
    tg_orphans_look(exec->programs);
    tg_exec_find(exec);

    if (exec->has_ended && exec->programs->tree.n == 0) {
        return 0;
    }

    if (tg_exec_is_over(exec)) {
        tg_exec_kill(exec);
    }

    return 1;
}

void
tg_exec_reap(tg_exec_t *exec)
{
    tg_programs_t *programs;
    tg_exec_t **link;
    size_t i;

    programs = exec->programs;

    for (link = &programs->first; *link != exec; link = &(*link)->next) {
        /* void */
    }

    *link = exec->next;

    /* What it left in sessions of their own was wanted. */
    for (i = 0; i < programs->norphans; i++) {
        if (programs->orphans[i].exec == exec) {
            programs->orphans[i].exec = NULL;
        }
    }

    (void) waitpid(exec->pid, NULL, WNOHANG);

    if (exec->cgroup != 0) {
        tg_cgroup_remove(&programs->cgroups, exec->cgroup);
    }
}
