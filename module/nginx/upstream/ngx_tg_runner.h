/*
 * The connection to toolgate-runner, and the start of the runner.
 *
 *   ngx_tg_runner.c          connection of a worker
 *   ngx_tg_runner_list.c     list of runners, their addresses
 *   ngx_tg_runner_sync.c     blocking request of the master
 *   ngx_tg_runner_start.c    start of the runner's process
 *   ngx_tg_runner_version.c  version check when a config is read
 */
#ifndef _NGX_TG_RUNNER_H_INCLUDED_
#define _NGX_TG_RUNNER_H_INCLUDED_

#include "nginx/upstream/ngx_tg_upstream_conn.h"

#include <sys/un.h>

/* The name has the protocol's version: each version has its own runner. */
#define NGX_TG_RUNNER_SOCKET_NAME "runner-3.sock"

/* Maximum length of the reason why the runner cannot start, in bytes. */
#define NGX_TG_RUNNER_ERROR_MAX 255

struct ngx_tg_runner_s {
    ngx_str_t path;      /* path of the program; empty: search for it */
    ngx_str_t state_dir; /* empty: beside the pid file */
    struct sockaddr_un sockaddr;

    /* Members for the worker's connection. */
    ngx_tg_upstream_conn_t conn;
    ngx_queue_t relayed;      /* list of ngx_tg_relayed_call_t */
    ngx_queue_t subscribers;  /* list of ngx_tg_runner_subscriber_t */
    ngx_msec_t started_at;    /* time of the last start of the runner, in ms */
    ngx_msec_t restart_delay; /* minimum time between two starts, in ms */
    ngx_connection_t
        /* report of the last started runner; NULL: none, or read */
        *report_conn;
    size_t error_len;
    /* reason why the last start failed, or empty */
    u_char error[NGX_TG_RUNNER_ERROR_MAX + 1];
    /* time when that was logged, in seconds; 0: not logged */
    time_t logged_at;
    /* started by this worker; has not answered yet */
    unsigned has_started:1;
    unsigned
        /* belongs to another config: this config does not start it */
        is_of_other_config:1;
};

/* A call for a session in another worker. It keeps the connection open. */
typedef struct {
    ngx_queue_t queue;
    ngx_tg_runner_t *runner; /* NULL: not in a list */
    const char *key;
    void *data;

    /* Called when nobody needs the result; the call is off the list. */
    void (*on_gone)(void *data);
} ngx_tg_relayed_call_t;

/* A subscriber to the runner's notifications that are not about a call. */
typedef struct {
    ngx_queue_t queue;
    void *data;
    void (*on_notification)(void *data, tg_str_t method, tg_str_t params);

    /* Called after a loss: the subscriber must send its request again. */
    void (*on_lost)(void *data);
} ngx_tg_runner_subscriber_t;

/* Adds a subscriber, whose memory stays valid until the worker exits. */
void ngx_tg_runner_add_subscriber(ngx_tg_runner_t *runner,
                                  ngx_tg_runner_subscriber_t *subscriber);

/* Adds a relayed call, which keeps the connection open. */
void ngx_tg_runner_add_relayed_call(ngx_tg_runner_t *runner,
                                    ngx_tg_relayed_call_t *relayed);
void ngx_tg_relayed_call_remove(ngx_tg_relayed_call_t *relayed);

/* Keeps the connection open for a client whose end must be sent. */
void ngx_tg_runner_hold_conn(ngx_tg_runner_t *runner);
/* Ends one ngx_tg_runner_hold_conn(). */
void ngx_tg_runner_release_conn(ngx_tg_runner_t *runner);

/* Sends raw JSON params if the connection is open. */
void ngx_tg_runner_notify(ngx_tg_runner_t *runner, tg_str_t method,
                          tg_str_t params);

/*
 * Starts a runner that outlives this worker, unless one was started a moment
 * ago. NGX_OK: connect again later; NGX_ERROR: impossible. If the runner
 * reports that it cannot start, waiting requests fail.
 */
ngx_int_t ngx_tg_runner_start_if_due(ngx_tg_runner_t *runner);

/* Marks the runner as serving, so that the next start need not wait. */
void ngx_tg_runner_set_serving(ngx_tg_runner_t *runner);

/* Closes the report of the last started runner. */
void ngx_tg_runner_close_report(ngx_tg_runner_t *runner);

/* Sends raw params; errors as of ngx_tg_upstream_conn_send_request(). */
int ngx_tg_runner_send_request(ngx_tg_runner_t *runner, tg_str_t method,
                               tg_str_t params,
                               ngx_tg_upstream_request_t *request);

/* Sends a request and waits up to a second; for the master at its exit. */
void ngx_tg_runner_send_request_sync(const ngx_tg_runner_t *runner,
                                     tg_str_t method, tg_str_t params);

/* Checks whether a runner accepts connections; does not start one. */
ngx_uint_t ngx_tg_runner_is_reachable(const ngx_tg_runner_t *runner);

void ngx_tg_runner_init(ngx_tg_runner_t *runner);

/*
 * Finds or creates the runner of a state directory, of this config or of
 * another one. NULL: no memory, or the path is too long.
 */
ngx_tg_runner_t *ngx_tg_runner_find_or_create(ngx_tg_main_conf_t *mcf,
                                              tg_str_t dir);
/* Returns the directory, which is valid as long as the runner. */
const ngx_str_t *ngx_tg_runner_get_state_dir(const ngx_tg_runner_t *runner);

/*
 * Reads at most `size` bytes from a child's pipe, and waits for its end. Kills
 * it if it writes more, or nothing for `ms` ms. *status is that of waitpid().
 */
size_t ngx_tg_child_read_output(ngx_pid_t pid, int fd, u_char *text,
                                size_t size, int ms, int *status);

/* Closes all connections at the worker's exit, even with calls in flight. */
void ngx_tg_runners_exit_process(ngx_cycle_t *cycle);

#endif
