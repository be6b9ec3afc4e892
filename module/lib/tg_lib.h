/*
 * The common base of the library's files: the lock, errors, string copies.
 *
 * A server is the program's object.  A runtime exists from a start to a stop
 * of the server and owns the event loop.  Threads of the program use a runtime
 * only by commands, which the loop executes.
 *
 *   tg_server.c            options of a server
 *   tg_server_tools.c      tools of a server
 *   tg_server_lifecycle.c  start and stop
 *   tg_fork.c              exit() and forked children
 *   tg_runtime.c           the event loop: commands, timers, end
 *   tg_runtime_thread.c    the thread that runs the loop
 *   tg_server_session.c    one client
 *   tg_server_call.c       one call
 *   tg_client.c            a client: see tg_client.h
 */
#ifndef TG_LIB_H
#define TG_LIB_H

/* Includes the functions for libuv loops. */
#define TOOLGATE_UV
#include "api/toolgate.h"
#include "base/tg_buf.h"

#include <pthread.h>

/* --- tg_lib_error.c --- */

/*
 * Acquires the lock that guards all data shared by threads.  A thread holds
 * the lock only while it copies data, and never while a callback of the
 * program runs, so that fork() can acquire the lock.
 */
void tg_lib_lock(void);
void tg_lib_unlock(void);

/* Wakes all threads that wait in tg_lib_cond_wait(). */
void tg_lib_cond_broadcast(void);

/*
 * Waits for tg_lib_cond_broadcast().  Requires the lock and releases it
 * meanwhile.
 */
void tg_lib_cond_wait(void);

/*
 * Waits for a condition variable.  Requires the lock and releases it
 * meanwhile.
 */
void tg_lib_cond_wait_on(pthread_cond_t *cond);

/* Sets the text of toolgate_error() and returns code. */
int tg_lib_set_error(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Sets the text of toolgate_error(), followed by the text of errno.  Returns
 * TOOLGATE_ERR_SYSTEM.
 */
int tg_lib_set_errno_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * Sets the text of toolgate_error() to a lack of memory.  Returns
 * TOOLGATE_ERR_MEMORY.
 */
int tg_lib_set_nomem_error(void);

/*
 * Returns a copy that ends with a zero byte and that the caller frees, or NULL
 * if there is no memory.
 */
char *tg_str_dup(tg_str_t text);

#endif
