/* Blocking request of an exiting master, which has no event loop any more. */
#include "nginx/upstream/ngx_tg_runner.h"

#include <poll.h>
#include <sys/socket.h>

/* Timeout of a write or of the response, in ms; the request is sent anyway. */
#define NGX_TG_RUNNER_SYNC_TIMEOUT 1000

/* Sends a whole message. NGX_ERROR: error or timeout. */
static ngx_int_t
ngx_tg_socket_send_all(int fd, tg_str_t text)
{
    struct pollfd event;
    ssize_t n;

    event.fd = fd;
    event.events = POLLOUT;

    while (text.len != 0) {
        if (poll(&event, 1, NGX_TG_RUNNER_SYNC_TIMEOUT) != 1) {
            return NGX_ERROR;
        }

        n = send(fd, text.data, text.len, MSG_NOSIGNAL);

        if (n <= 0) {
            return NGX_ERROR;
        }

        text = tg_str(text.data + n, text.len - (size_t) n);
    }

    return NGX_OK;
}

void
ngx_tg_runner_send_request_sync(const ngx_tg_runner_t *runner, tg_str_t method,
                                tg_str_t params)
{
    struct pollfd event;
    tg_buf_t message;
    char answer[256];
    int fd;

    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd == -1) {
        return;
    }

    tg_buf_init(&message, tg_alloc_libc());
    tg_buf_append_cstr(&message, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":");
    tg_json_write_string(&message, method);
    tg_json_add_compact(&message, "params", params);
    tg_buf_append_cstr(&message, "}\n");
    event.fd = fd;
    event.events = POLLIN;

    /* Usually no runner is there: then there is nothing to do. */
    if (!tg_buf_has_failed(&message)
        && connect(fd, (const struct sockaddr *) &runner->sockaddr,
                   sizeof(runner->sockaddr))
               == 0
        && ngx_tg_socket_send_all(fd, tg_buf_view(&message)) == NGX_OK
        && poll(&event, 1, NGX_TG_RUNNER_SYNC_TIMEOUT) == 1)
    {
        (void) !read(fd, answer, sizeof(answer));
    }

    tg_buf_deinit(&message);
    (void) close(fd);
}
