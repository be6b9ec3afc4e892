#include "runner/tg_listen.h"

#include "base/tg_base.h"
#include "runner/program/tg_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Shorter than the socket's: what has room for that has room for this. */
#define TG_RUNNER_TEMP "runner-3.new"

_Static_assert(sizeof(((tg_listen_t *) 0)->path)
                   == sizeof(((struct sockaddr_un *) 0)->sun_path),
               "a path that fits into one must fit into the other");

static int
tg_listen_bad(const char **why, const char *text)
{
    *why = text;

    return TG_BAD;
}

/* Whoever can write there could put a socket of his own in our place. */
static int
tg_listen_dir(tg_listen_t *place, const char *state_dir, const char **why)
{
    struct stat st;

    place->dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (place->dir == -1 || fstat(place->dir, &st) == -1) {
        return tg_listen_bad(why, "cannot open the state directory");
    }

    if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & S_IWOTH)) {
        errno = EPERM;
        return tg_listen_bad(why, "the state directory must belong to this "
                                  "user and be writable by no other; chmod "
                                  "0700 it");
    }

    return TG_OK;
}

static void
tg_listen_drop(tg_listen_t *place)
{
    int err;

    err = errno;

    if (place->lock != -1) {
        (void) close(place->lock);
        place->lock = -1;
    }

    if (place->dir != -1) {
        (void) close(place->dir);
        place->dir = -1;
    }

    errno = err;
}

static int
tg_listen_take(tg_listen_t *place, const char **why)
{
    struct stat st;
    char text[16];
    int n;

    place->lock = openat(place->dir, TG_RUNNER_LOCK,
                         O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (place->lock == -1 || fstat(place->lock, &st) == -1) {
        return tg_listen_bad(why, "cannot open " TG_RUNNER_LOCK " in the state "
                                  "directory");
    }

    if (flock(place->lock, LOCK_EX | LOCK_NB) == -1) {
        return errno == EWOULDBLOCK
                   ? TG_EXISTS
                   : tg_listen_bad(why, "cannot lock " TG_RUNNER_LOCK);
    }

    place->mark = tg_mark(st.st_dev, st.st_ino);

    /* For people; a disk that is full is no reason not to serve. */
    n = snprintf(text, sizeof(text), "%d\n", getpid());

    if (ftruncate(place->lock, 0) == 0) {
        (void) !pwrite(place->lock, text, (size_t) n, 0);
    }

    return TG_OK;
}

int
tg_listen_lock(tg_listen_t *place, const char *state_dir, const char **why)
{
    int n, rc;

    place->dir = -1;
    place->lock = -1;
    n = snprintf(place->path, sizeof(place->path), "%s/%s", state_dir,
                 TG_RUNNER_SOCKET);

    if (n < 0 || (size_t) n >= sizeof(place->path)) {
        errno = ENAMETOOLONG;
        return tg_listen_bad(why, "the path of the state directory is longer "
                                  "than a socket's address; choose another");
    }

    snprintf(place->temp, sizeof(place->temp), "%s/%s", state_dir,
             TG_RUNNER_TEMP);
    rc = tg_listen_dir(place, state_dir, why);

    if (rc == TG_OK) {
        rc = tg_listen_take(place, why);
    }

    if (rc != TG_OK) {
        tg_listen_drop(place);
    }

    return rc;
}

int
tg_listen_show(tg_listen_t *place)
{
    return renameat(place->dir, TG_RUNNER_TEMP, place->dir, TG_RUNNER_SOCKET);
}

int
tg_listen_is_there(const tg_listen_t *place)
{
    struct stat st;

    return fstatat(place->dir, TG_RUNNER_SOCKET, &st, AT_SYMLINK_NOFOLLOW) == 0
           && st.st_dev == place->dev && st.st_ino == place->ino;
}

int
tg_listen_hide(tg_listen_t *place)
{
    if (!tg_listen_is_there(place)) {
        return -1;
    }

    return renameat(place->dir, TG_RUNNER_SOCKET, place->dir, TG_RUNNER_TEMP);
}

/* What a dead runner left is replaced; what is no socket is not ours. */
static int
tg_listen_may_replace(const tg_listen_t *place)
{
    struct stat st;

    if (fstatat(place->dir, TG_RUNNER_SOCKET, &st, AT_SYMLINK_NOFOLLOW) == -1) {
        return errno == ENOENT;
    }

    errno = EEXIST;

    return S_ISSOCK(st.st_mode);
}

/*
 * The directory may have been replaced by another of its name; what bind()
 * made is then not in ours.
 */
static int
tg_listen_name(tg_listen_t *place)
{
    struct stat st;

    if (!tg_listen_may_replace(place)) {
        return -1;
    }

    if (fstatat(place->dir, TG_RUNNER_TEMP, &st, AT_SYMLINK_NOFOLLOW) == -1) {
        return -1;
    }

    place->dev = st.st_dev;
    place->ino = st.st_ino;

    return tg_listen_show(place);
}

/* The socket gets its name only when a connect to it will not be refused. */
static int
tg_listen_bind(tg_listen_t *place, int fd)
{
    struct sockaddr_un addr;
    mode_t mask;
    int err, rc;

    memset(&addr, 0, sizeof(addr));
    addr.sun_family = AF_UNIX;
    memcpy(addr.sun_path, place->temp, sizeof(addr.sun_path));

    if (unlinkat(place->dir, TG_RUNNER_TEMP, 0) == -1 && errno != ENOENT) {
        return -1;
    }

    mask = umask(0177);
    rc = bind(fd, (struct sockaddr *) &addr, sizeof(addr));
    (void) umask(mask);

    if (rc == -1) {
        return -1;
    }

    if (listen(fd, TG_LISTEN_BACKLOG) == 0 && tg_listen_name(place) == 0) {
        return 0;
    }

    err = errno;
    (void) unlink(place->temp);
    errno = err;

    return -1;
}

/* Does the path still lead to the directory in which the lock is? */
static int
tg_listen_is_ours(const tg_listen_t *place)
{
    struct stat ours, there;
    char path[sizeof(place->path)];

    memcpy(path, place->path, sizeof(path));
    *strrchr(path, '/') = '\0';

    return fstat(place->dir, &ours) == 0 && stat(path, &there) == 0
           && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

int
tg_listen_open(tg_listen_t *place, const char **why)
{
    int err, fd;

    if (!tg_listen_is_ours(place)) {
        *why = "the state directory was moved away; new workers start a "
               "runner of their own";
        errno = ENOENT;
        return -1;
    }

    *why = "cannot listen on " TG_RUNNER_SOCKET " in the state directory";
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd != -1 && tg_listen_bind(place, fd) == -1) {
        err = errno;
        (void) close(fd);
        errno = err;
        fd = -1;
    }

    return fd;
}

void
tg_listen_close(tg_listen_t *place)
{
    if (tg_listen_is_there(place)) {
        (void) unlinkat(place->dir, TG_RUNNER_SOCKET, 0);
    }

    (void) unlinkat(place->dir, TG_RUNNER_TEMP, 0);

    /* Its pid is nobody's any more; should that fail, it only misleads. */
    if (ftruncate(place->lock, 0) == -1) {
        errno = 0;
    }

    tg_listen_drop(place);
}
