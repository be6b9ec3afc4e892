/* A pid that is reused at the worst moment: the new process gets no signal. */
#include "runner/process/tg_process_tree.h"

#include "protocol_help.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit status if the namespace cannot be created. */
#define TEST_NO_WORLD 77

typedef enum {
    TEST_BEFORE,  /* the process was read long ago */
    TEST_BETWEEN, /* the check passes, then the process changes */
    TEST_OLD,     /* a kernel without pidfds */
    TEST_NCASES
} test_case_t;

static test_case_t test_case;
static pid_t test_first, test_second;

static pid_t
test_child(void)
{
    pid_t pid;

    pid = fork();

    while (pid == 0) {
        (void) pause();
    }

    return pid;
}

/* Returns ticks since boot, the unit of start times in /proc. */
static uint64_t
test_ticks(void)
{
    struct timespec now;
    long hz;

    hz = sysconf(_SC_CLK_TCK);
    (void) clock_gettime(CLOCK_BOOTTIME, &now);

    return (uint64_t) now.tv_sec * (uint64_t) hz
           + (uint64_t) now.tv_nsec / (1000000000u / (uint64_t) hz);
}

/* Ends the first process, and reuses its id for a second one. */
static void
test_reuse_pid(void)
{
    char text[16];
    tg_proc_t proc;
    int fd, n;

    if (test_second != 0 || tg_proc_read(test_first, &proc) != TG_OK) {
        return;
    }

    (void) syscall(SYS_kill, test_first, SIGKILL);
    (void) waitpid(test_first, NULL, 0);

    while (test_ticks() <= proc.start + 1) {
        /* void */
    }

    n = snprintf(text, sizeof(text), "%d", test_first - 1);
    fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    (void) !write(fd, text, (size_t) n);
    (void) close(fd);
    test_second = test_child();
}

/* --- calls of tg_proc_signal() --- */

typedef long (*test_syscall_pt)(long number, ...);

static long
test_real(long number, const long args[6])
{
    static test_syscall_pt real;

    if (real == NULL) {
        *(void **) &real = dlsym(RTLD_NEXT, "syscall");
    }

    return real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* As libc's, reads all six arguments, even those that a caller leaves out. */
__attribute__((no_sanitize_address)) long
syscall(long number, ...)
{
    long args[6];
    va_list list;
    int i;

    va_start(list, number);

    for (i = 0; i < 6; i++) {
        args[i] = va_arg(list, long);
    }

    va_end(list);

    if (number == SYS_pidfd_open && test_case == TEST_OLD) {
        errno = ENOSYS;
        return -1;
    }

    if (number == SYS_pidfd_send_signal && test_case == TEST_BETWEEN) {
        test_reuse_pid();
    }

    return test_real(number, args);
}

int
kill(pid_t pid, int sig)
{
    long args[6] = { pid, sig, 0, 0, 0, 0 };

    if (test_case == TEST_BETWEEN) {
        test_reuse_pid();
    }

    return (int) test_real(SYS_kill, args);
}

/* --- a namespace with chosen process ids --- */

/* Exits with 0, or a number for the failed step. */
static void __attribute__((noreturn)) test_init(void)
{
    tg_proc_t proc;
    int rc;

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1
        || mount("proc", "/proc", "proc", 0, NULL) == -1
        || access("/proc/sys/kernel/ns_last_pid", W_OK) == -1)
    {
        _exit(TEST_NO_WORLD);
    }

    test_first = test_child();
    rc = tg_proc_read(test_first, &proc) == TG_OK ? 0 : 1;

    if (test_case == TEST_BEFORE) {
        test_reuse_pid();
    }

    if (rc == 0 && test_case == TEST_OLD) {
        _exit(tg_proc_signal(&proc, SIGKILL) == 0
                      && waitpid(test_first, NULL, 0) == test_first
                  ? 0
                  : 2);
    }

    rc = rc != 0                                    ? rc
         : tg_proc_signal(&proc, SIGKILL) != -1     ? 3
         : test_second != test_first                ? 4
         : waitpid(test_second, NULL, WNOHANG) != 0 ? 5
                                                    : 0;
    _exit(rc);
}

/* Runs as the parent of the namespace's first process. */
static void __attribute__((noreturn)) test_world(void)
{
    int status;
    pid_t pid;

    if (unshare(CLONE_NEWNS | CLONE_NEWPID) == -1) {
        _exit(TEST_NO_WORLD);
    }

    pid = fork();

    if (pid == 0) {
        test_init();
    }

    _exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status)
              ? WEXITSTATUS(status)
              : 1);
}

HELP_TEST(again, "a reused process id")
{
    int status;
    pid_t pid;

    for (test_case = 0; test_case < TEST_NCASES; test_case++) {
        pid = fork();
        CU_ASSERT_FATAL(pid != -1);

        if (pid == 0) {
            test_world();
        }

        CU_ASSERT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));

        if (WEXITSTATUS(status) == TEST_NO_WORLD) {
            printf("(none can be chosen here) ");
            break;
        }

        CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
    }
}
