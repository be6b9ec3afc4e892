/* How programs end when no client waits, and how many may run. */
#include "runner_host.h"

#include <sys/file.h>

#include <sys/wait.h>

/*
 * A process tree that resists: the shell, a child in its group and one that
 * left its session; all ignore SIGTERM. Each writes its pid to a file, and the
 * last line is the main process's own wait.
 */
#define TREE                                                                   \
    "trap '' TERM; D=%s; "                                                     \
    "sh -c 'echo $$ >'$D'/1.new; mv '$D'/1.new '$D'/1; "                       \
    "while :; do sleep 1; done' & "                                            \
    "setsid sh -c 'echo $$ >'$D'/2.new; mv '$D'/2.new '$D'/2; "                \
    "while :; do sleep 1; done' & "                                            \
    "setsid setsid sh -c 'sh -c \"echo \\$\\$ >'$D'/3.new; "                   \
    "mv '$D'/3.new '$D'/3; while :; do sleep 1; done\" & exit' & "             \
    "while :; do sleep 1; done"
#define TREE_PIDS 3

static const char *
test_tree(void)
{
    static char script[2048];

    snprintf(script, sizeof(script), TREE, help_dir);

    return script;
}

static void
test_file(char *path, size_t size, int i)
{
    snprintf(path, size, "%s/%d", help_dir, i);
}

static int
test_tree_is_up(void *ctx)
{
    char path[96];
    int i;

    for (i = 1; i <= TREE_PIDS; i++) {
        test_file(path, sizeof(path), i);

        if (access(path, F_OK) == -1) {
            return 0;
        }
    }

    return 1;
}

static void
test_tree_pids(pid_t pids[TREE_PIDS])
{
    char path[96];
    FILE *file;
    int i, pid;

    for (i = 0; i < TREE_PIDS; i++) {
        test_file(path, sizeof(path), i + 1);
        file = fopen(path, "r");
        CU_ASSERT_FATAL(file != NULL);
        CU_ASSERT(fscanf(file, "%d", &pid) == 1);
        fclose(file);
        unlink(path);
        pids[i] = pid;
        CU_ASSERT(!host_has_exited(pid));
    }
}

static int
test_tree_has_exited(void *ctx)
{
    pid_t *pids;
    int i;

    pids = ctx;

    for (i = 0; i < TREE_PIDS; i++) {
        if (!host_has_exited(pids[i])) {
            return 0;
        }
    }

    return 1;
}

/* All processes have exited by the time that the slot is free. */
static void
test_tree_ends(pid_t pids[TREE_PIDS])
{
    uint64_t from;

    from = uv_now(&host.loop);
    CU_ASSERT(host.jobs.nrunning == 1);
    CU_ASSERT(host_until(host_no_slot, NULL));
    CU_ASSERT(test_tree_has_exited(pids));
    CU_ASSERT(uv_now(&host.loop) - from >= TG_PROGRAM_GRACE_MS / 2);
    CU_ASSERT(host_until(host_no_exec, NULL));
}

HELP_TEST(timeout, "timeout")
{
    pid_t pids[TREE_PIDS];
    uint64_t from;

    from = uv_now(&host.loop);
    (void) host_send(host_sh(test_tree(), ",\"timeout_ms\":6000"));
    CU_ASSERT_FATAL(host_until(test_tree_is_up, NULL));
    test_tree_pids(pids);
    CU_ASSERT(host_recv());
    CU_ASSERT(uv_now(&host.loop) - from >= 6000);
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(strstr(host_text("message"), "did not finish within 6 s")
              != NULL);

    /* Immediately, before everything is cleaned up. */
    CU_ASSERT(!test_tree_has_exited(pids));
    test_tree_ends(pids);
}

HELP_TEST(cancel, "cancel")
{
    pid_t pids[TREE_PIDS];
    unsigned id;

    id = host_send(host_sh(test_tree(), ""));
    CU_ASSERT_FATAL(host_until(test_tree_is_up, NULL));
    test_tree_pids(pids);
    host_cancel(id);
    CU_ASSERT(host.jobs.nrunning == 1);
    test_tree_ends(pids);
    CU_ASSERT(host.peer.out.len == 0);

    /* Ended and unknown calls are ignored. */
    host_cancel(id);
    host_cancel(999999);
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/true\"]}"));
}

HELP_TEST(disconnect, "disconnect")
{
    pid_t pids[TREE_PIDS];

    (void) host_send(host_sh(test_tree(), ""));
    CU_ASSERT_FATAL(host_until(test_tree_is_up, NULL));
    test_tree_pids(pids);
    tg_peer_deinit(&host.peer);
    test_tree_ends(pids);
    host_peer_init(&host.peer);
}

