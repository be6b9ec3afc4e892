/* Starts a program: session, signals, descriptors, tag, execve(). */
#include "runner/process/tg_spawn.h"

#include "runner/process/tg_clone.h"
#include "runner/process/tg_process_tag.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Usual umask of services, for the files that programs write. */
#define TG_SPAWN_UMASK 022

/* Memory of parent and child; one mapping, as one thread starts programs. */
typedef struct {
    const tg_spawn_params_t *spawn;
    pid_t parent;
    volatile tg_spawn_step_t step;
    volatile int err;
} tg_spawn_ctx_t;

static const int tg_spawn_ignored_signals[] = { SIGPIPE, SIGXFSZ, SIGHUP };

#define TG_SPAWN_NIGNORED                                                      \
    (sizeof(tg_spawn_ignored_signals) / sizeof(tg_spawn_ignored_signals[0]))

void
tg_spawn_ignore_signals(void)
{
    size_t i;

    for (i = 0; i < TG_SPAWN_NIGNORED; i++) {
        (void) signal(tg_spawn_ignored_signals[i], SIG_IGN);
    }
}

/* Resets handlers first: one could write into the parent's loop. */
static int
tg_spawn_reset_signals(int has_handlers)
{
    struct sigaction action;
    sigset_t none;
    size_t i;
    int sig;

    sigemptyset(&none);
    action.sa_handler = SIG_DFL;
    action.sa_mask = none;
    action.sa_flags = 0;

    for (i = 0; !has_handlers && i < TG_SPAWN_NIGNORED; i++) {
        (void) sigaction(tg_spawn_ignored_signals[i], &action, NULL);
    }

    for (sig = 1; has_handlers && sig < NSIG; sig++) {
        /* Fails for SIGKILL and SIGSTOP. */
        (void) sigaction(sig, &action, NULL);
    }

    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int
tg_spawn_set_fds(const tg_spawn_params_t *spawn)
{
    int i, rc;

    for (i = 0; i < spawn->nfds; i++) {
        /* dup2() to the same number would not clear close-on-exec. */
        rc = spawn->fds[i] == i ? fcntl(i, F_SETFD, 0) : dup2(spawn->fds[i], i);

        if (rc == -1) {
            return -1;
        }
    }

    /* Closes libraries' descriptors; older kernels and sandboxes reject it. */
    (void) close_range((unsigned) spawn->nfds, ~0u, 0);

    return 0;
}

static int
tg_spawn_setup_child(const tg_spawn_ctx_t *ctx, int has_handlers)
{
    const tg_program_options_t *options = ctx->spawn->options;

    if (setsid() == -1) {
        return -1;
    }

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1) {
        return -1;
    }

    /* The parent may have died before PR_SET_PDEATHSIG was set. */
    if (getppid() != ctx->parent) {
        _exit(127);
    }

    /* A program's daemons stay its descendants while its main process lives. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1) {
        return -1;
    }

    if (tg_spawn_set_fds(ctx->spawn) == -1) {
        return -1;
    }

    if (ctx->spawn->process_tag != 0) {
        tg_process_tag_set(ctx->spawn->process_tag, ctx->spawn->serial);
    }

    (void) umask(TG_SPAWN_UMASK);

    if (options->nice != 0) {
        (void) setpriority(PRIO_PROCESS, 0,
                           getpriority(PRIO_PROCESS, 0) + (int) options->nice);
    }

    return tg_spawn_reset_signals(has_handlers);
}

/* Runs in the child: system calls only, and writes only ctx (tg_clone.h). */
static void __attribute__((noinline, noreturn))
tg_spawn_run_child(void *data, int has_handlers)
{
    tg_spawn_ctx_t *ctx;

    ctx = data;
    ctx->step = TG_SPAWN_CWD;

    /* Before the descriptors: cwd may be a path of one of the caller's. */
    if (chdir(ctx->spawn->cwd) == 0) {
        ctx->step = TG_SPAWN_SETUP;

        if (tg_spawn_setup_child(ctx, has_handlers) == 0) {
            ctx->step = TG_SPAWN_EXEC;
            (void) execve(ctx->spawn->argv[0], ctx->spawn->argv,
                          ctx->spawn->envp);
        }
    }

    ctx->err = errno;
    _exit(127);
}

static tg_spawn_ctx_t *
tg_spawn_get_ctx(void)
{
    static tg_spawn_ctx_t *ctx;
    void *map;

    if (ctx == NULL) {
        map = mmap(NULL, sizeof(*ctx), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ctx = map != MAP_FAILED ? map : NULL;
    }

    return ctx;
}

int
tg_spawn_program(const tg_spawn_params_t *spawn, pid_t *pid,
                 tg_spawn_step_t *step)
{
    tg_spawn_ctx_t *ctx;
    sigset_t all, old;
    pid_t child;
    int err;

    ctx = tg_spawn_get_ctx();

    if (ctx == NULL) {
        *step = TG_SPAWN_FORK;
        return errno;
    }

    ctx->spawn = spawn;
    ctx->parent = getpid();
    ctx->step = TG_SPAWN_FORK;
    ctx->err = 0;

    sigfillset(&all);
    (void) sigprocmask(SIG_SETMASK, &all, &old);
    child = tg_clone_child(spawn->cgroup, tg_spawn_run_child, ctx);
    err = child != -1 ? ctx->err : errno;
    (void) sigprocmask(SIG_SETMASK, &old, NULL);

    if (err == 0) {
        *pid = child;

    } else {
        *step = ctx->step;

        while (child != -1 && waitpid(child, NULL, 0) == -1 && errno == EINTR) {
            /* void */
        }
    }

    return err;
}
