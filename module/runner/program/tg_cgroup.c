#include "runner/program/tg_cgroup.h"

#include "runner/program/tg_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* Of the files that are read whole. */
#define TG_CGROUP_TEXT 4096
#define TG_CGROUP_TICK_MS 10

/* --- files: 0 or an errno; a path is FOLDER/NAME --- */

static int
tg_cgroup_open(const char *folder, const char *name, int flags)
{
    char path[TG_CGROUP_PATH];
    int n;

    n = snprintf(path, sizeof(path), "%s/%s", folder, name);

    if (n < 0 || (size_t) n >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }

    return open(path, flags | O_CLOEXEC);
}

static int
tg_cgroup_write(const char *folder, const char *name, const char *text)
{
    ssize_t n;
    int fd, err;

    fd = tg_cgroup_open(folder, name, O_WRONLY);

    if (fd == -1) {
        return errno;
    }

    n = write(fd, text, strlen(text));
    err = n == -1 ? errno : 0;
    (void) close(fd);

    return err;
}

/* What is in it, as C text; empty when it cannot be read. */
static void
tg_cgroup_text(const char *folder, const char *name, char text[TG_CGROUP_TEXT])
{
    ssize_t n;
    int fd;

    n = 0;
    fd = tg_cgroup_open(folder, name, O_RDONLY);

    if (fd != -1) {
        n = read(fd, text, TG_CGROUP_TEXT - 1);
        (void) close(fd);
    }

    text[n > 0 ? n : 0] = '\0';
}

/* The path of a program's. */
static const char *
tg_cgroup_path(const tg_cgroups_t *cgroups, unsigned long number,
               char path[TG_CGROUP_PATH])
{
    (void) snprintf(path, TG_CGROUP_PATH, "%s/%lu", cgroups->dir, number);

    return path;
}

/* --- one program's --- */

