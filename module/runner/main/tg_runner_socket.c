/* The lock file and the socket of the runner. */
#include "runner/main/tg_runner_socket.h"

#include "base/tg_base.h"
#include "runner/process/tg_process_tag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Name of the hidden socket, not longer than the usual name. */
#define TG_RUNNER_SOCKET_TEMP "runner-3.new"

_Static_assert(sizeof(((tg_runner_socket_t *) 0)->path)
                   == sizeof(((struct sockaddr_un *) 0)->sun_path),
               "a path that fits into one must fit into the other");

static int
tg_runner_socket_error(const char **why, const char *text)
{
    *why = text;

    return TG_INVALID;
}

/* Opens the directory, where other users must not replace the socket. */
static int
tg_runner_socket_open_dir(tg_runner_socket_t *sock, const char *state_dir,
                          const char **why)
{
    struct stat st;

    sock->dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (sock->dir == -1 || fstat(sock->dir, &st) == -1) {
        return tg_runner_socket_error(why, "cannot open the state directory");
    }

    if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & S_IWOTH)) {
        errno = EPERM;
        return tg_runner_socket_error(why,
                                      "the state directory must belong to "
                                      "this user and must not be writable by "
                                      "others; chmod 0700 it");
    }

    return TG_OK;
}

static void
tg_runner_socket_close_fds(tg_runner_socket_t *sock)
{
    int err;

    err = errno;

    if (sock->lock != -1) {
        (void) close(sock->lock);
        sock->lock = -1;
    }

    if (sock->dir != -1) {
        (void) close(sock->dir);
        sock->dir = -1;
    }

    errno = err;
}

