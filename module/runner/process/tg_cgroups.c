/* All cgroups of a runner: base, start, removal of old ones. */
#include "runner/process/tg_cgroup.h"

#include "base/tg_base.h"
#include "runner/process/tg_clone.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define TG_CGROUP_TICK_MS 10

/* Removes the empty cgroups in a cgroup. */
static void
tg_cgroup_remove_children(const char *path)
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
tg_cgroups_remove_empty(tg_cgroups_t *cgroups)
{
    unsigned long number;
    unsigned n;

    /* tg_cgroup_remove() appends those that still cannot be removed. */
    for (n = cgroups->nonempty_count; n > 0; n--) {
        number = cgroups->nonempty[n - 1];
        cgroups->nonempty[n - 1] = cgroups->nonempty[--cgroups->nonempty_count];
        tg_cgroup_remove(cgroups, number);
    }
}

void
tg_cgroups_close(tg_cgroups_t *cgroups)
{
    if (cgroups->dir[0] != '\0') {
        tg_cgroup_remove_children(cgroups->dir);
        (void) rmdir(cgroups->dir);
        (void) close(cgroups->lock);
    }
}

static int
tg_cgroup_is_empty(const char *path)
{
    char text[TG_CGROUP_TEXT_MAX];

    tg_cgroup_read_file(path, "cgroup.events", text);

    return strstr(text, "populated 1") == NULL;
}

/* Kills processes that a killed runner left, and waits for their end. */
static void
tg_cgroup_kill_leftovers(const char *path)
{
    struct timespec tick = { 0, TG_CGROUP_TICK_MS * 1000000 };
    int rest;

    (void) tg_cgroup_write_file(path, "cgroup.kill", "1");

    for (rest = TG_CGROUP_WAIT_MS; rest > 0 && !tg_cgroup_is_empty(path);
         rest -= TG_CGROUP_TICK_MS)
    {
        (void) nanosleep(&tick, NULL);
    }
}

/* Locks a cgroup. Returns a descriptor, or -1: its runner is alive. */
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

/*
 * Creates and locks a cgroup, again if another runner removes it before the
 * lock. Other users must not open it, as they could lock it.
 */
static int
tg_cgroup_create_locked(const char *path)
{
    struct timespec tick = { 0, TG_CGROUP_TICK_MS * 1000000 };
    struct stat own, there;
    int fd, rest;

    for (rest = TG_CGROUP_WAIT_MS; rest > 0; rest -= TG_CGROUP_TICK_MS) {
        if (mkdir(path, 0700) == -1 && errno != EEXIST) {
            break;
        }

        fd = tg_cgroup_lock(path);

        if (fd != -1 && fstat(fd, &own) == 0 && stat(path, &there) == 0
            && own.st_ino == there.st_ino)
        {
            return fd;
        }

        if (fd != -1) {
            (void) close(fd);
        }

        (void) nanosleep(&tick, NULL);
    }

    return -1;
}

/* Returns the process tag in the name of a runner's cgroup, or 0. */
static uint64_t
tg_cgroup_parse_tag(const char *name)
{
    unsigned long long process_tag;
    unsigned pid;
    char more;

    return sscanf(name, "toolgate.%llx.%u%c", &process_tag, &pid, &more) == 2
               ? process_tag
               : 0;
}

/*
 * Kills processes of dead runners with this tag. Removes other dead runners'
 * empty cgroups: no later runner might have their state directory.
 */
static void
tg_cgroups_remove_old(const char *base, uint64_t process_tag)
{
    char path[TG_CGROUP_PATH_MAX];
    uint64_t tag;
    struct dirent *entry;
    DIR *dir;
    int n, fd;

    dir = opendir(base);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        n = snprintf(path, sizeof(path), "%s/%s", base, entry->d_name);
        tag = tg_cgroup_parse_tag(entry->d_name);

        if (tag != 0 && (size_t) n < sizeof(path)
            && (fd = tg_cgroup_lock(path)) != -1) {
            if (tag == process_tag) {
                tg_cgroup_kill_leftovers(path);
            }

            tg_cgroup_remove_children(path);
            (void) rmdir(path);
            (void) close(fd);
        }
    }

    if (dir != NULL) {
        (void) closedir(dir);
    }
}

/* --- cgroup of the runner --- */

/* Finds the runner's cgroup, `base`. Returns TG_OK or TG_MISSING. */
static int
tg_cgroup_find_own(char base[TG_CGROUP_PATH_MAX])
{
    char root[TG_CGROUP_TEXT_MAX], mount[TG_CGROUP_TEXT_MAX],
        text[TG_CGROUP_TEXT_MAX];
    char line[2 * TG_CGROUP_TEXT_MAX], *own;
    size_t len;
    FILE *file;
    int n;

    n = -1;
    tg_cgroup_read_file("/proc/self", "cgroup", text);
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
            n = snprintf(base, TG_CGROUP_PATH_MAX, "%s%s", mount, own);
        }
    }

    (void) fclose(file);

    return n > 0 && n < TG_CGROUP_PATH_MAX ? TG_OK : TG_MISSING;
}

