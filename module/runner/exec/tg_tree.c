#include "runner/exec/tg_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A stat line: 52 numbers and a name of at most 64 bytes. */
#define TG_STAT_MAX 1280
/* How long a sweep waits for the killed to be gone before it looks again. */
#define TG_SWEEP_WAIT_NS 20000000

void
tg_tree_init(tg_tree_t *tree)
{
    memset(tree, 0, sizeof(*tree));
}

void
tg_tree_deinit(tg_tree_t *tree)
{
    free(tree->procs);
    tg_tree_init(tree);
}

/* "PID (name) S PPID PGRP SID …", the start time is field 22. */
static int
tg_proc_parse(const char *text, tg_proc_t *proc)
{
    unsigned long long start;
    const char *p;
    int ppid, pgrp, sid;
    char state;

    /* The name may hold anything, brackets and spaces too. */
    p = strrchr(text, ')');

    if (p == NULL
        || sscanf(p + 1,
                  " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                  "%*d %*d %*d %*d %llu",
                  &state, &ppid, &pgrp, &sid, &start)
               != 5)
    {
        return TG_BAD;
    }

    proc->ppid = ppid;
    proc->pgrp = pgrp;
    proc->sid = sid;
    proc->start = start;
    proc->is_zombie = state == 'Z' || state == 'X';
    proc->mark = 0;

    return TG_OK;
}

static int
tg_proc_read(pid_t pid, tg_proc_t *proc)
{
    char name[32], text[TG_STAT_MAX];
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

static int
tg_tree_add(tg_tree_t *tree, const tg_proc_t *proc)
{
    tg_proc_t *procs;
    size_t cap;

    if (tree->n == tree->cap) {
        cap = tree->cap ? tree->cap * 2 : 256;
        procs = realloc(tree->procs, cap * sizeof(procs[0]));

        if (procs == NULL) {
            return TG_NOMEM;
        }

        tree->procs = procs;
        tree->cap = cap;
    }

    tree->procs[tree->n++] = *proc;

    return TG_OK;
}

static int
tg_tree_read(tg_tree_t *tree, DIR *dir)
{
    struct dirent *entry;
    tg_proc_t proc;

    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9'
            || tg_proc_read(atoi(entry->d_name), &proc) != TG_OK)
        {
            continue;
        }

        if (tg_tree_add(tree, &proc) != TG_OK) {
            return TG_NOMEM;
        }
    }

    return TG_OK;
}

static int
tg_proc_compare(const void *a, const void *b)
{
    const tg_proc_t *left, *right;

    left = a;
    right = b;

    return (left->pid > right->pid) - (left->pid < right->pid);
}

tg_proc_t *
tg_tree_find(const tg_tree_t *tree, pid_t pid)
{
    tg_proc_t key;

    if (tree->n == 0) {
        return NULL;
    }

    memset(&key, 0, sizeof(key));
    key.pid = pid;

    return bsearch(&key, tree->procs, tree->n, sizeof(key), tg_proc_compare);
}

/*
 * Marks: 1 at and below root, -1 elsewhere.  The listing is no snapshot, so
 * parents may be missing or, with numbers used again, form a ring: hence the
 * bound.
 */
static void
tg_tree_mark(tg_tree_t *tree, tg_proc_t *proc)
{
    tg_proc_t *p;
    size_t steps;
    int mark;

    p = proc;

    for (steps = 0; p != NULL && p->mark == 0 && steps < tree->n; steps++) {
        p = tg_tree_find(tree, p->ppid);
    }

    mark = p != NULL && p->mark == 1 ? 1 : -1;

    for (p = proc; p != NULL && p->mark == 0; p = tg_tree_find(tree, p->ppid)) {
        p->mark = mark;
    }
}

static void
tg_tree_prune(tg_tree_t *tree, pid_t root)
{
    tg_proc_t *proc;
    size_t i, n;

    proc = tg_tree_find(tree, root);

    if (proc == NULL) {
        tree->n = 0;
        return;
    }

    proc->mark = 1;

    for (i = 0; i < tree->n; i++) {
        tg_tree_mark(tree, &tree->procs[i]);
    }

    for (i = 0, n = 0; i < tree->n; i++) {
        if (tree->procs[i].mark == 1 && tree->procs[i].pid != root) {
            tree->procs[n] = tree->procs[i];
            tree->procs[n++].mark = 0;
        }
    }

    tree->n = n;
}

int
tg_tree_scan(tg_tree_t *tree, pid_t root)
{
    DIR *dir;
    int rc;

    tree->n = 0;
    dir = opendir("/proc");

    if (dir == NULL) {
        return TG_MISSING;
    }

    rc = tg_tree_read(tree, dir);
    (void) closedir(dir);

    if (rc != TG_OK) {
        tree->n = 0;
        return rc;
    }

    if (tree->n != 0) {
        qsort(tree->procs, tree->n, sizeof(tree->procs[0]), tg_proc_compare);
    }

    tg_tree_prune(tree, root);

    return TG_OK;
}

/* Does the number still stand for the process that was read? */
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
     * A descriptor names one process for good.  Once it is open, comparing
     * the start time says whether it is the right one; what happens to the
     * number afterwards does not matter.
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

static void
tg_sweep_kill(tg_tree_t *tree)
{
    size_t i;

    if (tg_tree_scan(tree, getpid()) != TG_OK) {
        return;
    }

    for (i = 0; i < tree->n; i++) {
        (void) tg_proc_signal(&tree->procs[i], SIGKILL);
    }
}

void
tg_tree_sweep(void)
{
    struct timespec wait;
    tg_tree_t tree;
    sigset_t set;
    pid_t pid;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    (void) sigprocmask(SIG_BLOCK, &set, NULL);
    tg_tree_init(&tree);

    for (;;) {
        do {
            pid = waitpid(-1, NULL, WNOHANG);
        } while (pid > 0 || (pid == -1 && errno == EINTR));

        if (pid == -1) {
            break;
        }

        tg_sweep_kill(&tree);
        wait.tv_sec = 0;
        wait.tv_nsec = TG_SWEEP_WAIT_NS;
        (void) sigtimedwait(&set, NULL, &wait);
    }

    tg_tree_deinit(&tree);
}
