/*
 * What the files of the library share: the lock, errors, and the memory that
 * one hands to the other.
 *
 * A server is what the program has; a run of it lasts from a start to a stop,
 * and owns the loop.  Whatever the program's threads want of a run is an
 * order, which the loop takes up.
 *
 *   tg_server.c   options, and tg_server_tools.c: tools
 *   tg_server_lifecycle.c     start and stop, and tg_fork.c: exit and children
 *   tg_runtime.c      the loop: orders, clients, time
 *   tg_server_session.c  one client
 *   tg_server_call.c   one call
 *   tg_runtime_thread.c    who runs the loop
 *   tg_client.c   the other end: tg_client.h
 */
#ifndef TG_LIB_H
#define TG_LIB_H

/* With what is about loops of libuv. */
#define TOOLGATE_UV
#include "api/toolgate.h"
#include "base/tg_buf.h"

#include <pthread.h>

/* --- tg_lib_error.c --- */

/*
 * One lock for all that threads share, held for as long as copying takes and
 * never while a callback of the program's runs.  So whoever forks has it.
 */
void tg_lib_lock(void);
void tg_lib_unlock(void);

/* Somebody who waits under it looks again; and waits. */
void tg_lib_cond_broadcast(void);
void tg_lib_cond_wait(void);
void tg_lib_cond_wait_on(pthread_cond_t *cond);

/* Keeps a text for toolgate_error() and returns the code. */
int tg_lib_set_error(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with what errno says behind it. */
int tg_lib_set_errno_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
int tg_lib_set_nomem_error(void);

/* An owned copy with a zero behind it; NULL: no memory. */
char *tg_str_dup(tg_str_t text);

#endif
