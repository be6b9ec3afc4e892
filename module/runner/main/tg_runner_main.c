/*
 * toolgate-runner: the main program.
 *
 * toolgate-runner --state-dir DIR [--linger SECONDS] [--log-level LEVEL]
 *                 [--foreground | --report]
 * toolgate-runner --check-store STORE
 * toolgate-runner --version | --help
 *
 * Started by a worker, it gives up everything inherited: descriptors, signals,
 * environment, session and parent, because a worker waits for its children.
 */
#include "base/tg_base.h"
#include "runner/main/tg_supervisor.h"
#include "runner/logging/tg_log.h"
#include "runner/main/tg_privileges.h"
#include "runner/main/tg_runner.h"
#include "tasks/tg_tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TG_LINGER_DEFAULT 5
#define TG_LINGER_MAX 86400

/* Maximum length of a password in bytes. */
#define TG_MAIN_PASSWORD_MAX 16384

/* Maximum length of a startup error in bytes. */
#define TG_MAIN_REASON_MAX 256

/* Exit status: the task store cannot be reached. */
#define TG_MAIN_EXIT_UNREACHABLE 3

typedef struct {
    tg_runner_conf_t conf;
    char *state_dir;
    const char *check_store; /* task store to check, or NULL */
} tg_runner_options_t;

static const char tg_usage[] =
    "usage: toolgate-runner --state-dir DIR [--linger SECONDS]\n"
    "                       [--log-level LEVEL] [--foreground | --report]\n"
    "       toolgate-runner --check-store STORE\n"
    "       toolgate-runner --version | --help\n"
    "\n"
    "Runs the programs of Toolgate's tools.  NGINX's workers start it when\n"
    "they need it; it exits when no worker has needed it for a while.\n"
    "\n"
    "  --state-dir DIR   directory of its socket and its lock; other users\n"
    "                    must not be able to write to it\n"
    "  --linger SECONDS  how long to stay after the last worker has\n"
    "                    disconnected (default 5)\n"
    "  --log-level LEVEL what to log to stderr, as in NGINX's error_log\n"
    "                    (default notice)\n"
    "  --foreground      do not fork, and log to stderr also while workers\n"
    "                    are connected\n"
    "  --report          write a startup error to stdout instead of logging\n"
    "                    it; NGINX uses this to report the error once\n"
    "  --check-store STORE  check whether the task store can be opened; STORE\n"
    "                    as in task_store.  A password is read from stdin.\n"
    "                    Exit status 3: the store cannot be reached now\n";

/*
 * Redirects stdin and stdout to /dev/null, so that no file reuses them. With
 * --report, stdout stays open until the fork.
 */
static int
tg_main_redirect_stdio(const tg_runner_options_t *program)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd < 3);

    if (fd == -1 || dup2(fd, STDIN_FILENO) == -1
        || (!program->conf.is_reporting && dup2(fd, STDOUT_FILENO) == -1))
    {
        return -1;
    }

    return close(fd);
}

/* Closes descriptors above 2, for systems without close_range(). */
static void
tg_main_close_fds_by_proc(void)
{
    struct dirent *entry;
    DIR *dir;
    int fd;

    dir = opendir("/proc/self/fd");

    if (dir == NULL) {
        return;
    }

    while ((entry = readdir(dir)) != NULL) {
        fd = atoi(entry->d_name);

        if (fd > STDERR_FILENO && fd != dirfd(dir)) {
            (void) close(fd);
        }
    }

    (void) closedir(dir);
}

/* Erases NGINX's environment, which may contain secrets, also in /proc. */
static void
tg_main_clear_environment(void)
{
    char **text;

    tzset();

    for (text = environ; text != NULL && *text != NULL; text++) {
        memset(*text, 0, strlen(*text));
    }

    (void) clearenv();
}

static int
tg_main_isolate(const tg_runner_options_t *program)
{
    struct sigaction action;
    sigset_t none;
    int sig;

    sigemptyset(&none);
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;

    for (sig = 1; sig < NSIG; sig++) {
        /* Fails for SIGKILL and SIGSTOP. */
        (void) sigaction(sig, &action, NULL);
    }

    if (sigprocmask(SIG_SETMASK, &none, NULL) == -1
        || tg_main_redirect_stdio(program) == -1)
    {
        return -1;
    }

    if (close_range(3, ~0u, 0) == -1) {
        tg_main_close_fds_by_proc();
    }

    (void) umask(077);
    tg_main_clear_environment();

    return tg_privileges_drop();
}

static int
tg_main_run_runner(void *ctx)
{
    tg_runner_options_t *program;

    program = ctx;
    program->conf.supervisor = getppid();

    return tg_runner_run(&program->conf);
}

static int
tg_main_run_supervised(tg_runner_options_t *program)
{
    int rc;

    rc = tg_supervisor_run(&program->conf.ready_fd, tg_main_run_runner,
                           program);

    if (rc == -1) {
        tg_log(TG_LOG_ERROR, "cannot fork: %s", strerror(errno));
        return 1;
    }

    return rc;
}

/* Waits until the runner serves, or prints its error. Returns the status. */
static int
tg_main_wait_ready(int ready, pid_t child)
{
    char text[TG_MAIN_REASON_MAX];
    ssize_t n;

    while (waitpid(child, NULL, 0) == -1 && errno == EINTR) {
        /* void */
    }

    do {
        n = read(ready, text, sizeof(text));
    } while (n == -1 && errno == EINTR);

    (void) close(ready);

    if (n > 0 && text[0] == '\0') {
        return 0;
    }

    if (n > 0) {
        (void) !write(STDOUT_FILENO, text, (size_t) n);
    }

    return 1;
}