pid_t
tg_cgroup_fork(int fd)
{
    struct clone_args args;

    memset(&args, 0, sizeof(args));
    args.flags = CLONE_VFORK | CLONE_INTO_CGROUP;
    args.exit_signal = SIGCHLD;
    args.cgroup = (uint64_t) fd;

    return (pid_t) syscall(SYS_clone3, &args, sizeof(args));
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

int
tg_cgroup_make(tg_cgroups_t *cgroups, const tg_cgroup_limits_t *limits,
               unsigned long *number, int *fd)
{
    char path[TG_CGROUP_PATH];
    int err;

    if (cgroups->dir[0] == '\0') {
        return ENOENT;
    }

    if (mkdir(tg_cgroup_path(cgroups, cgroups->last + 1, path), 0755) == -1) {
        return errno;
    }

    err = tg_cgroup_limit(path, limits);

    if (err == 0) {
        *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        err = *fd == -1 ? errno : 0;
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

size_t
tg_cgroup_read(const tg_cgroups_t *cgroups, unsigned long number, pid_t *pids)
{
    char path[TG_CGROUP_PATH];
    size_t n;
    int fd;

    fd = tg_cgroup_open(tg_cgroup_path(cgroups, number, path), "cgroup.procs",
                        O_RDONLY);

    if (fd == -1) {
        return 0;
    }

    n = tg_tree_read(fd, pids, 0);
    (void) close(fd);

    return n;
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

/* --- all of them --- */

/* Removes what is in a cgroup and empty. */
static void
tg_cgroup_clear(const char *path)
{
    struct dirent *entry;
    DIR *dir;

    dir = opendir(path);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            (void) unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
        }
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }
}

void
tg_cgroups_tidy(tg_cgroups_t *cgroups)
{
    unsigned long number;
    unsigned n;

    /* Those that still cannot be are written down again. */
    for (n = cgroups->nleft; n > 0; n--) {
        number = cgroups->left[n - 1];
        cgroups->left[n - 1] = cgroups->left[--cgroups->nleft];
        tg_cgroup_remove(cgroups, number);
    }
}

void
tg_cgroups_close(tg_cgroups_t *cgroups)
{
    if (cgroups->dir[0] != '\0') {
        tg_cgroup_clear(cgroups->dir);
        (void) rmdir(cgroups->dir);
        (void) close(cgroups->lock);
    }
}

static int
tg_cgroup_is_empty(const char *path)
{
    char text[TG_CGROUP_TEXT];

    tg_cgroup_text(path, "cgroup.events", text);

    return strstr(text, "populated 1") == NULL;
}

/* What a runner left that was killed with its guardian. */
static void
tg_cgroup_end(const char *path)
{
    struct timespec tick = { 0, TG_CGROUP_TICK_MS * 1000000 };
    int rest;

    (void) tg_cgroup_write(path, "cgroup.kill", "1");

    for (rest = TG_CGROUP_WAIT_MS; rest > 0 && !tg_cgroup_is_empty(path);
         rest -= TG_CGROUP_TICK_MS)
    {
        (void) nanosleep(&tick, NULL);
    }

    tg_cgroup_clear(path);
    (void) rmdir(path);
}

/* Whose runner lives is locked. */
static int
tg_cgroup_lock(const char *path)
{
    int fd;

    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd != -1 && flock(fd, LOCK_EX | LOCK_NB) == -1) {
        (void) close(fd);
        fd = -1;
    }

    return fd;
}

/* Other users may not open it, as they could lock it. */
static int
tg_cgroup_own(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ? tg_cgroup_lock(path)
                                                     : -1;
}

/* As runners with this mark name theirs; others are somebody else's. */
static int
tg_cgroup_is_runners(const char *name, uint64_t mark)
{
    unsigned long long theirs;
    unsigned pid;
    char more;

    return sscanf(name, "toolgate.%llx.%u%c", &theirs, &pid, &more) == 2
           && theirs == mark;
}

static void
tg_cgroups_end_old(const char *base, uint64_t mark)
{
    char path[TG_CGROUP_PATH];
    struct dirent *entry;
    DIR *dir;
    int n, fd;

    dir = opendir(base);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        n = snprintf(path, sizeof(path), "%s/%s", base, entry->d_name);

        if (tg_cgroup_is_runners(entry->d_name, mark)
            && (size_t) n < sizeof(path) && (fd = tg_cgroup_lock(path)) != -1)
        {
            tg_cgroup_end(path);
            (void) close(fd);
        }
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }
}

/* --- the runner's own --- */

/* The path of its cgroup, and where that hierarchy can be seen. */
static int
tg_cgroup_find(char base[TG_CGROUP_PATH])
{
    char root[TG_CGROUP_TEXT], mount[TG_CGROUP_TEXT], text[TG_CGROUP_TEXT];
    char line[2 * TG_CGROUP_TEXT], *own;
    size_t len;
    FILE *file;
    int n;

    n = -1;
    tg_cgroup_text("/proc/self", "cgroup", text);
    own = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    file = own != NULL ? fopen("/proc/self/mountinfo", "re") : NULL;

    if (file == NULL) {
        return TG_MISSING;
    }

    own = strchr(own, '/');
    own[strcspn(own, "\n")] = '\0';

    while (n == -1 && fgets(line, sizeof(line), file) != NULL) {
        if (strstr(line, " - cgroup2 ") == NULL
            || sscanf(line, "%*d %*d %*s %4095s %4095s", root, mount) != 2)
        {
            continue;
        }

        len = strcmp(root, "/") != 0 ? strlen(root) : 0;

        if (strncmp(own, root, len) == 0) {
            own += strcmp(own + len, "/") != 0 ? len : strlen(own);
            n = snprintf(base, TG_CGROUP_PATH, "%s%s", mount, own);
        }
    }

    (void) fclose(file);

    return n > 0 && n < TG_CGROUP_PATH ? TG_OK : TG_MISSING;
}

/*
 * What systemd manages nobody else may divide, unless it says so; else to be
 * allowed to is enough.
 */
