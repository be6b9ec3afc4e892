/*
 * Injects faults: preloaded into a program, it makes allocations and system
 * calls fail as a file says that the test writes to meanwhile.
 *
 * TG_FAULTS names the file, which holds a tg_faults_t; only the process in its
 * `pid` is affected. Call numbers count down: 1 is the next call, 0 is none.
 */
#include "tg_faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Descriptors whose registration with epoll is remembered. */
#define TG_FAULTS_FDS 1024
/* Bytes that may be allocated before dlsym() has found malloc(). */
#define TG_FAULTS_EARLY 4096

typedef struct {
    int epoll;
    struct epoll_event event;
} tg_registered_t;

static volatile tg_faults_t *tg_faults;
static tg_registered_t tg_registered[TG_FAULTS_FDS];
static int32_t tg_live;

__attribute__((constructor)) static void
tg_faults_init(void)
{
    const char *path;
    void *at;
    int fd;

    path = getenv("TG_FAULTS");

    if (path == NULL) {
        return;
    }

    fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd == -1) {
        return;
    }

    at = mmap(NULL, sizeof(tg_faults_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
              0);
    close(fd);

    if (at != MAP_FAILED) {
        tg_faults = at;
    }
}

static int
tg_is_concerned(void)
{
    return tg_faults != NULL && tg_faults->pid == getpid();
}

/* Says whether this call fails: the chosen one or one that follows it. */
static int
tg_is_due(volatile int32_t *call, volatile int32_t *count)
{
    if (*call == 0) {
        return 0;
    }

    if (*call > 1) {
        (*call)--;
        return 0;
    }

    if (*count > 0) {
        (*count)--;
    } else {
        *call = 0;
    }

    tg_faults->failed++;

    return 1;
}

static int
tg_fails(int kind)
{
    if (!tg_is_concerned()) {
        return 0;
    }

    tg_faults->made[kind]++;

    if (!tg_is_due(&tg_faults->call[kind], &tg_faults->count[kind])) {
        return 0;
    }

    errno = tg_faults->error[kind];

    return 1;
}

