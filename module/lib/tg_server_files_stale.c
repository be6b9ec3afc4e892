/*
 * Removes the private directories that killed servers of this user left in the
 * temporary folder. A running server holds a lock on its directory. A directory
 * is removed only if this user owns it, no other user can enter it, its lock is
 * free, and nothing listens on its socket. Without a socket it may belong to a
 * server that is starting, and is removed only if it is old.
 */
#include "lib/tg_server_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Limit of entries to check: the temporary folder may contain anything. */
#define TG_STALE_ENTRIES_MAX 16384
/* Age in seconds after which a directory without a socket is stale. */
#define TG_STALE_AGE_SECONDS 60

static int
tg_stale_is_dir_name(const char *name)
{
    size_t len;

    len = sizeof(TG_SERVER_DIR_PREFIX) - 1;

    return strncmp(name, TG_SERVER_DIR_PREFIX, len) == 0
           && strspn(name + len, "0123456789abcdef") == TG_SERVER_DIR_DIGITS
           && name[len + TG_SERVER_DIR_DIGITS] == '\0';
}

static int
tg_stale_has_prefix_suffix(const char *name, const char *prefix,
                           const char *suffix)
{
    size_t len, n;

    len = strlen(name);
    n = strlen(suffix);

    return strncmp(name, prefix, strlen(prefix)) == 0 && len > n
           && strcmp(name + len - n, suffix) == 0;
}

/* Checks whether nothing listens on a socket any more. */
static int
tg_stale_is_socket_dead(const char *dir, const char *name)
{
    struct sockaddr_un addr;
    int fd, rc, n;

    memset(&addr, 0, sizeof(addr));
    addr.sun_family = AF_UNIX;
    n = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", dir, name);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd == -1) {
        return 0;
    }

    rc = n < (int) sizeof(addr.sun_path)
         && connect(fd, (struct sockaddr *) &addr, sizeof(addr)) != 0
         && errno == ECONNREFUSED;
    (void) close(fd);

    return rc;
}

/*
 * Removes the files of a server, or with is_trial only checks whether they may
 * be removed. Returns 1 if the directory is stale.
 */
static int
tg_stale_dir_scan(int fd, const char *path, const struct stat *st, int is_trial)
{
    struct dirent *entry;
    int copy, is_stale;
    DIR *dir;

    copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = copy != -1 ? fdopendir(copy) : NULL;

    if (dir == NULL) {
        if (copy != -1) {
            (void) close(copy);
        }

        return 0;
    }

    is_stale = time(NULL) - st->st_mtime > TG_STALE_AGE_SECONDS;

    while ((entry = readdir(dir)) != NULL) {
        if (tg_stale_has_prefix_suffix(entry->d_name, TG_SOCKET_PREFIX,
                                       TG_SOCKET_SUFFIX))
        {
            is_stale = !is_trial
                       || tg_stale_is_socket_dead(path, entry->d_name);

            if (!is_stale) {
                break;
            }

        } else if (!tg_stale_has_prefix_suffix(entry->d_name, TG_SCHEMA_PREFIX,
                                               TG_SCHEMA_SUFFIX))
        {
            continue;
        }

        if (!is_trial) {
            (void) unlinkat(fd, entry->d_name, 0);
        }
    }

    (void) closedir(dir);

    return is_stale;
}

static void
tg_stale_dir_remove(const char *path)
{
    struct stat st;
    int fd;

    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd == -1) {
        return;
    }

    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0
        && flock(fd, LOCK_EX | LOCK_NB) == 0
        && tg_stale_dir_scan(fd, path, &st, 1))
    {
        (void) tg_stale_dir_scan(fd, path, &st, 0);
        (void) rmdir(path);
    }

    (void) close(fd);
}

void
tg_server_files_remove_stale(const char *folder)
{
    char path[TG_SOCKET_PATH_SIZE];
    struct dirent *entry;
    unsigned n;
    DIR *dir;

    dir = opendir(folder);

    for (n = 0; dir != NULL && n < TG_STALE_ENTRIES_MAX
                && (entry = readdir(dir)) != NULL;
         n++)
    {
        if (tg_stale_is_dir_name(entry->d_name)
            && snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name)
                   < (int) sizeof(path))
        {
            tg_stale_dir_remove(path);
        }
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }
}
