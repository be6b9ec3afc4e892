/* Starts the bridge as an agent would, and checks that it lists the tools. */
#include "lib/tg_bridge_command.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Bytes of the end of the bridge's stderr in an error. */
#define TG_BRIDGE_STDERR_TAIL_MAX 1024
/* Time for the bridge to exit after the end of its input, in ms. */
#define TG_BRIDGE_EXIT_TIMEOUT_MS 2000
/* Interval of the checks whether the bridge has exited, in ms. */
#define TG_BRIDGE_EXIT_POLL_MS 5

extern char **environ;

typedef struct {
    int fd;  /* stdin and stdout of the bridge */
    int err; /* stderr of the bridge; -1: closed */
    pid_t pid;
    int64_t deadline; /* CLOCK_MONOTONIC, in ms */
    tg_buf_t out;     /* incomplete line of stdout */
    char tail[TG_BRIDGE_STDERR_TAIL_MAX];
    size_t ntail;
    int is_up;
    char why[256];
} tg_bridge_check_t;

static const char tg_bridge_check_requests[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
    "\"name\":\"libtoolgate\",\"version\":\"" TG_VERSION "\"}}}\n"
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";

static int64_t
tg_bridge_check_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int
tg_bridge_check_spawn(tg_bridge_check_t *check,
                      const tg_bridge_command_t *command, int stdio, int err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    const char *words[TG_BRIDGE_ARGV_MAX];
    sigset_t none, all;
    int rc;

    tg_bridge_command_get_argv(command, words);
    (void) sigemptyset(&none);
    (void) sigfillset(&all);
    (void) posix_spawn_file_actions_init(&actions);
    (void) posix_spawnattr_init(&attr);
    (void) posix_spawnattr_setsigmask(&attr, &none);
    (void) posix_spawnattr_setsigdefault(&attr, &all);
    (void) posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK
                                               | POSIX_SPAWN_SETSIGDEF);
    (void) posix_spawn_file_actions_adddup2(&actions, stdio, STDIN_FILENO);
    (void) posix_spawn_file_actions_adddup2(&actions, stdio, STDOUT_FILENO);
    (void) posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    rc = posix_spawn(&check->pid, command->path, &actions, &attr,
                     (char **) (uintptr_t) words, environ);
    (void) posix_spawn_file_actions_destroy(&actions);
    (void) posix_spawnattr_destroy(&attr);

    return rc == 0 ? 0
                   : tg_lib_set_error(TOOLGATE_ERR_BRIDGE_STARTUP,
                                      "cannot start the bridge \"%s\": %s",
                                      command->path, strerror(rc));
}

static int
tg_bridge_check_start(tg_bridge_check_t *check,
                      const tg_bridge_command_t *command)
{
    int stdio[2], err[2], rc;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stdio) != 0) {
        return tg_lib_set_errno_error("socketpair()");
    }

    if (pipe2(err, O_CLOEXEC | O_NONBLOCK) != 0) {
        rc = tg_lib_set_errno_error("pipe2()");
        (void) close(stdio[0]);
        (void) close(stdio[1]);
        return rc;
    }

    rc = tg_bridge_check_spawn(check, command, stdio[1], err[1]);
    (void) close(stdio[1]);
    (void) close(err[1]);
    check->fd = stdio[0];
    check->err = err[0];

    if (rc != 0) {
        (void) close(check->fd);
        (void) close(check->err);
    }

    return rc;
}

static void
tg_bridge_check_append_tail(tg_bridge_check_t *check, const char *text,
                            size_t n)
{
    size_t drop;

    if (n > sizeof(check->tail)) {
        text += n - sizeof(check->tail);
        n = sizeof(check->tail);
    }

    if (check->ntail + n > sizeof(check->tail)) {
        drop = check->ntail + n - sizeof(check->tail);
        check->ntail -= drop;
        memmove(check->tail, check->tail + drop, check->ntail);
    }

    memcpy(check->tail + check->ntail, text, n);
    check->ntail += n;
}

/* Handles a message. Returns 1 after an error or the last answer. */
static int
tg_bridge_check_on_message(tg_bridge_check_t *check, tg_str_t line)
{
    tg_str_t value, message;

    if (tg_json_validate(line, NULL) != TG_OK
        || tg_json_get_member(line, TG_STR("id"), &value) != TG_OK)
    {
        return 0;
    }

    if (tg_json_get_member(line, TG_STR("error"), &message) == TG_OK) {
        (void) snprintf(check->why, sizeof(check->why), "it answered %.*s",
                        (int) message.len, message.data);
        return 1;
    }

    check->is_up = tg_str_eq(value, TG_STR("2"));

    return check->is_up;
}

/* Reads stdout of the bridge.  Returns 1 if the check is decided, else 0. */
static int
tg_bridge_check_read_stdout(tg_bridge_check_t *check)
{
    char text[16384];
    const char *end;
    ssize_t n;

    n = recv(check->fd, text, sizeof(text), MSG_DONTWAIT);

    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            (void) snprintf(check->why, sizeof(check->why), "it has ended");
            return 1;
        }

        return 0;
    }

    tg_buf_append(&check->out, text, (size_t) n);

    while ((end = memchr(check->out.data, '\n', check->out.len)) != NULL) {
        if (tg_bridge_check_on_message(
                check,
                tg_str(check->out.data, (size_t) (end - check->out.data))))
        {
            return 1;
        }

        tg_buf_consume(&check->out, (size_t) (end - check->out.data) + 1);
    }

    return 0;
}

