/* The start of a program, and the error messages for a failed start. */
#include "runner/process/tg_program.h"

#include "runner/process/tg_process_tag.h"

#include <errno.h>
#include <unistd.h>

void
tg_program_init(tg_program_t *program, tg_programs_t *programs,
                const tg_program_ops_t *ops, void *host)
{
    memset(program, 0, sizeof(*program));
    program->programs = programs;
    program->ops = ops;
    program->host = host;
    uv_timer_init(programs->sigchld.loop, &program->timer);
    program->timer.data = program;
}

/* Creates the cgroup. Fails only if there are limits, which must hold. */
static int
tg_program_create_cgroup(tg_program_t *program,
                         const tg_program_options_t *limits, int *fd)
{
    int err;

    *fd = -1;
    err = tg_cgroup_create(&program->programs->cgroups, limits,
                           &program->cgroup, fd);

    program->is_limited = limits->memory != 0 || limits->pids != 0;

    return program->is_limited ? err : 0;
}

int
tg_program_start(tg_program_t *program, const tg_program_params_t *params,
                 const char *cwd, const int *fds, int nfds,
                 tg_spawn_step_t *step)
{
    tg_programs_t *programs;
    tg_spawn_params_t spawn;
    int err;

    programs = program->programs;
    programs->last += programs->last != TG_PROCESS_TAG_SERIAL_BITS
                          ? 1
                          : 2; /* skip serial number 0 */
    program->serial = programs->last;
    *step = TG_SPAWN_LIMITS;
    err = tg_program_create_cgroup(program, &params->options, &spawn.cgroup);

    if (err == 0) {
        *step = TG_SPAWN_FORK;
        spawn.argv = params->argv;
        spawn.envp = params->envp;
        spawn.cwd = cwd;
        spawn.options = &params->options;
        spawn.process_tag = programs->process_tag;
        spawn.serial = program->serial;
        spawn.fds = fds;
        spawn.nfds = nfds;
        err = tg_spawn_program(&spawn, &program->pid, step);

        if (spawn.cgroup != -1) {
            (void) close(spawn.cgroup);
        }
    }

    if (err == 0) {
        program->next = programs->first;
        programs->first = program;

    } else if (program->cgroup != 0) {
        tg_cgroup_remove(&programs->cgroups, program->cgroup);
        program->cgroup = 0;
    }

    return err;
}

/* Appends why the program file could not be executed. Returns the failure. */
static tg_failure_t
tg_program_append_exec_error(tg_buf_t *text, const char *path, int err)
{
    const char *why;

    if (err == E2BIG) {
        tg_buf_append_cstr(text,
                           "its arguments and environment are larger than the "
                           "system allows; pass large values on its standard "
                           "input.");
        return TG_FAILURE_ARGUMENTS;
    }

    why = err == ENOENT    ? " The file, or the interpreter in its first "
                             "line, does not exist."
          : err == ENOEXEC ? " It is not a program for this machine, and its "
                             "first line has no #! with an interpreter."
                           : "";
    tg_buf_printf(text, "%s: %s.%s", path, strerror(err), why);

    return TG_FAILURE_PROGRAM;
}

tg_failure_t
tg_program_append_start_error(tg_buf_t *text, const tg_programs_t *programs,
                              const tg_program_params_t *params,
                              const char *name, tg_spawn_step_t step, int err)
{
    const char *why;

    tg_buf_printf(text, "%s could not be started: ", name);

    switch (step) {
    case TG_SPAWN_FORK:
        tg_buf_printf(text,
                      "the system has no process or descriptor left for it "
                      "(%s); try again when less is running.",
                      strerror(err));
        return TG_FAILURE_BUSY;

    case TG_SPAWN_LIMITS:
        why = programs->cgroups.why;
        tg_buf_printf(text, "its memory and pids cannot be limited: %s.",
                      why != NULL ? why : strerror(err));
        return TG_FAILURE_PROGRAM;

    case TG_SPAWN_SETUP:
        tg_buf_printf(text, "its process could not be prepared (%s).",
                      strerror(err));
        return TG_FAILURE_INTERNAL;

    case TG_SPAWN_CWD:
        tg_buf_printf(text, "its working directory %s: %s.", params->cwd,
                      strerror(err));
        return TG_FAILURE_PROGRAM;

    default:
        return tg_program_append_exec_error(text, params->argv[0], err);
    }
}
