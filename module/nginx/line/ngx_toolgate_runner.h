/*
 * What the files of the line to toolgate-runner share.
 *
 *   …_runner.c          the line
 *   …_runner_conf.c     where it leads to
 *   …_runner_say.c      a word of the master's
 *   …_runner_start.c    the runner's start
 *   …_runner_version.c  is a program one, while a config is read
 */
#ifndef _NGX_TOOLGATE_RUNNER_H_INCLUDED_
#define _NGX_TOOLGATE_RUNNER_H_INCLUDED_

#include "nginx/line/ngx_toolgate_line.h"

#include <sys/un.h>

/* The protocol's version is in the name: another one is another runner. */
#define NGX_TOOLGATE_SOCKET "runner-3.sock"

/* Bytes of why it cannot start. */
#define NGX_TOOLGATE_RUNNER_WHY 255

struct ngx_toolgate_runner_s {
    ngx_str_t path;      /* of the program; empty: to be found */
    ngx_str_t state_dir; /* empty: beside the pid file */
    struct sockaddr_un sockaddr;

    /* of the worker */
    ngx_toolgate_line_t line;
    ngx_queue_t left;         /* ngx_toolgate_left_t */
    ngx_queue_t watches;      /* ngx_toolgate_watch_t */
    ngx_msec_t started;       /* when the runner was started last */
    ngx_msec_t pause;         /* no other start before that has passed */
    ngx_connection_t *report; /* of that start; NULL: none, or it was read */
    size_t why_len;
    u_char why[NGX_TOOLGATE_RUNNER_WHY + 1]; /* none came of it; or empty */
    time_t said;            /* when the log was told so; 0: it was not */
    unsigned has_started:1; /* and none has served since */
    unsigned is_foreign:1;  /* of another config: not started by this one */
};

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

/* Somebody who wants to be told what the runner says unasked. */
typedef struct {
    ngx_queue_t queue;
    void *data;
    void (*told)(void *data, tg_str_t method, tg_str_t params);

    /* The line is gone: whoever wants to be told more asks again. */
    void (*lost)(void *data);
} ngx_toolgate_watch_t;

void ngx_toolgate_runner_watch(ngx_toolgate_runner_t *runner,
                               ngx_toolgate_watch_t *watch);

void ngx_toolgate_runner_keep(ngx_toolgate_runner_t *runner,
                              ngx_toolgate_left_t *left);
void ngx_toolgate_runner_unkeep(ngx_toolgate_left_t *left);

/* Likewise somebody who will have to say goodbye, and has. */
void ngx_toolgate_runner_hold(ngx_toolgate_runner_t *runner);
void ngx_toolgate_runner_release(ngx_toolgate_runner_t *runner);

/* Sends a notification, where the line is open; params is raw JSON. */
void ngx_toolgate_runner_notify(ngx_toolgate_runner_t *runner, tg_str_t method,
                                tg_str_t params);

/*
 * Starts it, as a process that outlives this worker, unless that was just
 * done.  NGX_ERROR: there will be none.  Who waits for one that says why it
 * cannot start waits no longer.
 */
ngx_int_t ngx_toolgate_runner_spawn(ngx_toolgate_runner_t *runner);

/* One serves: the next may be started at once. */
void ngx_toolgate_runner_serves(ngx_toolgate_runner_t *runner);

/* What the last one that was started says is of no interest any more. */
void ngx_toolgate_runner_unreport(ngx_toolgate_runner_t *runner);

/* As ngx_toolgate_line_ask(). */
int ngx_toolgate_runner_ask(ngx_toolgate_runner_t *runner, tg_str_t method,
                            tg_str_t params, ngx_toolgate_ask_t *ask);

/*
 * Of the master, at its end: asks a runner that is there, and waits a moment
 * for whatever it answers.
 */
void ngx_toolgate_runner_say(const ngx_toolgate_runner_t *runner,
                             tg_str_t method, tg_str_t params);

/* Would somebody answer?  Nobody is started for that. */
ngx_uint_t ngx_toolgate_runner_is_there(const ngx_toolgate_runner_t *runner);

/* Where it is, and what comes of it. */
void ngx_toolgate_runner_init(ngx_toolgate_runner_t *runner);

/* The runner of a directory, of this config or another one; NULL: no memory. */
ngx_toolgate_runner_t *ngx_toolgate_runner_of(ngx_toolgate_main_conf_t *mcf,
                                              tg_str_t dir);
const ngx_str_t *ngx_toolgate_runner_dir(const ngx_toolgate_runner_t *runner);

/*
 * What a program that was forked says into the pipe that fd is the end of, at
 * most size bytes: until it has ended, or was killed as it says more or
 * nothing for so many milliseconds.  *status as waitpid() has it.  Waits.
 */
size_t ngx_toolgate_runner_hear(ngx_pid_t pid, int fd, u_char *text,
                                size_t size, int ms, int *status);

/* The worker ends, with or without calls in flight. */
void ngx_toolgate_runner_exit(ngx_cycle_t *cycle);

#endif