HELP_TEST(obedient, "obedient, but stopped")
{
    uint64_t from;
    unsigned id;
    int i;

    /* Stopped; a busy machine may take that long once, but not each time. */
    for (i = 0; i < 10; i++) {
        id = host_send(host_sh("kill -STOP $$; sleep 1000", ""));
        CU_ASSERT(host.jobs.nrunning == 1);
        from = uv_now(&host.loop);
        host_cancel(id);
        CU_ASSERT(host_until(host_no_slot, NULL));

        if (uv_now(&host.loop) - from < TG_PROGRAM_GRACE_MS) {
            return;
        }
    }

    CU_FAIL("it had to be killed");
}

/* Leftovers in the group do not change the result, and are ended. */
HELP_TEST(leftover, "leftovers")
{
    uint64_t from;
    pid_t pid;

    from = uv_now(&host.loop);
    CU_ASSERT(host_exec(host_sh("sleep 1000 & echo $!", "")));
    CU_ASSERT(host_result("text").data != NULL);
    CU_ASSERT(uv_now(&host.loop) - from >= TG_EXEC_DRAIN_MS - 20);
    pid = atoi(host_text("text"));
    CU_ASSERT(pid > 1);
    CU_ASSERT(host_until(host_no_slot, NULL));
    CU_ASSERT(host_has_exited(pid));

    /* A leftover that closed the outputs delays nothing, but is ended too. */
    CU_ASSERT(host_exec(host_sh("sleep 1000 >/dev/null 2>&1 & echo $!", "")));
    pid = atoi(host_text("text"));
    CU_ASSERT(host_until(host_no_slot, NULL));
    CU_ASSERT(host_has_exited(pid));

    CU_ASSERT(host_until(host_no_exec, NULL));
}

/* A successful program's process in another session is wanted. */
HELP_TEST(daemon, "daemons")
{
    char path[96], script[512];
    pid_t pid;

    snprintf(path, sizeof(path), "%s/up", help_dir);
    snprintf(script, sizeof(script),
             "setsid sh -c 'echo >%s; exec sleep 1000' >/dev/null 2>&1 & "
             "while ! [ -e %s ]; do sleep 0.01; done; echo $!",
             path, path);
    CU_ASSERT(host_exec(host_sh(script, "")));
    unlink(path);
    pid = atoi(host_text("text"));
    CU_ASSERT(pid > 1);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(!host_has_exited(pid));
    CU_ASSERT(kill(pid, SIGKILL) == 0);
    CU_ASSERT(host_until(host_pid_has_exited, &pid));
}

static int
test_all_started(void *ctx)
{
    return host.jobs.nrunning == TG_JOBS_RUNNING_MAX;
}

HELP_TEST(limits, "limits")
{
    unsigned first, waiting;
    int i;

    first = host.next_id + 1;

    for (i = 0; i < TG_JOBS_RUNNING_MAX + TG_JOBS_QUEUE_MAX; i++) {
        (void) host_send("{\"tool\":\"t\",\"argv\":[\"/bin/sleep\",\"1000\"]}");
    }

    CU_ASSERT(host_until(test_all_started, NULL));
    CU_ASSERT(host.jobs.nqueued == TG_JOBS_QUEUE_MAX);
    CU_ASSERT(host.peer.out.len == 0);

    /* One more is refused at once. */
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/true\"]}"));
    CU_ASSERT(host_is("failure", "\"busy\""));
    CU_ASSERT(
        strstr(host_text("message"), "64 programs are running and 1024 wait")
        != NULL);

    /* A waiting call is dropped without a trace; its queue position is free. */
    waiting = first + TG_JOBS_RUNNING_MAX + 10;
    host_cancel(waiting);
    CU_ASSERT(host.jobs.nqueued == TG_JOBS_QUEUE_MAX - 1);
    CU_ASSERT(host.jobs.nrunning == TG_JOBS_RUNNING_MAX);

    /* Waiting counts: the deadline passes in the queue. */
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/true\"],"
                        "\"timeout_ms\":50}"));
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(strstr(host_text("message"), "could not start within 50 ms")
              != NULL);

    /* A free slot goes to the call that has waited longest. */
    host_cancel(first);
    CU_ASSERT(host.jobs.nstarted != 0);

    while (host.jobs.nqueued == TG_JOBS_QUEUE_MAX - 1) {
        uv_run(&host.loop, UV_RUN_ONCE);
    }

    CU_ASSERT(host.jobs.nrunning == TG_JOBS_RUNNING_MAX);

    tg_peer_deinit(&host.peer);
    CU_ASSERT(host.jobs.nqueued == 0);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.jobs.nrunning == 0);
    CU_ASSERT(host.jobs.bytes == 0);
    host_peer_init(&host.peer);
}

