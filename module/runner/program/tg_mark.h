/*
 * The mark of a runner's programs, by which a later runner finds what is left
 * of them when the runner and its guardian were killed in one breath.
 *
 * It is the hard limit RLIMIT_RTTIME, a number that no machine reaches and
 * that counts for real-time scheduling only: all that a program starts has
 * it, whatever session, parent, name or environment that gives itself, and
 * without privileges nobody can raise it again.
 */
#ifndef TG_MARK_H
#define TG_MARK_H

#include <stdint.h>
#include <sys/types.h>

/* How long is swept for those that fork on meanwhile. */
#define TG_MARK_SWEEP_MS 10000

/* That of all runners whose lock is this file. */
uint64_t tg_mark(dev_t dev, ino_t ino);

/*
 * Marks the calling process; a system call only.  A service whose own limit
 * is lower has programs without a mark.
 */
void tg_mark_set(uint64_t mark);

/*
 * Kills all that is marked and not below a runner or a guardian that lives.
 * Returns how many there were; *is_left: some may still be there.
 */
unsigned tg_mark_sweep(uint64_t mark, int *is_left);

#endif
