/*
 * Programs in cgroups, as far as the machine supports them: in a real cgroup,
 * their end, and limits if it has the controllers; in a folder that looks like
 * a cgroup, the files that are written.
 */
#include "runner_host.h"

#include "runner/process/tg_cgroup.h"
#include "runner/process/tg_clone.h"
#include "runner/process/tg_process_tag.h"

#include <sys/file.h>
#include <sys/wait.h>

#define TEST_TAG 0xabcd

static tg_cgroups_t *
test_cgroups(void)
{
    return &host.programs.cgroups;
}

/* Opens a real cgroup once; returns 0 if there is none. */
static int
test_open(void)
{
    static int is_open;

    if (!is_open) {
        tg_cgroups_open(test_cgroups(), NULL, TEST_TAG, getpid());
        host.programs.process_tag = tg_process_tag_make(1, (uint64_t) getpid());
        is_open = 1;
    }

    if (test_cgroups()->dir[0] == '\0') {
        printf("(none here: %s) ", test_cgroups()->why);
    }

    return test_cgroups()->dir[0] != '\0';
}

/* Counts the programs' cgroups, except kept empty ones. */
static int
test_count(void)
{
    char path[TG_CGROUP_PATH_MAX];
    unsigned long i;
    int n;

    for (i = 1, n = 0; i <= test_cgroups()->last; i++) {
        snprintf(path, sizeof(path), "%s/%lu", test_cgroups()->dir, i);
        n += access(path, F_OK) == 0;
    }

    return n - (int) test_cgroups()->nspare;
}

static int
test_is_clear(void *ctx)
{
    return test_count() == 0;
}

static int
test_is_one(void *ctx)
{
    return host.jobs.nrunning == 1;
}

/* Reads a number from a file and removes it. */
static pid_t
test_number(const char *path)
{
    FILE *file;
    int pid;

    file = fopen(path, "r");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT_FATAL(fscanf(file, "%d", &pid) == 1);
    (void) fclose(file);
    (void) unlink(path);

    return pid;
}

/* --- a folder that looks like a cgroup --- */

static void
test_file(const char *dir, const char *name)
{
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT(fd != -1);
    (void) close(fd);
}

static int
test_holds(const char *name, const char *text)
{
    char path[256], is[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%s/cg/%s", help_dir, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd != -1 ? read(fd, is, sizeof(is)) : -1;
    (void) close(fd);
    (void) unlink(path);

    return n == (ssize_t) strlen(text) && memcmp(is, text, strlen(text)) == 0;
}

/* Removes a folder in it; "" is the whole folder. */
static void
test_clear(const char *name)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -r %s/cg/%s", help_dir, name);
    CU_ASSERT(system(command) == 0);
}

/* Files that appear with a cgroup's folder: the test's mkdir() creates them. */
static const char *const *test_made;

int
mkdir(const char *path, mode_t mode)
{
    int i, rc;

    rc = mkdirat(AT_FDCWD, path, mode);

    for (i = 0; rc == 0 && test_made != NULL && test_made[i] != NULL; i++) {
        test_file(path, test_made[i]);
    }

    return rc;
}

