/* Processes below this one: found, identified, signalled, ended, started. */
#include "runner/process/tg_process_tag.h"
#include "runner/process/tg_spawn.h"
#include "runner/process/tg_process_tree.h"

#include "protocol_help.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void __attribute__((noreturn)) test_wait_for_ever(void)
{
    for (;;) {
        (void) pause();
    }
}

/* Starts a child with a child in another session, under their names. */
static pid_t
test_family(pid_t *grandchild)
{
    pid_t child;
    int pair[2];

    CU_ASSERT_FATAL(pipe(pair) == 0);
    child = fork();
    CU_ASSERT_FATAL(child != -1);

    if (child == 0) {
        (void) prctl(PR_SET_NAME, "a) Z 1 (b");
        *grandchild = fork();

        if (*grandchild == 0) {
            (void) setsid();
            *grandchild = getpid();
            (void) !write(pair[1], grandchild, sizeof(*grandchild));
        }

        test_wait_for_ever();
    }

    CU_ASSERT(read(pair[0], grandchild, sizeof(*grandchild))
              == (ssize_t) sizeof(*grandchild));
    close(pair[0]);
    close(pair[1]);

    return child;
}

static tg_process_tree_t test_tree;

/* Collects the processes below root and returns their number. */
static size_t
test_below(pid_t root)
{
    test_tree.n = 0;
    tg_process_tree_add_descendants(&test_tree, root);

    return test_tree.n;
}

static const tg_proc_t *
test_find(pid_t pid)
{
    size_t i;

    for (i = 0; i < test_tree.n; i++) {
        if (test_tree.procs[i].pid == pid) {
            return &test_tree.procs[i];
        }
    }

    return NULL;
}

HELP_TEST(scan, "scan")
{
    pid_t child, grandchild;
    const tg_proc_t *proc;
    tg_proc_t other;

    CU_ASSERT(test_below(getpid()) == 0);
    child = test_family(&grandchild);
    CU_ASSERT(test_below(getpid()) == 2);

    /* The process name may look like the numbers after it. */
    proc = test_find(child);
    CU_ASSERT_FATAL(proc != NULL);
    CU_ASSERT(proc->ppid == getpid());
    CU_ASSERT(proc->pgrp == getpgrp() && proc->sid == getsid(0));
    CU_ASSERT(proc->start != 0 && !proc->is_zombie);

    proc = test_find(grandchild);
    CU_ASSERT_FATAL(proc != NULL);
    CU_ASSERT(proc->ppid == child);
    CU_ASSERT(proc->pgrp == grandchild && proc->sid == grandchild);

    CU_ASSERT(test_below(child) == 1);
    CU_ASSERT(test_tree.procs[0].pid == grandchild);
    CU_ASSERT(test_below(grandchild) == 0);
    tg_process_tree_add(&test_tree, child);
    CU_ASSERT(test_tree.n == 2 && test_tree.procs[0].pid == child);

    /* The same id, but another process. */
    CU_ASSERT(test_below(getpid()) == 2);
    proc = test_find(grandchild);
    CU_ASSERT_FATAL(proc != NULL);
    other = *proc;
    other.start--;
    CU_ASSERT(tg_proc_signal(&other, SIGKILL) == -1);
    CU_ASSERT(kill(grandchild, 0) == 0);

    CU_ASSERT(tg_proc_signal(test_find(child), SIGKILL) == 0);
    CU_ASSERT(waitid(P_PID, (id_t) child, NULL, WEXITED | WNOWAIT) == 0);
    CU_ASSERT(test_below(getpid()) == 2);
    proc = test_find(child);
    CU_ASSERT(proc != NULL && proc->is_zombie);
    proc = test_find(grandchild);
    CU_ASSERT(proc != NULL && proc->ppid == getpid());

    CU_ASSERT(waitpid(child, NULL, 0) == child);
    CU_ASSERT(kill(grandchild, SIGKILL) == 0);
    CU_ASSERT(waitpid(grandchild, NULL, 0) == grandchild);
    CU_ASSERT(tg_proc_signal(proc, SIGKILL) == -1);
}

static void *
test_fork_and_wait(void *ctx)
{
    int *pair;
    pid_t pid;

    pair = ctx;
    pid = fork();

    if (pid == 0) {
        test_wait_for_ever();
    }

    (void) !write(pair[1], &pid, sizeof(pid));
    (void) !read(pair[0], &pid, 1);

    return NULL;
}

HELP_TEST(threads, "a child belongs to the thread that created it")
{
    int there[2], back[2], pair[2];
    pthread_t thread;
    pid_t child;

    CU_ASSERT_FATAL(pipe(there) == 0 && pipe(back) == 0);
    pair[0] = back[0];
    pair[1] = there[1];
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, test_fork_and_wait, pair)
                    == 0);
    CU_ASSERT(read(there[0], &child, sizeof(child)) == sizeof(child));
    CU_ASSERT(test_below(getpid()) == 1);
    CU_ASSERT(test_find(child) != NULL);
    CU_ASSERT(write(back[1], "", 1) == 1);
    CU_ASSERT(pthread_join(thread, NULL) == 0);
    tg_process_tree_kill_all();
    close(there[0]);
    close(there[1]);
    close(back[0]);
    close(back[1]);
}