static void
tg_bridge_check_read_stderr(tg_bridge_check_t *check)
{
    char text[1024];
    ssize_t n;

    while ((n = read(check->err, text, sizeof(text))) > 0) {
        tg_bridge_check_append_tail(check, text, (size_t) n);
    }

    if (n == 0) {
        (void) close(check->err);
        check->err = -1;
    }
}

static void
tg_bridge_check_wait(tg_bridge_check_t *check, int timeout)
{
    struct pollfd fds[2];
    int64_t left;

    for (;;) {
        left = check->deadline - tg_bridge_check_now();

        if (left <= 0) {
            (void) snprintf(check->why, sizeof(check->why),
                            "it did not answer within %d ms", timeout);
            return;
        }

        fds[0].fd = check->fd;
        fds[0].events = POLLIN;
        fds[1].fd = check->err;
        fds[1].events = POLLIN;

        if (poll(fds, 2, (int) left) == -1 && errno != EINTR) {
            (void) snprintf(check->why, sizeof(check->why), "poll(): %s",
                            strerror(errno));
            return;
        }

        if (check->err != -1) {
            tg_bridge_check_read_stderr(check);
        }

        if (tg_bridge_check_read_stdout(check)) {
            return;
        }
    }
}

/* Ends the bridge's input, and kills the bridge if it does not exit. */
static void
tg_bridge_check_stop(tg_bridge_check_t *check)
{
    struct pollfd pfd;
    char text[1024];
    int status;

    (void) shutdown(check->fd, SHUT_WR);
    check->deadline = tg_bridge_check_now() + TG_BRIDGE_EXIT_TIMEOUT_MS;
    pfd.fd = check->fd;
    pfd.events = POLLIN;

    while (tg_bridge_check_now() < check->deadline
           && poll(&pfd, 1, (int) (check->deadline - tg_bridge_check_now()))
                  >= 0)
    {
        if (recv(check->fd, text, sizeof(text), MSG_DONTWAIT) == 0) {
            break;
        }
    }

    if (check->err != -1) {
        tg_bridge_check_read_stderr(check);
    }

    if (check->err != -1) {
        (void) close(check->err);
        check->deadline = 0;
    }

    (void) close(check->fd);

    /* The bridge may continue to run after closing its descriptors. */
    while (waitpid(check->pid, &status, WNOHANG) == 0) {
        if (tg_bridge_check_now() >= check->deadline) {
            (void) kill(check->pid, SIGKILL);
        }

        (void) poll(NULL, 0, TG_BRIDGE_EXIT_POLL_MS);
    }
}

static int
tg_bridge_check_get_result(tg_bridge_check_t *check)
{
    char room[TG_BRIDGE_STDERR_TAIL_MAX * 6];
    tg_str_t text;
    tg_buf_t tail;

    if (check->is_up) {
        return 0;
    }

    /* Joins the lines of stderr. */
    for (text = tg_str(check->tail, 0); text.len < check->ntail; text.len++) {
        if (check->tail[text.len] == '\n') {
            check->tail[text.len] = ' ';
        }
    }

    while (text.len != 0 && text.data[text.len - 1] == ' ') {
        text.len--;
    }

    tail = tg_buf_make_fixed(room, sizeof(room));
    tg_utf8_append_visible(&tail, text, 1);

    return tg_lib_set_error(TOOLGATE_ERR_BRIDGE_STARTUP,
                            "the bridge failed to start: %s%s%.*s", check->why,
                            tail.len != 0 ? "; it wrote: " : "", (int) tail.len,
                            tail.data);
}

int
toolgate_check_bridge(toolgate_server_t *server, int timeout)
{
    tg_bridge_command_t command;
    tg_bridge_check_t check;
    int rc;

    memset(&check, 0, sizeof(check));
    tg_lib_lock();
    rc = server->runtime == NULL
             ? tg_lib_set_error(TOOLGATE_ERR_STATE, "the server is not started")
         : server->transport == TG_SERVER_TRANSPORT_SDK
             ? tg_lib_set_error(TOOLGATE_ERR_STATE,
                                "the transport \"sdk\" has no bridge")
             : tg_server_check_process(server);
    rc = rc == 0 ? tg_bridge_command_init(server, &command) : rc;
    tg_lib_unlock();
    rc = rc == 0 ? tg_bridge_check_start(&check, &command) : rc;

    if (rc != 0) {
        return rc;
    }

    tg_buf_init(&check.out, tg_alloc_libc());
    check.deadline = tg_bridge_check_now() + timeout;

    /* If the bridge has exited already, its missing answer shows that. */
    (void) !send(check.fd, tg_bridge_check_requests,
                 sizeof(tg_bridge_check_requests) - 1, MSG_NOSIGNAL);
    tg_bridge_check_wait(&check, timeout);
    tg_bridge_check_stop(&check);
    tg_buf_deinit(&check.out);

    return tg_bridge_check_get_result(&check);
}
