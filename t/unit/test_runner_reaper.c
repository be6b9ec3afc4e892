/* Attribution of leftovers of several programs, without cgroups. */
#include "runner_host.h"

#include "runner/process/tg_process_tag.h"

#include <sys/wait.h>

/*
 * A program that obeys SIGTERM, with a child in its own session that ignores
 * it. %s: the file for both pids, and the child's first command.
 */
#define TEST_PAIR                                                              \
    "exec perl -MPOSIX -e 'sub put { open F, q(>), q(%s.new); "                \
    "print F qq($$ $kid); close F; rename q(%s.new), q(%s) } "                 \
    "pipe R, W; if (!($kid = fork)) { setsid; $SIG{TERM} = q(IGNORE); "        \
    "open STDOUT, q(>), q(/dev/null); open STDERR, q(>), q(/dev/null); "       \
    "POSIX::close(3); %s; close R; close W; sleep 1000; exit } "               \
    "$SIG{TERM} = sub { POSIX::_exit(0) }; close W; sysread R, $x, 1; put; "   \
    "sleep 1000 while 1'"

/* Programs that use real-time scheduling do this. */
#define TEST_UNMARK "system qw(prlimit --rttime=1000000 --pid), $$"

typedef struct {
    const char *path;
    unsigned id;
    pid_t main;
    pid_t child;
} test_pair_t;

static void
test_start(test_pair_t *pair, const char *name, const char *first)
{
    char text[1024], path[96];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", help_dir, name);
    snprintf(text, sizeof(text), TEST_PAIR, path, path, path, first);
    pair->id = host_send(host_sh(text, ""));
    CU_ASSERT_FATAL(host_until(host_is_file, path));
    file = fopen(path, "r");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT(fscanf(file, "%d %d", &pair->main, &pair->child) == 2);
    (void) fclose(file);
    (void) unlink(path);
}

/* Both main processes exit, and the runner sees both at once. */
static void
test_end_both(const test_pair_t *cancelled, const test_pair_t *other)
{
    host_cancel(cancelled->id);
    CU_ASSERT(kill(other->main, SIGTERM) == 0);
    CU_ASSERT(waitid(P_PID, (id_t) cancelled->main, NULL, WEXITED | WNOWAIT)
              == 0);
    CU_ASSERT(waitid(P_PID, (id_t) other->main, NULL, WEXITED | WNOWAIT) == 0);
    CU_ASSERT(host_recv());
    CU_ASSERT(host_until(host_no_exec, NULL));
}

static void
test_end_child(pid_t pid)
{
    (void) kill(pid, SIGKILL);
    CU_ASSERT(host_until(host_pid_has_exited, &pid));
}

HELP_TEST(at_once, "one's leftovers are killed, the other's are wanted")
{
    test_pair_t cancelled, other;
    int i;

    host.programs.process_tag = tg_process_tag_make(1, (uint64_t) getpid());

    for (i = 0; i < 2; i++) {
        if (i == 0) {
            test_start(&other, "other", "");
            test_start(&cancelled, "cancelled", "");
        } else {
            test_start(&cancelled, "cancelled", "");
            test_start(&other, "other", "");
        }

        test_end_both(&cancelled, &other);
        CU_ASSERT(host_has_exited(cancelled.child));
        CU_ASSERT(!host_has_exited(other.child));
        test_end_child(other.child);
        test_end_child(cancelled.child);
    }
}

/* Without a tag the program is a guess, but a cancelled one leaves none. */
HELP_TEST(unmarked, "two that end at once, without a tag")
{
    test_pair_t cancelled, other;
    int i;

    for (i = 0; i < 2; i++) {
        host.programs.process_tag =
            i == 0 ? tg_process_tag_make(1, (uint64_t) getpid()) : 0;
        test_start(&other, "other", "");
        test_start(&cancelled, "cancelled", i == 0 ? TEST_UNMARK : "");
        test_end_both(&cancelled, &other);
        CU_ASSERT(host_has_exited(cancelled.child));
        CU_ASSERT(i != 0 || !host_has_exited(other.child));
        test_end_child(other.child);
        test_end_child(cancelled.child);
    }
}

/* %d: the number of daemons left, in their own recorded session. */
#define TEST_DAEMONS                                                           \
    "exec perl -MPOSIX -e 'if (!($kid = fork)) { setsid; "                     \
    "open STDOUT, q(>), q(/dev/null); open STDERR, q(>), q(/dev/null); "       \
    "POSIX::close(3); for (1 .. %d) { next if fork; sleep 1000; exit } "       \
    "POSIX::_exit(0) } waitpid $kid, 0; print $kid'"

static int
test_has_no_child(void *ctx)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1;
}

/* Also with more than one step handles; all of them are reaped. */
HELP_TEST(many, "many daemons")
{
    test_pair_t cancelled, other;
    char text[1024];
    pid_t session;

    host.programs.process_tag = tg_process_tag_make(1, (uint64_t) getpid());
    snprintf(text, sizeof(text), TEST_DAEMONS, TG_PROCESS_TREE_MAX + 50);
    CU_ASSERT(host_exec(host_sh(text, "")));
    session = atoi(host_text("text"));
    CU_ASSERT_FATAL(session > 1);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(kill(-session, 0) == 0);

    test_start(&other, "other", "");
    test_start(&cancelled, "cancelled", "");
    test_end_both(&cancelled, &other);
    CU_ASSERT(host_has_exited(cancelled.child));
    CU_ASSERT(!host_has_exited(other.child));
    test_end_child(other.child);
    test_end_child(cancelled.child);

    CU_ASSERT(kill(-session, SIGKILL) == 0);
    CU_ASSERT(host_until(test_has_no_child, NULL));
    CU_ASSERT(host.programs.norphans == 0 && !host.programs.has_more_orphans);
}
