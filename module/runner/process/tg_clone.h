/*
 * Creates a child process that will execute a program. Works like vfork(), but
 * can place the child in another cgroup, or create it without signal handlers,
 * so that it need not reset them one by one.
 */
#ifndef TG_CLONE_H
#define TG_CLONE_H

#include <sys/types.h>

/*
 * Runs in the child and must not return. has_handlers is 0 if all signal
 * handlers are reset already; ignored signals are still ignored.
 */
typedef void (*tg_clone_run_pt)(void *ctx, int has_handlers);

/*
 * Creates a child that calls run(ctx, has_handlers), in the cgroup with the
 * descriptor `cgroup`, or in the caller's if cgroup is -1. Returns when the
 * child has executed a program or has ended: its pid, or -1 with errno. On most
 * machines the child shares the caller's memory, on others it has a copy. So
 * run() may only make system calls and write shared memory, to which ctx must
 * point. The caller must block all signals.
 */
pid_t tg_clone_child(int cgroup, tg_clone_run_pt run, void *ctx);

#endif
