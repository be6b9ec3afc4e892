/*
 * Which main processes have ended, and whose the processes are that they left
 * behind.
 *
 * While the main process of a program lives, it is a subreaper, so all that
 * it started is below it.  When it has died, what it left becomes the
 * runner's child.  Whose such an orphan is can be known only at that moment,
 * so it is written down then.  It is the program's whose session or group it
 * shares, or whose mark it has: none of these can be had of another one.  The
 * mark of a program that is gone is that of a daemon that was wanted.
 *
 * Where it has no mark, as there are none or it took that off, this is a
 * guess.  Where programs have cgroups, that says it, if it is one of a program
 * that has ended: it may have gone to another one, as they are its user's own.
 * Else it is the owner's of an orphan whose session it shares; or the
 * program's that is being ended, for itself or an orphan of it may have ended;
 * or that has just ended.
 *
 * A main process is reaped last, when nothing of its program is left: until
 * then its number, which is also that of its session and its group, cannot
 * become anybody else's.
 */
#include "runner/program/tg_mark.h"
#include "runner/program/tg_program.h"

#include <sys/wait.h>
#include <unistd.h>

static void
tg_program_look_for_end(tg_program_t *program)
{
    siginfo_t info;

    info.si_pid = 0;

    if (program->has_ended
        || waitid(P_PID, (id_t) program->pid, &info,
                  WEXITED | WNOHANG | WNOWAIT)
               == -1
        || info.si_pid == 0)
    {
        return;
    }

    program->is_news = 1;
    program->status = info.si_code == CLD_EXITED
                          ? W_EXITCODE(info.si_status, 0)
                          : W_EXITCODE(0, info.si_status);
}

/*
 * How likely it left what has no mark: rather a daemon that was wanted is
 * ended than one that was not lives on.
 */
static int
tg_orphans_rank(const tg_program_t *program)
{
    return program->is_news || (program->has_ended && program->is_forced)
               ? 1 + 2 * program->is_forced + program->is_news
               : 0;
}

static const tg_program_t *
tg_orphans_guess(const tg_programs_t *programs, const tg_proc_t *proc)
{
    const tg_program_t *program, *best;
    unsigned long cgroup;
    int rank, best_rank;
    size_t i;

    cgroup = tg_cgroup_of(&programs->cgroups, proc->pid);
    best = NULL;
    best_rank = 0;

    for (program = programs->first; program != NULL; program = program->next) {
        if (cgroup != 0 && cgroup == program->cgroup
            && (program->is_news || program->has_ended))
        {
            return program;
        }

        rank = tg_orphans_rank(program);

        if (rank > best_rank) {
            best = program;
            best_rank = rank;
        }
    }

    for (i = 0; i < programs->norphans; i++) {
        if (programs->orphans[i].sid == proc->sid) {
            return programs->orphans[i].program;
        }
    }

    return best;
}

static const tg_program_t *
tg_orphans_owner(const tg_programs_t *programs, const tg_proc_t *proc)
{
    const tg_program_t *program;
    uint32_t serial;

    serial = programs->mark != 0 ? tg_mark_serial(programs->mark, proc->pid)
                                 : 0;

    for (program = programs->first; program != NULL; program = program->next) {
        if (proc->sid == program->pid || proc->pgrp == program->pid
            || (serial != 0 && serial == program->serial))
        {
            return program;
        }
    }

    return serial == 0 ? tg_orphans_guess(programs, proc) : NULL;
}

static int
tg_orphans_is_new(const tg_programs_t *programs, pid_t pid)
{
    const tg_program_t *program;
    size_t i;

    for (program = programs->first; program != NULL; program = program->next) {
        if (program->pid == pid) {
            return 0;
        }
    }

    for (i = 0; i < programs->norphans; i++) {
        if (programs->orphans[i].pid == pid) {
            return 0;
        }
    }

    return programs->norphans < TG_TREE_MAX;
}

/* Writes new ones down; says whether some of them have ended already. */
static int
tg_orphans_add(tg_programs_t *programs)
{
    pid_t pids[TG_TREE_MAX];
    tg_orphan_t *orphan;
    int has_ended;
    tg_proc_t proc;
    size_t i, n;

    has_ended = 0;
    n = programs->children_fd != -1
            ? tg_tree_read(programs->children_fd, pids, 0)
            : tg_tree_children(getpid(), pids);

    for (i = 0; i < n; i++) {
        if (tg_orphans_is_new(programs, pids[i])
            && tg_proc_read(pids[i], &proc) == TG_OK)
        {
            orphan = &programs->orphans[programs->norphans];
            orphan->pid = proc.pid;
            orphan->sid = proc.sid;
            orphan->program = tg_orphans_owner(programs, &proc);
            programs->norphans++;
            has_ended |= proc.is_zombie;
        }
    }

    return has_ended;
}

void
tg_orphans_look(tg_programs_t *programs)
{
    tg_program_t *program;
    size_t i;

    for (program = programs->first; program != NULL; program = program->next) {
        tg_program_look_for_end(program);
    }

    /*
     * Nobody else reaps them: their numbers are theirs until then.  Those
     * that are reaped first have no child that would not be seen afterwards.
     */
    do {
        for (i = programs->norphans; i > 0; i--) {
            if (waitpid(programs->orphans[i - 1].pid, NULL, WNOHANG) != 0) {
                programs->orphans[i - 1] =
                    programs->orphans[--programs->norphans];
            }
        }
    } while (tg_orphans_add(programs));
}
