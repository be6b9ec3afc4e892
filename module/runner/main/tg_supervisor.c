/* The runner's parent process, which waits for it and kills its descendants. */
#include "runner/main/tg_supervisor.h"

#include "runner/logging/tg_log.h"
#include "runner/process/tg_process_tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int
tg_supervisor_run_child(pid_t supervisor, const sigset_t *old,
                        int (*body)(void *ctx), void *ctx)
{
    /* A SIGTERM may kill the runner from now on: no program runs yet. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == -1 || getppid() != supervisor) {
        return 1;
    }

    (void) prctl(PR_SET_NAME, "toolgate-runner");
    (void) sigprocmask(SIG_SETMASK, old, NULL);

    return body(ctx);
}

/* Waits for the end of the runner and returns its wait status. */
static int
tg_supervisor_wait(pid_t runner, const sigset_t *set)
{
    int sig, status;
    pid_t pid;

    for (;;) {
        pid = waitpid(runner, &status, WNOHANG);

        if (pid == runner) {
            return status;
        }

        sig = sigwaitinfo(set, NULL);

        if (sig == SIGTERM || sig == SIGINT) {
            (void) kill(runner, SIGTERM);
        }

        if (sig == SIGHUP) {
            (void) tg_log_reopen();
        }
    }
}

int
tg_supervisor_run(int *fd, int (*body)(void *ctx), void *ctx)
{
    sigset_t set, old;
    pid_t supervisor, runner;
    int status;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    (void) sigprocmask(SIG_BLOCK, &set, &old);

    if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1) {
        return -1;
    }

    supervisor = getpid();

    /* Another name, so that killing one name leaves a process to clean up. */
    (void) prctl(PR_SET_NAME, "toolgate-guard");
    runner = fork();

    if (runner == -1) {
        return -1;
    }

    if (runner == 0) {
        return tg_supervisor_run_child(supervisor, &old, body, ctx);
    }

    if (*fd != -1) {
        (void) close(*fd);
        *fd = -1;
    }

    status = tg_supervisor_wait(runner, &set);
    tg_process_tree_kill_all();

    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
