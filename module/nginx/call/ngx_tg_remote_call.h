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
#ifndef _NGX_TG_REMOTE_CALL_H_INCLUDED_
#define _NGX_TG_REMOTE_CALL_H_INCLUDED_

#include "nginx/upstream/ngx_tg_runner.h"

/* Hexadecimal, hard to guess. */
#define NGX_TG_TOKEN_LEN 32

/* The most bytes of members about a large result. */
#define NGX_TG_STORE_PARAMS_MAX 256

/* Connections that may break before a job is executed. */
#define NGX_TG_REMOTE_CALL_RESENDS_MAX 7

/* A new key, terminated: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_token_generate(char *key);

typedef enum {
    NGX_TG_REMOTE_CALL_NONE = 0,
    NGX_TG_REMOTE_CALL_RUNNING,   /* asked for, or adopted */
    NGX_TG_REMOTE_CALL_DETACHING, /* the runner was asked to hold it */
    NGX_TG_REMOTE_CALL_DETACHED,  /* whoever has the key may adopt it */
    NGX_TG_REMOTE_CALL_RELAYED    /* another worker may have; it runs here */
} ngx_tg_remote_call_state_t;

/* What becomes of a job is told to its call; never from within a function. */
typedef struct {
    /* It is NONE again. */
    void (*answer)(void *data, const tg_response_t *answer);
    void (*progress)(void *data, const tg_message_t *message);
    /* It is held, or will not be. */
    void (*on_detached)(void *data);
    /* Nobody wants any more what was left; it is NONE. */
    void (*on_gone)(void *data);
} ngx_tg_remote_call_ops_t;

typedef struct {
    ngx_tg_remote_call_state_t state;
    const ngx_tg_remote_call_ops_t *ops;
    void *data;
    ngx_tg_runner_t *runner;
    uint64_t number;       /* of its call, likewise; 0: none */
    tg_str_t name;         /* of its tool, for the runner's messages */
    tg_str_t store_params; /* members about a large result, or empty */
    tg_str_t
        repeatable_params; /* params of a "task" that may be sent again though
                               the runner may have executed it, or empty */
    ngx_tg_upstream_request_t request; /* for its end */
    ngx_tg_upstream_request_t detach_request;
    ngx_tg_relayed_call_t relayed;
    char key[NGX_TG_TOKEN_LEN + 1];
    unsigned is_pinned:1; /* it stays where it is */
    unsigned is_local:1;  /* this worker runs it */
    unsigned is_task:1;   /* it is about tasks: no program runs for it */
    unsigned tries:2;     /* to leave it */
    unsigned nresends:3;  /* connections that broke before it was executed */
} ngx_tg_remote_call_t;

/* With data, ops, runner and name set; as ngx_tg_runner_send_request(). */
int ngx_tg_remote_call_start(ngx_tg_remote_call_t *job, tg_str_t method,
                             tg_str_t params);

/* Goes on with a job that is held, likewise. */
int ngx_tg_remote_call_attach(ngx_tg_remote_call_t *job);

/*
 * NGX_OK: the runner holds it; NGX_AGAIN: not (yet).  What is NONE is taken
 * for something that this worker runs itself.
 */
ngx_int_t ngx_tg_remote_call_detach(ngx_tg_remote_call_t *job);

/* Its session stays: NGX_OK, or NGX_ERROR: it is lost. */
ngx_int_t ngx_tg_remote_call_reattach(ngx_tg_remote_call_t *job);

/* Its session is gone: 1: this worker goes on with it, and has to tell. */
ngx_uint_t ngx_tg_remote_call_relay(ngx_tg_remote_call_t *job);

/* Of one that was left: how far it is (raw, or absent), and its end. */
void ngx_tg_remote_call_notify_progress(ngx_tg_remote_call_t *job,
                                        tg_str_t progress, tg_str_t total,
                                        tg_str_t message);
void ngx_tg_remote_call_notify_result(ngx_tg_remote_call_t *job,
                                      tg_str_t answer);

/* Nobody wants it any more. */
void ngx_tg_remote_call_cancel(ngx_tg_remote_call_t *job);

#endif
