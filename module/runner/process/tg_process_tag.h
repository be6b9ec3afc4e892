/*
 * The process tag marks all processes of a runner's programs. With it, a later
 * runner finds processes that survived when the runner and its supervisor were
 * killed at the same moment.
 *
 * The tag is the hard limit RLIMIT_RTTIME, set to a value that no machine
 * reaches and that matters only for real-time scheduling. All descendants of a
 * program inherit it, whatever session, parent, name or environment they
 * choose, and without privileges no process can raise it again.
 *
 * The low bits are the program's serial number, which tells the runner the
 * program of an orphan. A process could lower the limit to another program's
 * number. So the inverted number is also in a second limit, RLIMIT_LOCKS, which
 * Linux ignores. A process that lowers one of them has no valid serial number
 * any more.
 */
#ifndef TG_PROCESS_TAG_H
#define TG_PROCESS_TAG_H

#include <stdint.h>
#include <sys/types.h>

/* Bits of the serial number. They are 0 in the tag of a runner. */
#define TG_PROCESS_TAG_SERIAL_BITS 0xffffffffu

/* Maximum time in ms of repeated searches for processes that keep forking. */
#define TG_PROCESS_TAG_KILL_MS 10000

/* Returns the tag of all runners whose lock is this file. */
uint64_t tg_process_tag_make(dev_t dev, ino_t ino);

/*
 * Sets the tag of the calling process. Makes system calls only. Has no effect
 * if the limits of the service are already lower.
 */
void tg_process_tag_set(uint64_t process_tag, uint32_t serial);

/*
 * Returns the serial number of a process or zombie with this tag, or 0 if it
 * has none.
 */
uint32_t tg_process_tag_read_serial(uint64_t process_tag, pid_t pid);

/*
 * Kills all processes with this tag that have no living runner or supervisor
 * above them. Returns their number. *is_left is 1 if some may still be alive.
 */
unsigned tg_process_tag_kill_all(uint64_t process_tag, int *is_left);

#endif
