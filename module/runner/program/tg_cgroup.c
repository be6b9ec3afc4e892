#include "runner/program/tg_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of a program's. */
static const char *
tg_cgroup_path(const tg_cgroups_t *cgroups, unsigned long number,
               char path[TG_CGROUP_PATH])
{
    (void) snprintf(path, TG_CGROUP_PATH, "%s/%lu", cgroups->dir, number);

    return path;
}

/* Before anything is in it. */
static int
tg_cgroup_limit(const char *path, const tg_cgroup_limits_t *limits)
{
    char number[24];
    int err;

    err = 0;

    if (limits->memory != 0) {
        (void) snprintf(number, sizeof(number), "%llu",
                        (unsigned long long) limits->memory);
        err = tg_cgroup_write(path, "memory.max", number);

        /* No way around it, where there is swap; and not half a program. */
        (void) tg_cgroup_write(path, "memory.swap.max", "0");
        (void) tg_cgroup_write(path, "memory.oom.group", "1");
    }

    if (err == 0 && limits->pids != 0) {
        (void) snprintf(number, sizeof(number), "%llu",
                        (unsigned long long) limits->pids);
        err = tg_cgroup_write(path, "pids.max", number);
    }

    return err;
}

/* 0 and its descriptor, or an errno. */
static int
tg_cgroup_enter(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return *fd == -1 ? errno : 0;
}

int
tg_cgroup_make(tg_cgroups_t *cgroups, const tg_cgroup_limits_t *limits,
               unsigned long *number, int *fd)
{
    char path[TG_CGROUP_PATH];
    int err;

    if (cgroups->dir[0] == '\0') {
        return ENOENT;
    }

    while (cgroups->nspare != 0 && limits->memory == 0 && limits->pids == 0) {
        *number = cgroups->spare[--cgroups->nspare];

        if (tg_cgroup_enter(tg_cgroup_path(cgroups, *number, path), fd) == 0) {
            return 0;
        }
    }

    if (mkdir(tg_cgroup_path(cgroups, cgroups->last + 1, path), 0755) == -1) {
        return errno;
    }

    err = tg_cgroup_limit(path, limits);

    if (err == 0) {
        err = tg_cgroup_enter(path, fd);
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
    char path[TG_CGROUP_PATH];

    (void) tg_cgroup_write(tg_cgroup_path(cgroups, number, path), "cgroup.kill",
                           "1");
}

void
tg_cgroup_read(const tg_cgroups_t *cgroups, unsigned long number,
               tg_tree_take_t take, void *ctx)
{
    char path[TG_CGROUP_PATH];
    int fd;

    fd = tg_cgroup_open(tg_cgroup_path(cgroups, number, path), "cgroup.procs",
                        O_RDONLY);

    if (fd != -1) {
        (void) tg_tree_read(fd, take, ctx);
        (void) close(fd);
    }
}

int
tg_cgroup_was_full(const tg_cgroups_t *cgroups, unsigned long number)
{
    char path[TG_CGROUP_PATH], text[TG_CGROUP_TEXT];
    const char *line;

    tg_cgroup_text(tg_cgroup_path(cgroups, number, path), "memory.events",
                   text);
    line = strstr(text, "oom_kill ");

    return line != NULL && strtoul(line + strlen("oom_kill "), NULL, 10) != 0;
}

unsigned long
tg_cgroup_of(const tg_cgroups_t *cgroups, pid_t pid)
{
    char folder[32], text[TG_CGROUP_TEXT];
    const char *name, *own;

    if (cgroups->dir[0] == '\0') {
        return 0;
    }

    (void) snprintf(folder, sizeof(folder), "/proc/%d", pid);
    tg_cgroup_text(folder, "cgroup", text);
    own = strrchr(cgroups->dir, '/');
    name = strstr(text, own);

    return name != NULL && name[strlen(own)] == '/'
               ? strtoul(name + strlen(own) + 1, NULL, 10)
               : 0;
}

void
tg_cgroup_remove(tg_cgroups_t *cgroups, unsigned long number)
{
    char path[TG_CGROUP_PATH];

    if (rmdir(tg_cgroup_path(cgroups, number, path)) == -1
        && cgroups->nleft < TG_CGROUP_LEFT_MAX)
    {
        cgroups->left[cgroups->nleft++] = number;
    }
}

static int
tg_cgroup_says(const char *path, const char *name, const char *expected)
{
    char text[TG_CGROUP_TEXT];

    tg_cgroup_text(path, name, text);

    return strcmp(text, expected) == 0;
}

/* A file that is not there is of a controller that it does not have. */
static int
tg_cgroup_is_free(const tg_cgroups_t *cgroups, unsigned long number,
                  const char *path)
{
    static const char none[] = "max\n";
    char text[TG_CGROUP_TEXT];

    tg_cgroup_text(path, "pids.max", text);

    if (text[0] != '\0' && strcmp(text, none) != 0) {
        return 0;
    }

    tg_cgroup_text(path, "memory.max", text);

    return text[0] == '\0'
           || (strcmp(text, none) == 0
               && tg_cgroup_says(path, "memory.high", none)
               && !tg_cgroup_was_full(cgroups, number));
}

/*
 * Nothing is in it, and what was has neither frozen nor divided it, nor set
 * limits, nor needed more memory than there was.
 */
static int
tg_cgroup_is_as_new(const tg_cgroups_t *cgroups, unsigned long number)
{
    char room[TG_CGROUP_PATH];
    const char *path;
    struct stat st;

    path = tg_cgroup_path(cgroups, number, room);

    return stat(path, &st) == 0 && st.st_nlink == 2
           && tg_cgroup_says(path, "cgroup.events", "populated 0\nfrozen 0\n")
           && tg_cgroup_says(path, "cgroup.subtree_control", "")
           && tg_cgroup_is_free(cgroups, number, path);
}

void
tg_cgroup_give_back(tg_cgroups_t *cgroups, unsigned long number)
{
    if (cgroups->nspare < TG_CGROUP_SPARE_MAX
        && tg_cgroup_is_as_new(cgroups, number))
    {
        cgroups->spare[cgroups->nspare++] = number;
    } else {
        tg_cgroup_remove(cgroups, number);
    }
}
