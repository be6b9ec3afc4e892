/*
 * The part of a call that is in the runner: a job there outlives this worker,
 * and another worker can attach to it.
 *
 *   NONE ──▶ RUNNING ──▶ DETACHING ──▶ DETACHED ──▶ RELAYED
 *    ▲          │  ▲         │            │           │
 *    ├──────────┘  └─────────┴────────────┤           │
 *    └────────────────────────────────────┴───────────┘
 *
 * When a session moves to another worker, its jobs stay with the runner: the
 * old worker detaches them (`release`: the runner holds each job under a random
 * key), and the new worker attaches to them with the key (`adopt`). If the
 * runner refuses to detach a job, the session stays in this worker until the
 * job has ended.
 *
 * A call that this worker runs itself stays here when its session moves: the
 * worker creates a job under a key (`leave`), as if it were detached, and
 * relays progress and the result to it. So every type of call moves alike.
 *
 * Only this file sends the runner requests that start, detach or attach a job
 * of a call.
 */
#ifndef _NGX_TG_REMOTE_CALL_H_INCLUDED_
#define _NGX_TG_REMOTE_CALL_H_INCLUDED_

#include "nginx/call/ngx_tg_session_base.h"
#include "nginx/upstream/ngx_tg_runner.h"

/* Largest size, in bytes, of the params about storing a large result. */
#define NGX_TG_STORE_PARAMS_MAX 256

/* Largest number of broken connections after which a job is sent again. */
#define NGX_TG_REMOTE_CALL_RESENDS_MAX 7

typedef enum {
    NGX_TG_REMOTE_CALL_NONE = 0,
    NGX_TG_REMOTE_CALL_RUNNING,   /* started, or attached */
    NGX_TG_REMOTE_CALL_DETACHING, /* the runner was asked to hold the job */
    NGX_TG_REMOTE_CALL_DETACHED,  /* a worker with the key may attach */
    /* runs here; the session is in another worker */
    NGX_TG_REMOTE_CALL_RELAYED
} ngx_tg_remote_call_state_t;

/*
 * Callbacks to the call of a job. No function of this header calls them before
 * it returns.
 */
typedef struct {
    /* The job has ended; its state is NONE. */
    void (*answer)(void *data, const tg_response_t *answer);
    void (*progress)(void *data, const tg_message_t *message);
    /* The job is detached, or could not be detached. */
    void (*on_detached)(void *data);
    /*
     * The result of a relayed call is not needed any more; the state is NONE.
     */
    void (*on_gone)(void *data);
} ngx_tg_remote_call_ops_t;

typedef struct {
    ngx_tg_remote_call_state_t state;
    const ngx_tg_remote_call_ops_t *ops;
    void *data;
    ngx_tg_runner_t *runner;
    /* number of the call in `toolgate.status`; 0: none */
    uint64_t number;
    tg_str_t name;         /* name of the tool, for the runner's messages */
    tg_str_t store_params; /* params to store a large result, or empty */
    tg_str_t
        /*
         * params of a `task` that may be sent twice, even if the runner may
         * have executed it, or empty
         */
        repeatable_params;
    ngx_tg_upstream_request_t request; /* request whose response ends the job */
    ngx_tg_upstream_request_t detach_request;
    ngx_tg_relayed_call_t relayed;
    char key[NGX_TG_TOKEN_LEN + 1];
    unsigned is_pinned:1; /* the job cannot be detached any more */
    unsigned is_local:1;  /* this worker runs the call */
    unsigned is_task:1;   /* the job is about tasks: it runs no program */
    unsigned tries:2;     /* failed attempts to detach it */
    /* connections that broke before the job was executed */
    unsigned nresends:3;
} ngx_tg_remote_call_t;

/*
 * Starts a job; data, ops, runner and name must be set. TG_OK, or an error of
 * ngx_tg_runner_send_request().
 */
int ngx_tg_remote_call_start(ngx_tg_remote_call_t *job, tg_str_t method,
                             tg_str_t params);

/*
 * Attaches to a detached job by its key. TG_OK, or an error of
 * ngx_tg_runner_send_request().
 */
int ngx_tg_remote_call_attach(ngx_tg_remote_call_t *job);

/*
 * Detaches a job. NGX_OK: the runner holds the job; NGX_AGAIN: not yet, or the
 * job is pinned. A job whose state is NONE counts as a call that this worker
 * runs itself.
 */
ngx_int_t ngx_tg_remote_call_detach(ngx_tg_remote_call_t *job);

/*
 * Takes back a detached job because its session stays. NGX_OK, or NGX_ERROR:
 * the job is lost.
 */
ngx_int_t ngx_tg_remote_call_reattach(ngx_tg_remote_call_t *job);

/*
 * Handles that the session has moved. Returns 1: this worker continues the call
 * and must relay its progress and result; 0: the runner has the job.
 */
ngx_uint_t ngx_tg_remote_call_relay(ngx_tg_remote_call_t *job);

/*
 * Sends progress of a relayed call to the runner; the values are raw, or
 * absent.
 */
void ngx_tg_remote_call_notify_progress(ngx_tg_remote_call_t *job,
                                        tg_str_t progress, tg_str_t total,
                                        tg_str_t message);
/* Sends the raw result of a relayed call to the runner and ends the job. */
void ngx_tg_remote_call_notify_result(ngx_tg_remote_call_t *job,
                                      tg_str_t answer);

/* Cancels a job, detached or not: its result is not needed any more. */
void ngx_tg_remote_call_cancel(ngx_tg_remote_call_t *job);

#endif
