/* The SQLite task store: its content after a crash, and a full disk. */
#include "runner_store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void
test_is_complete(const char *name)
{
    const tg_libsqlite_t *sqlite;
    sqlite3_stmt *row;
    const char *why;
    sqlite3 *db;

    sqlite = tg_libsqlite_load(&why);
    CU_ASSERT_FATAL(
        sqlite->open_v2(help_path(name), &db, SQLITE_OPEN_READONLY, NULL)
        == SQLITE_OK);
    CU_ASSERT_FATAL(
        sqlite->prepare_v2(db, "PRAGMA integrity_check", -1, &row, NULL)
        == SQLITE_OK);
    CU_ASSERT_FATAL(sqlite->step(row) == SQLITE_ROW);
    CU_ASSERT_STRING_EQUAL(sqlite->column_text(row, 0), "ok");
    (void) sqlite->finalize(row);
    (void) sqlite->close(db);
}

typedef struct {
    tg_store_query_t query;
    char prompt[32];
} test_task_t;

#define TASKS 100

static test_task_t test_tasks[TASKS];
static int test_pipe;

/* Writes each acknowledged id to the pipe. */
static void
test_acknowledge(tg_store_query_t *query)
{
    char text[32];
    int n;

    test_nasked--;
    n = snprintf(text, sizeof(text), "%lld\n", (long long) query->id);

    if (query->rc != TG_OK || write(test_pipe, text, (size_t) n) != n) {
        _exit(1);
    }
}

/* Submits many tasks at once, in a loop. */
static void
test_submit_on(void)
{
    tg_store_query_t open;
    test_task_t *task;
    int i;

    (void) test_open("storm", &open);

    for (;;) {
        for (i = 0; i < TASKS; i++) {
            task = &test_tasks[i];
            test_begin(&task->query, TG_STORE_SUBMIT);
            task->query.done = test_acknowledge;
            task->query.prompt = TG_STR("work");
            task->query.agent = TG_STR("a");
            task->query.limit = INT64_MAX;
            test_run_query(&task->query);
        }

        while (test_nasked != 0) {
            uv_run(&test_loop, UV_RUN_ONCE);
        }
    }
}

static void
test_copy(const char *from, const char *to)
{
    char buf[65536];
    ssize_t n;
    int in, out;

    in = open(from, O_RDONLY | O_CLOEXEC);
    out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    while (in != -1 && (n = read(in, buf, sizeof(buf))) > 0) {
        CU_ASSERT(write(out, buf, (size_t) n) == n);
    }

    (void) close(in);
    (void) close(out);
}

/* Copies the database with its log, as a power loss would leave it. */
static void
test_copy_store(void)
{
    char from[160], to[160];

    test_copy(help_path("storm"), help_path("copy"));
    snprintf(from, sizeof(from), "%s-wal", help_path("storm"));
    snprintf(to, sizeof(to), "%s-wal", help_path("copy"));
    test_copy(from, to);
}

/* Returns the largest id in the pipe; ids must be in order. */
static int64_t
test_acknowledged(int fd, int64_t last)
{
    static char text[65536];
    static size_t len;
    ssize_t n;
    char *line, *end;

    while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0) {
        len += (size_t) n;
        text[len] = '\0';

        for (line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            CU_ASSERT(strtoll(line, NULL, 10) == last + 1);
            last++;
        }

        len = (size_t) (text + len - line);
        memmove(text, line, len);
    }

    return last;
}

HELP_TEST(storm, "a copy made at any time opens and has all acknowledged tasks")
{
    int64_t last, total;
    tg_store_query_t query;
    tg_str_t value;
    pid_t pid;
    int fds[2], i, status;

    CU_ASSERT_FATAL(pipe(fds) == 0);
    pid = fork();

    if (pid == 0) {
        test_pipe = fds[1];
        test_submit_on();
    }

    (void) close(fds[1]);
    (void) fcntl(fds[0], F_SETFL, O_NONBLOCK);
    last = -1;

    for (i = 0; i < 30; i++) {
        /* Waits for new tasks, however slow the disk. */
        for (total = last; last < total + 37;) {
            (void) usleep(100);
            last = test_acknowledged(fds[0], last);
        }

        /* Each time at another moment after a commit. */
        (void) usleep((useconds_t) (i * 997 % 20000));
        kill(pid, SIGSTOP);
        CU_ASSERT(waitpid(pid, &status, WUNTRACED) == pid);
        CU_ASSERT_FATAL(WIFSTOPPED(status));
        last = test_acknowledged(fds[0], last);
        test_copy_store();

        CU_ASSERT_FATAL(test_open("copy", &query) == TG_OK);
        tg_store_query_deinit(&query);
        test_begin(&query, TG_STORE_STATS);
        CU_ASSERT(test_wait(&query) == TG_OK);
        CU_ASSERT(tg_json_get_member(tg_buf_view(&query.json), TG_STR("total"),
                                     &value)
                      == TG_OK
                  && tg_json_parse_int64(value, &total) == TG_OK);
        CU_ASSERT(total > last);
        CU_ASSERT(test_id(TG_STORE_GET, last, 0) == TG_OK);
        tg_store_query_deinit(&query);
        test_close();
        test_is_complete("copy");
        test_remove("copy");
        kill(pid, SIGCONT);
    }

    kill(pid, SIGKILL);
    CU_ASSERT(waitpid(pid, &status, 0) == pid);
    (void) close(fds[0]);
    test_remove("storm");
}

HELP_TEST(full, "a full disk is reported, and writing resumes with space")
{
    struct rlimit old, now;
    int64_t id, n;

    test_fresh("full");
    (void) signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &old) == 0);
    now = old;
    now.rlim_cur = 262144;
    CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &now) == 0);

    for (n = 0; (id = test_submit("a", 0, "p")) >= 0 && n < 100000; n++) {
        CU_ASSERT(id == n);
    }

    CU_ASSERT(id == -TG_INVALID);
    CU_ASSERT(n > 0);

    /* Existing tasks can still be read. */
    CU_ASSERT(test_id(TG_STORE_GET, n - 1, 0) == TG_OK);
    CU_ASSERT(test_id(TG_STORE_GET, n, 0) == TG_MISSING);
    CU_ASSERT(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CU_ASSERT(test_submit("a", 0, "p") == n);
    CU_ASSERT(test_claim("a") == 0);
    test_close();
    test_remove("full");
}
