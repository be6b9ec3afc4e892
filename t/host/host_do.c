#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_LINKS 16

static toolgate_link_t *host_links[HOST_LINKS];

static void
host_message(const char *message, size_t len, void *data)
{
    char what[32];

    snprintf(what, sizeof(what), "link %d ", (int) (intptr_t) data);
    host_print(what, message, len);
}

/* Offers only the names in the list, which are separated by spaces. */
static int
host_is_among(const char *tool, void *data)
{
    char name[256];

    snprintf(name, sizeof(name), " %s ", tool);

    return strstr(data, name) != NULL;
}

static void
host_do_filter(char *names)
{
    char all[HOST_LINE + 2];

    if (names == NULL) {
        host_done(toolgate_filter(host_server, NULL, NULL));
        return;
    }

    snprintf(all, sizeof(all), " %s ", names);
    host_done(toolgate_filter(host_server, host_is_among, all));
}

/*
 * Runs in a child: counts the functions that fail to refuse the parent's call
 * or link.
 */
static int
host_child_failures(void)
{
    const char *data = "{}";
    int n = 0;

    n += toolgate_progress(host_held, 1, 2, NULL) != TOOLGATE_ERR_STATE;
    n += toolgate_reply(host_held, "child", 5) != TOOLGATE_ERR_STATE;
    n += toolgate_fail(host_held, NULL, "child") != TOOLGATE_ERR_STATE;
    n += toolgate_fail_rpc(host_held, -1, "x", data) != TOOLGATE_ERR_STATE;
    n += toolgate_is_wanted(host_held) != 0;
    n += strstr(toolgate_error(), "fork") == NULL;

    if (host_links[0] != NULL) {
        n += toolgate_link_send(host_links[0], data, 2) != TOOLGATE_ERR_STATE;
        toolgate_link_close(host_links[0]);
    }

    return n;
}

/* Forks a child that lives until it is told to exit, and prints its pid. */
static void
host_do_fork(char *how)
{
    pid_t pid = fork();
    char text[64];
    int status;

    if (pid != 0) {
        if (strcmp(how, "stay") != 0 && waitpid(pid, &status, 0) == pid) {
            snprintf(text, sizeof(text), "%ld %d", (long) pid, status);
            host_print("child ", text, strlen(text));
        }

        host_number(pid);
        return;
    }

    if (strcmp(how, "exit") == 0) {
        exit(0);
    }

    if (strcmp(how, "answer") == 0) {
        _exit(host_child_failures());
    }

    if (strcmp(how, "free") == 0) {
        toolgate_server_free(host_server);
        toolgate_client_free(host_client);
        exit(toolgate_server_new("child") != NULL ? 0 : 1);
    }

    for (;;) {
        pause();
    }
}

static void
host_do_notify(char *line)
{
    char *params = line != NULL ? strchr(line, ' ') : NULL;

    if (params != NULL) {
        *params++ = '\0';
    }

    host_done(toolgate_notify(host_server, line, params));
}

static void
host_do_link(char *line)
{
    char *text;
    long i = strtol(line, &text, 10);

    if (strcmp(text, " open") == 0) {
        host_links[i] = toolgate_link_open(host_server, host_message,
                                           (void *) (intptr_t) i);
        host_text(host_links[i] != NULL ? "ok" : NULL);

    } else if (strcmp(text, " close") == 0) {
        toolgate_link_close(host_links[i]);
        host_links[i] = NULL;
        host_text("ok");

    } else {
        host_done(
            toolgate_link_send(host_links[i], text + 1, strlen(text + 1)));
    }
}

/*
 * Serves a client that listens at a path, or that is at the other ends of two
 * pipes, one of which may become stderr.
 */
static void
host_do_serve(char *line)
{
    char *in = strtok(line, " "), *out = strtok(NULL, " ");
    int is_stderr = out != NULL && strtok(NULL, " ") != NULL;
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int fds[2];

    if (out != NULL) {
        fds[0] = open(in, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        fds[1] = open(out, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    } else {
        fds[0] = fds[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        strncpy(addr.sun_path, in, sizeof(addr.sun_path) - 1);

        if (connect(fds[0], (struct sockaddr *) &addr, sizeof(addr)) != 0) {
            perror(in);
        }
    }

    if (is_stderr) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[1]);
        fds[1] = STDERR_FILENO;
    }

    host_done(toolgate_serve(host_server, fds[0], fds[1]));
}

static void
host_do_set(char *line, int is_tool)
{
    char *name = strtok(line, " ");
    char *option = strtok(NULL, " ");
    char *value = strtok(NULL, "");

    host_done(is_tool ? toolgate_set_tool(host_server, name, option, value)
                      : toolgate_set(host_server, name, option));
}

static void
host_do_cycles(char *line)
{
    long n = strtol(line, NULL, 10);
    int rc = 0;

    while (rc == 0 && n-- > 0) {
        rc = toolgate_start(host_server);
        rc = rc == 0 ? toolgate_stop(host_server) : rc;
    }

    host_done(rc);
}

static void
host_do_config(char *line)
{
    char *text = toolgate_agent_config(host_server);

    host_text(text);
    toolgate_free(text);
}

void
host_do(char *line)
{
    char *rest = strchr(line, ' ');

    if (rest != NULL) {
        *rest++ = '\0';
    }

    if (strcmp(line, "start") == 0) {
        host_done(toolgate_start(host_server));
    } else if (strcmp(line, "stop") == 0) {
        host_done(toolgate_stop(host_server));
    } else if (strcmp(line, "state") == 0) {
        host_number(toolgate_state(host_server));
    } else if (strcmp(line, "clients") == 0) {
        host_number(toolgate_clients(host_server));
    } else if (strcmp(line, "socket") == 0) {
        host_text(toolgate_socket(host_server));
    } else if (strcmp(line, "schema") == 0) {
        host_text(toolgate_schema_file(host_server));
    } else if (strcmp(line, "config") == 0) {
        host_do_config(rest);
    } else if (strcmp(line, "check") == 0) {
        host_done(toolgate_check_bridge(host_server, atoi(rest)));
    } else if (strcmp(line, "filter") == 0) {
        host_do_filter(rest);
    } else if (strcmp(line, "notify") == 0) {
        host_do_notify(rest);
    } else if (strcmp(line, "tool") == 0) {
        host_done(host_add(rest));
    } else if (strcmp(line, "remove") == 0) {
        host_done(toolgate_remove_tool(host_server, rest));
    } else if (strcmp(line, "set") == 0) {
        host_do_set(rest, 0);
    } else if (strcmp(line, "set-tool") == 0) {
        host_do_set(rest, 1);
    } else if (strcmp(line, "serve") == 0) {
        host_do_serve(rest);
    } else if (strcmp(line, "link") == 0) {
        host_do_link(rest);
    } else if (strcmp(line, "cycles") == 0) {
        host_do_cycles(rest);
    } else if (strcmp(line, "fork") == 0) {
        host_do_fork(rest);
    } else if (strcmp(line, "answer") == 0) {
        host_done(toolgate_reply(host_held, rest, strlen(rest)));
    } else if (strcmp(line, "item") == 0) {
        host_item_do(rest);
    } else if (strcmp(line, "client") == 0) {
        host_client_do(rest);
    } else if (strcmp(line, "exit") == 0) {
        exit(0);
    } else if (strcmp(line, "free") == 0) {
        toolgate_server_free(host_server);
        host_server = toolgate_server_new("host");
        host_text("ok");
    } else {
        host_text("what?");
    }
}
