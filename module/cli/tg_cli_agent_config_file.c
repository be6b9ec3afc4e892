/* The config files of agents: reads them, and replaces them as a whole. */
#include "cli/tg_cli_agent_config.h"

#include "cli/tg_cli.h"
#include "cli/tg_cli_input.h"
#include "cli/tg_cli_output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

const char *
tg_cli_agent_config_copy_bom(const char *old, tg_buf_t *out)
{
    size_t len;

    len = strncmp(old, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    tg_buf_append(out, old, len);

    return old + len;
}

unsigned
tg_cli_agent_config_get_line_number(const char *text, const char *at)
{
    unsigned line;

    for (line = 1; text < at; text++) {
        line += *text == '\n';
    }

    return line;
}

int
tg_cli_agent_config_set_error(tg_buf_t *out, const char *format, ...)
{
    va_list args;

    tg_buf_truncate(out, 0);
    va_start(args, format);
    tg_buf_vprintf(out, format, args);
    va_end(args);

    return tg_buf_has_failed(out) ? TG_NOMEM : TG_INVALID;
}

static int
tg_cli_config_file_report_error(const char *what, const char *path)
{
    return tg_cli_error("cannot %s %s: %s", what, path, strerror(errno));
}

int
tg_cli_config_file_read(tg_cli_config_file_t *file, const char *path)
{
    struct stat st;
    int fd, rc;

    if (realpath(path, file->path) == NULL) {
        if (errno != ENOENT || strlen(path) >= sizeof(file->path)) {
            return tg_cli_config_file_report_error("read", path);
        }

        (void) strcpy(file->path, path);

        return lstat(path, &st) != 0
                   ? TG_CLI_EXIT_OK
                   : tg_cli_error("%s is a symbolic link to a file that does "
                                  "not exist",
                                  path);
    }

    /* Opening a pipe without O_NONBLOCK would wait for its writer. */
    fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    rc = fd >= 0 && (fstat(fd, &file->st) != 0 || !S_ISREG(file->st.st_mode))
             ? tg_cli_error("%s is not a file", file->path)
             : tg_cli_input_read_open_file(fd, file->path,
                                           TG_CLI_CONFIG_FILE_MAX, &file->text);

    if (fd >= 0) {
        (void) close(fd);
    }

    tg_buf_append_char(&file->text, '\0');

    if (rc != TG_CLI_EXIT_OK || tg_buf_has_failed(&file->text)) {
        return rc != TG_CLI_EXIT_OK ? rc : tg_cli_error_nomem();
    }

    return strlen(file->text.data) + 1 == file->text.len
               ? TG_CLI_EXIT_OK
               : tg_cli_error("%s was not changed: it contains a NUL byte; "
                              "repair it first",
                              file->path);
}

int
tg_cli_folder_create_all(const char *folder)
{
    char path[PATH_MAX];
    char *at;

    (void) snprintf(path, sizeof(path), "%s", folder);

    for (at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';

        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            return -1;
        }

        *at = '/';
    }

    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

/* st_ino is 0 for a file that did not exist. */
static int
tg_cli_config_file_is_unchanged(const tg_cli_config_file_t *file)
{
    struct stat st;

    memset(&st, 0, sizeof(st));

    return (stat(file->path, &st) == 0 || errno == ENOENT)
           && st.st_ino == file->st.st_ino && st.st_dev == file->st.st_dev
           && memcmp(&st.st_ctim, &file->st.st_ctim, sizeof(st.st_ctim)) == 0;
}

/* Sets the owner first, since chown() may clear bits of the mode. */
static int
tg_cli_config_file_write(const tg_cli_config_file_t *file, int fd,
                         tg_str_t text)
{
    ssize_t n;

    for (; text.len != 0; text = tg_str(text.data + n, text.len - (size_t) n)) {
        n = write(fd, text.data, text.len);

        if (n < 0) {
            return -1;
        }
    }

    return file->st.st_ino == 0
                   || (fchown(fd, file->st.st_uid, file->st.st_gid) == 0
                       && fchmod(fd, file->st.st_mode & 07777) == 0)
               ? fsync(fd)
               : -1;
}

int
tg_cli_config_file_replace(tg_cli_config_file_t *file, tg_str_t text,
                           mode_t mode)
{
    char temp[sizeof(file->path) + 16];
    sigset_t all, before;
    int fd, rc;

    /* rename() needs write access to the folder only. */
    if (file->st.st_ino != 0
        && ((file->st.st_mode & 0222) == 0 || access(file->path, W_OK) != 0))
    {
        return tg_cli_error("%s is read-only and was not changed; to change "
                            "it, chmod u+w it and run this again",
                            file->path);
    }

    (void) snprintf(temp, sizeof(temp), "%s.%d", file->path, getpid());
    mode = file->st.st_ino == 0 ? mode : 0600;

    /* Signals are blocked so that the temporary file is always removed. */
    (void) sigfillset(&all);
    (void) sigprocmask(SIG_BLOCK, &all, &before);
    fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

    if (fd < 0) {
        rc = tg_cli_config_file_report_error("write beside", file->path);

    } else if (tg_cli_config_file_write(file, fd, text) != 0) {
        rc = tg_cli_config_file_report_error(
            "write, or keep the owner and mode of,", file->path);

    } else if (!tg_cli_config_file_is_unchanged(file)) {
        rc = tg_cli_error("%s was changed by another program meanwhile; run "
                          "this again",
                          file->path);

    } else if (rename(temp, file->path) != 0) {
        rc = tg_cli_config_file_report_error("replace", file->path);

    } else {
        rc = TG_CLI_EXIT_OK;
    }

    if (fd >= 0) {
        (void) close(fd);
    }

    if (fd >= 0 && rc != TG_CLI_EXIT_OK) {
        (void) unlink(temp);
    }

    (void) sigprocmask(SIG_SETMASK, &before, NULL);

    return rc;
}
