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
#include "runner/process/tg_process_tag.h"
#include "runner/process/tg_program.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void
tg_program_check_exited(tg_program_t *program)
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

    program->is_exit_unreported = 1;
    program->status = info.si_code == CLD_EXITED
                          ? W_EXITCODE(info.si_status, 0)
                          : W_EXITCODE(0, info.si_status);
}

/*
 * How likely it left what has no mark: rather a daemon that was wanted is
 * ended than one that was not lives on.
 */
static int
tg_reaper_rank_program(const tg_program_t *program)
{
    return program->is_exit_unreported
                   || (program->has_ended && program->is_forced)
               ? 1 + 2 * program->is_forced + program->is_exit_unreported
               : 0;
}

static const tg_program_t *
tg_reaper_guess_program(const tg_programs_t *programs, const tg_proc_t *proc)
{
    const tg_program_t *program, *best;
    unsigned long cgroup;
    int rank, best_rank;
    size_t i;

    cgroup = tg_cgroup_find_by_pid(&programs->cgroups, proc->pid);
    best = NULL;
    best_rank = 0;

    for (program = programs->first; program != NULL; program = program->next) {
        if (cgroup != 0 && cgroup == program->cgroup
            && (program->is_exit_unreported || program->has_ended))
        {
            return program;
        }

        rank = tg_reaper_rank_program(program);

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
tg_reaper_find_program(const tg_programs_t *programs, const tg_proc_t *proc)
{
    const tg_program_t *program;
    uint32_t serial;

    serial = programs->process_tag != 0
                 ? tg_process_tag_read_serial(programs->process_tag, proc->pid)
                 : 0;

    for (program = programs->first; program != NULL; program = program->next) {
        if (proc->sid == program->pid || proc->pgrp == program->pid
            || (serial != 0 && serial == program->serial))
        {
            return program;
        }
    }

    return serial == 0 ? tg_reaper_guess_program(programs, proc) : NULL;
}

/* --- the table --- */

/* One look, in which a part of them may be added. */
typedef struct {
    tg_programs_t *programs;
    size_t nold; /* those that were there before, by pid */
    int has_ended;
} tg_reaper_scan_t;

static int
tg_reaper_compare_pids(const void *a, const void *b)
{
    const tg_orphan_t *one, *other;

    one = a;
    other = b;

    return (one->pid > other->pid) - (one->pid < other->pid);
}

static int
tg_reaper_is_new_pid(const tg_reaper_scan_t *new, pid_t pid)
{
    tg_orphan_t key = { pid, 0, NULL };
    const tg_program_t *program;

    if (new->nold != 0
        && bsearch(&key, new->programs->orphans, new->nold, sizeof(key),
                   tg_reaper_compare_pids)
               != NULL)
    {
        return 0;
    }

    for (program = new->programs->first; program != NULL;
         program = program->next) {
        if (program->pid == pid) {
            return 0;
        }
    }

    return 1;
}

/* Room for another one: NULL without memory. */
static tg_orphan_t *
tg_reaper_grow_table(tg_programs_t *programs)
{
    tg_orphan_t *orphans;
    size_t size;

    if (programs->norphans == programs->size) {
        size = programs->size != 0 ? 2 * programs->size : 64;
        orphans = realloc(programs->orphans, size * sizeof(*orphans));

        if (orphans == NULL) {
            return NULL;
        }

        programs->orphans = orphans;
        programs->size = size;
    }

    return &programs->orphans[programs->norphans];
}

static int
tg_reaper_add_orphan(void *ctx, pid_t pid)
{
    tg_programs_t *programs;
    tg_reaper_scan_t *new;
    tg_orphan_t *orphan;
    tg_proc_t proc;

    new = ctx;
    programs = new->programs;

    if (!tg_reaper_is_new_pid(new, pid)) {
        return 1;
    }

    orphan = programs->norphans - new->nold < TG_PROCESS_TREE_MAX
                 ? tg_reaper_grow_table(programs)
                 : NULL;

    if (orphan == NULL) {
        programs->has_more_orphans = 1;
        return 0;
    }

    if (tg_proc_read(pid, &proc) == TG_OK) {
        orphan->pid = proc.pid;
        orphan->sid = proc.sid;
        orphan->program = tg_reaper_find_program(programs, &proc);
        programs->norphans++;
        new->has_ended |= proc.is_zombie;
    }

    return 1;
}

/*
 * Writes new ones down, at most TG_PROCESS_TREE_MAX; says whether some of them
 * have ended already.
 */
static int
tg_reaper_add_orphans(tg_programs_t *programs)
{
    tg_reaper_scan_t new;

    new.programs = programs;
    new.nold = programs->norphans;
    new.has_ended = 0;
    programs->has_more_orphans = 0;

    if (programs->children_fd != -1) {
        (void) tg_pid_list_for_each(programs->children_fd, tg_reaper_add_orphan,
                                    &new);
    } else {
        tg_proc_for_each_child(getpid(), tg_reaper_add_orphan, &new);
    }

    if (programs->norphans != new.nold) {
        qsort(programs->orphans, programs->norphans, sizeof(*programs->orphans),
              tg_reaper_compare_pids);
    }

    return new.has_ended;
}

/* Nobody else reaps them: their numbers are theirs until then. */
static void
tg_reaper_reap_orphans(tg_programs_t *programs)
{
    size_t i, n;

    for (i = 0, n = 0; i < programs->norphans; i++) {
        if (waitpid(programs->orphans[i].pid, NULL, WNOHANG) == 0) {
            programs->orphans[n++] = programs->orphans[i];
        }
    }

    programs->norphans = n;
}

void
tg_reaper_scan(tg_programs_t *programs)
{
    tg_program_t *program;

    for (program = programs->first; program != NULL; program = program->next) {
        tg_program_check_exited(program);
    }

    /* Those that are reaped have no child that would not be seen behind it. */
    do {
        tg_reaper_reap_orphans(programs);
    } while (tg_reaper_add_orphans(programs) && !programs->has_more_orphans);
}
