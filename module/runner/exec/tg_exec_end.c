/*
 * Ending a program: which processes belong to it, and the signals.
 *
 * While the main process lives it is a subreaper, so all that it started is
 * below it.  When it has died, what it left behind becomes the runner's
 * child, and is told by its session, by having been seen before, or by a
 * parent of which that holds.
 */
#include "runner/exec/tg_exec.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const tg_exec_member_t *
tg_exec_member(const tg_exec_t *exec, const tg_proc_t *proc)
{
    size_t low, high, at;

    low = 0;
    high = exec->nmembers;

    while (low < high) {
        at = low + (high - low) / 2;

        if (exec->members[at].pid == proc->pid) {
            return exec->members[at].start == proc->start ? &exec->members[at]
                                                          : NULL;
        }

        if (exec->members[at].pid < proc->pid) {
            low = at + 1;
        } else {
            high = at;
        }
    }

    return NULL;
}

static int
tg_exec_has_session(const tg_exec_t *exec, pid_t sid)
{
    size_t i;

    for (i = 0; i < exec->nmembers; i++) {
        if (exec->members[i].sid == sid) {
            return 1;
        }
    }

    return 0;
}

static int
tg_exec_owns(const tg_exec_t *exec, const tg_proc_t *proc)
{
    if (proc->sid == exec->pid || proc->pgrp == exec->pid) {
        return 1;
    }

    return exec->is_forced
           && (tg_exec_member(exec, proc) != NULL
               || tg_exec_has_session(exec, proc->sid));
}

/* Marks the children of the marked, until there are no more. */
static void
tg_exec_mark_children(tg_tree_t *tree)
{
    const tg_proc_t *parent;
    tg_proc_t *proc;
    int has_changed;
    size_t i;

    do {
        has_changed = 0;

        for (i = 0; i < tree->n; i++) {
            proc = &tree->procs[i];

            if (proc->mark || proc->is_zombie) {
                continue;
            }

            parent = tg_tree_find(tree, proc->ppid);

            if (parent != NULL && parent->mark) {
                proc->mark = 1;
                has_changed = 1;
            }
        }
    } while (has_changed);
}

/* Marks what is alive of the program; the tree is of one loop iteration. */
static int
tg_exec_mark(tg_exec_t *exec)
{
    tg_programs_t *programs;
    tg_proc_t *proc;
    uint64_t now;
    size_t i;
    int rc;

    programs = exec->programs;
    now = uv_now(exec->job->jobs->loop);

    if (!programs->has_tree || programs->tree_at != now) {
        rc = tg_tree_scan(&programs->tree, getpid());

        if (rc != TG_OK) {
            return rc;
        }

        programs->has_tree = 1;
        programs->tree_at = now;
    }

    for (i = 0; i < programs->tree.n; i++) {
        proc = &programs->tree.procs[i];
        proc->mark = !proc->is_zombie && tg_exec_owns(exec, proc);
    }

    if (exec->is_forced) {
        tg_exec_mark_children(&programs->tree);
    }

    return TG_OK;
}

/* Remembers the marked.  Without memory, those of before are kept. */
static void
tg_exec_remember(tg_exec_t *exec, const tg_tree_t *tree, size_t n)
{
    tg_exec_member_t *members;
    size_t i, at;

    members = n == 0 ? NULL : malloc(n * sizeof(members[0]));

    if (n != 0 && members == NULL) {
        return;
    }

    for (i = 0, at = 0; i < tree->n; i++) {
        if (tree->procs[i].mark) {
            members[at].pid = tree->procs[i].pid;
            members[at].sid = tree->procs[i].sid;
            members[at].start = tree->procs[i].start;
            at++;
        }
    }

    free(exec->members);
    exec->members = members;
    exec->nmembers = n;
}

/*
 * The group as a whole, which no fork in progress escapes, then each process
 * outside of it.  A group without a living process of ours is left alone:
 * its number may be somebody else's by now.
 */
static void
tg_exec_signal(const tg_exec_t *exec, const tg_tree_t *tree, int sig)
{
    const tg_proc_t *proc;
    int has_group;
    size_t i;

    has_group = !exec->is_reaped;

    for (i = 0; i < tree->n; i++) {
        proc = &tree->procs[i];

        if (!proc->mark) {
            continue;
        }

        if (proc->pgrp == exec->pid) {
            has_group = 1;
            continue;
        }

        (void) tg_proc_signal(proc, sig);

        if (sig != SIGKILL) {
            (void) tg_proc_signal(proc, SIGCONT);
        }
    }

    if (has_group) {
        (void) kill(-exec->pid, sig);

        /* One that is stopped would not notice. */
        if (sig != SIGKILL) {
            (void) kill(-exec->pid, SIGCONT);
        }
    }
}

static size_t
tg_exec_count(const tg_tree_t *tree)
{
    size_t i, n;

    for (i = 0, n = 0; i < tree->n; i++) {
        n += tree->procs[i].mark != 0;
    }

    return n;
}

/* Without /proc or memory only the group is known. */
static int
tg_exec_end_group(const tg_exec_t *exec, int sig)
{
    if (exec->is_reaped && kill(-exec->pid, 0) == -1 && errno == ESRCH) {
        return 0;
    }

    if (sig != 0) {
        (void) kill(-exec->pid, sig);
    }

    return 1;
}

static int
tg_exec_end_with(tg_exec_t *exec, int sig)
{
    tg_tree_t *tree;
    size_t n;

    if (tg_exec_mark(exec) != TG_OK) {
        return tg_exec_end_group(exec, sig);
    }

    tree = &exec->programs->tree;
    n = tg_exec_count(tree);
    tg_exec_remember(exec, tree, n);

    if (sig != 0) {
        tg_exec_signal(exec, tree, sig);
    }

    return n != 0 || !exec->is_reaped;
}

int
tg_exec_end(tg_exec_t *exec)
{
    exec->ended_at = uv_now(exec->job->jobs->loop);

    return tg_exec_end_with(exec, SIGTERM);
}

int
tg_exec_end_again(tg_exec_t *exec)
{
    uint64_t age;

    age = uv_now(exec->job->jobs->loop) - exec->ended_at;

    return tg_exec_end_with(exec, age >= TG_EXEC_GRACE_MS ? SIGKILL : 0);
}