HELP_TEST(order, "order")
{
    char path[96], script[256];
    int i;

    host.is_blocked = 1;

    for (i = 0; i < 5; i++) {
        (void) host_send(host_sh("sleep 0.02; true", ""));
    }

    CU_ASSERT(host.jobs.nqueued == 5);
    CU_ASSERT(host.jobs.nrunning == 0);

    /* A peer that reads again is served without a new event. */
    host.is_blocked = 0;

    for (i = 0; i < 5; i++) {
        CU_ASSERT(host_recv());
        CU_ASSERT(host_result("text").data != NULL);
    }

    CU_ASSERT(host_until(host_no_exec, NULL));

    /* Each has its own slot, so they respond as they finish. */
    snprintf(path, sizeof(path), "%s/go", help_dir);
    snprintf(script, sizeof(script),
             "while ! [ -e %s ]; do sleep 0.01; done; echo slow", path);
    (void) host_send(host_sh(script, ""));
    CU_ASSERT(host_exec(host_sh("echo fast", "")));
    CU_ASSERT(host_is_text("text", "fast\n"));
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    HOST_RECV_TEXT("slow\n");
    unlink(path);
}

/* No descriptor, child or memory is left. */
static int
test_open_fds(void)
{
    int fd, n;

    for (fd = 0, n = 0; fd < 1024; fd++) {
        n += fcntl(fd, F_GETFD) != -1;
    }

    return n;
}

HELP_TEST(no_leaks, "no leaks")
{
    int i, before;

    CU_ASSERT(host_until(host_no_exec, NULL));
    before = test_open_fds();

    for (i = 0; i < 100; i++) {
        CU_ASSERT(host_exec(i % 3 == 0 ? "{\"tool\":\"t\",\"argv\":[\"/no\"]}"
                            : i % 3 == 1
                                ? "{\"tool\":\"t\",\"argv\":[\"/bin/cat\"],"
                                  "\"stdin\":\"x\"}"
                                : "{\"tool\":\"t\",\"argv\":[\"/usr/bin/yes\"],"
                                  "\"max_output\":10}"));
    }

    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(test_open_fds() == before);
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    CU_ASSERT(host.nidle > 0);
}

/* No process that inherited the lock is left. */
static int
test_is_unlocked(const char *path)
{
    int fd, rc;

    fd = open(path, O_RDWR | O_CLOEXEC);
    CU_ASSERT(fd != -1);
    rc = flock(fd, LOCK_EX | LOCK_NB);
    close(fd);

    return rc == 0;
}

/* %s: a file that it locks. */
#define TEST_LATE_FORKS                                                        \
    "exec perl -MPOSIX -e '"                                                   \
    "open F, q(>), q(%s); flock F, 2; "                                        \
    "sub run { $SIG{TERM} = q(IGNORE); for (1 .. 300) { setsid; "              \
    "select undef, undef, undef, 0.02; _exit 0 if fork } "                     \
    "exec qw(sleep 99) } "                                                     \
    "$SIG{TERM} = sub { for (1 .. 20) { fork or run } exit }; "                \
    "sleep 1000'"

/*
 * The main process forks after the SIGTERM that ends it: children that ignore
 * SIGTERM, in their own sessions, each soon replaced by a child in another
 * session. None is left, and the slot is taken until then.
 */
HELP_TEST(late_forks, "late forks")
{
    char text[1024], path[96];

    snprintf(path, sizeof(path), "%s/late", help_dir);
    snprintf(text, sizeof(text), TEST_LATE_FORKS, path);
    (void) host_send(host_sh(text, ",\"timeout_ms\":1000"));
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is_text("failure", "timeout"));
    CU_ASSERT(host.jobs.nrunning == 1);
    CU_ASSERT(!test_is_unlocked(path));
    CU_ASSERT(host_until(host_no_slot, NULL));
    CU_ASSERT(test_is_unlocked(path));
    (void) unlink(path);
}

/* They fork from the start, and the main process ignores SIGTERM too. */
HELP_TEST(bomb, "bomb")
{
    char text[1024], path[96], up[96];
    unsigned id;

    snprintf(path, sizeof(path), "%s/bomb", help_dir);
    snprintf(up, sizeof(up), "%s/up", help_dir);
    snprintf(text, sizeof(text), HOST_BOMB, "", path, up);
    id = host_send(host_sh(text, ""));
    CU_ASSERT(host_until(host_is_file, up));
    (void) unlink(up);
    host_cancel(id);
    CU_ASSERT(host.jobs.nrunning == 1);
    CU_ASSERT(!test_is_unlocked(path));
    CU_ASSERT(host_until(host_no_slot, NULL));
    CU_ASSERT(test_is_unlocked(path));
    (void) unlink(path);
}

/* A program's id is not reused while one of its processes is left. */
HELP_TEST(number, "number")
{
    pid_t pid;

    (void) host_send(host_sh("(trap \"\" TERM; while :; do sleep 0.1; done) "
                             ">/dev/null 2>&1 3>&1 & exit",
                             ""));
    pid = host_program(TAILQ_FIRST(&host.jobs.slots))->pid;
    CU_ASSERT(host_recv());
    CU_ASSERT(host_result("text").data != NULL);
    CU_ASSERT(host.jobs.nrunning == 1);
    CU_ASSERT(kill(pid, 0) == 0);
    CU_ASSERT(host_until(host_no_slot, NULL));
    CU_ASSERT(kill(pid, 0) == -1 && errno == ESRCH);
    CU_ASSERT(kill(-pid, 0) == -1 && errno == ESRCH);
}
