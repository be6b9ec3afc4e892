/*
 * The mark of a runner's programs, by which a later runner finds what is left
 * of them when the runner and its guardian were killed in one breath.
 *
 * It is the hard limit RLIMIT_RTTIME, a number that no machine reaches and
 * that counts for real-time scheduling only: all that a program starts has
 * it, whatever session, parent, name or environment that gives itself, and
 * without privileges nobody can raise it again.
 *
 * Its low bits are the program's serial, by which a runner knows whose an
 * orphan is.  That could be lowered to another's, so it is in a second limit
 * as well, upside down: RLIMIT_LOCKS, which Linux does not look at.  Whoever
 * lowers one has no serial any more.
 */
#ifndef TG_PROCESS_TAG_H
#define TG_PROCESS_TAG_H

#include <stdint.h>
#include <sys/types.h>

/* The bits of serials, which are 0 in the mark of a runner. */
#define TG_PROCESS_TAG_SERIAL_BITS 0xffffffffu

/* How long is swept for those that fork on meanwhile. */
#define TG_PROCESS_TAG_KILL_MS 10000

/* That of all runners whose lock is this file. */
uint64_t tg_process_tag_make(dev_t dev, ino_t ino);

/*
 * Marks the calling process; system calls only.  A service whose own limits
 * are lower has programs without a mark.
 */
void tg_process_tag_set(uint64_t process_tag, uint32_t serial);

/* That of a process, or a zombie, with this mark; 0: none. */
uint32_t tg_process_tag_read_serial(uint64_t process_tag, pid_t pid);

/*
 * Kills all that is marked and not below a runner or a guardian that lives.
 * Returns how many there were; *is_left: some may still be there.
 */
unsigned tg_process_tag_kill_all(uint64_t process_tag, int *is_left);

#endif
