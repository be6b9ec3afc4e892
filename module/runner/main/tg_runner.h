/* The runner: serves workers on a socket, by methods of tg_worker_conn.c. */
#ifndef TG_RUNNER_H
#define TG_RUNNER_H

#include <stdint.h>
#include <sys/types.h>

/* Minimum time to wait for the first worker, in ms. */
#define TG_RUNNER_FIRST_WORKER_MS 10000

/*
 * Interval of checks in ms whether the log was rotated, and the socket's file
 * exists: if it was removed, new workers would have no runner.
 */
#define TG_RUNNER_CHECK_FILES_MS 2000

typedef struct {
    const char *state_dir; /* absolute path of the state directory */
    uint64_t linger_ms;
    int is_foreground; /* no worker started it; logs to stderr */
    int is_reporting;  /* a startup error goes to ready_fd, not the log */
    int ready_fd;      /* receives a NUL when the runner listens, or -1 */
    pid_t supervisor;  /* parent process; reopens the log at SIGHUP */
} tg_runner_conf_t;

/*
 * Runs until no worker has been connected for linger_ms, or SIGTERM or SIGINT,
 * and all descendants have ended. Returns the exit status: 0, also when another
 * runner serves; 1: could not start (logged).
 */
int tg_runner_run(const tg_runner_conf_t *conf);

#endif
