#include "host.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

toolgate_server_t *host_server;

uv_loop_t host_loop;
const char *host_mode = "thread";

static void
host_report(int code, const char *message, void *data)
{
    char text[4096];

    snprintf(text, sizeof(text), "%s %s", toolgate_error_class(code), message);
    host_print("report ", text, strlen(text));
}

static void
host_cancelled(toolgate_call_t call, void *data)
{
    host_print("cancelled", "", 0);
}

static char host_line[HOST_LINE];
static size_t host_len;

/* Reads once; returns 0 at the end of the input. */
static int
host_read(void)
{
    ssize_t n;
    char *end;

    n = read(STDIN_FILENO, host_line + host_len, sizeof(host_line) - host_len);

    if (n <= 0) {
        return 0;
    }

    host_len += (size_t) n;

    while ((end = memchr(host_line, '\n', host_len)) != NULL) {
        char line[HOST_LINE];
        size_t used = (size_t) (end - host_line) + 1;

        memcpy(line, host_line, used - 1);
        line[used - 1] = '\0';
        host_len -= used;
        memmove(host_line, host_line + used, host_len);
        host_do(line);
    }

    return 1;
}

static void
host_run_fd(void)
{
    struct pollfd fds[3];

    for (;;) {
        fds[0].fd = STDIN_FILENO;
        fds[0].events = POLLIN;
        fds[1].fd = toolgate_fd(host_server);
        fds[1].events = POLLIN;
        fds[1].revents = 0;

        fds[2].fd = host_client != NULL ? toolgate_client_fd(host_client) : -1;
        fds[2].events = POLLIN;
        fds[2].revents = 0;

        if (poll(fds, 3, -1) > 0) {
            if (fds[2].revents != 0) {
                toolgate_client_process(host_client);
            }

            if (fds[1].revents != 0) {
                toolgate_process(host_server);
            }

            if (fds[0].revents != 0 && !host_read()) {
                return;
            }
        }
    }
}

static void
host_on_stdin(uv_poll_t *handle, int status, int events)
{
    if (!host_read()) {
        uv_close((uv_handle_t *) handle, NULL);
        host_client_free();
        toolgate_server_free(host_server);
        host_server = NULL;
    }
}

static void
host_run_uv(void)
{
    uv_poll_t in;

    uv_poll_init(&host_loop, &in, STDIN_FILENO);
    uv_poll_start(&in, UV_READABLE, host_on_stdin);
    uv_run(&host_loop, UV_RUN_DEFAULT);

    if (uv_loop_close(&host_loop) != 0) {
        host_text("handles are left");
        abort();
    }
}

int
main(int argc, char **argv)
{
    char *value;
    int i, rc;

    host_server = toolgate_server_new("transcripts");
    rc = toolgate_set(host_server, "instructions", "Call echo.");

    for (i = 1; i < argc; i++) {
        value = strchr(argv[i], '=');

        if (value == NULL) {
            host_mode = argv[i];
            continue;
        }

        *value++ = '\0';
        rc = rc == 0 ? toolgate_set(host_server, argv[i], value) : rc;
    }

    if (strcmp(host_mode, "fd") == 0) {
        rc = rc == 0 ? toolgate_set(host_server, "loop", "fd") : rc;
    } else if (strcmp(host_mode, "uv") == 0) {
        uv_loop_init(&host_loop);
        rc = rc == 0 ? toolgate_use_uv(host_server, &host_loop) : rc;
        signal(SIGPIPE, SIG_IGN);
    }

    toolgate_on_report(host_server, host_report, NULL);
    toolgate_on_cancel(host_server, host_cancelled, NULL);
    host_add_all();
    host_done(rc);

    if (rc != 0) {
        return 1;
    }

    if (strcmp(host_mode, "fd") == 0) {
        host_run_fd();
    } else if (strcmp(host_mode, "uv") == 0) {
        host_run_uv();
    } else {
        while (host_read()) {
        }
    }

    host_client_free();
    toolgate_server_free(host_server);

    return 0;
}
