/*
 * A child process that is to run a program, in another cgroup: what vfork()
 * does, which cannot start there.
 */
#ifndef TG_CLONE_H
#define TG_CLONE_H

#include <sys/types.h>

/*
 * Has a child call run(ctx), which does not return; in the cgroup of which
 * this is a descriptor, or for -1 in ours.  Returns when it runs a program
 * or has ended: its pid, or -1 with errno.
 *
 * On most machines it shares our memory, on others it has a copy: run makes
 * system calls and writes nothing but shared memory, which ctx is.  Signals
 * are to be blocked.
 */
pid_t tg_clone(int cgroup, void (*run)(void *ctx), void *ctx);

#endif
