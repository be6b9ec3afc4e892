/*
 * Detects main processes that have ended and assigns orphaned processes to
 * their programs.
 *
 * While the main process of a program lives, it is a subreaper, so all
 * descendants stay below it. When it dies, its remaining children become
 * children of the runner. Only at this moment can the program of such an orphan
 * be determined, so it is recorded then. An orphan belongs to the program whose
 * session or group it shares or whose process tag it has; it cannot take these
 * from another program. The tag of a program that is gone marks a daemon that
 * may continue.
 *
 * If there is no tag, or the process removed it, the program is a guess, in
 * this order: the program of its cgroup, if that program has ended (the orphan
 * may have moved to another cgroup, as all belong to its user); the program of
 * another orphan in its session; a program that is being ended, as its main
 * process or an orphan of it may have ended; a program that has just ended.
 *
 * A main process is reaped last, when no process of its program is left. Until
 * then no other process can get its pid, which is also the id of its session
 * and its group.
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
 * Returns how likely the program is to have left an orphan without a tag. 0:
 * not at all. In doubt, a program that is being ended is preferred: ending a
 * wanted daemon is better than keeping an unwanted process.
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

/* --- table of orphans --- */

/* One scan, which may find only a part of the orphans. */
typedef struct {
    tg_programs_t *programs;
    size_t nold; /* number of orphans before the scan, sorted by pid */
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

/* Returns space for another orphan, or NULL if out of memory. */
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
 * Adds new orphans to the table, at most TG_PROCESS_TREE_MAX. Returns 1 if some
 * of them are zombies already.
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

/*
 * Reaps the orphans that have ended. Their pids cannot be reused before, as no
 * other code reaps them.
 */
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

    /* Reaping an orphan makes its children visible, so scan again. */
    do {
        tg_reaper_reap_orphans(programs);
    } while (tg_reaper_add_orphans(programs) && !programs->has_more_orphans);
}
