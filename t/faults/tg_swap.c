/*
 * Attacks a new folder: preloaded into NGINX, it swaps the paths TG_SWAP_ONE
 * and TG_SWAP_TWO right after a folder named "swapped" was created.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int
tg_swap(int rc, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *one = getenv("TG_SWAP_ONE");
    const char *two = getenv("TG_SWAP_TWO");

    if (rc == 0 && one != NULL && two != NULL
        && strcmp(slash != NULL ? slash + 1 : path, "swapped") == 0)
    {
        (void) renameat2(AT_FDCWD, one, AT_FDCWD, two, RENAME_EXCHANGE);
    }

    return rc;
}

int
mkdir(const char *path, mode_t mode)
{
    int (*next)(const char *, mode_t);

    *(void **) &next = dlsym(RTLD_NEXT, "mkdir");

    return tg_swap(next(path, mode), path);
}

int
mkdirat(int fd, const char *path, mode_t mode)
{
    int (*next)(int, const char *, mode_t);

    *(void **) &next = dlsym(RTLD_NEXT, "mkdirat");

    return tg_swap(next(fd, path, mode), path);
}