static int
tg_runner_socket_take_lock(tg_runner_socket_t *sock, const char **why)
{
    struct stat st;
    char text[16];
    int n;

    sock->lock = openat(sock->dir, TG_RUNNER_LOCK,
                        O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (sock->lock == -1 || fstat(sock->lock, &st) == -1) {
        return tg_runner_socket_error(why, "cannot open " TG_RUNNER_LOCK
                                           " in the state "
                                           "directory");
    }

    if (flock(sock->lock, LOCK_EX | LOCK_NB) == -1) {
        return errno == EWOULDBLOCK
                   ? TG_EXISTS
                   : tg_runner_socket_error(why, "cannot lock " TG_RUNNER_LOCK);
    }

    sock->process_tag = tg_process_tag_make(st.st_dev, st.st_ino);

    /* The pid is only for people; a full disk must not prevent serving. */
    n = snprintf(text, sizeof(text), "%d\n", getpid());

    if (ftruncate(sock->lock, 0) == 0) {
        (void) !pwrite(sock->lock, text, (size_t) n, 0);
    }

    return TG_OK;
}

int
tg_runner_socket_lock(tg_runner_socket_t *sock, const char *state_dir,
                      const char **why)
{
    int n, rc;

    sock->dir = -1;
    sock->lock = -1;
    n = snprintf(sock->path, sizeof(sock->path), "%s/%s", state_dir,
                 TG_RUNNER_SOCKET);

    if (n < 0 || (size_t) n >= sizeof(sock->path)) {
        errno = ENAMETOOLONG;
        return tg_runner_socket_error(
            why, "the path of the state directory is too long for a socket; "
                 "choose a shorter one");
    }

    snprintf(sock->temp, sizeof(sock->temp), "%s/%s", state_dir,
             TG_RUNNER_SOCKET_TEMP);
    rc = tg_runner_socket_open_dir(sock, state_dir, why);

    if (rc == TG_OK) {
        rc = tg_runner_socket_take_lock(sock, why);
    }

    if (rc != TG_OK) {
        tg_runner_socket_close_fds(sock);
    }

    return rc;
}

int
tg_runner_socket_show(tg_runner_socket_t *sock)
{
    return renameat(sock->dir, TG_RUNNER_SOCKET_TEMP, sock->dir,
                    TG_RUNNER_SOCKET);
}

int
tg_runner_socket_exists(const tg_runner_socket_t *sock)
{
    struct stat st;

    return fstatat(sock->dir, TG_RUNNER_SOCKET, &st, AT_SYMLINK_NOFOLLOW) == 0
           && st.st_dev == sock->dev && st.st_ino == sock->ino;
}

int
tg_runner_socket_hide(tg_runner_socket_t *sock)
{
    if (!tg_runner_socket_exists(sock)) {
        return -1;
    }

    return renameat(sock->dir, TG_RUNNER_SOCKET, sock->dir,
                    TG_RUNNER_SOCKET_TEMP);
}

/* Checks whether there is no file, or only a dead runner's socket. */
static int
tg_runner_socket_can_replace(const tg_runner_socket_t *sock)
{
    struct stat st;

    if (fstatat(sock->dir, TG_RUNNER_SOCKET, &st, AT_SYMLINK_NOFOLLOW) == -1) {
        return errno == ENOENT;
    }

    errno = EEXIST;

    return S_ISSOCK(st.st_mode);
}

/*
 * Gives the socket its usual name. Fails if another directory has the path now,
 * where bind() created the socket.
 */
static int
tg_runner_socket_publish(tg_runner_socket_t *sock)
{
    struct stat st;

    if (!tg_runner_socket_can_replace(sock)) {
        return -1;
    }

    if (fstatat(sock->dir, TG_RUNNER_SOCKET_TEMP, &st, AT_SYMLINK_NOFOLLOW)
        == -1) {
        return -1;
    }

    sock->dev = st.st_dev;
    sock->ino = st.st_ino;

    return tg_runner_socket_show(sock);
}

/* Binds the socket, and names it only when connections are accepted. */
static int
tg_runner_socket_bind(tg_runner_socket_t *sock, int fd)
{
    struct sockaddr_un addr;
    mode_t mask;
    int err, rc;

    memset(&addr, 0, sizeof(addr));
    addr.sun_family = AF_UNIX;
    memcpy(addr.sun_path, sock->temp, sizeof(addr.sun_path));

    if (unlinkat(sock->dir, TG_RUNNER_SOCKET_TEMP, 0) == -1 && errno != ENOENT)
    {
        return -1;
    }

    mask = umask(0177);
    rc = bind(fd, (struct sockaddr *) &addr, sizeof(addr));
    (void) umask(mask);

    if (rc == -1) {
        return -1;
    }

    if (listen(fd, TG_RUNNER_SOCKET_BACKLOG) == 0
        && tg_runner_socket_publish(sock) == 0)
    {
        return 0;
    }

    err = errno;
    (void) unlink(sock->temp);
    errno = err;

    return -1;
}

/* Checks whether the path still leads to the directory of the lock. */
static int
tg_runner_socket_is_dir_same(const tg_runner_socket_t *sock)
{
    struct stat own, there;
    char path[sizeof(sock->path)];

    memcpy(path, sock->path, sizeof(path));
    *strrchr(path, '/') = '\0';

    return fstat(sock->dir, &own) == 0 && stat(path, &there) == 0
           && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

int
tg_runner_socket_listen(tg_runner_socket_t *sock, const char **why)
{
    int err, fd;

    if (!tg_runner_socket_is_dir_same(sock)) {
        *why = "the state directory was moved; new workers start another "
               "runner";
        errno = ENOENT;
        return -1;
    }

    *why = "cannot listen on " TG_RUNNER_SOCKET " in the state directory";
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd != -1 && tg_runner_socket_bind(sock, fd) == -1) {
        err = errno;
        (void) close(fd);
        errno = err;
        fd = -1;
    }

    return fd;
}

void
tg_runner_socket_close(tg_runner_socket_t *sock)
{
    if (tg_runner_socket_exists(sock)) {
        (void) unlinkat(sock->dir, TG_RUNNER_SOCKET, 0);
    }

    (void) unlinkat(sock->dir, TG_RUNNER_SOCKET_TEMP, 0);

    /* Removes the pid. If that fails, an old pid is only misleading. */
    if (ftruncate(sock->lock, 0) == -1) {
        errno = 0;
    }

    tg_runner_socket_close_fds(sock);
}
