/*
 * A child process that is to run a program: what vfork() does, but in another
 * cgroup, or without the signal handlers that it would have to undo one by one.
 */
#ifndef TG_CLONE_H
#define TG_CLONE_H

#include <sys/types.h>

/*
 * Has a child call run(ctx, has_handlers), which does not return; in the cgroup
 * of which this is a descriptor, or for -1 in ours.  has_handlers is 0 where
 * signals have no handlers in it; those that we ignore, it ignores.  Returns
 * when it runs a program or has ended: its pid, or -1 with errno.
 *
 * On most machines it shares our memory, on others it has a copy: run makes
 * system calls and writes nothing but shared memory, which ctx is.  Signals
 * are to be blocked.
 */
typedef void (*tg_clone_run_pt)(void *ctx, int has_handlers);

pid_t tg_clone_child(int cgroup, tg_clone_run_pt run, void *ctx);

#endif
