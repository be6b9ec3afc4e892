/*
 * Creates a child that will execute a program, like vfork(), but maybe in
 * another cgroup, or without signal handlers, so that it need not reset them.
 */
#ifndef TG_CLONE_H
#define TG_CLONE_H

#include <sys/types.h>

/*
 * Runs in the child and must not return. has_handlers is 0 if all handlers are
 * reset; signals may still be ignored.
 */
typedef void (*tg_clone_run_pt)(void *ctx, int has_handlers);

/*
 * Creates a child that calls run(ctx, has_handlers), in the cgroup with a
 * descriptor or the caller's (-1). Returns its pid or -1 with errno, when it
 * has executed a program or ended. The child may share the caller's memory:
 * run() may only make system calls and write shared memory, to which ctx
 * points. All signals must be blocked.
 */
pid_t tg_clone_child(int cgroup, tg_clone_run_pt run, void *ctx);

#endif
