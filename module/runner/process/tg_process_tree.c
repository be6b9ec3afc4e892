/* Reads processes and their children from /proc and signals them. */
#include "runner/process/tg_process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Size of a stat line: 52 numbers and a name of at most 64 bytes. */
#define TG_PROC_STAT_MAX 1280

/* Parses "PID (name) S PPID PGRP SID …"; the start time is field 22. */
static int
tg_proc_parse(const char *text, tg_proc_t *proc)
{
    unsigned long long start;
    const char *p;
    int ppid, pgrp, sid;
    char state;

    /* The name may contain ")" and spaces. */
    p = strrchr(text, ')');

    if (p == NULL
        || sscanf(p + 1,
                  " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                  "%*d %*d %*d %*d %llu",
                  &state, &ppid, &pgrp, &sid, &start)
               != 5)
    {
        return TG_INVALID;
    }

    proc->ppid = ppid;
    proc->pgrp = pgrp;
    proc->sid = sid;
    proc->start = start;
    proc->is_zombie = state == 'Z' || state == 'X';

    return TG_OK;
}

int
tg_proc_read(pid_t pid, tg_proc_t *proc)
{
    char name[32], text[TG_PROC_STAT_MAX];
    ssize_t n;
    int fd;

    snprintf(name, sizeof(name), "/proc/%d/stat", pid);
    fd = open(name, O_RDONLY | O_CLOEXEC);

    if (fd == -1) {
        return TG_MISSING;
    }

    n = read(fd, text, sizeof(text) - 1);
    (void) close(fd);

    if (n <= 0) {
        return TG_MISSING;
    }

    text[n] = '\0';
    proc->pid = pid;

    return tg_proc_parse(text, proc);
}

/* --- children --- */

int
tg_pid_list_for_each(int fd, tg_pid_visit_pt take, void *ctx)
{
    char text[1024];
    off_t offset;
    ssize_t len, i;
    pid_t pid;

    /* Pids end with a space or newline: "12 34 56 ". */
    for (offset = 0, pid = 0;; offset += len) {
        len = pread(fd, text, sizeof(text), offset);

        if (len <= 0) {
            return 1;
        }

        for (i = 0; i < len; i++) {
            if (text[i] >= '0') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }

            if (!take(ctx, pid)) {
                return 0;
            }

            pid = 0;
        }
    }
}

pid_t
tg_proc_dir_next_pid(DIR *dir)
{
    struct dirent *entry;

    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
            return atoi(entry->d_name);
        }
    }

    return 0;
}

/* Checks for `children` files, which some kernels and sandboxes lack. */
static int
tg_proc_has_children_files(void)
{
    static int answer; /* cached result: 1, -1, or 0 before the check */

    if (answer == 0) {
        answer = access("/proc/thread-self/children", F_OK) == 0 ? 1 : -1;
    }

    return answer == 1;
}

/* Searches all of /proc for children, if there are no `children` files. */
static void
tg_proc_search_children(pid_t parent, tg_pid_visit_pt take, void *ctx)
{
    tg_proc_t proc;
    pid_t pid;
    DIR *dir;

    dir = opendir("/proc");

    if (dir == NULL) {
        return;
    }

    while ((pid = tg_proc_dir_next_pid(dir)) != 0) {
        if (tg_proc_read(pid, &proc) == TG_OK && proc.ppid == parent
            && !take(ctx, pid)) {
            break;
        }
    }

    (void) closedir(dir);
}

void
tg_proc_for_each_child(pid_t parent, tg_pid_visit_pt take, void *ctx)
{
    int fd, wants_more;
    char path[64];
    pid_t thread;
    DIR *dir;

    /* A process without such a file is about to end. */
    if (!tg_proc_has_children_files()) {
        tg_proc_search_children(parent, take, ctx);
        return;
    }

    snprintf(path, sizeof(path), "/proc/%d/task", parent);
    dir = opendir(path);

    if (dir == NULL) {
        return;
    }

    wants_more = 1;

    while (wants_more && (thread = tg_proc_dir_next_pid(dir)) != 0) {
        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent,
                 thread);
        fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd != -1) {
            wants_more = tg_pid_list_for_each(fd, take, ctx);
            (void) close(fd);
        }
    }

    (void) closedir(dir);
}

int
tg_process_tree_add_one(void *ctx, pid_t pid)
{
    tg_process_tree_t *tree;

    tree = ctx;

    if (tree->n < TG_PROCESS_TREE_MAX
        && tg_proc_read(pid, &tree->procs[tree->n]) == TG_OK)
    {
        tree->n++;
    }

    return tree->n < TG_PROCESS_TREE_MAX;
}

void
tg_process_tree_add_descendants(tg_process_tree_t *tree, pid_t root)
{
    size_t next;
    pid_t parent;

    /* The children of each added process are searched as well. */
    for (parent = root, next = tree->n;; parent = tree->procs[next++].pid) {
        tg_proc_for_each_child(parent, tg_process_tree_add_one, tree);

        if (next == tree->n || tree->n == TG_PROCESS_TREE_MAX) {
            break;
        }
    }
}

void
tg_process_tree_add(tg_process_tree_t *tree, pid_t root)
{
    (void) tg_process_tree_add_one(tree, root);
    tg_process_tree_add_descendants(tree, root);
}

/* --- signals --- */

/* Checks whether the pid still belongs to the process that was read. */
static int
tg_proc_is_same(const tg_proc_t *proc)
{
    tg_proc_t now;

    return tg_proc_read(proc->pid, &now) == TG_OK && now.start == proc->start;
}

int
tg_proc_signal(const tg_proc_t *proc, int sig)
{
    int fd, rc;

    /*
     * A pidfd refers to one process for ever. The start time then shows whether
     * it is the right one, whatever happens to the pid.
     */
    fd = (int) syscall(SYS_pidfd_open, proc->pid, 0);

    if (fd == -1 && errno != ENOSYS) {
        return -1;
    }

    rc = -1;

    if (tg_proc_is_same(proc)) {
        rc = fd == -1 ? kill(proc->pid, sig)
                      : (int) syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return rc;
}

void
tg_process_tree_kill_all(void)
{
    struct timespec wait;
    tg_process_tree_t tree;
    sigset_t set;
    pid_t pid;
    size_t i;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    (void) sigprocmask(SIG_BLOCK, &set, NULL);

    for (;;) {
        do {
            pid = waitpid(-1, NULL, WNOHANG);
        } while (pid > 0 || (pid == -1 && errno == EINTR));

        if (pid == -1) {
            break;
        }

        tree.n = 0;
        tg_process_tree_add_descendants(&tree, getpid());

        for (i = 0; i < tree.n; i++) {
            (void) tg_proc_signal(&tree.procs[i], SIGKILL);
        }

        wait.tv_sec = 0;
        wait.tv_nsec = TG_PROCESS_KILL_WAIT_NS;
        (void) sigtimedwait(&set, NULL, &wait);
    }
}