/* Checks for write access, or delegation if systemd manages the cgroup. */
static int
tg_cgroup_is_delegated(const char *base)
{
    static const char *const names[] = { "user.delegate", "trusted.delegate" };
    char path[TG_CGROUP_PATH_MAX + 16], value;
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

static void
tg_cgroups_exit_test_child(void *ctx, int has_handlers)
{
    _exit(0);
}

/* Creates a cgroup with a process, as a test. Returns NULL or an error. */
static const char *
tg_cgroups_test_create(tg_cgroups_t *cgroups)
{
    static const tg_program_options_t none;
    unsigned long number;
    int fd, err;
    pid_t pid;

    err = tg_cgroup_create(cgroups, &none, &number, &fd);

    if (err != 0) {
        return strerror(err);
    }

    pid = tg_clone_child(fd, tg_cgroups_exit_test_child, NULL);
    (void) close(fd);

    while (pid > 0 && waitpid(pid, NULL, 0) == -1 && errno == EINTR) {
        /* void */
    }

    tg_cgroup_remove(cgroups, number);

    return pid == -1 ? "no process can be started in a cgroup (clone3)" : NULL;
}

/* Moves runner and supervisor to a cgroup, so that base has no processes. */
static void
tg_cgroups_move_runner(const tg_cgroups_t *cgroups, pid_t supervisor)
{
    char path[TG_CGROUP_PATH_MAX], pid[16];

    (void) snprintf(path, sizeof(path), "%s/runner", cgroups->dir);
    (void) mkdir(path, 0755);
    (void) snprintf(pid, sizeof(pid), "%d", supervisor);
    (void) tg_cgroup_write_file(path, "cgroup.procs", pid);
    (void) tg_cgroup_write_file(path, "cgroup.procs", "0");
}

/* Enables the controllers memory and pids. Returns NULL or an error message. */
static const char *
tg_cgroups_enable_controllers(tg_cgroups_t *cgroups, const char *base,
                              pid_t supervisor)
{
    static const char *const names[] = { "+memory", "+pids" };
    const char *why;
    size_t i;
    int err;

    why = NULL;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        err = tg_cgroup_write_file(base, "cgroup.subtree_control", names[i]);

        if (err == EBUSY) {
            tg_cgroups_move_runner(cgroups, supervisor);
            err = tg_cgroup_write_file(base, "cgroup.subtree_control",
                                       names[i]);
        }

        if (err == 0) {
            err = tg_cgroup_write_file(cgroups->dir, "cgroup.subtree_control",
                                       names[i]);
        }

        if (err == EBUSY) {
            why = "the cgroup of toolgate-runner contains other processes";
        } else if (err != 0) {
            why = "the controllers memory and pids are not both delegated to "
                  "toolgate-runner";
        }
    }

    return why;
}

void
tg_cgroups_open(tg_cgroups_t *cgroups, const char *base, uint64_t process_tag,
                pid_t supervisor)
{
    char own[TG_CGROUP_PATH_MAX];
    int n;

    memset(cgroups, 0, sizeof(*cgroups));
    cgroups->why = "there is no cgroup v2";

    if (base == NULL) {
        if (tg_cgroup_find_own(own) != TG_OK) {
            return;
        }

        base = own;
    }

    cgroups->why = "the cgroup of toolgate-runner is not delegated to it";

    if (!tg_cgroup_is_delegated(base)) {
        return;
    }

    tg_cgroups_remove_old(base, process_tag);

    n = snprintf(cgroups->dir, sizeof(cgroups->dir), "%s/toolgate.%llx.%d",
                 base, (unsigned long long) process_tag, getpid());

    if (n < 0 || (size_t) n >= sizeof(cgroups->dir)
        || (cgroups->lock = tg_cgroup_create_locked(cgroups->dir)) == -1)
    {
        cgroups->why = strerror(errno);
        cgroups->dir[0] = '\0';
        return;
    }

    cgroups->why = tg_cgroup_write_file(cgroups->dir, "cgroup.kill", "1") == 0
                       ? tg_cgroups_test_create(cgroups)
                       : "the kernel is older than 5.14";

    if (cgroups->why != NULL) {
        tg_cgroups_close(cgroups);
        cgroups->dir[0] = '\0';
        return;
    }

    cgroups->why = tg_cgroups_enable_controllers(cgroups, base, supervisor);
}
