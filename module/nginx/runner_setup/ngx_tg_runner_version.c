/*
 * Check of `tool_runner PATH`: runs the program with --version, because
 * otherwise the first call would find that it is wrong.
 */
#include "nginx/upstream/ngx_tg_runner.h"

#include <poll.h>
#include <sys/wait.h>

#define NGX_TG_RUNNER_VERSION_PREFIX "toolgate-runner "
/* Time to wait for the version, in ms. */
#define NGX_TG_RUNNER_VERSION_TIMEOUT 3000

static void
ngx_tg_runner_exec_version(const ngx_str_t *path, int out)
{
    char *argv[] = { (char *) path->data, (char *) "--version", NULL };
    char *envp[] = { NULL };
    int fd;

    fd = open("/dev/null", O_RDWR);

    /* The child must not inherit NGINX's listening sockets. */
    if (fd != -1 && dup2(fd, 0) != -1 && dup2(out, 1) != -1 && dup2(fd, 2) != -1
        && close_range(3, ~0U, 0) == 0)
    {
        (void) execve(argv[0], argv, envp);
    }

    _exit(127);
}

size_t
ngx_tg_child_read_output(ngx_pid_t pid, int fd, u_char *text, size_t size,
                         int ms, int *status)
{
    struct pollfd event;
    ssize_t n;
    size_t len;

    event.fd = fd;
    event.events = POLLIN;
    len = 0;
    n = -1;

    while (len < size && poll(&event, 1, ms) == 1) {
        n = read(fd, text + len, size - len);

        if (n <= 0) {
            break;
        }

        len += (size_t) n;
    }

    /* Without an end of file the child may still be running. */
    if (n != 0) {
        (void) kill(pid, SIGKILL);
    }

    /* NGINX's signal handler may have waited first. */
    while (waitpid(pid, status, 0) == -1 && ngx_errno == NGX_EINTR) {
        /* void */
    }

    return len;
}

/*
 * Runs a program with --version and reads `size` bytes. NGX_ERROR: no pipe or
 * process, so nothing is known about the program.
 */
static ngx_int_t
ngx_tg_runner_read_version(const ngx_str_t *path, u_char *text, size_t size,
                           size_t *len)
{
    ngx_pid_t pid;
    int fds[2], status;

    if (pipe(fds) == -1) {
        return NGX_ERROR;
    }

    pid = fork();

    if (pid == 0) {
        ngx_tg_runner_exec_version(path, fds[1]);
    }

    (void) close(fds[1]);

    if (pid != -1) {
        *len = ngx_tg_child_read_output(pid, fds[0], text, size,
                                        NGX_TG_RUNNER_VERSION_TIMEOUT, &status);
    }

    (void) close(fds[0]);

    return pid != -1 ? NGX_OK : NGX_ERROR;
}

char *
ngx_tg_conf_set_runner_path(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    static const char expected[] = NGX_TG_RUNNER_VERSION_PREFIX NGX_TG_VERSION
        "\n";
    u_char text[sizeof(expected)];
    ngx_str_t *path;
    size_t len;
    char *rv;

    rv = ngx_tg_conf_set_path(cf, cmd, conf);
    path = (ngx_str_t *) (void *) ((char *) conf + cmd->offset);

    if (rv != NGX_CONF_OK || ngx_process == NGX_PROCESS_SIGNALLER
        || ngx_tg_runner_read_version(path, text, sizeof(text), &len) != NGX_OK)
    {
        return rv;
    }

    if (len != sizeof(expected) - 1 || ngx_memcmp(text, expected, len) != 0) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"%V\" of \"%V\" does not answer \"--version\" as "
                           "the toolgate-runner " NGX_TG_VERSION
                           " that belongs to this module; name the one that "
                           "was installed with it",
                           path, &cmd->name);
    }

    return NGX_CONF_OK;
}