static pid_t test_going;   /* exits when its folder is opened */
static unsigned test_wide; /* how often all of /proc was opened */

DIR *
opendir(const char *path)
{
    int fd;

    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    test_wide += strcmp(path, "/proc") == 0;

    if (fd != -1 && test_going != 0 && strstr(path, "/task") != NULL) {
        CU_ASSERT(kill(test_going, SIGKILL) == 0);
        CU_ASSERT(waitpid(test_going, NULL, 0) == test_going);
        test_going = 0;
    }

    return fd != -1 ? fdopendir(fd) : NULL;
}

/* A process that exits meanwhile has no list: /proc is not searched. */
HELP_TEST(race, "a process that exits meanwhile")
{
    pid_t child;

    child = fork();

    if (child == 0) {
        test_wait_for_ever();
    }

    test_wide = 0;
    test_going = child;
    CU_ASSERT(test_below(child) == 0);
    CU_ASSERT(test_going == 0);
    CU_ASSERT(access("/proc/thread-self/children", F_OK) == -1
              || test_wide == 0);
}

HELP_TEST(sweep, "sweep")
{
    pid_t pids[8];
    size_t i;

    for (i = 0; i < 8; i += 2) {
        pids[i] = test_family(&pids[i + 1]);
    }

    tg_process_tree_kill_all();
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);

    for (i = 0; i < 8; i++) {
        CU_ASSERT(kill(pids[i], 0) == -1 && errno == ESRCH);
    }

    tg_process_tree_kill_all();
}

/* Starts a tagged family below a process of this name, and returns that one. */
static pid_t
test_marked(const char *name, uint64_t process_tag, pid_t *child)
{
    pid_t parent;
    int pair[2];

    CU_ASSERT_FATAL(pipe(pair) == 0);
    parent = fork();
    CU_ASSERT_FATAL(parent != -1);

    if (parent == 0) {
        (void) prctl(PR_SET_NAME, name);
        *child = fork();

        if (*child == 0) {
            (void) setsid();
            (void) prctl(PR_SET_NAME, name);
            tg_process_tag_set(process_tag, 1);
            *child = fork() == 0 ? 0 : getpid();

            if (*child != 0) {
                (void) !write(pair[1], child, sizeof(*child));
            }
        }

        test_wait_for_ever();
    }

    CU_ASSERT(read(pair[0], child, sizeof(*child)) == sizeof(*child));
    close(pair[0]);
    close(pair[1]);

    return parent;
}

/* Finds only the leftovers of a runner that no longer runs. */
HELP_TEST(process_tag, "process tag")
{
    pid_t left, cared, other, kids[3];
    uint64_t process_tag;
    int is_left;

    process_tag = tg_process_tag_make(1, (uint64_t) getpid());
    CU_ASSERT(process_tag != tg_process_tag_make(1, (uint64_t) getpid() + 1)
              && process_tag != tg_process_tag_make(2, (uint64_t) getpid()));
    left = test_marked("anybody", process_tag, &kids[0]);
    cared = test_marked("toolgate-guard", process_tag, &kids[1]);
    other = test_marked("anybody", tg_process_tag_make(3, (uint64_t) getpid()),
                        &kids[2]);

    CU_ASSERT(tg_process_tag_kill_all(process_tag, &is_left) >= 2);
    CU_ASSERT(!is_left);
    CU_ASSERT(test_below(left) == 1);
    CU_ASSERT(test_find(kids[0]) != NULL && test_find(kids[0])->is_zombie);
    CU_ASSERT(test_below(cared) == 2 && test_below(other) == 2);
    CU_ASSERT(tg_process_tag_kill_all(process_tag, &is_left) == 0);
    tg_process_tree_kill_all();
}

/* A serial belongs to one process, until it lowers one of the limits. */
static int
test_serials(void)
{
    uint64_t process_tag;

    process_tag = tg_process_tag_make(1, (uint64_t) getpid());

    if (tg_process_tag_read_serial(process_tag, getpid()) != 0) {
        return 1;
    }

    tg_process_tag_set(process_tag, 5);

    if (tg_process_tag_read_serial(process_tag, getpid()) != 5
        || tg_process_tag_read_serial(
               tg_process_tag_make(3, (uint64_t) getpid()), getpid())
               != 0)
    {
        return 2;
    }

    /* As a user who may not raise it again: neither is available. */
    if (getuid() == 0 && setresuid(65534, 65534, 65534) == -1) {
        return 3;
    }

    tg_process_tag_set(process_tag, 6);

    if (tg_process_tag_read_serial(process_tag, getpid()) == 6) {
        return 4;
    }

    tg_process_tag_set(process_tag, 4);

    return tg_process_tag_read_serial(process_tag, getpid()) != 0 ? 5 : 0;
}

HELP_TEST(serial, "serial")
{
    int status;
    pid_t pid;

    pid = fork();

    if (pid == 0) {
        _exit(test_serials());
    }

    CU_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
}

