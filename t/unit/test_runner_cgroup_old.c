/* Cgroups of exited runners, of this and of other state directories. */
#include "runner/process/tg_cgroup.h"
#include "runner/process/tg_clone.h"

#include "protocol_help.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_TAG 0xabce

static tg_cgroups_t test_own_cgroups;

static tg_cgroups_t *
test_cgroups(void)
{
    return &test_own_cgroups;
}

/* Returns 0 if there is no cgroup. */
static int
test_open(void)
{
    tg_cgroups_open(test_cgroups(), NULL, TEST_TAG, getpid());

    if (test_cgroups()->dir[0] == '\0') {
        printf("(none here: %s) ", test_cgroups()->why);
    }

    return test_cgroups()->dir[0] != '\0';
}

static void
test_sleep(void *ctx, int has_handlers)
{
    (void) execl("/bin/sleep", "sleep", "1000", (char *) NULL);
    _exit(127);
}

/* Another process acts as a runner with a cgroup and is killed. */
static void __attribute__((noreturn)) test_runner(int fd)
{
    static const tg_program_options_t none;
    unsigned long number;
    int in;
    pid_t pid;

    pid = 0;
    tg_cgroups_open(test_cgroups(), NULL, TEST_TAG, getpid());

    if (tg_cgroup_create(test_cgroups(), &none, &number, &in) == 0) {
        pid = tg_clone_child(in, test_sleep, NULL);
    }

    /* exec() is about to close the child's copy of the lock. */
    (void) close(test_cgroups()->lock);

    while (pid > 0
           && flock(open(test_cgroups()->dir, O_RDONLY | O_CLOEXEC),
                    LOCK_EX | LOCK_NB)
                  == -1)
    {
        (void) usleep(1000);
    }

    (void) !write(fd, &pid, sizeof(pid));
    _exit(0);
}

HELP_TEST(old, "an exited runner's processes are killed and cgroups removed")
{
    char path[TG_CGROUP_PATH_MAX];
    pid_t runner, pid;
    int pair[2], status;

    CU_ASSERT_FATAL(pipe(pair) == 0);
    runner = fork();
    CU_ASSERT_FATAL(runner != -1);

    if (runner == 0) {
        test_runner(pair[1]);
    }

    CU_ASSERT(read(pair[0], &pid, sizeof(pid)) == sizeof(pid));
    CU_ASSERT(waitpid(runner, &status, 0) == runner && status == 0);
    close(pair[0]);
    close(pair[1]);

    if (!test_open()) {
        CU_ASSERT(pid == 0);
        return;
    }

    CU_ASSERT(waitpid(pid, &status, 0) == pid);
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    snprintf(path, sizeof(path), "%.900s", test_cgroups()->dir);
    sprintf(strrchr(path, '.'), ".%d", runner);
    CU_ASSERT(access(path, F_OK) == -1);
    tg_cgroups_close(test_cgroups());
}

/* Other runners' cgroups are removed if empty; live ones and others stay. */
HELP_TEST(others, "cgroups of exited runners of other folders")
{
    enum {
        EMPTY,
        FULL,
        LIVE,
        NOBODYS,
        NDIRS
    };
    static const char *const names[] = { "toolgate.1.7", "toolgate.2.7",
                                         "toolgate.3.7", "toolgate.none" };
    char path[NDIRS][TG_CGROUP_PATH_MAX + 32], base[TG_CGROUP_PATH_MAX];
    char inner[TG_CGROUP_PATH_MAX + 64];
    tg_cgroups_t cgroups;
    int fd, lock, i;
    pid_t pid;

    if (!test_open()) {
        return;
    }

    /* Below this test's cgroup, where no other runner looks. */
    snprintf(base, sizeof(base), "%.900s/others", test_cgroups()->dir);
    CU_ASSERT(mkdir(base, 0700) == 0);

    for (i = 0; i < NDIRS; i++) {
        snprintf(path[i], sizeof(path[i]), "%s/%s", base, names[i]);
        CU_ASSERT(mkdir(path[i], 0700) == 0);
    }

    snprintf(inner, sizeof(inner), "%s/runner", path[EMPTY]);
    CU_ASSERT(mkdir(inner, 0700) == 0);
    snprintf(inner, sizeof(inner), "%s/1", path[FULL]);
    CU_ASSERT(mkdir(inner, 0700) == 0);
    fd = open(inner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pid = tg_clone_child(fd, test_sleep, NULL);
    CU_ASSERT(pid > 0);
    (void) close(fd);
    lock = open(path[LIVE], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CU_ASSERT(flock(lock, LOCK_EX) == 0);

    tg_cgroups_open(&cgroups, base, TEST_TAG, getpid());
    CU_ASSERT(cgroups.dir[0] != '\0');
    CU_ASSERT(access(path[EMPTY], F_OK) == -1);
    CU_ASSERT(access(inner, F_OK) == 0);
    CU_ASSERT(access(path[LIVE], F_OK) == 0);
    CU_ASSERT(access(path[NOBODYS], F_OK) == 0);
    CU_ASSERT(kill(pid, SIGKILL) == 0);
    CU_ASSERT(waitpid(pid, NULL, 0) == pid);
    tg_cgroups_close(&cgroups);

    /* After that runner has exited, the next one removes it. */
    (void) close(lock);
    tg_cgroups_open(&cgroups, base, TEST_TAG, getpid());
    CU_ASSERT(access(path[FULL], F_OK) == -1);
    CU_ASSERT(access(path[LIVE], F_OK) == -1);
    tg_cgroups_close(&cgroups);
    CU_ASSERT(rmdir(path[NOBODYS]) == 0);
    CU_ASSERT(rmdir(base) == 0);
    tg_cgroups_close(test_cgroups());
}

/* This process adopts orphans. */
int
help_begin(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}
