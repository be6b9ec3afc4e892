/*
 * A backend: who answers calls at one address, and how it is spoken to.
 * There is one of each in a worker, whatever tools pass calls to it; its
 * lines are kept, and go when nobody has used them for a while.
 *
 * A dialect with ids carries all calls on one line.  One without carries a
 * call a line, of which there are a few; further calls wait.  With MCP's
 * handshake, calls wait until it is over.
 */
#ifndef _NGX_TG_BACKEND_H_INCLUDED_
#define _NGX_TG_BACKEND_H_INCLUDED_

#include "nginx/upstream/ngx_tg_upstream_conn.h"
#include "nginx/upstream/ngx_tg_tls.h"

#include "protocol/tg_mcp_client_call.h"

typedef struct ngx_tg_backend_s ngx_tg_backend_t;

/* How a tool's backends are spoken to.  Of the config. */
typedef struct {
    tg_dialect_t dialect;
    ngx_uint_t is_mcp;       /* with MCP's handshake */
    const ngx_tg_tls_t *tls; /* NULL: none */
    ngx_str_t tls_name;      /* whose certificate it must have */

    /* Who hears of its notifications that are about no call, or NULL. */
    void (*notify)(void *data, tg_str_t method, const tg_message_t *message);
    void *data;
} ngx_tg_backend_protocol_t;

/* A call for a backend.  Memory of whoever asks, for as long. */
typedef struct {
    ngx_tg_backend_t *backend; /* NULL: nothing is under way */
    ngx_queue_t queue;
    ngx_tg_upstream_request_t request;
    ngx_msec_t sent_at;    /* when it was sent */
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
    void (*answer)(void *data, const tg_response_t *answer);

    /* Its values are in message->p. */
    void (*progress)(void *data, const tg_message_t *message);
} ngx_tg_backend_call_t;

/*
 * The one at this address, made when there is none.  Who is given one sends
 * it a query before it returns to NGINX.  NULL: no memory.
 */
ngx_tg_backend_t *ngx_tg_backend_find_or_create(
    const ngx_tg_backend_protocol_t *protocol, struct sockaddr *sockaddr,
    socklen_t socklen, const ngx_str_t *name);

/* It is answered, at once where it cannot be sent. */
void ngx_tg_backend_send_call(ngx_tg_backend_t *backend,
                              ngx_tg_backend_call_t *query);

/* Nobody waits for it any more; is_late: as there was no answer in time. */
void ngx_tg_backend_call_cancel(ngx_tg_backend_call_t *query,
                                ngx_uint_t is_late);

/* From now on there is a line to it, so that its notifications are heard. */
void ngx_tg_backend_keep_open(ngx_tg_backend_t *backend);

/* It was not there a moment ago: a call would wait. */
ngx_uint_t ngx_tg_backend_is_backing_off(ngx_tg_backend_t *backend);

/* Why it was not there the last time, for people. */
const char *ngx_tg_backend_get_error(ngx_tg_backend_t *backend);

/* The worker ends. */
void ngx_tg_backends_exit_process(void);

#endif
