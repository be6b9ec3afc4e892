/*
 * The process tag marks all processes of programs, so that a later runner finds
 * those that survived when runner and supervisor were killed together. It is
 * the hard limit RLIMIT_RTTIME, with a value that no machine reaches. All
 * descendants inherit it, and no process without privileges can raise it again.
 *
 * The low bits are the program's serial number, for orphans. A process could
 * lower the limit to another program's number, so the inverted number is also
 * in RLIMIT_LOCKS, which Linux ignores: after lowering one, a process has no
 * valid number.
 */
#ifndef TG_PROCESS_TAG_H
#define TG_PROCESS_TAG_H

#include <stdint.h>
#include <sys/types.h>

/* Bits of the serial number. They are 0 in the tag of a runner. */
#define TG_PROCESS_TAG_SERIAL_BITS 0xffffffffu

/* Maximum time in ms for killing processes that keep forking. */
#define TG_PROCESS_TAG_KILL_MS 10000

/* Returns the tag of all runners whose lock is this file. */
uint64_t tg_process_tag_make(dev_t dev, ino_t ino);

/* Sets the caller's tag, by system calls only, unless limits are lower. */
void tg_process_tag_set(uint64_t process_tag, uint32_t serial);

/* Returns the serial number of a process or zombie with this tag, or 0. */
uint32_t tg_process_tag_read_serial(uint64_t process_tag, pid_t pid);

/*
 * Kills tagged processes without a living runner or supervisor above them.
 * Returns their number. *is_left: some may be alive.
 */
unsigned tg_process_tag_kill_all(uint64_t process_tag, int *is_left);

#endif
