/*
 * A backend: who answers calls at one address, and how it is spoken to.
 * There is one of each in a worker, whatever tools pass calls to it; its
 * lines are kept, and go when nobody has used them for a while.
 *
 * A dialect with ids carries all calls on one line.  One without carries a
 * call a line, of which there are a few; further calls wait.  With MCP's
 * handshake, calls wait until it is over.
 */
#ifndef _NGX_TOOLGATE_BACKEND_H_INCLUDED_
#define _NGX_TOOLGATE_BACKEND_H_INCLUDED_

#include "nginx/line/ngx_toolgate_line.h"
#include "nginx/line/ngx_toolgate_tls.h"

#include "core/tg_mcp_call.h"

typedef struct ngx_toolgate_backend_s ngx_toolgate_backend_t;

/* How a tool's backends are spoken to.  Of the config. */
typedef struct {
    tg_dialect_t dialect;
    ngx_uint_t is_mcp;             /* with MCP's handshake */
    const ngx_toolgate_tls_t *tls; /* NULL: none */
    ngx_str_t tls_name;            /* whose certificate it must have */

    /* Who hears of its notifications that are about no call, or NULL. */
    void (*notify)(void *data, tg_str_t method, const tg_message_t *message);
    void *data;
} ngx_toolgate_speech_t;

/* A call for a backend.  Memory of whoever asks, for as long. */
typedef struct {
    ngx_toolgate_backend_t *backend; /* NULL: nothing is under way */
    ngx_queue_t queue;
    ngx_toolgate_ask_t ask;
    ngx_msec_t since;      /* when it was sent */
    ngx_uint_t is_waiting; /* and in the queue */
    ngx_uint_t was_open;   /* it was sent to somebody who was there */

    ngx_uint_t is_method; /* a request of that name; else a tool's call */
    tg_mcp_call_t call;   /* of a method: name, plain text, and arguments */
    tg_str_t token;       /* of its caller's progress, in those */

    void *data; /* of whoever asks */

    /*
     * Nothing is under way any more.  NULL: nothing was sent, as too much
     * waits, the call is too large, or there is no memory.
     */
    void (*answer)(void *data, const tg_answer_t *answer);

    /* Its values are in message->p. */
    void (*progress)(void *data, const tg_message_t *message);
} ngx_toolgate_query_t;

/*
 * The one at this address, made when there is none.  Who is given one sends
 * it a query before it returns to NGINX.  NULL: no memory.
 */
ngx_toolgate_backend_t *ngx_toolgate_backend_get(
    const ngx_toolgate_speech_t *speech, struct sockaddr *sockaddr,
    socklen_t socklen, const ngx_str_t *name);

/* It is answered, at once where it cannot be sent. */
void ngx_toolgate_backend_ask(ngx_toolgate_backend_t *backend,
                              ngx_toolgate_query_t *query);

/* Nobody waits for it any more; is_late: as there was no answer in time. */
void ngx_toolgate_backend_cancel(ngx_toolgate_query_t *query,
                                 ngx_uint_t is_late);

/* From now on there is a line to it, so that its notifications are heard. */
void ngx_toolgate_backend_keep(ngx_toolgate_backend_t *backend);

/* It was not there a moment ago: a call would wait. */
ngx_uint_t ngx_toolgate_backend_rests(ngx_toolgate_backend_t *backend);

/* Why it was not there the last time, for people. */
const char *ngx_toolgate_backend_why(ngx_toolgate_backend_t *backend);

/* The worker ends. */
void ngx_toolgate_backend_exit(void);

#endif
