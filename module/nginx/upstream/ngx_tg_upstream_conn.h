/*
 * A persistent connection to a server: opened when the first request needs it,
 * and opened again after an error. Requests wait until it is open. Its memory
 * belongs to its owner. Unless a comment says otherwise, functions of this
 * folder that return ngx_int_t return NGX_OK or NGX_ERROR.
 *
 *           a request             connect()
 *   CLOSED ────────────▶ BACKOFF ────────────▶ CONNECTING ──▶ OPEN
 *     ▲                   ▲    │                  │            │
 *     │                   └────┼──────────────────┤ failed     │ lost
 *     └────────────────────────┴──────────────────┴────────────┘
 */
#ifndef _NGX_TG_UPSTREAM_CONN_H_INCLUDED_
#define _NGX_TG_UPSTREAM_CONN_H_INCLUDED_

#include "nginx/sched/ngx_tg_log_throttle.h"
#include "nginx/sched/ngx_tg_sched.h"

typedef struct ngx_tg_upstream_conn_s ngx_tg_upstream_conn_t;

typedef enum {
    NGX_TG_UPSTREAM_CONN_CLOSED = 0,
    NGX_TG_UPSTREAM_CONN_BACKOFF, /* until the next attempt to connect */
    NGX_TG_UPSTREAM_CONN_CONNECTING,
    NGX_TG_UPSTREAM_CONN_OPEN
} ngx_tg_upstream_conn_state_t;

/* Callbacks to the owner of a connection. */
typedef struct {
    /*
     * Connecting failed; err is the reason, or 0. NGX_OK: retry after a delay;
     * NGX_ERROR: give up, and answer all requests with NOT_STARTED.
     */
    ngx_int_t (*on_connect_failed)(ngx_tg_upstream_conn_t *conn, ngx_err_t err);

    /*
     * The socket is connected, nothing was sent. NGX_OK: the connection is
     * open; NGX_AGAIN: the owner calls ngx_tg_upstream_conn_set_open() or
     * …_fail() later; NGX_ERROR: the attempt failed. May be NULL.
     */
    ngx_int_t (*on_connected)(ngx_tg_upstream_conn_t *conn);

    /* Called after a loss (has_ended 1), or when giving up (0). */
    void (*on_lost)(ngx_tg_upstream_conn_t *conn, ngx_uint_t nrequests,
                    ngx_uint_t has_ended);

    /*
     * Handles a response to the owner's own request. Returns 0 if the tag is an
     * ngx_tg_upstream_request_t. May be NULL.
     */
    ngx_uint_t (*answer)(ngx_tg_upstream_conn_t *conn, void *tag,
                         const tg_response_t *answer);

    void (*notification)(ngx_tg_upstream_conn_t *conn, tg_str_t method,
                         const tg_message_t *message);

    /* Checks whether an idle connection is still needed. May be NULL. */
    ngx_uint_t (*is_needed)(const ngx_tg_upstream_conn_t *conn);
} ngx_tg_upstream_conn_ops_t;

struct ngx_tg_upstream_conn_s {
    const ngx_tg_upstream_conn_ops_t *ops;
    void *data;
    ngx_str_t name; /* name in log messages */
    struct sockaddr *sockaddr;
    socklen_t socklen;

    /* Limits of requests, unsent bytes and delays of connects, in ms. */
    ngx_uint_t max_requests;
    size_t max_bytes;
    ngx_msec_t min_delay;
    ngx_msec_t max_delay;
    ngx_msec_t connect_time; /* timeout of an attempt to connect, in ms */

    ngx_tg_upstream_conn_state_t state;
    ngx_connection_t *connection;
    tg_caller_t caller;
    /* source of time slices; accounts for the memory */
    tg_sched_source_t source;
    tg_buf_t in;
    size_t processed; /* bytes of `in` that have been handled */
    size_t last;      /* bytes that may still be read while is_draining */
    size_t sent;
    ngx_uint_t nrequests; /* requests in flight */
    /* reasons to keep the connection other than requests */
    ngx_uint_t nholds;
    ngx_event_t timer;
    ngx_msec_t delay;    /* delay after the next failed attempt, in ms */
    ngx_msec_t retry_at; /* earliest time of the next attempt, in ms */
    /* time of the first attempt of this series, in ms */
    ngx_msec_t first_try_at;
    ngx_msec_t last_read_at; /* time of the last read, in ms */
    ngx_uint_t ntries;       /* failed attempts of this series */
    /* limit of log lines about the server's input */
    tg_throttle_t throttle;
    unsigned sends_hello:1;  /* see tg_caller_send_hello_resends() */
    unsigned has_received:1; /* something was received on this connection */
    unsigned is_finished:1;  /* the owner wants this connection closed */
    /* the server announced that it starts no further requests */
    unsigned is_drained:1;
    unsigned is_never_greedy:1; /* never closed because of its memory */
    /* received data is read, then the connection is closed */
    unsigned is_draining:1;
    unsigned is_broken:1; /* writing has failed */
    /* requests are being answered because of a loss */
    unsigned is_dropping:1;
};

