/* A folder with a root and a file outside of it, for tests of files. */
#ifndef RUNNER_FILES_H
#define RUNNER_FILES_H

#include "runner_host.h"

#include <ftw.h>

static char dir[32];

static inline const char *
path_of(const char *name)
{
    static char path[4][512];
    static unsigned n;

    n = (n + 1) % 4;
    snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);

    return path[n];
}

static inline void
put(const char *name, const void *data, size_t len)
{
    FILE *file;

    file = fopen(path_of(name), "w");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT(fwrite(data, 1, len, file) == len);
    CU_ASSERT(fclose(file) == 0);
}

static inline void
put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

static inline void
make_dir(const char *name)
{
    CU_ASSERT_FATAL(mkdir(path_of(name), 0755) == 0);
}

static inline void
make_link(const char *target, const char *name)
{
    CU_ASSERT_FATAL(symlink(target, path_of(name)) == 0);
}

static inline void
begin(void)
{
    strcpy(dir, "/tmp/tg-files-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(dir) != NULL);
    make_dir("root");
    put_text("secret", "secret");
}

static inline int
remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    return remove(path);
}

static inline void
end(void)
{
    (void) nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