/* Forks twice, so that init is the parent of the second child. */
static int
tg_main_daemonize(tg_runner_options_t *program)
{
    int ready[2];
    pid_t child;

    if (pipe2(ready, O_CLOEXEC) == -1) {
        tg_log(TG_LOG_ERROR, "cannot make a pipe: %s", strerror(errno));
        return 1;
    }

    child = fork();

    if (child == -1) {
        tg_log(TG_LOG_ERROR, "cannot fork: %s", strerror(errno));
        return 1;
    }

    if (child != 0) {
        (void) close(ready[1]);
        return tg_main_wait_ready(ready[0], child);
    }

    (void) close(ready[0]);
    program->conf.ready_fd = ready[1];

    if (dup2(STDIN_FILENO, STDOUT_FILENO) == -1 || setsid() == -1) {
        return 1;
    }

    child = fork();

    if (child != 0) {
        return child == -1;
    }

    return tg_main_run_supervised(program);
}

static int
tg_main_parse_linger(const char *text, uint64_t *ms)
{
    unsigned long seconds;
    char *end;

    errno = 0;
    seconds = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0
        || seconds > TG_LINGER_MAX)
    {
        fprintf(stderr,
                "toolgate-runner: --linger %s: must be 0 to %d seconds\n", text,
                TG_LINGER_MAX);
        return -1;
    }

    *ms = seconds * 1000;

    return 0;
}

static int
tg_main_parse_log_level(const char *name)
{
    if (tg_log_set_level(name) == 0) {
        return 0;
    }

    fprintf(stderr,
            "toolgate-runner: --log-level %s: must be one of emerg, alert, "
            "crit, error, warn, notice, info, debug\n",
            name);

    return -1;
}

/* Applies an option. Returns 0, 1 to exit, or -1 for a usage error. */
static int
tg_main_apply_option(tg_runner_options_t *program, int option, const char **dir)
{
    switch (option) {
    case 's':
        *dir = optarg;
        return 0;
    case 'l':
        return tg_main_parse_linger(optarg, &program->conf.linger_ms);
    case 'L':
        return tg_main_parse_log_level(optarg);
    case 'c':
        program->check_store = optarg;
        return 0;
    case 'f':
        program->conf.is_foreground = 1;
        return 0;
    case 'r':
        program->conf.is_reporting = 1;
        return 0;
    case 'h':
        fputs(tg_usage, stdout);
        return 1;
    case 'v':
        printf("toolgate-runner %s\n", TG_VERSION);
        return 1;
    default:
        fputs(tg_usage, stderr);
        return -1;
    }
}

static int
tg_main_parse_options(tg_runner_options_t *program, int argc, char **argv)
{
    static const struct option options[] = {
        { "state-dir", required_argument, NULL, 's' },
        { "linger", required_argument, NULL, 'l' },
        { "log-level", required_argument, NULL, 'L' },
        { "check-store", required_argument, NULL, 'c' },
        { "foreground", no_argument, NULL, 'f' },
        { "report", no_argument, NULL, 'r' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'v' },
        { NULL, 0, NULL, 0 },
    };
    const char *dir;
    int option, rc;

    dir = NULL;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        rc = tg_main_apply_option(program, option, &dir);

        if (rc != 0) {
            return rc;
        }
    }

    if (program->check_store != NULL) {
        return 0;
    }

    if (dir == NULL || optind != argc) {
        fputs(tg_usage, stderr);
        return -1;
    }

    program->conf.is_reporting &= !program->conf.is_foreground;

    /* Before the program leaves the current directory. */
    program->state_dir = realpath(dir, NULL);
    program->conf.state_dir = program->state_dir;

    if (program->state_dir != NULL) {
        return 0;
    }

    if (program->conf.is_reporting) {
        printf("the state directory: %s", strerror(errno));
    } else {
        fprintf(stderr, "toolgate-runner: --state-dir %s: %s\n", dir,
                strerror(errno));
    }

    return -1;
}

/* Checks a task store as the runner would open it. Returns the status. */
static int
tg_main_check_store(const char *store)
{
    char password[TG_MAIN_PASSWORD_MAX + 1];
    tg_buf_t why;
    size_t len;
    int rc;

    tg_main_clear_environment();
    len = isatty(STDIN_FILENO)
              ? 0
              : fread(password, 1, sizeof(password) - 1, stdin);
    password[len] = '\0';
    tg_buf_init(&why, tg_alloc_libc());
    rc = tg_store_check(tg_str_from_cstr(store), len != 0 ? password : NULL,
                        &why);
    printf("%.*s", (int) why.len, why.len != 0 ? why.data : "");
    tg_buf_deinit(&why);

    return rc == TG_OK ? 0 : rc == TG_AGAIN ? TG_MAIN_EXIT_UNREACHABLE : 1;
}

int
main(int argc, char **argv)
{
    tg_runner_options_t program;
    int rc;

    memset(&program, 0, sizeof(program));
    program.conf.linger_ms = TG_LINGER_DEFAULT * 1000;
    program.conf.ready_fd = -1;
    rc = tg_main_parse_options(&program, argc, argv);

    if (rc != 0) {
        return rc > 0 ? 0 : 2;
    }

    if (program.check_store != NULL) {
        return tg_main_check_store(program.check_store);
    }

    if (tg_main_isolate(&program) == -1 || chdir("/") == -1) {
        tg_log(TG_LOG_ERROR, "cannot leave the caller's environment: %s",
               strerror(errno));
        rc = 1;
    } else {
        tg_log_init();
        rc = program.conf.is_foreground ? tg_main_run_supervised(&program)
                                        : tg_main_daemonize(&program);
    }

    free(program.state_dir);

    return rc;
}
