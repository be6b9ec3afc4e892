/*
 * The common base of the library's files: the lock, errors, string copies.
 *
 * A server is the program's object. A runtime exists from its start to its stop
 * and owns the event loop; threads of the program use it only by commands,
 * which the loop executes.
 *
 * Unless its comment says otherwise, a function that returns an int returns 0,
 * or a TOOLGATE_ERR_... code with toolgate_error() set.
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

/*
 * Guards all data shared by threads. A thread holds the lock only while it
 * copies data, and never while a callback of the program runs, so that fork()
 * can acquire it.
 */
void tg_lib_lock(void);
void tg_lib_unlock(void);

/* Wakes all threads that wait in tg_lib_cond_wait(). */
void tg_lib_cond_broadcast(void);

/* Waits for a broadcast. Requires the lock and releases it meanwhile. */
void tg_lib_cond_wait(void);

/* Waits for cond. Requires the lock and releases it meanwhile. */
void tg_lib_cond_wait_on(pthread_cond_t *cond);

/* Sets toolgate_error() and returns code. */
int tg_lib_set_error(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets an error with the text of errno. Returns TOOLGATE_ERR_SYSTEM. */
int tg_lib_set_errno_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Sets the error of a lack of memory. Returns TOOLGATE_ERR_MEMORY. */
int tg_lib_set_nomem_error(void);

/* Returns a copy with a zero byte, which the caller frees. NULL: no memory. */
char *tg_str_dup(tg_str_t text);

#endif
