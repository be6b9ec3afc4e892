/*
 * The start of a program, and why there was none.
 */
#include "runner/exec/tg_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Of the tool. */
#define TG_EXEC_NO_START "%s could not be started: "

/* The descriptors of a start: the program's ends and ours, -1 for none. */
typedef struct {
    int theirs[TG_SPAWN_FDS];
    int ours[TG_SPAWN_FDS];
} tg_exec_fds_t;

static void
tg_exec_fds_close(tg_exec_fds_t *fds, int null_fd)
{
    int i;

    for (i = 0; i < TG_SPAWN_FDS; i++) {
        if (fds->theirs[i] != -1 && fds->theirs[i] != null_fd) {
            (void) close(fds->theirs[i]);
        }

        if (fds->ours[i] != -1) {
            (void) close(fds->ours[i]);
        }
    }
}

/*
 * What the pipe takes is in it before the program starts; the usual input
 * is then done with.
 */
static int
tg_exec_fds_input(tg_exec_fds_t *fds, tg_str_t *input, int null_fd)
{
    int pair[2];
    ssize_t n;

    if (input->len == 0) {
        fds->theirs[TG_EXEC_IN] = null_fd;
        return 0;
    }

    if (pipe2(pair, O_CLOEXEC) == -1) {
        return errno;
    }

    fds->theirs[TG_EXEC_IN] = pair[0];
    fds->ours[TG_EXEC_IN] = pair[1];

    /* Of our end only: the program's is a file of its own. */
    if (fcntl(pair[1], F_SETFL, O_NONBLOCK) == -1) {
        return errno;
    }

    n = write(pair[1], input->data, input->len);

    if (n > 0) {
        input->data += n;
        input->len -= (size_t) n;
    }

    if (input->len == 0) {
        (void) close(pair[1]);
        fds->ours[TG_EXEC_IN] = -1;
    }

    return 0;
}

static int
tg_exec_fds_open(tg_exec_fds_t *fds, tg_str_t *input, int null_fd)
{
    int pair[2], i, err;

    for (i = 0; i < TG_SPAWN_FDS; i++) {
        fds->theirs[i] = -1;
        fds->ours[i] = -1;
    }

    err = tg_exec_fds_input(fds, input, null_fd);

    for (i = TG_EXEC_OUT; err == 0 && i <= TG_EXEC_PROGRESS; i++) {
        if (pipe2(pair, O_CLOEXEC) == -1) {
            err = errno;
            break;
        }

        fds->ours[i] = pair[0];
        fds->theirs[i] = pair[1];
    }

    return err;
}

/* Hands our ends to the loop. */
static int
tg_exec_pipes_open(tg_exec_t *exec, tg_exec_fds_t *fds)
{
    int i, rc;

    for (i = 0; i < TG_SPAWN_FDS; i++) {
        if (fds->ours[i] == -1) {
            continue;
        }

        rc = uv_pipe_init(exec->job->jobs->loop, &exec->pipes[i], 0);

        if (rc != 0) {
            return -rc;
        }

        exec->pipes[i].data = exec;
        exec->open_pipes |= 1u << i;
        tg_job_opened(exec->job);
        rc = uv_pipe_open(&exec->pipes[i], fds->ours[i]);

        if (rc != 0) {
            return -rc;
        }

        fds->ours[i] = -1;
    }

    return 0;
}

/* Says what hindered the start. */
static void
tg_exec_explain(tg_exec_t *exec, tg_spawn_step_t step, int err)
{
    const char *tool, *text, *why;

    tool = exec->job->params.tool;
    text = strerror(err);

    switch (step) {
    case TG_SPAWN_FORK:
        tg_job_fail(exec->job, TG_FAILURE_BUSY,
                    TG_EXEC_NO_START
                    "the system gives toolgate-runner no process or "
                    "descriptor for it (%s); try again when less is running, "
                    "or raise the limits of the user that NGINX's workers run "
                    "as.",
                    tool, text);
        return;

    case TG_SPAWN_LIMITS:
        why = exec->programs->cgroups.why;
        tg_job_fail(exec->job, TG_FAILURE_PROGRAM,
                    TG_EXEC_NO_START
                    "its memory and pids cannot be limited: %s. Let "
                    "toolgate-runner have a cgroup that it may divide, as "
                    "docs/operations.md says, or remove memory and pids from "
                    "the tool.",
                    tool, why != NULL ? why : text);
        return;

    case TG_SPAWN_SETUP:
        tg_job_fail(exec->job, TG_FAILURE_INTERNAL,
                    TG_EXEC_NO_START
                    "its process could not be prepared (%s); see the limits "
                    "of the user that NGINX's workers run as.",
                    tool, text);
        return;

    case TG_SPAWN_CWD:
        tg_job_fail(exec->job, TG_FAILURE_PROGRAM,
                    TG_EXEC_NO_START
                    "its working directory %s: %s. Correct its cwd, or make "
                    "the directory accessible to the user that NGINX's workers "
                    "run as.",
                    tool, exec->params.cwd, text);
        return;

    default:
        break;
    }

    if (err == E2BIG) {
        tg_job_fail(exec->job, TG_FAILURE_ARGUMENTS,
                    TG_EXEC_NO_START
                    "its arguments and environment are larger than the system "
                    "allows; pass large values on its standard input.",
                    tool);
        return;
    }

    why = err == ENOENT    ? "Check that the file is there, and the "
                             "interpreter that its first line names."
          : err == ENOEXEC ? "It is no program for this machine, nor does its "
                             "first line start with #! and an interpreter."
                           : "Check that the user that NGINX's workers run as "
                             "may execute it.";
    tg_job_fail(exec->job, TG_FAILURE_PROGRAM, TG_EXEC_NO_START "%s: %s. %s",
                tool, exec->params.argv[0], text, why);
}

/* Without a cgroup programs are found by their tree; but a limit must hold. */
static int
tg_exec_cgroup(tg_exec_t *exec, int *fd)
{
    const tg_cgroup_limits_t *limits;
    int err;

    *fd = -1;
    limits = &exec->params.limits;
    err = tg_cgroup_make(&exec->programs->cgroups, limits, &exec->cgroup, fd);

    return limits->memory != 0 || limits->pids != 0 ? err : 0;
}

int
tg_exec_spawn(tg_exec_t *exec, tg_str_t *input)
{
    tg_spawn_step_t step;
    tg_exec_fds_t fds;
    tg_spawn_t spawn;
    int err, null_fd;

    *input = exec->params.input;
    null_fd = exec->programs->null_fd;
    step = TG_SPAWN_FORK;
    err = tg_exec_fds_open(&fds, input, null_fd);

    if (err == 0) {
        err = tg_exec_pipes_open(exec, &fds);
    }

    if (err == 0) {
        step = TG_SPAWN_LIMITS;
        err = tg_exec_cgroup(exec, &spawn.cgroup);
    }

    if (err == 0) {
        step = TG_SPAWN_FORK;
        spawn.argv = exec->params.argv;
        spawn.envp = exec->params.envp;
        spawn.cwd = exec->params.cwd;
        spawn.mark = exec->programs->mark;
        memcpy(spawn.fds, fds.theirs, sizeof(spawn.fds));
        err = tg_spawn(&spawn, &exec->pid, &step);

        if (spawn.cgroup != -1) {
            (void) close(spawn.cgroup);
        }
    }

    tg_exec_fds_close(&fds, null_fd);

    if (err != 0 && exec->cgroup != 0) {
        tg_cgroup_remove(&exec->programs->cgroups, exec->cgroup);
    }

    if (err != 0) {
        tg_exec_explain(exec, step, err);
    }

    return err;
}