static int
tg_cgroup_is_delegated(const char *base)
{
    static const char *const names[] = { "user.delegate", "trusted.delegate" };
    char path[TG_CGROUP_PATH + 16], value;
    size_t i;

    (void) snprintf(path, sizeof(path), "%s/cgroup.procs", base);

    if (access(path, W_OK) == -1) {
        return 0;
    }

    if (access("/run/systemd/system", F_OK) == -1) {
        return 1;
    }

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (getxattr(base, names[i], &value, 1) == 1 && value == '1') {
            return 1;
        }
    }

    return 0;
}

/* Is everything there, and allowed here? */
static const char *
tg_cgroups_try(tg_cgroups_t *cgroups)
{
    tg_cgroup_limits_t none = { 0, 0 };
    unsigned long number;
    int fd, err;
    pid_t pid;

    err = tg_cgroup_make(cgroups, &none, &number, &fd);

    if (err != 0) {
        return strerror(err);
    }

    pid = tg_cgroup_fork(fd);

    if (pid == 0) {
        _exit(0);
    }

    (void) close(fd);

    while (pid > 0 && waitpid(pid, NULL, 0) == -1 && errno == EINTR) {
        /* void */
    }

    tg_cgroup_remove(cgroups, number);

    return pid == -1 ? "no process can be started in one (clone3)" : NULL;
}

/* Moves both into a cgroup of their own, so that base is empty. */
static void
tg_cgroups_step_aside(const tg_cgroups_t *cgroups, pid_t guardian)
{
    char path[TG_CGROUP_PATH], pid[16];

    (void) snprintf(path, sizeof(path), "%s/runner", cgroups->dir);
    (void) mkdir(path, 0755);
    (void) snprintf(pid, sizeof(pid), "%d", guardian);
    (void) tg_cgroup_write(path, "cgroup.procs", pid);
    (void) tg_cgroup_write(path, "cgroup.procs", "0");
}

/* Has the controllers given on to the programs' cgroups. */
static const char *
tg_cgroups_controllers(tg_cgroups_t *cgroups, const char *base, pid_t guardian)
{
    static const char *const names[] = { "+memory", "+pids" };
    const char *why;
    size_t i;
    int err;

    why = NULL;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        err = tg_cgroup_write(base, "cgroup.subtree_control", names[i]);

        if (err == EBUSY) {
            tg_cgroups_step_aside(cgroups, guardian);
            err = tg_cgroup_write(base, "cgroup.subtree_control", names[i]);
        }

        if (err == 0) {
            err = tg_cgroup_write(cgroups->dir, "cgroup.subtree_control",
                                  names[i]);
        }

        if (err == EBUSY) {
            why = "other processes are in its own cgroup";
        } else if (err != 0) {
            why = "the controllers memory and pids are not both delegated to "
                  "it";
        }
    }

    return why;
}

void
tg_cgroups_open(tg_cgroups_t *cgroups, const char *base, uint64_t mark,
                pid_t guardian)
{
    char own[TG_CGROUP_PATH];
    int n;

    memset(cgroups, 0, sizeof(*cgroups));
    cgroups->why = "there is no cgroup v2";

    if (base == NULL) {
        if (tg_cgroup_find(own) != TG_OK) {
            return;
        }

        base = own;
    }

    cgroups->why = "its own cgroup is not delegated to it";

    if (!tg_cgroup_is_delegated(base)) {
        return;
    }

    tg_cgroups_end_old(base, mark);

    n = snprintf(cgroups->dir, sizeof(cgroups->dir), "%s/toolgate.%llx.%d",
                 base, (unsigned long long) mark, getpid());

    if (n < 0 || (size_t) n >= sizeof(cgroups->dir)
        || (cgroups->lock = tg_cgroup_own(cgroups->dir)) == -1)
    {
        cgroups->why = strerror(errno);
        cgroups->dir[0] = '\0';
        return;
    }

    cgroups->why = tg_cgroup_write(cgroups->dir, "cgroup.kill", "1") == 0
                       ? tg_cgroups_try(cgroups)
                       : "the kernel is older than 5.14";

    if (cgroups->why != NULL) {
        tg_cgroups_close(cgroups);
        cgroups->dir[0] = '\0';
        return;
    }

    cgroups->why = tg_cgroups_controllers(cgroups, base, guardian);
}
