/* The end of a program: finds its processes and sends the signals. */
#include "runner/process/tg_program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int
tg_program_owns_process(const tg_program_t *program, const tg_proc_t *proc)
{
    return program->is_forced || proc->sid == program->pid
           || proc->pgrp == program->pid;
}

/* Checks whether an orphan, or its descendant, may have to end. */
static int
tg_program_owns_orphan(const tg_program_t *program, const tg_orphan_t *orphan)
{
    return orphan->program == program
           && (program->is_forced || orphan->sid == program->pid);
}

/* Collects processes to end, also zombies: they may hide their children. */
static void
tg_program_find_processes(tg_program_t *program)
{
    tg_programs_t *programs;
    tg_process_tree_t *tree;
    size_t i, n;

    programs = program->programs;
    tree = &programs->tree;
    tree->n = 0;

    if (!program->has_ended) {
        tg_process_tree_add(tree, program->pid);
    }

    for (i = 0; i < programs->norphans && tree->n < TG_PROCESS_TREE_MAX; i++) {
        if (tg_program_owns_orphan(program, &programs->orphans[i])) {
            tg_process_tree_add(tree, programs->orphans[i].pid);
        }
    }

    /* A process that is found twice gets two signals, which does no harm. */
    if (program->is_forced && program->cgroup != 0) {
        tg_cgroup_for_each_pid(&programs->cgroups, program->cgroup,
                               tg_process_tree_add_one, tree);
    }

    for (i = 0, n = 0; i < tree->n; i++) {
        if (tg_program_owns_process(program, &tree->procs[i])) {
            tree->procs[n++] = tree->procs[i];
        }
    }

    tree->n = n;
}

/* Sends SIGTERM, and SIGCONT for stopped processes. */
static void
tg_program_send_sigterm(const tg_program_t *program)
{
    const tg_proc_t *proc;
    const tg_process_tree_t *tree;
    size_t i;

    tree = &program->programs->tree;

    for (i = 0; i < tree->n; i++) {
        proc = &tree->procs[i];

        if (proc->pgrp != program->pid) {
            (void) tg_proc_signal(proc, SIGTERM);
            (void) tg_proc_signal(proc, SIGCONT);
        }
    }

    /* A signal to the group also reaches a child of a fork in progress. */
    (void) kill(-program->pid, SIGTERM);
    (void) kill(-program->pid, SIGCONT);
}

/*
 * Kills the processes, with a cgroup all at once. Without one, the main process
 * is stopped first and killed last: until then, every forked process is its
 * descendant.
 */
static void
tg_program_send_sigkill(tg_program_t *program)
{
    const tg_process_tree_t *tree;
    size_t i, nlive_others;

    tree = &program->programs->tree;

    if (program->is_forced && program->cgroup != 0) {
        tg_cgroup_kill(&program->programs->cgroups, program->cgroup);
    }

    for (i = 0, nlive_others = 0; i < tree->n; i++) {
        if (tree->procs[i].pid != program->pid) {
            (void) tg_proc_signal(&tree->procs[i], SIGKILL);
            nlive_others += !tree->procs[i].is_zombie;
        }
    }

    if (program->has_ended) {
        (void) kill(-program->pid, SIGKILL);
        return;
    }

    (void) kill(program->pid,
                program->is_stopped && nlive_others == 0 ? SIGKILL : SIGSTOP);
    program->is_stopped = 1;
}

/* --- events --- */

static int
tg_program_is_empty(tg_program_t *program)
{
    tg_program_find_processes(program);

    return program->has_ended && !program->programs->has_more_orphans
           && program->programs->tree.n == 0;
}

static int
tg_program_is_past_grace(const tg_program_t *program)
{
    return uv_now(program->timer.loop) - program->ended_at
           >= TG_PROGRAM_GRACE_MS;
}

/* Reaps the main process, the last one, and releases the program's cgroup. */
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

    /* A program's processes in other sessions are daemons and may continue. */
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
        tg_cgroup_recycle(&programs->cgroups, program->cgroup);
    }
}

static void
tg_program_on_tick(uv_timer_t *timer)
{
    tg_program_check_ended(timer->data);
}

static void
tg_program_set_gone(tg_program_t *program)
{
    program->is_ending = 0;
    tg_program_reap(program);
    program->ops->on_gone(program);
}

void
tg_program_end(tg_program_t *program, int is_forced)
{
    program->is_forced = is_forced;
    program->is_ending = 1;
    program->ended_at = uv_now(program->timer.loop);

    if (tg_program_is_empty(program)) {
        tg_program_set_gone(program);
        return;
    }

    tg_program_send_sigterm(program);
    uv_timer_start(&program->timer, tg_program_on_tick, TG_PROGRAM_TICK_MS, 0);
}

/* Makes one scan for many ends in a short time: other events must not wait. */
void
tg_program_check_ended(tg_program_t *program)
{
    uint64_t now;

    if (!program->is_ending) {
        return;
    }

    now = uv_now(program->timer.loop);

    if (now - program->checked_at >= TG_PROGRAM_KILL_TICK_MS) {
        program->checked_at = now;
        tg_reaper_scan(program->programs);

        if (tg_program_is_empty(program)) {
            tg_program_set_gone(program);
            return;
        }

        if (tg_program_is_past_grace(program)) {
            tg_program_send_sigkill(program);
        }

    } else {
        now = 0;
    }

    uv_timer_start(&program->timer, tg_program_on_tick,
                   now == 0 || tg_program_is_past_grace(program)
                       ? TG_PROGRAM_KILL_TICK_MS
                       : TG_PROGRAM_TICK_MS,
                   0);
}

void
tg_program_on_exited(tg_program_t *program)
{
    int was_ending;

    was_ending = program->is_ending;
    program->is_exit_unreported = 0;
    program->has_ended = 1;
    program->ops->on_exited(program);

    if (was_ending) {
        program->checked_at = 0;
        tg_program_check_ended(program);
    }
}
