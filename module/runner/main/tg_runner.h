/*
 * The runner proper: serves NGINX's workers on one socket, in the `jsonrpc`
 * dialect.  Its methods are in tg_worker_conn.c.
 */
#ifndef TG_RUNNER_H
#define TG_RUNNER_H

#include <stdint.h>
#include <sys/types.h>

/* How long the first worker has time to come, at least. */
#define TG_RUNNER_FIRST_WORKER_MS 10000
/*
 * How often is looked whether the log was rotated, and for the socket's file:
 * one that a cleaner of temporary files took away would leave new workers
 * without a runner, as the lock is still held.
 */
#define TG_RUNNER_CHECK_FILES_MS 2000

typedef struct {
    const char *state_dir; /* absolute */
    uint64_t linger_ms;
    int is_foreground; /* nobody's: it logs to stderr */
    int is_reporting;  /* why nobody listens goes to ready_fd, not the log */
    int ready_fd;      /* gets a NUL when somebody listens; or -1 */
    pid_t guardian;    /* the parent, which follows the log at SIGHUP */
} tg_runner_conf_t;

/*
 * Runs until nobody has needed it for linger_ms, or SIGTERM or SIGINT.  When
 * it returns, no descendant is left.  Returns the exit status: 0, also when
 * another runner serves already; 1 when it could not start (said in the log).
 */
int tg_runner_run(const tg_runner_conf_t *conf);

#endif
