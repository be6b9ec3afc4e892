/* The cgroup of one program: limits, processes, removal and reuse. */
#include "runner/process/tg_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the path of a program's cgroup to `path` and returns it. */
static const char *
tg_cgroup_path(const tg_cgroups_t *cgroups, unsigned long number,
               char path[TG_CGROUP_PATH_MAX])
{
    (void) snprintf(path, TG_CGROUP_PATH_MAX, "%s/%lu", cgroups->dir, number);

    return path;
}

/* Sets the limits of a new cgroup. Returns 0 or an errno value. */
static int
tg_cgroup_set_limits(const char *path, const tg_program_options_t *limits)
{
    char number[24];
    int err;

    err = 0;

    if (limits->memory != 0) {
        (void) snprintf(number, sizeof(number), "%llu",
                        (unsigned long long) limits->memory);
        err = tg_cgroup_write_file(path, "memory.max", number);

        /* The program must not swap, and is killed as a whole. */
        (void) tg_cgroup_write_file(path, "memory.swap.max", "0");
        (void) tg_cgroup_write_file(path, "memory.oom.group", "1");
    }

    if (err == 0 && limits->pids != 0) {
        (void) snprintf(number, sizeof(number), "%llu",
                        (unsigned long long) limits->pids);
        err = tg_cgroup_write_file(path, "pids.max", number);
    }

    return err;
}

/* Opens a cgroup's directory. Returns 0 and its descriptor, or an errno. */
static int
tg_cgroup_open_dir(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return *fd == -1 ? errno : 0;
}

int
tg_cgroup_create(tg_cgroups_t *cgroups, const tg_program_options_t *limits,
                 unsigned long *number, int *fd)
{
    char path[TG_CGROUP_PATH_MAX];
    int err;

    if (cgroups->dir[0] == '\0') {
        return ENOENT;
    }

    while (cgroups->nspare != 0 && limits->memory == 0 && limits->pids == 0) {
        *number = cgroups->spare[--cgroups->nspare];

        if (tg_cgroup_open_dir(tg_cgroup_path(cgroups, *number, path), fd) == 0)
        {
            return 0;
        }
    }

    if (mkdir(tg_cgroup_path(cgroups, cgroups->last + 1, path), 0755) == -1) {
        return errno;
    }

    err = tg_cgroup_set_limits(path, limits);

    if (err == 0) {
        err = tg_cgroup_open_dir(path, fd);
    }

    if (err != 0) {
        (void) rmdir(path);
        return err;
    }

    *number = ++cgroups->last;

    return 0;
}

void
tg_cgroup_kill(const tg_cgroups_t *cgroups, unsigned long number)
{
    char path[TG_CGROUP_PATH_MAX];

    (void) tg_cgroup_write_file(tg_cgroup_path(cgroups, number, path),
                                "cgroup.kill", "1");
}

void
tg_cgroup_for_each_pid(const tg_cgroups_t *cgroups, unsigned long number,
                       tg_pid_visit_pt take, void *ctx)
{
    char path[TG_CGROUP_PATH_MAX];
    int fd;

    fd = tg_cgroup_open_file(tg_cgroup_path(cgroups, number, path),
                             "cgroup.procs", O_RDONLY);

    if (fd != -1) {
        (void) tg_pid_list_for_each(fd, take, ctx);
        (void) close(fd);
    }
}

int
tg_cgroup_has_oom_kill(const tg_cgroups_t *cgroups, unsigned long number)
{
    char path[TG_CGROUP_PATH_MAX], text[TG_CGROUP_TEXT_MAX];
    const char *line;

    tg_cgroup_read_file(tg_cgroup_path(cgroups, number, path), "memory.events",
                        text);
    line = strstr(text, "oom_kill ");

    return line != NULL && strtoul(line + strlen("oom_kill "), NULL, 10) != 0;
}

unsigned long
tg_cgroup_find_by_pid(const tg_cgroups_t *cgroups, pid_t pid)
{
    char folder[32], text[TG_CGROUP_TEXT_MAX];
    const char *name, *own;

    if (cgroups->dir[0] == '\0') {
        return 0;
    }

    (void) snprintf(folder, sizeof(folder), "/proc/%d", pid);
    tg_cgroup_read_file(folder, "cgroup", text);
    own = strrchr(cgroups->dir, '/');
    name = strstr(text, own);

    return name != NULL && name[strlen(own)] == '/'
               ? strtoul(name + strlen(own) + 1, NULL, 10)
               : 0;
}

void
tg_cgroup_remove(tg_cgroups_t *cgroups, unsigned long number)
{
    char path[TG_CGROUP_PATH_MAX];

    if (rmdir(tg_cgroup_path(cgroups, number, path)) == -1
        && cgroups->nonempty_count < TG_CGROUP_NONEMPTY_MAX)
    {
        cgroups->nonempty[cgroups->nonempty_count++] = number;
    }
}

static int
tg_cgroup_file_equals(const char *path, const char *name, const char *expected)
{
    char text[TG_CGROUP_TEXT_MAX];

    tg_cgroup_read_file(path, name, text);

    return strcmp(text, expected) == 0;
}

/* Checks that no limits are set. A missing file means: no controller. */
static int
tg_cgroup_has_no_limits(const tg_cgroups_t *cgroups, unsigned long number,
                        const char *path)
{
    static const char none[] = "max\n";
    char text[TG_CGROUP_TEXT_MAX];

    tg_cgroup_read_file(path, "pids.max", text);

    if (text[0] != '\0' && strcmp(text, none) != 0) {
        return 0;
    }

    tg_cgroup_read_file(path, "memory.max", text);

    return text[0] == '\0'
           || (strcmp(text, none) == 0
               && tg_cgroup_file_equals(path, "memory.high", none)
               && !tg_cgroup_has_oom_kill(cgroups, number));
}

/* Checks that a cgroup is empty, unfrozen, unlimited, and had no OOM kill. */
static int
tg_cgroup_is_pristine(const tg_cgroups_t *cgroups, unsigned long number)
{
    char room[TG_CGROUP_PATH_MAX];
    const char *path;
    struct stat st;

    path = tg_cgroup_path(cgroups, number, room);

    return stat(path, &st) == 0 && st.st_nlink == 2
           && tg_cgroup_file_equals(path, "cgroup.events",
                                    "populated 0\nfrozen 0\n")
           && tg_cgroup_file_equals(path, "cgroup.subtree_control", "")
           && tg_cgroup_has_no_limits(cgroups, number, path);
}

void
tg_cgroup_recycle(tg_cgroups_t *cgroups, unsigned long number)
{
    if (cgroups->nspare < TG_CGROUP_SPARE_MAX
        && tg_cgroup_is_pristine(cgroups, number))
    {
        cgroups->spare[cgroups->nspare++] = number;
    } else {
        tg_cgroup_remove(cgroups, number);
    }
}
