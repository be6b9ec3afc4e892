#include "client/tg_cli_config.h"

#include "client/tg_cli.h"
#include "client/tg_cli_input.h"
#include "client/tg_cli_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int
tg_cli_file_fail(const char *what, const char *path)
{
    return tg_cli_error("cannot %s %s: %s", what, path, strerror(errno));
}

int
tg_cli_file_read(tg_cli_file_t *file, const char *path)
{
    struct stat st;
    int fd, rc;

    if (realpath(path, file->path) == NULL) {
        if (errno != ENOENT || strlen(path) >= sizeof(file->path)) {
            return tg_cli_file_fail("read", path);
        }

        (void) strcpy(file->path, path);

        return lstat(path, &st) != 0
                   ? TG_CLI_DONE
                   : tg_cli_error("%s is a symbolic link to something that is "
                                  "not there",
                                  path);
    }

    /* A pipe would wait for its writer. */
    fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    rc = fd >= 0 && (fstat(fd, &file->st) != 0 || !S_ISREG(file->st.st_mode))
             ? tg_cli_error("%s is not a file", file->path)
             : tg_cli_input_take(fd, file->path, TG_CLI_FILE_MAX, &file->text);

    if (fd >= 0) {
        (void) close(fd);
    }

    return rc;
}

/* Is it as it was when it was read?  What is not there has number 0. */
static int
tg_cli_file_is_same(const tg_cli_file_t *file)
{
    struct stat st;

    memset(&st, 0, sizeof(st));

    return (stat(file->path, &st) == 0 || errno == ENOENT)
           && st.st_ino == file->st.st_ino && st.st_dev == file->st.st_dev
           && st.st_ctim.tv_sec == file->st.st_ctim.tv_sec
           && st.st_ctim.tv_nsec == file->st.st_ctim.tv_nsec;
}

/* The owner first: changing it takes bits of the mode away. */
static int
tg_cli_file_fill(const tg_cli_file_t *file, int fd, tg_str_t text, mode_t mode)
{
    mode_t mask;
    ssize_t n;

    while (text.len != 0) {
        n = write(fd, text.data, text.len);

        if (n < 0) {
            return -1;
        }

        text = tg_str(text.data + n, text.len - (size_t) n);
    }

    if (file->st.st_ino == 0) {
        mask = umask(0);
        (void) umask(mask);
        mode &= ~mask;

    } else {
        mode = file->st.st_mode & 07777;

        if (fchown(fd, file->st.st_uid, file->st.st_gid) != 0) {
            return -1;
        }
    }

    return fchmod(fd, mode) != 0 ? -1 : fsync(fd);
}

int
tg_cli_file_replace(tg_cli_file_t *file, tg_str_t text, mode_t mode)
{
    char temp[sizeof(file->path) + sizeof(".XXXXXX")];
    sigset_t all, before;
    int fd, rc;

    /* The rename would succeed: that is a matter of the folder's mode. */
    if (file->st.st_ino != 0
        && ((file->st.st_mode & 0222) == 0 || access(file->path, W_OK) != 0))
    {
        return tg_cli_error("%s is read-only and was left as it is; if it may "
                            "be changed, chmod u+w it and run this again",
                            file->path);
    }

    (void) snprintf(temp, sizeof(temp), "%s.XXXXXX", file->path);

    /* A signal must not leave the temporary file behind. */
    (void) sigfillset(&all);
    (void) sigprocmask(SIG_BLOCK, &all, &before);
    fd = mkostemp(temp, O_CLOEXEC);

    if (fd < 0) {
        rc = tg_cli_file_fail("write beside", file->path);

    } else if (tg_cli_file_fill(file, fd, text, mode) != 0) {
        rc = tg_cli_file_fail("write, or keep the owner and mode of,",
                              file->path);

    } else if (!tg_cli_file_is_same(file)) {
        rc = tg_cli_error("%s was changed meanwhile by somebody else; run this "
                          "again",
                          file->path);

    } else if (rename(temp, file->path) != 0) {
        rc = tg_cli_file_fail("replace", file->path);

    } else {
        rc = TG_CLI_DONE;
    }

    if (fd >= 0) {
        (void) close(fd);
    }

    if (fd >= 0 && rc != TG_CLI_DONE) {
        (void) unlink(temp);
    }

    (void) sigprocmask(SIG_SETMASK, &before, NULL);

    return rc;
}
