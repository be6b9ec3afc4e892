/*
 * Detects main processes that have ended and assigns orphans to programs.
 *
 * While a main process lives, it is a subreaper, so all descendants stay below
 * it. When it dies, its children become the runner's. Only then can an orphan's
 * program be determined, and is recorded: the program whose session, group or
 * process tag it has, which it cannot take from others. The tag of a program
 * that is gone marks a daemon, which may continue.
 *
 * Without a tag, the program is a guess, in this order: the program of its
 * cgroup, if that has ended (orphans may move to other cgroups of their user);
 * of another orphan in its session; one that is being ended; one that has just
 * ended.
 *
 * A main process is reaped last, when its program has no other process. Until
 * then no other process can get its pid, the id of its session and group.
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
 * Returns how likely the program has left an orphan without a tag; 0: not.
 * Prefers one that is being ended: better to end a wanted daemon than to keep
 * an unwanted process.
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

/* Adds new orphans to the table. Returns 1 if some are zombies already. */
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

/* Reaps ended orphans. No other code does, so pids are not reused before. */
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

    /* A reaped orphan makes its children visible: scan again. */
    do {
        tg_reaper_reap_orphans(programs);
    } while (tg_reaper_add_orphans(programs) && !programs->has_more_orphans);
}
