/*
 * Delays a worker that receives sessions. When the preloaded worker asks
 * whether a session may be sent into the socket pair between workers, this
 * library creates the file that TG_BETWEEN names and blocks until a test
 * removes it. By then the receiving worker may have exited.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *tg_between_path; /* a worker clears its environment */

__attribute__((constructor)) static void
tg_between_init(void)
{
    const char *path = getenv("TG_BETWEEN");

    tg_between_path = path != NULL ? strdup(path) : NULL;
}

static int
tg_between_is_pair(int fd)
{
    socklen_t len = sizeof(int);
    int type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0
           && type == SOCK_SEQPACKET;
}

int
poll(struct pollfd *fds, nfds_t n, int timeout)
{
    static int (*next)(struct pollfd *, nfds_t, int);

    if (next == NULL) {
        *(void **) &next = dlsym(RTLD_NEXT, "poll");
    }

    if (tg_between_path != NULL && n == 1 && (fds[0].events & POLLOUT)
        && tg_between_is_pair(fds[0].fd))
    {
        (void) close(open(tg_between_path, O_CREAT | O_CLOEXEC, 0600));

        while (access(tg_between_path, F_OK) == 0) {
            (void) usleep(2000);
        }
    }

    return next(fds, n, timeout);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);

/* poll() calls this where the size of its fds is known. */
int
__poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
    (void) room;
    return poll(fds, n, timeout);
}
