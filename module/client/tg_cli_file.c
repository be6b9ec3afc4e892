#include "client/tg_cli_file.h"

#include "client/tg_cli.h"
#include "client/tg_cli_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int
tg_cli_file_fail(const char *what, const char *path)
{
    tg_cli_error("cannot %s %s: %s", what, path, strerror(errno));

    return TG_CLI_FAILED;
}

void
tg_cli_file_free(tg_cli_file_t *file)
{
    free(file->path);
    tg_buf_deinit(&file->text);
}

/* --- reading --- */

static int
tg_cli_file_load(tg_cli_file_t *file, int fd)
{
    ssize_t n;

    if (fstat(fd, &file->st) != 0) {
        return tg_cli_file_fail("read", file->path);
    }

    if (!S_ISREG(file->st.st_mode)) {
        tg_cli_error("%s is not a file", file->path);
        return TG_CLI_FAILED;
    }

    if (file->st.st_size > (off_t) TG_CLI_FILE_MAX) {
        tg_cli_error("%s is larger than %u bytes", file->path, TG_CLI_FILE_MAX);
        return TG_CLI_FAILED;
    }

    for (;;) {
        if (tg_buf_reserve(&file->text, 65536) != TG_OK) {
            return tg_cli_nomem();
        }

        n = read(fd, file->text.data + file->text.len, 65536);

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n < 0) {
            return tg_cli_file_fail("read", file->path);
        }

        if (n == 0) {
            return TG_CLI_DONE;
        }

        file->text.len += (size_t) n;
    }
}

int
tg_cli_file_read(tg_cli_file_t *file, const char *path)
{
    struct stat st;
    int fd, rc;

    memset(file, 0, sizeof(*file));
    tg_buf_init(&file->text, tg_alloc_libc());
    file->path = realpath(path, NULL);

    if (file->path == NULL && errno == ENOENT) {
        if (lstat(path, &st) == 0) {
            tg_cli_error("%s is a symbolic link to something that is not "
                         "there",
                         path);
            return TG_CLI_FAILED;
        }

        file->path = strdup(path);
        return file->path != NULL ? TG_CLI_DONE : tg_cli_nomem();
    }

    if (file->path == NULL) {
        return tg_cli_file_fail("read", path);
    }

    /* A pipe would wait for its writer. */
    fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0) {
        return tg_cli_file_fail("read", file->path);
    }

    file->is_there = 1;
    rc = tg_cli_file_load(file, fd);
    (void) close(fd);

    return rc;
}

/* --- replacing --- */

static int
tg_cli_file_write(int fd, tg_str_t text)
{
    ssize_t n;

    while (text.len != 0) {
        n = write(fd, text.data, text.len);

        if (n < 0 && errno != EINTR) {
            return -1;
        }

        if (n > 0) {
            text.data += n;
            text.len -= (size_t) n;
        }
    }

    return fsync(fd);
}

/* The owner first: changing it takes bits of the mode away. */
static int
tg_cli_file_take_after(const tg_cli_file_t *file, int fd, mode_t mode)
{
    mode_t mask;

    if (file->is_there) {
        if (fchown(fd, file->st.st_uid, file->st.st_gid) != 0) {
            return -1;
        }

        return fchmod(fd, file->st.st_mode & 07777);
    }

    mask = umask(0);
    (void) umask(mask);

    return fchmod(fd, mode & ~mask);
}

/* Is it as it was when it was read? */
static int
tg_cli_file_is_same(const tg_cli_file_t *file)
{
    struct stat st;

    if (stat(file->path, &st) != 0) {
        return !file->is_there && errno == ENOENT;
    }

    return file->is_there && st.st_ino == file->st.st_ino
           && st.st_dev == file->st.st_dev && st.st_size == file->st.st_size
           && st.st_mtim.tv_sec == file->st.st_mtim.tv_sec
           && st.st_mtim.tv_nsec == file->st.st_mtim.tv_nsec;
}

/* So that the new name is on the disk, not only the new file. */
static void
tg_cli_file_sync_folder(const char *path, size_t len)
{
    char *folder;
    int fd;

    folder = len != 0 ? strndup(path, len) : strdup(".");

    if (folder == NULL) {
        return;
    }

    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);

    if (fd >= 0) {
        (void) fsync(fd);
        (void) close(fd);
    }
}

/* temp is open as fd and of ours; it is gone or in its place afterwards. */
static int
tg_cli_file_swap(const tg_cli_file_t *file, const char *temp, int fd,
                 tg_str_t text, mode_t mode)
{
    int rc;

    if (tg_cli_file_write(fd, text) != 0) {
        rc = tg_cli_file_fail("write", temp);

    } else if (tg_cli_file_take_after(file, fd, mode) != 0) {
        rc = tg_cli_file_fail("keep the owner and mode of", file->path);

    } else if (!tg_cli_file_is_same(file)) {
        tg_cli_error("%s was changed meanwhile by somebody else; run this "
                     "again",
                     file->path);
        rc = TG_CLI_FAILED;

    } else if (rename(temp, file->path) != 0) {
        rc = tg_cli_file_fail("replace", file->path);

    } else {
        rc = TG_CLI_DONE;
    }

    if (rc != TG_CLI_DONE) {
        (void) unlink(temp);
    }

    return rc;
}

int
tg_cli_file_replace(tg_cli_file_t *file, tg_str_t text, mode_t mode)
{
    sigset_t all, before;
    const char *slash;
    size_t folder;
    char *temp;
    int fd, rc;

    slash = strrchr(file->path, '/');
    folder = slash != NULL ? (size_t) (slash - file->path) + 1 : 0;

    if (asprintf(&temp, "%.*s.%s.XXXXXX", (int) folder, file->path,
                 file->path + folder)
        < 0)
    {
        return tg_cli_nomem();
    }

    /* A signal must not leave the temporary file behind. */
    (void) sigfillset(&all);
    (void) sigprocmask(SIG_BLOCK, &all, &before);
    fd = mkostemp(temp, O_CLOEXEC);

    if (fd < 0) {
        rc = tg_cli_file_fail("write beside", file->path);
    } else {
        rc = tg_cli_file_swap(file, temp, fd, text, mode);
        (void) close(fd);
    }

    if (rc == TG_CLI_DONE) {
        tg_cli_file_sync_folder(file->path, folder);
    }

    (void) sigprocmask(SIG_SETMASK, &before, NULL);
    free(temp);

    return rc;
}
