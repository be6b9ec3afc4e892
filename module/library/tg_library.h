/*
 * What the files of the library share: the lock, errors, and the memory that
 * one hands to the other.
 *
 * A server is what the program has; a run of it lasts from a start to a stop,
 * and owns the loop.  Whatever the program's threads want of a run is an
 * order, which the loop takes up.
 *
 *   tg_server.c   options, and …_offering.c: tools
 *   tg_life.c     start and stop, and …_fork.c: exit and children
 *   tg_run.c      the loop: orders, clients, time
 *   tg_session.c  one client
 *   tg_answer.c   one call
 *   tg_drive.c    who runs the loop
 *   tg_client.c   the other end: tg_client.h
 */
#ifndef TG_LIBRARY_H
#define TG_LIBRARY_H

/* With what is about loops of libuv. */
#define TOOLGATE_UV
#include "api/toolgate.h"
#include "base/tg_buf.h"

#include <pthread.h>

/* --- tg_error.c --- */

/*
 * One lock for all that threads share, held for as long as copying takes and
 * never while a callback of the program's runs.  So whoever forks has it.
 */
void tg_library_lock(void);
void tg_library_unlock(void);

/* Somebody who waits under it looks again; and waits. */
void tg_library_signal(void);
void tg_library_wait(void);
void tg_library_wait_for(pthread_cond_t *cond);

/* Keeps a text for toolgate_error() and returns the code. */
int tg_error(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with what errno says behind it. */
int tg_error_system(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
int tg_error_memory(void);

/* An owned copy with a zero behind it; NULL: no memory. */
char *tg_text_copy(tg_str_t text);

#endif