#define TG_NEXT(name)                                                          \
    static __typeof__(name) *next;                                             \
                                                                               \
    if (next == NULL) {                                                        \
        *(void **) &next = dlsym(RTLD_NEXT, #name);                            \
    }

/* --- memory --- */

static char tg_early[TG_FAULTS_EARLY];
static size_t tg_early_used;
/* dlsym() is not declared to call back into this file, but it does. */
static volatile int tg_is_looking;

/* Allocates memory for dlsym(). */
static void *
tg_early_alloc(size_t size)
{
    void *p;

    size = (size + 15) & ~(size_t) 15;

    if (size > sizeof(tg_early) - tg_early_used) {
        return NULL;
    }

    p = tg_early + tg_early_used;
    tg_early_used += size;

    return p;
}

static int
tg_is_early(const void *p)
{
    return (const char *) p >= tg_early
           && (const char *) p < tg_early + sizeof(tg_early);
}

static void *
tg_find(const char *name)
{
    void *found;

    tg_is_looking = 1;
    found = dlsym(RTLD_NEXT, name);
    tg_is_looking = 0;

    return found;
}

static int
tg_alloc_fails(void)
{
    if (!tg_is_concerned()) {
        return 0;
    }

    tg_faults->allocs_made++;

    return tg_is_due(&tg_faults->alloc, &tg_faults->allocs);
}

static void
tg_count(int change)
{
    tg_live += change;

    if (tg_is_concerned()) {
        tg_faults->live = tg_live;
    }
}

void *
malloc(size_t size)
{
    static void *(*next)(size_t);
    void *p;

    if (next == NULL) {
        if (tg_is_looking) {
            return tg_early_alloc(size);
        }

        *(void **) &next = tg_find("malloc");
    }

    if (tg_alloc_fails()) {
        errno = ENOMEM;
        return NULL;
    }

    p = next(size);
    tg_count(p != NULL);

    return p;
}

void *
calloc(size_t n, size_t size)
{
    static void *(*next)(size_t, size_t);
    void *p;

    if (next == NULL) {
        if (tg_is_looking) {
            return tg_early_alloc(n * size);
        }

        *(void **) &next = tg_find("calloc");
    }

    if (tg_alloc_fails()) {
        errno = ENOMEM;
        return NULL;
    }

    p = next(n, size);
    tg_count(p != NULL);

    return p;
}

void *
realloc(void *old, size_t size)
{
    static void *(*next)(void *, size_t);
    void *p;

    if (next == NULL) {
        *(void **) &next = tg_find("realloc");
    }

    if (tg_alloc_fails()) {
        errno = ENOMEM;
        return NULL;
    }

    p = next(old, size);
    tg_count(old == NULL && p != NULL);

    return p;
}

int
posix_memalign(void **p, size_t alignment, size_t size)
{
    static int (*next)(void **, size_t, size_t);
    int rc;

    if (next == NULL) {
        *(void **) &next = tg_find("posix_memalign");
    }

    if (tg_alloc_fails()) {
        return ENOMEM;
    }

    rc = next(p, alignment, size);
    tg_count(rc == 0);

    return rc;
}

void
free(void *p)
{
    static void (*next)(void *);

    if (p == NULL || tg_is_early(p)) {
        return;
    }

    if (next == NULL) {
        /* dlsym() frees the text of an earlier error. */
        if (tg_is_looking) {
            return;
        }

        *(void **) &next = tg_find("free");
    }

    tg_count(-1);
    next(p);
}

/* --- events --- */

int
epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
    int rc;

    TG_NEXT(epoll_ctl)

    if (op != EPOLL_CTL_DEL && tg_fails(TG_FAULT_EPOLL)) {
        return -1;
    }

    rc = next(epfd, op, fd, event);

    if (rc == 0 && fd < TG_FAULTS_FDS && op != EPOLL_CTL_DEL) {
        tg_registered[fd].epoll = epfd;
        tg_registered[fd].event = *event;
    }

    return rc;
}

/*
 * The kernel reports a socket as ready again only if the last call found it
 * full or empty. A call that this file cut short did not, so epoll must be
 * asked to report the socket again.
 */
static void
tg_remind(int fd)
{
    __typeof__(epoll_ctl) *next;
    int saved;

    saved = errno;
    *(void **) &next = dlsym(RTLD_NEXT, "epoll_ctl");

    if (fd >= 0 && fd < TG_FAULTS_FDS && tg_registered[fd].epoll > 0) {
        (void) next(tg_registered[fd].epoll, EPOLL_CTL_MOD, fd,
                    &tg_registered[fd].event);
    }

    errno = saved;
}

static int
tg_is_eagain(int fd)
{
    if (!tg_is_concerned() || tg_faults->again == 0) {
        return 0;
    }

    if (++tg_faults->again_at < tg_faults->again) {
        return 0;
    }

    tg_faults->again_at = 0;
    tg_faults->failed++;
    tg_remind(fd);
    errno = EAGAIN;

    return 1;
}

/* Returns how many of `size` bytes this call may move. */
static size_t
tg_part(int is_send, size_t size)
{
    size_t max;

    if (!tg_is_concerned()) {
        return size;
    }

    max = (size_t) (is_send ? tg_faults->send_max : tg_faults->recv_max);

    return max != 0 && size > max ? max : size;
}

/*
 * A test decides how long a loop iteration takes, however slow the machine is.
 */
int
clock_gettime(clockid_t clock, struct timespec *now)
{
    TG_NEXT(clock_gettime)

    if (clock == CLOCK_MONOTONIC && tg_is_concerned() && tg_faults->still) {
        now->tv_sec = 1;
        now->tv_nsec = 0;
        return 0;
    }

    return next(clock, now);
}

