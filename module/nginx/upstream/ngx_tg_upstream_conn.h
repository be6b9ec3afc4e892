/*
 * A line: one kept connection to somebody who answers.  It is made when the
 * first request needs it, and made anew when it broke.
 *
 *            a request             connect()
 *     AWAY ────────────▶ RESTING ────────────▶ CONNECTING ──▶ OPEN
 *      ▲                  ▲    │                  │            │
 *      │                  └────┼──────────────────┤ nobody     │ it broke
 *      └───────────────────────┴──────────────────┴────────────┘
 *
 * What is asked before it is open is sent when it is.  Who has a line keeps
 * it in memory of its own.
 */
#ifndef _NGX_TG_UPSTREAM_CONN_H_INCLUDED_
#define _NGX_TG_UPSTREAM_CONN_H_INCLUDED_

#include "nginx/sched/ngx_tg_log_throttle.h"
#include "nginx/sched/ngx_tg_sched.h"

typedef struct ngx_tg_upstream_conn_s ngx_tg_upstream_conn_t;

typedef enum {
    NGX_TG_UPSTREAM_CONN_CLOSED = 0,
    NGX_TG_UPSTREAM_CONN_BACKOFF, /* until its next try */
    NGX_TG_UPSTREAM_CONN_CONNECTING,
    NGX_TG_UPSTREAM_CONN_OPEN
} ngx_tg_upstream_conn_state_t;

/* What the owner of a line is told. */
typedef struct {
    /*
     * Nobody is there; err says why.  NGX_OK: try again after a while;
     * NGX_ERROR: give up, and all requests are NOT_STARTED.
     */
    ngx_int_t (*on_connect_failed)(ngx_tg_upstream_conn_t *conn, ngx_err_t err);

    /*
     * It is connected, nothing was sent.  NGX_OK: it is open; NGX_AGAIN: it
     * will be, see ngx_tg_upstream_conn_set_open(); NGX_ERROR.  May be NULL.
     */
    ngx_int_t (*on_connected)(ngx_tg_upstream_conn_t *conn);

    /*
     * It broke, or was given up (has_ended 0); nasks requests were answered
     * with that.
     */
    void (*on_lost)(ngx_tg_upstream_conn_t *conn, ngx_uint_t nrequests,
                    ngx_uint_t has_ended);

    /* An answer whose tag is no ask: 1; 0: it is one.  May be NULL. */
    ngx_uint_t (*answer)(ngx_tg_upstream_conn_t *conn, void *tag,
                         const tg_response_t *answer);

    void (*notification)(ngx_tg_upstream_conn_t *conn, tg_str_t method,
                         const tg_message_t *message);

    /* Is it needed though nothing was asked on it?  May be NULL. */
    ngx_uint_t (*is_needed)(const ngx_tg_upstream_conn_t *conn);
} ngx_tg_upstream_conn_ops_t;

struct ngx_tg_upstream_conn_s {
    const ngx_tg_upstream_conn_ops_t *ops;
    void *data;
    ngx_str_t name; /* for the log */
    struct sockaddr *sockaddr;
    socklen_t socklen;

    /* Bounds of what may wait, and of the waits between two tries. */
    ngx_uint_t max_requests;
    size_t max_bytes;
    ngx_msec_t min_delay;
    ngx_msec_t max_delay;
    ngx_msec_t connect_time; /* for a connection to be open */

    ngx_tg_upstream_conn_state_t state;
    ngx_connection_t *connection;
    tg_caller_t caller;
    tg_sched_source_t source; /* its time slices and its memory */
    tg_buf_t in;
    size_t processed; /* bytes of it that were served */
    size_t last;      /* bytes that may still come, when is_last */
    size_t sent;
    ngx_uint_t nrequests; /* under way */
    ngx_uint_t nholds;    /* reasons to stay that are no requests */
    ngx_event_t timer;
    ngx_msec_t delay;           /* until the next try but one */
    ngx_msec_t retry_at;        /* no try before that */
    ngx_msec_t first_try_at;    /* when this row of tries began */
    ngx_msec_t last_read_at;    /* when it was read from */
    ngx_uint_t ntries;          /* of this row, that failed */
    tg_throttle_t throttle;     /* of lines about what it sends */
    unsigned sends_hello:1;     /* see tg_caller_send_hello_resends() */
    unsigned has_received:1;    /* something came on this connection */
    unsigned is_finished:1;     /* its owner wants no more of this connection */
    unsigned is_drained:1;      /* it said that it starts nothing more */
    unsigned is_never_greedy:1; /* never closed because of what it holds */
    unsigned is_draining:1;     /* what has come is read, then it is closed */
    unsigned is_broken:1;       /* nothing can be written any more */
    unsigned is_dropping:1;     /* its requests are answered as it broke */
};

