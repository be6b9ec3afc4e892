/*
 * What the files of the line to toolgate-runner share.
 *
 *   ngx_tg_runner.c          the line
 *   ngx_tg_runner_list.c     where it leads to
 *   ngx_tg_runner_sync.c      a word of the master's
 *   ngx_tg_runner_start.c    the runner's start
 *   ngx_tg_runner_version.c  is a program one, while a config is read
 */
#ifndef _NGX_TG_RUNNER_H_INCLUDED_
#define _NGX_TG_RUNNER_H_INCLUDED_

#include "nginx/upstream/ngx_tg_upstream_conn.h"

#include <sys/un.h>

/* The protocol's version is in the name: another one is another runner. */
#define NGX_TG_RUNNER_SOCKET_NAME "runner-3.sock"

/* Bytes of why it cannot start. */
#define NGX_TG_RUNNER_ERROR_MAX 255

struct ngx_tg_runner_s {
    ngx_str_t path;      /* of the program; empty: to be found */
    ngx_str_t state_dir; /* empty: beside the pid file */
    struct sockaddr_un sockaddr;

    /* of the worker */
    ngx_tg_upstream_conn_t conn;
    ngx_queue_t relayed;      /* ngx_tg_relayed_call_t */
    ngx_queue_t subscribers;  /* ngx_tg_runner_subscriber_t */
    ngx_msec_t started_at;    /* when the runner was started last */
    ngx_msec_t restart_delay; /* no other start before that has passed */
    ngx_connection_t
        *report_conn; /* of that start; NULL: none, or it was read */
    size_t error_len;
    u_char error[NGX_TG_RUNNER_ERROR_MAX + 1]; /* none came of it; or empty */
    time_t logged_at;       /* when the log was told so; 0: it was not */
    unsigned has_started:1; /* and none has served since */
    unsigned
        is_of_other_config:1; /* of another config: not started by this one */
};

/*
 * What this worker runs for a session that has gone to another worker: the
 * line stays for it.
 */
typedef struct {
    ngx_queue_t queue;
    ngx_tg_runner_t *runner; /* NULL: in no list */
    const char *key;
    void *data;

    /* Nobody wants it any more, or nobody can be told; it is in no list. */
    void (*on_gone)(void *data);
} ngx_tg_relayed_call_t;

/* Somebody who wants to be told what the runner says unasked. */
typedef struct {
    ngx_queue_t queue;
    void *data;
    void (*on_notification)(void *data, tg_str_t method, tg_str_t params);

    /* The line is gone: whoever wants to be told more asks again. */
    void (*on_lost)(void *data);
} ngx_tg_runner_subscriber_t;

void ngx_tg_runner_add_subscriber(ngx_tg_runner_t *runner,
                                  ngx_tg_runner_subscriber_t *subscriber);

void ngx_tg_runner_add_relayed_call(ngx_tg_runner_t *runner,
                                    ngx_tg_relayed_call_t *relayed);
void ngx_tg_relayed_call_remove(ngx_tg_relayed_call_t *relayed);

/* Likewise somebody who will have to say goodbye, and has. */
void ngx_tg_runner_hold_conn(ngx_tg_runner_t *runner);
void ngx_tg_runner_release_conn(ngx_tg_runner_t *runner);

/* Sends a notification, where the line is open; params is raw JSON. */
void ngx_tg_runner_notify(ngx_tg_runner_t *runner, tg_str_t method,
                          tg_str_t params);

/*
 * Starts it, as a process that outlives this worker, unless that was just
 * done.  NGX_ERROR: there will be none.  Who waits for one that says why it
 * cannot start waits no longer.
 */
ngx_int_t ngx_tg_runner_start_if_due(ngx_tg_runner_t *runner);

/* One serves: the next may be started at once. */
void ngx_tg_runner_set_serving(ngx_tg_runner_t *runner);

/* What the last one that was started says is of no interest any more. */
void ngx_tg_runner_close_report(ngx_tg_runner_t *runner);

/* As ngx_tg_upstream_conn_send_request(). */
int ngx_tg_runner_send_request(ngx_tg_runner_t *runner, tg_str_t method,
                               tg_str_t params,
                               ngx_tg_upstream_request_t *request);

/*
 * Of the master, at its end: asks a runner that is there, and waits a moment
 * for whatever it answers.
 */
void ngx_tg_runner_send_request_sync(const ngx_tg_runner_t *runner,
                                     tg_str_t method, tg_str_t params);

/* Would somebody answer?  Nobody is started for that. */
ngx_uint_t ngx_tg_runner_is_reachable(const ngx_tg_runner_t *runner);

/* Where it is, and what comes of it. */
void ngx_tg_runner_init(ngx_tg_runner_t *runner);

/* The runner of a directory, of this config or another one; NULL: no memory. */
ngx_tg_runner_t *ngx_tg_runner_find_or_create(ngx_tg_main_conf_t *mcf,
                                              tg_str_t dir);
const ngx_str_t *ngx_tg_runner_get_state_dir(const ngx_tg_runner_t *runner);

/*
 * What a program that was forked says into the pipe that fd is the end of, at
 * most size bytes: until it has ended, or was killed as it says more or
 * nothing for so many milliseconds.  *status as waitpid() has it.  Waits.
 */
size_t ngx_tg_child_read_output(ngx_pid_t pid, int fd, u_char *text,
                                size_t size, int ms, int *status);

/* The worker ends, with or without calls in flight. */
void ngx_tg_runners_exit_process(ngx_cycle_t *cycle);

#endif
