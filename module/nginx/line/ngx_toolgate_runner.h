/*
 * What the files of the line to toolgate-runner share.
 *
 *   …_runner.c       the line
 *   …_runner_conf.c  where it leads to
 */
#ifndef _NGX_TOOLGATE_RUNNER_H_INCLUDED_
#define _NGX_TOOLGATE_RUNNER_H_INCLUDED_

#include "nginx/ngx_toolgate.h"

#include <sys/un.h>

/* The protocol's version is in the name: another one is another runner. */
#define NGX_TOOLGATE_SOCKET "runner-1.sock"

struct ngx_toolgate_runner_s {
    ngx_str_t path;      /* of the program; empty: to be found */
    ngx_str_t state_dir; /* empty: beside the pid file */
    struct sockaddr_un sockaddr;

    /* of the worker */
    ngx_connection_t *connection;
    tg_caller_t caller;
    tg_buf_t in;
    size_t sent;
    ngx_event_t retry;
    ngx_msec_t delay;    /* until the next try */
    ngx_msec_t since;    /* when this row of tries began */
    ngx_msec_t started;  /* when the runner was started last */
    unsigned is_ready:1; /* caller and in are there */
    unsigned is_trying:1;
    unsigned has_started:1;
    unsigned is_foreign:1; /* of another config: not started by this one */
};

/* The handler of the timer between two tries. */
void ngx_toolgate_runner_retry(ngx_event_t *ev);

#endif
