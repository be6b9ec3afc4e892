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
#ifndef _NGX_TOOLGATE_LINE_H_INCLUDED_
#define _NGX_TOOLGATE_LINE_H_INCLUDED_

#include "nginx/sched/ngx_toolgate_pace.h"
#include "nginx/sched/ngx_toolgate_sched.h"

typedef struct ngx_toolgate_line_s ngx_toolgate_line_t;

typedef enum {
    NGX_TOOLGATE_LINE_AWAY = 0,
    NGX_TOOLGATE_LINE_RESTING, /* until its next try */
    NGX_TOOLGATE_LINE_CONNECTING,
    NGX_TOOLGATE_LINE_OPEN
} ngx_toolgate_line_state_t;

/* What the owner of a line is told. */
typedef struct {
    /*
     * Nobody is there; err says why.  NGX_OK: try again after a while;
     * NGX_ERROR: give up, and all requests are NOT_STARTED.
     */
    ngx_int_t (*absent)(ngx_toolgate_line_t *line, ngx_err_t err);

    /*
     * It is connected, nothing was sent.  NGX_OK: it is open; NGX_AGAIN: it
     * will be, see ngx_toolgate_line_open(); NGX_ERROR.  May be NULL.
     */
    ngx_int_t (*connected)(ngx_toolgate_line_t *line);

    /*
     * It broke, or was given up (has_ended 0); nasks requests were answered
     * with that.
     */
    void (*lost)(ngx_toolgate_line_t *line, ngx_uint_t nasks,
                 ngx_uint_t has_ended);

    /* An answer whose tag is no ask: 1; 0: it is one.  May be NULL. */
    ngx_uint_t (*answer)(ngx_toolgate_line_t *line, void *tag,
                         const tg_answer_t *answer);

    void (*notification)(ngx_toolgate_line_t *line, tg_str_t method,
                         const tg_message_t *message);

    /* Is it needed though nothing was asked on it?  May be NULL. */
    ngx_uint_t (*is_needed)(const ngx_toolgate_line_t *line);
} ngx_toolgate_line_ops_t;

struct ngx_toolgate_line_s {
    const ngx_toolgate_line_ops_t *ops;
    void *data;
    ngx_str_t name; /* for the log */
    struct sockaddr *sockaddr;
    socklen_t socklen;

    /* Bounds of what may wait, and of the waits between two tries. */
    ngx_uint_t max_asks;
    size_t max_bytes;
    ngx_msec_t min_delay;
    ngx_msec_t max_delay;
    ngx_msec_t connect_time; /* for a connection to be open */

    ngx_toolgate_line_state_t state;
    ngx_connection_t *connection;
    tg_caller_t caller;
    tg_source_t source; /* its time slices and its memory */
    tg_buf_t in;
    size_t taken; /* bytes of it that were served */
    size_t last;  /* bytes that may still come, when is_last */
    size_t sent;
    ngx_uint_t nasks;  /* under way */
    ngx_uint_t nkeeps; /* reasons to stay that are no requests */
    ngx_event_t timer;
    ngx_msec_t delay;      /* until the next try but one */
    ngx_msec_t until;      /* no try before that */
    ngx_msec_t since;      /* when this row of tries began */
    ngx_msec_t heard;      /* when it was read from */
    ngx_uint_t ntries;     /* of this row, that failed */
    tg_pace_t pace;        /* of lines about what it sends */
    unsigned says_hello:1; /* see tg_caller_hello_resends() */
    unsigned is_heard:1;   /* something came on this connection */
    unsigned is_over:1;    /* its owner wants no more of this connection */
    unsigned is_drained:1; /* it said that it starts nothing more */
    unsigned is_ours:1;    /* never closed because of what it holds */
    unsigned is_last:1;    /* what has come is read, then it is closed */
    unsigned is_broken:1;  /* nothing can be written any more */
    unsigned is_losing:1;  /* its requests are answered as it broke */
};

/* A request.  Memory of whoever asks, for as long. */
typedef struct {
    ngx_toolgate_line_t *line; /* NULL: nothing is under way */
    uint64_t id;
    void *data;            /* of whoever asks */
    ngx_uint_t is_drained; /* answered: the other side says NOT_STARTED */
    ngx_uint_t has_broken; /* answered: the connection broke; ask again */

    /* Nothing is under way any more. */
    void (*answer)(void *data, const tg_answer_t *answer);

    /* A notification about it that its line's owner passes on; or NULL. */
    void (*progress)(void *data, const tg_message_t *message);
} ngx_toolgate_ask_t;

/* With ops, data, address and bounds set. */
void ngx_toolgate_line_init(ngx_toolgate_line_t *line, tg_dialect_t dialect,
                            size_t max_frame);

/* Closes and forgets all; nobody is told. */
void ngx_toolgate_line_deinit(ngx_toolgate_line_t *line);

/*
 * Sends a request with params, raw JSON.  TG_OK, and the ask's answer comes
 * later, or, when nothing was sent, TG_NOMEM, TG_LIMIT (too large, or too
 * much is waiting), TG_CLOSED (it is about to end).
 */
int ngx_toolgate_line_ask(ngx_toolgate_line_t *line, tg_str_t method,
                          tg_str_t params, ngx_toolgate_ask_t *ask);

/* Likewise a tool's call, as tg_caller_call_tool() has it. */
int ngx_toolgate_line_call(ngx_toolgate_line_t *line, tg_str_t name,
                           tg_str_t arguments, tg_str_t more,
                           ngx_toolgate_ask_t *ask);

/* Ends what is under way: its answer is not wanted, or comes elsewhere. */
void ngx_toolgate_line_cancel(ngx_toolgate_ask_t *ask,
                              ngx_uint_t method_is_mcp);
void ngx_toolgate_line_forget(ngx_toolgate_ask_t *ask);

/* The request that a raw id or token names, or NULL. */
ngx_toolgate_ask_t *ngx_toolgate_line_find(ngx_toolgate_line_t *line,
                                           tg_str_t raw);

/* Makes the connection, if there is none. */
void ngx_toolgate_line_begin(ngx_toolgate_line_t *line);

/* There is something to write, or to look whether it may go. */
void ngx_toolgate_line_wake(ngx_toolgate_line_t *line);

/* After NGX_AGAIN of ops->connected: it is open, or there will be none. */
void ngx_toolgate_line_open(ngx_toolgate_line_t *line);
void ngx_toolgate_line_fail(ngx_toolgate_line_t *line, ngx_err_t err);

/* Has worker_shutdown_timeout passed?  NGINX has it closed as it is. */
static ngx_inline ngx_uint_t
ngx_toolgate_is_overdue(const ngx_connection_t *c)
{
    return ngx_exiting && c->close && c->error;
}

/* Nobody will be there: requests are NOT_STARTED. */
void ngx_toolgate_line_give_up(ngx_toolgate_line_t *line);

/* Ends it: requests are answered with that, oldest first. */
void ngx_toolgate_line_end(ngx_toolgate_line_t *line);

/* Somebody was not there a moment ago: a request would wait. */
ngx_uint_t ngx_toolgate_line_rests(const ngx_toolgate_line_t *line);

#endif