static const tg_program_options_t test_no_options;

static int
test_spawn_is(tg_spawn_params_t *spawn, tg_spawn_step_t expected)
{
    tg_spawn_step_t step;
    pid_t pid;
    int err;

    step = TG_SPAWN_SETUP;
    err = tg_spawn_program(spawn, &pid, &step);
    CU_ASSERT(step == expected);
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);

    return err;
}

HELP_TEST(spawn, "spawn")
{
    char *argv[] = { NULL, NULL };
    char *envp[] = { NULL };
    sigset_t before, after;
    tg_spawn_step_t step;
    tg_spawn_params_t spawn;
    char text[4];
    int fds[TG_SPAWN_FDS], pair[2], status;
    pid_t pid;

    CU_ASSERT_FATAL(pipe(pair) == 0);
    spawn.options = &test_no_options;
    spawn.fds = fds;
    spawn.nfds = TG_SPAWN_FDS;
    spawn.argv = argv;
    spawn.envp = envp;
    spawn.cwd = "/";
    spawn.process_tag = 0;
    spawn.cgroup = -1;
    fds[0] = pair[0];
    fds[1] = pair[1];
    fds[2] = pair[1];
    fds[3] = pair[1];
    memset(&before, 0, sizeof(before));
    memset(&after, 0, sizeof(after));
    sigprocmask(SIG_SETMASK, NULL, &before);

    argv[0] = (char *) (uintptr_t) "/bin/pwd";
    CU_ASSERT_FATAL(tg_spawn_program(&spawn, &pid, &step) == 0);
    CU_ASSERT_FATAL(waitpid(pid, &status, 0) == pid && status == 0);
    CU_ASSERT(read(pair[0], text, sizeof(text)) == 2);
    CU_ASSERT(memcmp(text, "/\n", 2) == 0);

    spawn.cwd = "/no/such";
    CU_ASSERT(test_spawn_is(&spawn, TG_SPAWN_CWD) == ENOENT);
    spawn.cwd = "/";
    argv[0] = (char *) (uintptr_t) "/no/such";
    CU_ASSERT(test_spawn_is(&spawn, TG_SPAWN_EXEC) == ENOENT);
    fds[0] = 9999;
    CU_ASSERT(test_spawn_is(&spawn, TG_SPAWN_SETUP) == EBADF);

    sigprocmask(SIG_SETMASK, NULL, &after);
    CU_ASSERT(memcmp(&before, &after, sizeof(before)) == 0);
    close(pair[0]);
    close(pair[1]);
}

/* Acts like kernels and sandboxes that do not know or allow it. */
static void
test_refuse_clone3(unsigned err)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { HELP_COUNT(code), code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == -1
        || syscall(SYS_clone3, NULL, 0) != -1 || errno != (int) err)
    {
        _exit(3);
    }
}

static void
test_on_signal(int sig)
{
    _exit(4);
}

/* Starts a program with a runner's signal state, and prints its own to fd. */
static int
test_signals_of(unsigned refused, int fd)
{
    char *argv[] = { (char *) (uintptr_t) "/bin/sed", (char *) (uintptr_t) "-n",
                     (char *) (uintptr_t) "/^Sig[BIC]/p",
                     (char *) (uintptr_t) "/proc/self/status", NULL };
    char *envp[] = { NULL };
    int fds[] = { fd, fd, fd };
    tg_spawn_step_t step;
    tg_spawn_params_t spawn;
    int status;
    pid_t pid;

    memset(&spawn, 0, sizeof(spawn));
    spawn.options = &test_no_options;
    spawn.fds = fds;
    spawn.nfds = 3;
    spawn.argv = argv;
    spawn.envp = envp;
    spawn.cwd = "/";
    spawn.cgroup = -1;
    tg_spawn_ignore_signals();
    (void) signal(SIGTERM, test_on_signal);

    if (refused != 0) {
        test_refuse_clone3(refused);
    }

    return tg_spawn_program(&spawn, &pid, &step) != 0
           || waitpid(pid, &status, 0) != pid || status != 0;
}

HELP_TEST(signals, "no program ignores, blocks or handles a signal")
{
    static const char none[] = "SigBlk:\t0000000000000000\n"
                               "SigIgn:\t0000000000000000\n"
                               "SigCgt:\t0000000000000000\n";
    static const unsigned refused[] = { 0, ENOSYS, EPERM, EACCES };
    char text[256];
    int pair[2], status;
    ssize_t n;
    pid_t pid;

    HELP_EACH(row, refused) {
        CU_ASSERT_FATAL(pipe(pair) == 0);
        pid = fork();
        CU_ASSERT_FATAL(pid != -1);

        if (pid == 0) {
            _exit(test_signals_of(*row, pair[1]));
        }

        close(pair[1]);
        CU_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
        n = read(pair[0], text, sizeof(text));
        CU_ASSERT(n == (ssize_t) sizeof(none) - 1
                  && memcmp(text, none, sizeof(none) - 1) == 0);
        close(pair[0]);
    }
}

int
help_begin(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}
