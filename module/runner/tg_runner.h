/*
 * The runner proper: serves NGINX's workers on one socket.
 *
 * It speaks the `jsonrpc` dialect.  Methods: `exec` (tg_exec_params.h,
 * tg_exec_output.h), `release` and `adopt` (tg_held.h), and `status`;
 * `$/cancelRequest` ends a program, and so does the end of the connection.
 */
#ifndef TG_RUNNER_H
#define TG_RUNNER_H

#include "runner/tg_log.h"

#include <stdint.h>
#include <sys/types.h>

/* Connections; one a worker, and those of old workers after reloads. */
#define TG_RUNNER_CLIENTS_MAX 1024
/* Unread answers at which none of a client's waiting calls is started. */
#define TG_RUNNER_BACKLOG 67108864
/*
 * And at which it hears of no more progress: less than the backlog at which
 * its peer takes no more requests, of which one may be a cancellation.
 */
#define TG_RUNNER_TELL_BACKLOG 65536
/*
 * Calls in flight of one client: all that can run and wait, so that beyond
 * it is the queue that says "busy".
 */
#define TG_RUNNER_CALLS_MAX 2048
/* How long the first client has time to come, at least. */
#define TG_RUNNER_FIRST_MS 10000
/*
 * How often is looked whether the log was rotated, and for the socket's file:
 * one that a cleaner of temporary files took away would leave new workers
 * without a runner, as the lock is still held.
 */
#define TG_RUNNER_WATCH_MS 2000

typedef struct {
    const char *state_dir; /* absolute */
    uint64_t linger_ms;
    int ready_fd;   /* gets a byte when somebody listens; or -1 */
    pid_t guardian; /* the parent, which follows the log at SIGHUP */
} tg_runner_conf_t;

/*
 * Runs until nobody has needed it for linger_ms, or SIGTERM or SIGINT.  When
 * it returns, no descendant is left.  Returns the exit status: 0, also when
 * another runner serves already; 1 when it could not start (said on stderr).
 */
int tg_runner_run(const tg_runner_conf_t *conf);

#endif