/* A request.  Memory of whoever asks, for as long. */
typedef struct {
    ngx_tg_upstream_conn_t *conn; /* NULL: nothing is under way */
    uint64_t id;
    void *data;            /* of whoever asks */
    ngx_uint_t is_drained; /* answered: the other side says NOT_STARTED */
    ngx_uint_t has_broken; /* answered: the connection broke; ask again */

    /* Nothing is under way any more. */
    void (*answer)(void *data, const tg_response_t *answer);

    /* A notification about it that its line's owner passes on; or NULL. */
    void (*progress)(void *data, const tg_message_t *message);
} ngx_tg_upstream_request_t;

/* With ops, data, address and bounds set. */
void ngx_tg_upstream_conn_init(ngx_tg_upstream_conn_t *conn,
                               tg_dialect_t dialect, size_t max_frame);

/* Closes and forgets all; nobody is told. */
void ngx_tg_upstream_conn_deinit(ngx_tg_upstream_conn_t *conn);

/*
 * Sends a request with params, raw JSON.  TG_OK, and the ask's answer comes
 * later, or, when nothing was sent, TG_NOMEM, TG_LIMIT (too large, or too
 * much is waiting), TG_CLOSED (it is about to end).
 */
int ngx_tg_upstream_conn_send_request(ngx_tg_upstream_conn_t *conn,
                                      tg_str_t method, tg_str_t params,
                                      ngx_tg_upstream_request_t *request);

/* Likewise a tool's call, as tg_caller_call_tool() has it. */
int ngx_tg_upstream_conn_send_tool_call(ngx_tg_upstream_conn_t *conn,
                                        tg_str_t name, tg_str_t arguments,
                                        tg_str_t more,
                                        ngx_tg_upstream_request_t *request);

/* Ends what is under way: its answer is not wanted, or comes elsewhere. */
void ngx_tg_upstream_request_cancel(ngx_tg_upstream_request_t *request,
                                    ngx_uint_t method_is_mcp);
void ngx_tg_upstream_request_forget(ngx_tg_upstream_request_t *request);

/* The request that a raw id or token names, or NULL. */
ngx_tg_upstream_request_t *ngx_tg_upstream_conn_find_request(
    ngx_tg_upstream_conn_t *conn, tg_str_t raw);

/* Makes the connection, if there is none. */
void ngx_tg_upstream_conn_connect(ngx_tg_upstream_conn_t *conn);

/* There is something to write, or to look whether it may go. */
void ngx_tg_upstream_conn_wake(ngx_tg_upstream_conn_t *conn);

/* After NGX_AGAIN of ops->connected: it is open, or there will be none. */
void ngx_tg_upstream_conn_set_open(ngx_tg_upstream_conn_t *conn);
void ngx_tg_upstream_conn_fail(ngx_tg_upstream_conn_t *conn, ngx_err_t err);

/* Has worker_shutdown_timeout passed?  NGINX has it closed as it is. */
static ngx_inline ngx_uint_t
ngx_tg_is_past_shutdown_timeout(const ngx_connection_t *c)
{
    return ngx_exiting && c->close && c->error;
}

/* Nobody will be there: requests are NOT_STARTED. */
void ngx_tg_upstream_conn_abort(ngx_tg_upstream_conn_t *conn);

/* Ends it: requests are answered with that, oldest first. */
void ngx_tg_upstream_conn_end(ngx_tg_upstream_conn_t *conn);

/* Somebody was not there a moment ago: a request would wait. */
ngx_uint_t ngx_tg_upstream_conn_is_backing_off(
    const ngx_tg_upstream_conn_t *conn);

#endif
