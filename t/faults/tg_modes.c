/*
 * Logs the modes of files when they are created, before the program can change
 * them: preloaded into a program, it appends a line per file to the file that
 * TG_MODES names.
 *
 *     socket MODE PATH
 *     file MODE PATH
 *     rename SIZE PATH NEW_PATH
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void
tg_modes_log(const char *what, long number, int is_mode, const char *path,
             const char *more)
{
    const char *log = getenv("TG_MODES");
    char line[1024];
    int fd, n;

    if (log == NULL) {
        return;
    }

    n = snprintf(line, sizeof(line),
                 is_mode ? "%s %04lo %s%s%s\n" : "%s %ld %s%s%s\n", what,
                 number, path, *more != '\0' ? " " : "", more);
    fd = openat(AT_FDCWD, log, O_WRONLY | O_APPEND | O_CLOEXEC);

    if (fd != -1) {
        (void) !write(fd, line, (size_t) n);
        (void) close(fd);
    }
}

int
bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    int (*real)(int, const struct sockaddr *, socklen_t);
    const struct sockaddr_un *un = (const struct sockaddr_un *) addr;
    struct stat st;
    int rc;

    *(void **) &real = dlsym(RTLD_NEXT, "bind");
    rc = real(fd, addr, len);

    if (rc == 0 && addr->sa_family == AF_UNIX && un->sun_path[0] != '\0'
        && lstat(un->sun_path, &st) == 0)
    {
        tg_modes_log("socket", (long) (st.st_mode & 07777), 1, un->sun_path,
                     "");
    }

    return rc;
}

static int
tg_modes_open(const char *name, const char *path, int flags, mode_t mode)
{
    int (*real)(const char *, int, ...);
    struct stat st;
    int fd;

    *(void **) &real = dlsym(RTLD_NEXT, name);
    fd = real(path, flags, mode);

    if (fd != -1 && (flags & O_CREAT) != 0 && fstat(fd, &st) == 0) {
        tg_modes_log("file", (long) (st.st_mode & 07777), 1, path, "");
    }

    return fd;
}

/* Defines both variants of open(); `mode` exists only with O_CREAT. */
#define TG_MODES_OPEN(name)                                                    \
    int name(const char *path, int flags, ...)                                 \
    {                                                                          \
        va_list args;                                                          \
        mode_t mode = 0;                                                       \
                                                                               \
        if ((flags & O_CREAT) != 0) {                                          \
            va_start(args, flags);                                             \
            mode = va_arg(args, mode_t);                                       \
            va_end(args);                                                      \
        }                                                                      \
                                                                               \
        return tg_modes_open(#name, path, flags, mode);                        \
    }

TG_MODES_OPEN(open)
TG_MODES_OPEN(open64)

int
rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *);
    struct stat st;

    if (lstat(from, &st) == 0) {
        tg_modes_log("rename", (long) st.st_size, 0, from, to);
    }

    *(void **) &real = dlsym(RTLD_NEXT, "rename");

    return real(from, to);
}
