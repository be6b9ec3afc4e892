/* Sets and reads tags in resource limits, and kills tagged processes. */
#include "runner/process/tg_process_tag.h"

#include "runner/process/tg_process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Size of a buffer for a file of /proc; the limits take 1,300 bytes. */
#define TG_PROCESS_TAG_TEXT_MAX 4096

uint64_t
tg_process_tag_make(dev_t dev, ino_t ino)
{
    uint64_t hash;

    /* Unique for each file, at least 2^61 microseconds (73,000 years). */
    hash = ((uint64_t) dev * 0x9e3779b97f4a7c15u) ^ (uint64_t) ino;
    hash *= 0xff51afd7ed558ccdu;

    return ((hash >> 3) & ~(uint64_t) TG_PROCESS_TAG_SERIAL_BITS) | 1ull << 61;
}

void
tg_process_tag_set(uint64_t process_tag, uint32_t serial)
{
    struct rlimit limit;

    limit.rlim_cur = process_tag | serial;
    limit.rlim_max = process_tag | serial;
    (void) setrlimit(RLIMIT_RTTIME, &limit);
    limit.rlim_cur = process_tag | (serial ^ TG_PROCESS_TAG_SERIAL_BITS);
    limit.rlim_max = process_tag | (serial ^ TG_PROCESS_TAG_SERIAL_BITS);
    (void) setrlimit(RLIMIT_LOCKS, &limit);
}

/* Reads a file of a process, or an empty string if the process is gone. */
static void
tg_process_tag_read_proc_file(pid_t pid, const char *name,
                              char text[TG_PROCESS_TAG_TEXT_MAX])
{
    char path[48];
    ssize_t n;
    int fd;

    text[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd == -1) {
        return;
    }

    n = read(fd, text, TG_PROCESS_TAG_TEXT_MAX - 1);
    text[n > 0 ? n : 0] = '\0';
    (void) close(fd);
}

/* Returns HARD of "NAME SOFT HARD UNIT", or 0 if it is no number. */
static uint64_t
tg_process_tag_parse_limit(const char *text, const char *name)
{
    unsigned long long limit;
    const char *line;

    line = strstr(text, name);

    return line != NULL && sscanf(line + strlen(name), " %*s %llu", &limit) == 1
               ? limit
               : 0;
}

static int
tg_process_tag_is_set(uint64_t process_tag, pid_t pid)
{
    char text[TG_PROCESS_TAG_TEXT_MAX];

    tg_process_tag_read_proc_file(pid, "limits", text);

    return (tg_process_tag_parse_limit(text, "Max realtime timeout ")
            & ~(uint64_t) TG_PROCESS_TAG_SERIAL_BITS)
           == process_tag;
}

uint32_t
tg_process_tag_read_serial(uint64_t process_tag, pid_t pid)
{
    char text[TG_PROCESS_TAG_TEXT_MAX];
    uint32_t serial;
    uint64_t limit;

    tg_process_tag_read_proc_file(pid, "limits", text);
    limit = tg_process_tag_parse_limit(text, "Max realtime timeout ");
    serial = (uint32_t) limit;

    return limit == (process_tag | serial)
                   && tg_process_tag_parse_limit(text, "Max file locks ")
                          == (process_tag
                              | (serial ^ TG_PROCESS_TAG_SERIAL_BITS))
               ? serial
               : 0;
}

/* Checks for a living runner or supervisor above the process. */
static int
tg_process_tag_has_live_runner(uint64_t process_tag, pid_t pid)
{
    char name[TG_PROCESS_TAG_TEXT_MAX];
    tg_proc_t proc;

    while (pid > 1 && tg_process_tag_is_set(process_tag, pid)) {
        if (tg_proc_read(pid, &proc) != TG_OK) {
            return 0;
        }

        pid = proc.ppid;
    }

    tg_process_tag_read_proc_file(pid, "comm", name);

    return strcmp(name, "toolgate-runner\n") == 0
           || strcmp(name, "toolgate-guard\n") == 0;
}

/* Kills the processes that one scan of /proc finds. Returns their number. */
static unsigned
tg_process_tag_kill_found(uint64_t process_tag)
{
    unsigned killed;
    tg_proc_t proc;
    pid_t pid;
    DIR *dir;

    killed = 0;
    dir = opendir("/proc");

    while (dir != NULL && (pid = tg_proc_dir_next_pid(dir)) != 0) {
        if (tg_proc_read(pid, &proc) == TG_OK && !proc.is_zombie
            && tg_process_tag_is_set(process_tag, pid)
            && !tg_process_tag_has_live_runner(process_tag, pid)
            && tg_proc_signal(&proc, SIGKILL) == 0)
        {
            killed++;
        }
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }

    return killed;
}

unsigned
tg_process_tag_kill_all(uint64_t process_tag, int *is_left)
{
    struct timespec wait = { 0, TG_PROCESS_KILL_WAIT_NS };
    unsigned killed, all;
    int64_t rest;

    all = 0;
    rest = TG_PROCESS_TAG_KILL_MS * 1000000LL;

    /* Repeat until none is found, as a killed process may have forked. */
    while ((killed = tg_process_tag_kill_found(process_tag)) != 0 && rest > 0) {
        all += killed;
        rest -= TG_PROCESS_KILL_WAIT_NS;
        (void) nanosleep(&wait, NULL);
    }

    *is_left = killed != 0;

    return all;
}
