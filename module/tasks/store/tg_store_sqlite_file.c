/*
 * Check of the files of a SQLite task store before SQLite opens them.
 */
#include "tasks/store/tg_store_sqlite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *
tg_sqlite_get_file_type(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    case S_IFDIR:
        return "a directory";
    case S_IFLNK:
        return "a symbolic link";
    default:
        return "a device";
    }
}

int
tg_sqlite_check_files(const char *path, tg_buf_t *why)
{
    /*
     * Suffixes of SQLite's files. SQLite opens each file, which would block on
     * a FIFO.
     */
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
    char name[PATH_MAX];
    struct stat file;
    size_t i;

    for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if ((size_t) snprintf(name, sizeof(name), "%s%s", path, suffixes[i])
            >= sizeof(name))
        {
            tg_buf_printf(why, "%s: its path is too long", path);
            return TG_INVALID;
        }

        if (lstat(name, &file) == 0 && !S_ISREG(file.st_mode)) {
            tg_buf_printf(why,
                          "%s is %s; a task store must be a regular file: "
                          "remove it, or name another file",
                          name, tg_sqlite_get_file_type(file.st_mode));
            return TG_INVALID;
        }
    }

    return TG_OK;
}