HELP_TEST(written, "files of limits")
{
    static const char *const all[] = { "memory.max", "memory.swap.max",
                                       "memory.oom.group", "pids.max", NULL };
    static const char *const no_swap[] = { "memory.max", "pids.max", NULL };
    static const char *const no_pids[] = { "memory.max", NULL };
    static const char *const no_memory[] = { "pids.max", NULL };
    tg_program_options_t limits = { .memory = 64 << 20, .pids = 10 };
    static const tg_program_options_t none;
    tg_cgroups_t cgroups;
    unsigned long number;
    int fd;

    memset(&cgroups, 0, sizeof(cgroups));
    CU_ASSERT(tg_cgroup_create(&cgroups, &none, &number, &fd) == ENOENT);
    snprintf(cgroups.dir, sizeof(cgroups.dir), "%s/cg", help_dir);
    CU_ASSERT_FATAL(mkdirat(AT_FDCWD, cgroups.dir, 0700) == 0);

    test_made = all;
    CU_ASSERT(tg_cgroup_create(&cgroups, &limits, &number, &fd) == 0);
    CU_ASSERT(number == 1 && close(fd) == 0);
    CU_ASSERT(test_holds("1/memory.max", "67108864"));
    CU_ASSERT(test_holds("1/memory.swap.max", "0"));
    CU_ASSERT(test_holds("1/memory.oom.group", "1"));
    CU_ASSERT(test_holds("1/pids.max", "10"));

    /* Without limits no controller is needed. */
    test_made = no_memory;
    CU_ASSERT(tg_cgroup_create(&cgroups, &none, &number, &fd) == 0);
    CU_ASSERT(number == 2 && close(fd) == 0);
    CU_ASSERT(test_holds("2/pids.max", ""));

    test_made = no_swap;
    CU_ASSERT(tg_cgroup_create(&cgroups, &limits, &number, &fd) == 0);
    CU_ASSERT(number == 3 && close(fd) == 0);
    CU_ASSERT(test_holds("3/memory.max", "67108864"));
    CU_ASSERT(test_holds("3/pids.max", "10"));

    /* A cgroup that cannot be created: its number is free again. */
    test_made = no_memory;
    CU_ASSERT(tg_cgroup_create(&cgroups, &limits, &number, &fd) == ENOENT);
    CU_ASSERT(test_holds("4/pids.max", ""));
    CU_ASSERT(cgroups.last == 3);
    test_clear("4");
    test_made = no_pids;
    CU_ASSERT(tg_cgroup_create(&cgroups, &limits, &number, &fd) == ENOENT);
    CU_ASSERT(test_holds("4/memory.max", "67108864"));
    test_clear("4");

    test_made = NULL;
    test_clear("1");
    test_clear("2");
    test_clear("3");
    test_clear("");
}

static void
test_folder(const char *name)
{
    char path[160];

    snprintf(path, sizeof(path), "%s/cg/%s", help_dir, name);
    CU_ASSERT_FATAL(mkdirat(AT_FDCWD, path, 0700) == 0);
    test_file(path, "cgroup.kill");
}

/* A folder that is not delegated or not a cgroup is unchanged. */
HELP_TEST(refused, "invalid text")
{
    static const char *const files[] = { "cgroup.kill", NULL };
    tg_cgroups_t cgroups;
    char base[128];

    snprintf(base, sizeof(base), "%s/cg", help_dir);
    CU_ASSERT_FATAL(mkdirat(AT_FDCWD, base, 0700) == 0);
    tg_cgroups_open(&cgroups, base, TEST_TAG, getpid());
    CU_ASSERT(cgroups.dir[0] == '\0');
    CU_ASSERT_STRING_EQUAL(
        cgroups.why, "the cgroup of toolgate-runner is not delegated to it");

    if (access("/run/systemd/system", F_OK) == -1) {
        test_file(base, "cgroup.procs");
        tg_cgroups_open(&cgroups, base, TEST_TAG, getpid());
        CU_ASSERT(cgroups.dir[0] == '\0');
        CU_ASSERT_STRING_EQUAL(cgroups.why, "the kernel is older than 5.14");
        /* Old runners' cgroups with this runner's tag are removed. */
        test_folder("toolgate.service");
        test_folder("toolgate.abce.1");
        test_folder("toolgate.abcd.1");
        tg_cgroups_open(&cgroups, base, TEST_TAG, getpid());
        CU_ASSERT(test_holds("toolgate.service/cgroup.kill", ""));
        CU_ASSERT(test_holds("toolgate.abce.1/cgroup.kill", ""));
        CU_ASSERT(test_holds("toolgate.abcd.1/cgroup.kill", "1"));
        test_clear("toolgate.*");
        test_made = files;
        tg_cgroups_open(&cgroups, base, TEST_TAG, getpid());
        test_made = NULL;
        CU_ASSERT(cgroups.dir[0] == '\0');
        CU_ASSERT(strstr(cgroups.why, "no process can be started") != NULL);
        CU_ASSERT(test_holds("cgroup.procs", ""));
    }

    test_clear("");
}

HELP_TEST(without, "without a cgroup programs run, but not those with limits")
{
    CU_ASSERT(test_cgroups()->dir[0] == '\0');
    CU_ASSERT(host_exec(host_sh("echo ok", "")));
    CU_ASSERT(host_is_text("text", "ok\n"));

    CU_ASSERT(host_exec(host_sh("echo ok", ",\"pids\":10")));
    CU_ASSERT(host_is_text("failure", "program"));
    CU_ASSERT(strstr(host_text("message"),
                     "its memory and pids cannot be limited: toolgate-runner "
                     "has not looked for a cgroup.")
              != NULL);
    CU_ASSERT(host_exec(host_sh("echo ok", ",\"memory\":1048576")));
    CU_ASSERT(host_is_text("failure", "program"));
    CU_ASSERT(host_exec(host_sh("echo ok", ",\"pids\":0")));
    CU_ASSERT(strstr(host.line.data, "must be an integer from 1") != NULL);
    CU_ASSERT(host_until(host_no_exec, NULL));
}

