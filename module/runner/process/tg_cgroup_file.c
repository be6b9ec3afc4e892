#include "runner/process/tg_cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
tg_cgroup_open_file(const char *folder, const char *name, int flags)
{
    char path[TG_CGROUP_PATH_MAX];
    int n;

    n = snprintf(path, sizeof(path), "%s/%s", folder, name);

    if (n < 0 || (size_t) n >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }

    return open(path, flags | O_CLOEXEC);
}

int
tg_cgroup_write_file(const char *folder, const char *name, const char *text)
{
    ssize_t n;
    int fd, err;

    fd = tg_cgroup_open_file(folder, name, O_WRONLY);

    if (fd == -1) {
        return errno;
    }

    n = write(fd, text, strlen(text));
    err = n == -1 ? errno : 0;
    (void) close(fd);

    return err;
}

void
tg_cgroup_read_file(const char *folder, const char *name,
                    char text[TG_CGROUP_TEXT_MAX])
{
    ssize_t n;
    int fd;

    n = 0;
    fd = tg_cgroup_open_file(folder, name, O_RDONLY);

    if (fd != -1) {
        n = read(fd, text, TG_CGROUP_TEXT_MAX - 1);
        (void) close(fd);
    }

    text[n > 0 ? n : 0] = '\0';
}
