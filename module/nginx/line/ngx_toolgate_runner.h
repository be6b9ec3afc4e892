/*
 * What the files of the line to toolgate-runner share.
 *
 *   …_runner.c       the line
 *   …_runner_conf.c  where it leads to, and the runner's start
 */
#ifndef _NGX_TOOLGATE_RUNNER_H_INCLUDED_
#define _NGX_TOOLGATE_RUNNER_H_INCLUDED_

#include "nginx/ngx_toolgate.h"

#include <sys/un.h>

/* The protocol's version is in the name: another one is another runner. */
#define NGX_TOOLGATE_SOCKET "runner-3.sock"

struct ngx_toolgate_runner_s {
    ngx_str_t path;      /* of the program; empty: to be found */
    ngx_str_t state_dir; /* empty: beside the pid file */
    struct sockaddr_un sockaddr;

    /* of the worker */
    ngx_connection_t *connection;
    tg_caller_t caller;
    tg_buf_t in;
    size_t sent;
    ngx_queue_t left; /* ngx_toolgate_left_t */
    ngx_event_t retry;
    ngx_msec_t delay;    /* until the next try */
    ngx_msec_t since;    /* when this row of tries began */
    ngx_msec_t started;  /* when the runner was started last */
    unsigned is_ready:1; /* caller and in are there */
    unsigned is_trying:1;
    unsigned has_started:1;
    unsigned is_foreign:1; /* of another config: not started by this one */
};

/* A request to the runner.  Memory of whoever asks, for as long. */
typedef struct {
    ngx_toolgate_runner_t *runner; /* NULL: nothing is under way */
    uint64_t id;
    void *data; /* of whoever asks */

    /* Nothing is under way any more. */
    void (*answer)(void *data, const tg_answer_t *answer);

    /* The runner's notification `progress` for it; or NULL. */
    void (*progress)(void *data, const tg_message_t *message);
} ngx_toolgate_ask_t;

/*
 * What this worker runs for a session that has gone to another worker: the
 * line stays for it.
 */
typedef struct {
    ngx_queue_t queue;
    ngx_toolgate_runner_t *runner; /* NULL: in no list */
    const char *key;
    void *data;

    /* Nobody wants it any more, or nobody can be told; it is in no list. */
    void (*gone)(void *data);
} ngx_toolgate_left_t;

void ngx_toolgate_runner_keep(ngx_toolgate_runner_t *runner,
                              ngx_toolgate_left_t *left);
void ngx_toolgate_runner_unkeep(ngx_toolgate_left_t *left);

/* Sends a notification on a line that is there; params is raw JSON. */
void ngx_toolgate_runner_notify(ngx_toolgate_runner_t *runner, tg_str_t method,
                                tg_str_t params);

/*
 * Sends a request with params, raw JSON.  TG_OK, and the ask's answer comes
 * later, or, when nothing was sent, TG_NOMEM, TG_LIMIT (too large, or too
 * much is waiting).
 */
int ngx_toolgate_runner_ask(ngx_toolgate_runner_t *runner, tg_str_t method,
                            tg_str_t params, ngx_toolgate_ask_t *ask);

/* Ends what is under way: its answer is not wanted, or comes elsewhere. */
void ngx_toolgate_runner_cancel(ngx_toolgate_ask_t *ask);
void ngx_toolgate_runner_forget(ngx_toolgate_ask_t *ask);

/* The runner of a directory, of this config or another one; NULL: no memory. */
ngx_toolgate_runner_t *ngx_toolgate_runner_of(ngx_toolgate_main_conf_t *mcf,
                                              tg_str_t dir);
const ngx_str_t *ngx_toolgate_runner_dir(const ngx_toolgate_runner_t *runner);

/* The worker ends, with or without calls in flight. */
void ngx_toolgate_runner_exit(ngx_cycle_t *cycle);

/*
 * Starts the runner, as a process that outlives this worker, unless that was
 * just done.  NGX_ERROR: there will be none.
 */
ngx_int_t ngx_toolgate_runner_spawn(ngx_toolgate_runner_t *runner);

#endif
