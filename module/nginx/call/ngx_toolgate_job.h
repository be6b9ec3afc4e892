/*
 * What of a call is in the runner: a job there outlives this worker, and can
 * be met again from another one.
 *
 *   NONE ──▶ RUNNING ──▶ RELEASING ──▶ HELD ──▶ LEFT
 *    ▲          │  ▲         │          │        │
 *    ├──────────┘  └─────────┴──────────┤        │
 *    └──────────────────────────────────┴────────┘
 *
 * A session that changes its worker leaves its jobs with the runner: the old
 * worker has them released (the runner holds them under a key that nobody can
 * guess), the new one adopts them with the key.  A runner that does not let
 * go of a job keeps the session here until it has ended.
 *
 * What this worker runs itself stays here when its session goes: it leaves a
 * job under a key, as if it were released, and tells it what it has to say.
 * So each kind of call moves in the same way.
 *
 * This is the one place that asks the runner for something of a call.
 */
#ifndef _NGX_TOOLGATE_JOB_H_INCLUDED_
#define _NGX_TOOLGATE_JOB_H_INCLUDED_

#include "nginx/line/ngx_toolgate_runner.h"

/* Hexadecimal, hard to guess. */
#define NGX_TOOLGATE_KEY 32

/* The most bytes of members about a large result. */
#define NGX_TOOLGATE_STORING 256

/* Connections that may break before a job is executed. */
#define NGX_TOOLGATE_JOB_RESENDS 7

/* A new key, terminated: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_toolgate_make_key(char *key);

typedef enum {
    NGX_TOOLGATE_JOB_NONE = 0,
    NGX_TOOLGATE_JOB_RUNNING,   /* asked for, or adopted */
    NGX_TOOLGATE_JOB_RELEASING, /* the runner was asked to hold it */
    NGX_TOOLGATE_JOB_HELD,      /* whoever has the key may adopt it */
    NGX_TOOLGATE_JOB_LEFT       /* another worker may have; it runs here */
} ngx_toolgate_job_state_t;

/* What becomes of a job is told to its call; never from within a function. */
typedef struct {
    /* It is NONE again. */
    void (*answer)(void *data, const tg_answer_t *answer);
    void (*progress)(void *data, const tg_message_t *message);
    /* It is held, or will not be. */
    void (*released)(void *data);
    /* Nobody wants any more what was left; it is NONE. */
    void (*gone)(void *data);
} ngx_toolgate_job_ops_t;

typedef struct {
    ngx_toolgate_job_state_t state;
    const ngx_toolgate_job_ops_t *ops;
    void *data;
    ngx_toolgate_runner_t *runner;
    uint64_t number;        /* of its call, likewise; 0: none */
    tg_str_t name;          /* of its tool, for the runner's messages */
    tg_str_t storing;       /* members about a large result, or empty */
    tg_str_t repeatable;    /* params of a "task" that may be sent again though
                               the runner may have executed it, or empty */
    ngx_toolgate_ask_t ask; /* for its end */
    ngx_toolgate_ask_t release;
    ngx_toolgate_left_t left;
    char key[NGX_TOOLGATE_KEY + 1];
    unsigned is_kept:1; /* it stays where it is */
    unsigned is_here:1; /* this worker runs it */
    unsigned is_task:1; /* it is about tasks: no program runs for it */
    unsigned tries:2;   /* to leave it */
    unsigned nresent:3; /* connections that broke before it was executed */
} ngx_toolgate_job_t;

/* With data, ops, runner and name set; as ngx_toolgate_runner_ask(). */
int ngx_toolgate_job_start(ngx_toolgate_job_t *job, tg_str_t method,
                           tg_str_t params);

/* Goes on with a job that is held, likewise. */
int ngx_toolgate_job_adopt(ngx_toolgate_job_t *job);

/*
 * NGX_OK: the runner holds it; NGX_AGAIN: not (yet).  What is NONE is taken
 * for something that this worker runs itself.
 */
ngx_int_t ngx_toolgate_job_release(ngx_toolgate_job_t *job);

/* Its session stays: NGX_OK, or NGX_ERROR: it is lost. */
ngx_int_t ngx_toolgate_job_reclaim(ngx_toolgate_job_t *job);

/* Its session is gone: 1: this worker goes on with it, and has to tell. */
ngx_uint_t ngx_toolgate_job_leave(ngx_toolgate_job_t *job);

/* Of one that was left: how far it is (raw, or absent), and its end. */
void ngx_toolgate_job_tell(ngx_toolgate_job_t *job, tg_str_t progress,
                           tg_str_t total, tg_str_t message);
void ngx_toolgate_job_finish(ngx_toolgate_job_t *job, tg_str_t answer);

/* Nobody wants it any more. */
void ngx_toolgate_job_cancel(ngx_toolgate_job_t *job);

#endif