ssize_t
recv(int fd, void *buf, size_t size, int flags)
{
    size_t part;
    ssize_t n;

    TG_NEXT(recv)

    if (tg_fails(TG_FAULT_RECV)) {
        if (errno == EINTR || errno == EAGAIN) {
            tg_remind(fd);
        }
        return -1;
    }

    if (tg_is_eagain(fd)) {
        return -1;
    }

    part = tg_part(0, size);
    n = next(fd, buf, part, flags);

    if (n > 0 && part < size) {
        tg_faults->failed++;
        tg_remind(fd);
    }

    return n;
}

ssize_t
send(int fd, const void *buf, size_t size, int flags)
{
    size_t part;
    ssize_t n;

    TG_NEXT(send)

    if (tg_fails(TG_FAULT_SEND)) {
        if (errno == EINTR || errno == EAGAIN) {
            tg_remind(fd);
        }
        return -1;
    }

    if (tg_is_eagain(fd)) {
        return -1;
    }

    part = tg_part(1, size);
    n = next(fd, buf, part, flags);

    if (n > 0 && part < size) {
        tg_faults->failed++;
        tg_remind(fd);
    }

    return n;
}

/* --- sockets and programs --- */

int
accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    TG_NEXT(accept4)

    if (tg_fails(TG_FAULT_ACCEPT)) {
        return -1;
    }

    return next(fd, addr, len, flags);
}

int
socket(int domain, int type, int protocol)
{
    TG_NEXT(socket)

    return tg_fails(TG_FAULT_SOCKET) ? -1 : next(domain, type, protocol);
}

int
connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    TG_NEXT(connect)

    return tg_fails(TG_FAULT_CONNECT) ? -1 : next(fd, addr, len);
}

int
posix_spawn(pid_t *pid, const char *path,
            const posix_spawn_file_actions_t *actions,
            const posix_spawnattr_t *attr, char *const argv[],
            char *const envp[])
{
    TG_NEXT(posix_spawn)

    return tg_fails(TG_FAULT_SPAWN)
               ? errno
               : next(pid, path, actions, attr, argv, envp);
}

/* --- calls that are only counted --- */

static void
tg_other(void)
{
    if (tg_is_concerned()) {
        tg_faults->others_made++;
    }
}

#define TG_COUNTED(type, name, params, args)                                   \
    type name params                                                           \
    {                                                                          \
        TG_NEXT(name)                                                          \
        tg_other();                                                            \
        return next args;                                                      \
    }

TG_COUNTED(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
TG_COUNTED(ssize_t, readv, (int fd, const struct iovec *vec, int n),
           (fd, vec, n))
TG_COUNTED(ssize_t, writev, (int fd, const struct iovec *vec, int n),
           (fd, vec, n))
TG_COUNTED(ssize_t, read, (int fd, void *buf, size_t size), (fd, buf, size))
TG_COUNTED(ssize_t, write, (int fd, const void *buf, size_t size),
           (fd, buf, size))

int
ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    void *arg;

    TG_NEXT(ioctl)
    tg_other();
    va_start(args, request);
    arg = va_arg(args, void *);
    va_end(args);

    return next(fd, request, arg);
}

/*
 * Sessions move between workers over such a pair; NGINX's channel has another
 * type.
 */
static int
tg_is_pair(int fd)
{
    socklen_t len;
    int type;

    len = sizeof(type);

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0
           && type == SOCK_SEQPACKET;
}

ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
    TG_NEXT(sendmsg)

    return tg_is_pair(fd) && tg_fails(TG_FAULT_SENDMSG)
               ? -1
               : next(fd, message, flags);
}

ssize_t
recvmsg(int fd, struct msghdr *message, int flags)
{
    TG_NEXT(recvmsg)

    return tg_is_pair(fd) && tg_fails(TG_FAULT_RECVMSG)
               ? -1
               : next(fd, message, flags);
}

int
memfd_create(const char *name, unsigned flags)
{
    TG_NEXT(memfd_create)

    return tg_fails(TG_FAULT_MEMFD) ? -1 : next(name, flags);
}
