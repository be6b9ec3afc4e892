/* Opens files below a folder, by openat2 or step by step. */
#include "runner/files/tg_file_open.h"

#include "spec/tg_file_spec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
tg_file_is_safe_component(tg_str_t name)
{
    return name.len != 0 && !tg_str_eq(name, TG_STR("."))
           && !tg_str_eq(name, TG_STR(".."));
}

int
tg_file_is_safe_path(tg_str_t path)
{
    const char *slash;
    tg_str_t name;

    if (path.len == 0 || memchr(path.data, '\0', path.len) != NULL) {
        return 0;
    }

    while ((slash = memchr(path.data, '/', path.len)) != NULL) {
        name = tg_str(path.data, (size_t) (slash - path.data));

        if (!tg_file_is_safe_component(name)) {
            return 0;
        }

        path = tg_str(slash + 1, path.len - name.len - 1);
    }

    return tg_file_is_safe_component(path);
}

int
tg_file_open_path_by_steps(int root, const char *path)
{
    char name[256];
    const char *end;
    unsigned depth;
    int at, fd;

    at = root;

    for (depth = 0; depth < TG_FILE_DEPTH_MAX; depth++) {
        end = strchrnul(path, '/');

        if ((size_t) (end - path) >= sizeof(name)) {
            break;
        }

        memcpy(name, path, (size_t) (end - path));
        name[end - path] = '\0';
        fd = openat(at, name,
                    O_PATH | O_NOFOLLOW | O_CLOEXEC
                        | (*end != '\0' ? O_DIRECTORY : 0));

        if (at != root) {
            (void) close(at);
        }

        if (fd == -1 || *end == '\0') {
            return fd;
        }

        at = fd;
        path = end + 1;
    }

    if (at != root) {
        (void) close(at);
    }

    errno = ENAMETOOLONG;

    return -1;
}

int
tg_file_open_path(int root, const char *path)
{
    struct open_how how;
    int fd, i;

    if (root == -1) {
        return open(path, O_PATH | O_CLOEXEC);
    }

    if (!tg_file_is_safe_path(tg_str_from_cstr(path))) {
        errno = EXDEV;
        return -1;
    }

    memset(&how, 0, sizeof(how));
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;

    for (i = 0, fd = -1; i < TG_FILE_OPEN_TRIES; i++) {
        fd = (int) syscall(SYS_openat2, root, path, &how, sizeof(how));

        if (fd != -1 || errno != EAGAIN) {
            break;
        }
    }

    /* EPERM: a sandbox forbids system calls that it does not know. */
    if (fd == -1 && (errno == ENOSYS || errno == EPERM)) {
        return tg_file_open_path_by_steps(root, path);
    }

    return fd;
}

int
tg_file_open_root(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int
tg_file_open(int root, const char *path, struct stat *info)
{
    char link[64];
    int at, fd, err;

    at = tg_file_open_path(root, path);

    if (at == -1) {
        return -1;
    }

    if (fstat(at, info) == -1
        || (!S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode)))
    {
        (void) close(at);
        errno = ENOENT;
        return -1;
    }

    /* This opens what `at` refers to, wherever it is now. */
    snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
    fd = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    err = errno;
    (void) close(at);
    errno = err;

    return fd;
}