/* --- a real cgroup --- */

HELP_TEST(own, "a cgroup for each program")
{
    char name[32], path[TG_CGROUP_PATH_MAX], script[2 * TG_CGROUP_PATH_MAX];

    if (!test_open()) {
        return;
    }

    snprintf(name, sizeof(name), "/toolgate.abcd.%d/", getpid());
    CU_ASSERT(host_exec(host_sh("cat /proc/self/cgroup", "")));
    CU_ASSERT(strstr(host_text("text"), name) != NULL);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_count() == 0);

    /* The next program reuses the cgroup; a limited one is never reused. */
    CU_ASSERT(test_cgroups()->last == 2 && test_cgroups()->nspare == 1);
    CU_ASSERT(host_exec(host_sh("cat /proc/self/cgroup", "")));
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_cgroups()->last == 2 && test_cgroups()->nspare == 1);
    (void) host_exec(host_sh("echo", ",\"pids\":100"));
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_cgroups()->nspare == 1 && test_count() == 0);

    /* A cgroup that a program divided is not reused either. */
    snprintf(script, sizeof(script),
             "n=$(sed -n 's|^0::.*/||p' /proc/self/cgroup); mkdir %s/$n/sub; "
             "echo $n",
             test_cgroups()->dir);
    CU_ASSERT(host_exec(host_sh(script, "")));
    snprintf(path, sizeof(path), "%s/%lu/sub", test_cgroups()->dir,
             strtoul(host_text("text"), NULL, 10));
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_cgroups()->nspare == 0 && test_count() == 1);
    CU_ASSERT(rmdir(path) == 0);
    CU_ASSERT(host_exec(host_sh("echo", "")));
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_count() == 0);

    /* A program that fails to start leaves no cgroup. */
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/no/such\"]}"));
    CU_ASSERT(host_is_text("failure", "program"));
    CU_ASSERT(test_count() == 0);
}

/* Ends all processes, though the main process has exited at once. */
HELP_TEST(bomb, "bomb")
{
    char text[1024], path[96], up[96];
    unsigned id;
    int fd;

    if (!test_open()) {
        return;
    }

    snprintf(path, sizeof(path), "%s/bomb", help_dir);
    snprintf(up, sizeof(up), "%s/up", help_dir);
    snprintf(text, sizeof(text), HOST_BOMB, "fork and _exit 0", path, up);
    id = host_send(host_sh(text, ""));
    CU_ASSERT(host_until(host_is_file, up));
    (void) unlink(up);
    host_cancel(id);
    CU_ASSERT(test_count() == 1);
    CU_ASSERT(host_until(host_no_slot, NULL));
    fd = open(path, O_RDWR | O_CLOEXEC);
    CU_ASSERT(fd != -1 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    (void) close(fd);
    (void) unlink(path);
    CU_ASSERT(test_count() == 0);
}

/* A wanted daemon keeps its cgroup, and its orphans their program. */
HELP_TEST(daemon, "daemon")
{
    char path[96], script[768];
    pid_t pid;

    if (!test_open()) {
        return;
    }

    snprintf(path, sizeof(path), "%s/up", help_dir);
    snprintf(
        script, sizeof(script),
        "setsid sh -c 'setsid sh -c \"echo \\$\\$ >%s; exec sleep 1000\" & "
        "while ! [ -e %s.go ]; do sleep 0.01; done' >/dev/null 2>&1 & "
        "while ! [ -s %s ]; do sleep 0.01; done; cat %s",
        path, path, path, path);
    CU_ASSERT(host_exec(host_sh(script, "")));
    pid = atoi(host_text("text"));
    CU_ASSERT_FATAL(pid > 1);
    (void) unlink(path);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_count() == 1);

    /* Its parent exits while another program is being ended. */
    snprintf(script, sizeof(script),
             "trap '' TERM; echo >%s.go; while :; do sleep 0.01; done", path);
    (void) host_send(host_sh(script, ",\"timeout_ms\":500"));
    CU_ASSERT(host_recv());
    CU_ASSERT(host_until(host_no_exec, NULL));
    snprintf(script, sizeof(script), "%s.go", path);
    (void) unlink(script);
    CU_ASSERT(!host_has_exited(pid));
    CU_ASSERT(test_count() == 1);

    CU_ASSERT(kill(pid, SIGKILL) == 0);
    CU_ASSERT(host_until(test_is_clear, NULL));
}