/* A request. The sender owns its memory until it is answered or removed. */
typedef struct {
    ngx_tg_upstream_conn_t *conn; /* NULL: not in flight */
    uint64_t id;
    void *data; /* argument of the callbacks */
    /* set before answer(): the server has announced its shutdown */
    ngx_uint_t is_drained;
    /* set before answer(): lost, so it may be sent again */
    ngx_uint_t has_broken;

    /* Receives the response; the request is not in flight any more. */
    void (*answer)(void *data, const tg_response_t *answer);

    /* Receives notifications that the connection's owner forwards. */
    void (*progress)(void *data, const tg_message_t *message);
} ngx_tg_upstream_request_t;

/*
 * Initializes a connection whose ops, data, address and limits are set.
 * max_frame: largest message in bytes.
 */
void ngx_tg_upstream_conn_init(ngx_tg_upstream_conn_t *conn,
                               tg_dialect_t dialect, size_t max_frame);

/* Closes the connection without any callback. */
void ngx_tg_upstream_conn_deinit(ngx_tg_upstream_conn_t *conn);

/*
 * Sends a request with raw JSON params. TG_OK: the response comes later.
 * Nothing is sent with TG_NOMEM, TG_LIMIT (too large, or too many wait) or
 * TG_CLOSED (the connection is about to end).
 */
int ngx_tg_upstream_conn_send_request(ngx_tg_upstream_conn_t *conn,
                                      tg_str_t method, tg_str_t params,
                                      ngx_tg_upstream_request_t *request);

/*
 * Sends a tool call; `more`: see tg_caller_call_tool(). Returns as
 * ngx_tg_upstream_conn_send_request().
 */
int ngx_tg_upstream_conn_send_tool_call(ngx_tg_upstream_conn_t *conn,
                                        tg_str_t name, tg_str_t arguments,
                                        tg_str_t more,
                                        ngx_tg_upstream_request_t *request);

/* Cancels a request in flight, also at the server, without callbacks. */
void ngx_tg_upstream_request_cancel(ngx_tg_upstream_request_t *request,
                                    ngx_uint_t method_is_mcp);
/* Drops a request in flight, without callbacks or a message to the server. */
void ngx_tg_upstream_request_forget(ngx_tg_upstream_request_t *request);

/* Returns the request with a raw id or progress token, or NULL. */
ngx_tg_upstream_request_t *ngx_tg_upstream_conn_find_request(
    ngx_tg_upstream_conn_t *conn, tg_str_t raw);

void ngx_tg_upstream_conn_connect(ngx_tg_upstream_conn_t *conn);

/* Schedules a write event, to write or to close an idle connection. */
void ngx_tg_upstream_conn_wake(ngx_tg_upstream_conn_t *conn);

/* Marks a connection as open after on_connected() has returned NGX_AGAIN. */
void ngx_tg_upstream_conn_set_open(ngx_tg_upstream_conn_t *conn);
/* Handles a failed connect: schedules the next one or gives up. */
void ngx_tg_upstream_conn_fail(ngx_tg_upstream_conn_t *conn, ngx_err_t err);

/* Closes the connection; requests that were not sent get NOT_STARTED. */
void ngx_tg_upstream_conn_abort(ngx_tg_upstream_conn_t *conn);

/* Ends the connection and answers its requests accordingly, oldest first. */
void ngx_tg_upstream_conn_end(ngx_tg_upstream_conn_t *conn);

/* Checks whether connecting failed a moment ago: a request would wait. */
ngx_uint_t ngx_tg_upstream_conn_is_backing_off(
    const ngx_tg_upstream_conn_t *conn);

#endif
