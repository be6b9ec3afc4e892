/*
 * Delays processes: preloaded into all of a test's processes, it sleeps up to
 * 4 ms before one in TG_LATE (12) of the system calls through which they
 * communicate, and sometimes ten times as long. A test that passes only by
 * lucky timing then fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TG_LATE_NS 4000000L
#define TG_LATE_LONG 40 /* one in this many sleeps is long */

static unsigned tg_late_rate = 12;

__attribute__((constructor)) static void
tg_late_init(void)
{
    const char *rate = getenv("TG_LATE");

    if (rate != NULL && atoi(rate) > 0) {
        tg_late_rate = (unsigned) atoi(rate);
    }
}

static unsigned
tg_late_next(void)
{
    static __thread unsigned state;
    struct timespec now;

    /* The seed differs in each process and thread, also after fork(). */
    if (state == 0) {
        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        state = (unsigned) now.tv_nsec ^ (unsigned) getpid() << 12;
    }

    state = state * 1664525 + 1013904223;

    return state >> 8;
}

static void
tg_late(void)
{
    struct timespec time;
    int err;

    if (tg_late_next() % tg_late_rate != 0) {
        return;
    }

    err = errno;
    time.tv_sec = 0;
    time.tv_nsec = (long) (tg_late_next() % TG_LATE_NS);

    if (tg_late_next() % TG_LATE_LONG == 0) {
        time.tv_nsec *= 10;
    }

    (void) nanosleep(&time, NULL);
    errno = err;
}

#define TG_LATE(type, name, params, args)                                      \
    type name params                                                           \
    {                                                                          \
        static type(*next) params;                                             \
                                                                               \
        if (next == NULL) {                                                    \
            *(void **) &next = dlsym(RTLD_NEXT, #name);                        \
        }                                                                      \
                                                                               \
        tg_late();                                                             \
        return next args;                                                      \
    }

TG_LATE(int, accept4, (int fd, __SOCKADDR_ARG addr, socklen_t *len, int flags),
        (fd, addr, len, flags))
TG_LATE(int, bind, (int fd, __CONST_SOCKADDR_ARG addr, socklen_t len),
        (fd, addr, len))
TG_LATE(int, close, (int fd), (fd))
TG_LATE(int, connect, (int fd, __CONST_SOCKADDR_ARG addr, socklen_t len),
        (fd, addr, len))
TG_LATE(int, epoll_pwait,
        (int fd, struct epoll_event *events, int n, int timeout,
         const sigset_t *mask),
        (fd, events, n, timeout, mask))
TG_LATE(int, epoll_wait,
        (int fd, struct epoll_event *events, int n, int timeout),
        (fd, events, n, timeout))
TG_LATE(pid_t, fork, (void), ())
TG_LATE(int, kill, (pid_t pid, int number), (pid, number))
TG_LATE(int, listen, (int fd, int n), (fd, n))
TG_LATE(int, poll, (struct pollfd * fds, nfds_t n, int timeout),
        (fds, n, timeout))
TG_LATE(ssize_t, recv, (int fd, void *data, size_t size, int flags),
        (fd, data, size, flags))
TG_LATE(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags),
        (fd, msg, flags))
TG_LATE(int, rename, (const char *from, const char *to), (from, to))
TG_LATE(ssize_t, send, (int fd, const void *data, size_t size, int flags),
        (fd, data, size, flags))
TG_LATE(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags),
        (fd, msg, flags))
TG_LATE(int, unlink, (const char *path), (path))
TG_LATE(pid_t, waitpid, (pid_t pid, int *status, int options),
        (pid, status, options))