/* Ends a call that left a child in this cgroup, which ignores SIGTERM. */
static void
test_left_child(const char *first, unsigned long number)
{
    char path[96], script[3 * TG_CGROUP_PATH_MAX];
    unsigned id;
    pid_t pid;

    snprintf(path, sizeof(path), "%s/up", help_dir);
    snprintf(script, sizeof(script),
             "setsid sh -c 'trap \"\" TERM; %s mkdir -p %s/%lu; "
             "echo $$ >%s/%lu/cgroup.procs && echo $$ >%s.new; mv %s.new %s; "
             "while :; do sleep 0.1; done' >/dev/null 2>&1 3>&1 & sleep 1000",
             first, test_cgroups()->dir, number, test_cgroups()->dir, number,
             path, path, path);
    id = host_send(host_sh(script, ""));
    CU_ASSERT_FATAL(host_until(host_is_file, path));
    pid = test_number(path);
    host_cancel(id);
    CU_ASSERT(host.jobs.nrunning == 2);
    CU_ASSERT(host_until(test_is_one, NULL));
    CU_ASSERT(host_has_exited(pid));
    (void) kill(pid, SIGKILL);
    CU_ASSERT(host_until(host_pid_has_exited, &pid));
}

HELP_TEST(left,
          "a process that leaves the cgroup is found even without its tag")
{
    static const char unmark[] = "prlimit --rttime=1000000 --pid $$;";
    char path[TG_CGROUP_PATH_MAX];
    unsigned long number;
    unsigned id;

    if (!test_open()) {
        return;
    }

    id = host_send(host_sh("sleep 1000", ""));
    CU_ASSERT(host.jobs.nrunning == 1);
    number = host_program(TAILQ_FIRST(&host.jobs.slots))->cgroup;
    test_left_child("", 9999);
    test_left_child(unmark, 9999);
    test_left_child("", number);
    test_left_child(unmark, number);
    host_cancel(id);
    CU_ASSERT(host_until(host_no_exec, NULL));
    snprintf(path, sizeof(path), "%s/9999", test_cgroups()->dir);
    CU_ASSERT(rmdir(path) == 0);
    CU_ASSERT(host_until(test_is_clear, NULL));
}

HELP_TEST(limits, "limits")
{
    static const char eat[] = "perl -e '$x = \"x\" x 60_000_000; print \"ok\"'";
    static const char fork[] = "perl -e 'for (1 .. 4) { defined fork or die "
                               "\"no fork\"; } print \"ok\"'";
    const char *why;

    if (!test_open()) {
        return;
    }

    why = test_cgroups()->why;

    if (why != NULL) {
        printf("(%s) ", why);
        CU_ASSERT(host_exec(host_sh(eat, ",\"memory\":20000000")));
        CU_ASSERT(host_is_text("failure", "program"));
        CU_ASSERT(strstr(host_text("message"), why) != NULL);
        CU_ASSERT(test_count() == 0);
        return;
    }

    CU_ASSERT(host_exec(host_sh(eat, ",\"memory\":150000000")));
    CU_ASSERT(host_is_text("text", "ok"));
    CU_ASSERT(host_exec(host_sh(eat, ",\"memory\":20000000")));
    CU_ASSERT_STRING_EQUAL(host_text("message"),
                           "tool was killed by signal 9 (SIGKILL): It "
                           "exceeded its memory limit (memory).");
    CU_ASSERT(host_exec(host_sh(fork, ",\"pids\":50")));
    CU_ASSERT(strstr(host_text("text"), "ok") != NULL);
    CU_ASSERT(host_exec(host_sh(fork, ",\"pids\":4")));
    CU_ASSERT(strstr(host_text("message"), "no fork") != NULL);
}

HELP_TEST(closed, "closed")
{
    char dir[TG_CGROUP_PATH_MAX];

    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_count() == 0);
    memcpy(dir, test_cgroups()->dir, sizeof(test_cgroups()->dir));
    tg_cgroups_close(test_cgroups());
    test_cgroups()->dir[0] = '\0';

    /* Except for the cgroup that this process itself may have entered. */
    CU_ASSERT(dir[0] == '\0' || access(dir, F_OK) == -1 || rmdir(dir) == -1);
}
