/* Sends log messages to a sink or to stderr. */
#include "runner/logging/tg_log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const tg_log_levels[] = {
    "", "emerg", "alert", "crit", "error", "warn", "notice", "info", "debug",
};

typedef struct {
    tg_log_level_t level;
    char text[TG_LOG_MAX];
} tg_log_line_t;

/* State of the process, which has one log and one stderr. */
static tg_log_sink_pt tg_log_sink;
static void *tg_log_sink_ctx;
static tg_log_line_t tg_log_held[TG_LOG_HELD_MAX];
static unsigned tg_log_nheld;
static int tg_log_is_holding;
static tg_log_level_t tg_log_level = TG_LOG_NOTICE;
static char tg_log_path[4096]; /* empty: stderr is not a file */

int
tg_log_set_level(const char *name)
{
    int i;

    for (i = TG_LOG_EMERG; i <= TG_LOG_DEBUG; i++) {
        if (strcmp(name, tg_log_levels[i]) == 0) {
            tg_log_level = (tg_log_level_t) i;
            return 0;
        }
    }

    return -1;
}

static size_t
tg_log_format_prefix(char *text, size_t size, tg_log_level_t level)
{
    struct tm tm;
    time_t now;
    int n;

    now = time(NULL);
    (void) localtime_r(&now, &tm);
    n = snprintf(text, size,
                 "%4d/%02d/%02d %02d:%02d:%02d [%s] %d#%d: toolgate-runner: ",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec, tg_log_levels[level], getpid(),
                 getpid());

    return (size_t) n;
}

/* Writes a message with one write(): workers write to the same log. */
static void
tg_log_write(const tg_log_line_t *line)
{
    char text[TG_LOG_MAX + 128];
    size_t len;

    if (line->level > tg_log_level) {
        return;
    }

    len = tg_log_format_prefix(text, 128, line->level);
    len += (size_t) snprintf(text + len, TG_LOG_MAX, "%s\n", line->text);
    (void) !write(STDERR_FILENO, text, len);
}

static int
tg_log_send_to_sink(const tg_log_line_t *line)
{
    return tg_log_sink != NULL
               ? tg_log_sink(tg_log_sink_ctx, line->level, line->text)
               : -1;
}

void
tg_log(tg_log_level_t level, const char *format, ...)
{
    tg_log_line_t line;
    va_list args;

    line.level = level;
    va_start(args, format);
    (void) vsnprintf(line.text, sizeof(line.text), format, args);
    va_end(args);

    if (tg_log_send_to_sink(&line) == 0) {
        return;
    }

    if (tg_log_is_holding && tg_log_nheld < TG_LOG_HELD_MAX) {
        tg_log_held[tg_log_nheld++] = line;
    } else {
        tg_log_write(&line);
    }
}

void
tg_log_set_sink(tg_log_sink_pt sink, void *ctx)
{
    tg_log_flush_held();
    tg_log_sink = sink;
    tg_log_sink_ctx = ctx;
    tg_log_is_holding = sink != NULL;
}

void
tg_log_flush_held(void)
{
    unsigned i;

    for (i = 0; i < tg_log_nheld; i++) {
        if (tg_log_send_to_sink(&tg_log_held[i]) != 0) {
            tg_log_write(&tg_log_held[i]);
        }
    }

    tg_log_nheld = 0;
    tg_log_is_holding = 0;
}

void
tg_log_init(void)
{
    struct stat file;
    ssize_t len;

    tg_log_path[0] = '\0';

    if (fstat(STDERR_FILENO, &file) == -1 || !S_ISREG(file.st_mode)) {
        return;
    }

    len = readlink("/proc/self/fd/2", tg_log_path, sizeof(tg_log_path) - 1);

    /* A truncated path could be that of another file. */
    if (len <= 0 || len == sizeof(tg_log_path) - 1) {
        len = 0;
    }

    tg_log_path[len] = '\0';
}

int
tg_log_reopen(void)
{
    struct stat was, is;
    int fd;

    /* During rotation there may be no file for a moment. */
    if (tg_log_path[0] == '\0' || stat(tg_log_path, &is) == -1
        || fstat(STDERR_FILENO, &was) == -1
        || (was.st_ino == is.st_ino && was.st_dev == is.st_dev)
        || !S_ISREG(is.st_mode))
    {
        return 0;
    }

    fd = open(tg_log_path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);

    if (fd == -1) {
        return 0;
    }

    (void) dup2(fd, STDERR_FILENO);
    (void) close(fd);

    return 1;
}
