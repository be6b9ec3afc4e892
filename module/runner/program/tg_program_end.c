/*
 * Ending a program: which processes belong to it, and the signals.
 */
#include "runner/program/tg_program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int
tg_program_owns(const tg_program_t *program, const tg_proc_t *proc)
{
    return program->is_forced || proc->sid == program->pid
           || proc->pgrp == program->pid;
}

/* May it be one, or be above one, that is to be ended? */
static int
tg_program_left(const tg_program_t *program, const tg_orphan_t *orphan)
{
    return orphan->program == program
           && (program->is_forced || orphan->sid == program->pid);
}

/*
 * What is left of the program, as far as it is to be ended, in the tree.
 * Zombies count: what they leave may not be seen before they are reaped.
 */
static void
tg_program_find(tg_program_t *program)
{
    tg_programs_t *programs;
    tg_tree_t *tree;
    size_t i, n;

    programs = program->programs;
    tree = &programs->tree;
    tree->n = 0;

    if (!program->has_ended) {
        tg_tree_add(tree, program->pid);
    }

    for (i = 0; i < programs->norphans && tree->n < TG_TREE_MAX; i++) {
        if (tg_program_left(program, &programs->orphans[i])) {
            tg_tree_add(tree, programs->orphans[i].pid);
        }
    }

    /* Whoever is found twice is signalled twice, which does no harm. */
    if (program->is_forced && program->cgroup != 0) {
        tg_cgroup_read(&programs->cgroups, program->cgroup, tg_tree_put, tree);
    }

    for (i = 0, n = 0; i < tree->n; i++) {
        if (tg_program_owns(program, &tree->procs[i])) {
            tree->procs[n++] = tree->procs[i];
        }
    }

    tree->n = n;
}

/* One that is stopped would not notice. */
static void
tg_program_terminate(const tg_program_t *program)
{
    const tg_proc_t *proc;
    const tg_tree_t *tree;
    size_t i;

    tree = &program->programs->tree;

    for (i = 0; i < tree->n; i++) {
        proc = &tree->procs[i];

        if (proc->pgrp != program->pid) {
            (void) tg_proc_signal(proc, SIGTERM);
            (void) tg_proc_signal(proc, SIGCONT);
        }
    }

    /* The group as a whole, which no fork in progress escapes. */
    (void) kill(-program->pid, SIGTERM);
    (void) kill(-program->pid, SIGCONT);
}

/*
 * In a cgroup all at once.  Else the main process last: as long as it lives,
 * whatever is forked meanwhile becomes its child, wherever its parent has
 * gone.  So it is stopped, and killed when there was nothing below it after
 * that.
 */
static void
tg_program_kill(tg_program_t *program)
{
    const tg_tree_t *tree;
    size_t i, nothers;

    tree = &program->programs->tree;

    if (program->is_forced && program->cgroup != 0) {
        tg_cgroup_kill(&program->programs->cgroups, program->cgroup);
    }

    for (i = 0, nothers = 0; i < tree->n; i++) {
        if (tree->procs[i].pid != program->pid) {
            (void) tg_proc_signal(&tree->procs[i], SIGKILL);
            nothers += !tree->procs[i].is_zombie;
        }
    }

    if (program->has_ended) {
        (void) kill(-program->pid, SIGKILL);
        return;
    }

    (void) kill(program->pid,
                program->is_stopped && nothers == 0 ? SIGKILL : SIGSTOP);
    program->is_stopped = 1;
}

/* --- what happens --- */

static int
tg_program_is_empty(tg_program_t *program)
{
    tg_program_find(program);

    return program->has_ended && !program->programs->has_more
           && program->programs->tree.n == 0;
}

/* Is its time for an end of its own over? */
static int
tg_program_is_over(const tg_program_t *program)
{
    return uv_now(program->timer.loop) - program->ended_at
           >= TG_PROGRAM_GRACE_MS;
}

/* Nothing is left but the main process, which has ended. */
static void
tg_program_reap(tg_program_t *program)
{
    tg_programs_t *programs;
    tg_program_t **link;
    size_t i;

    programs = program->programs;

    for (link = &programs->first; *link != program; link = &(*link)->next) {
        /* void */
    }

    *link = program->next;

    /* What it left in sessions of their own was wanted. */
    for (i = 0; i < programs->norphans; i++) {
        if (programs->orphans[i].program == program) {
            programs->orphans[i].program = NULL;
        }
    }

    (void) waitpid(program->pid, NULL, WNOHANG);

    if (program->cgroup == 0) {
        return;
    }

    if (program->is_limited || program->is_forced) {
        tg_cgroup_remove(&programs->cgroups, program->cgroup);
    } else {
        tg_cgroup_give_back(&programs->cgroups, program->cgroup);
    }
}

static void
tg_program_on_tick(uv_timer_t *timer)
{
    tg_program_look(timer->data);
}

static void
tg_program_gone(tg_program_t *program)
{
    program->is_ending = 0;
    tg_program_reap(program);
    program->ops->gone(program);
}

void
tg_program_finish(tg_program_t *program, int is_forced)
{
    program->is_forced = is_forced;
    program->is_ending = 1;
    program->ended_at = uv_now(program->timer.loop);

    if (tg_program_is_empty(program)) {
        tg_program_gone(program);
        return;
    }

    tg_program_terminate(program);
    uv_timer_start(&program->timer, tg_program_on_tick, TG_PROGRAM_TICK_MS, 0);
}

/* Many ends at once are looked at once, and others have their turn. */
void
tg_program_look(tg_program_t *program)
{
    uint64_t now;

    if (!program->is_ending) {
        return;
    }

    now = uv_now(program->timer.loop);

    if (now - program->looked_at >= TG_PROGRAM_SWEEP_MS) {
        program->looked_at = now;
        tg_orphans_look(program->programs);

        if (tg_program_is_empty(program)) {
            tg_program_gone(program);
            return;
        }

        if (tg_program_is_over(program)) {
            tg_program_kill(program);
        }

    } else {
        now = 0;
    }

    uv_timer_start(&program->timer, tg_program_on_tick,
                   now == 0 || tg_program_is_over(program) ? TG_PROGRAM_SWEEP_MS
                                                           : TG_PROGRAM_TICK_MS,
                   0);
}

void
tg_program_exited(tg_program_t *program)
{
    int was_ending;

    was_ending = program->is_ending;
    program->is_news = 0;
    program->has_ended = 1;
    program->ops->exited(program);

    if (was_ending) {
        program->looked_at = 0;
        tg_program_look(program);
    }
}
