/*
 * A backend: a server at one address that answers calls, with its protocol. All
 * tools of a worker share it. It is freed after one to two minutes without
 * calls. A dialect with request ids carries all calls on one connection. A
 * dialect without ids carries one call at a time on each of a few connections;
 * further calls wait, as they do until an MCP handshake is done.
 */
#ifndef _NGX_TG_BACKEND_H_INCLUDED_
#define _NGX_TG_BACKEND_H_INCLUDED_

#include "nginx/upstream/ngx_tg_upstream_conn.h"
#include "nginx/upstream/ngx_tg_tls.h"

#include "protocol/tg_mcp_client_call.h"

typedef struct ngx_tg_backend_s ngx_tg_backend_t;

/* The protocol of a tool's backends, from the config. */
typedef struct {
    tg_dialect_t dialect;
    ngx_uint_t is_mcp;       /* with the MCP handshake */
    const ngx_tg_tls_t *tls; /* NULL: no TLS */
    ngx_str_t tls_name;      /* name that the server's certificate must have */

    /* Callback for notifications that are not about a call, or NULL. */
    void (*notify)(void *data, tg_str_t method, const tg_message_t *message);
    void *data;
} ngx_tg_backend_protocol_t;

/* A call. The caller owns its memory, until it is answered or cancelled. */
typedef struct {
    ngx_tg_backend_t *backend; /* NULL: the call is not in progress */
    ngx_queue_t queue;
    ngx_tg_upstream_request_t request;
    ngx_msec_t sent_at;    /* time when it was sent, in ms */
    ngx_uint_t is_waiting; /* waiting in the queue of the backend */
    ngx_uint_t was_open;   /* the connection was open when the call was sent */

    ngx_uint_t is_method; /* 1: a request of that method; 0: a tool call */
    /* name and arguments; of a method: name as plain text */
    tg_mcp_call_t call;
    /* the caller's progress token, within the arguments */
    tg_str_t token;

    void *data; /* argument of the callbacks */

    /*
     * The call has ended. answer is NULL if nothing was sent: too many calls
     * wait, the call is too large, or there is no memory.
     */
    void (*answer)(void *data, const tg_response_t *answer);

    void (*progress)(void *data, const tg_message_t *message);
} ngx_tg_backend_call_t;

/*
 * Finds or creates the backend with this address and protocol. The caller must
 * send a call before it returns to NGINX's event loop. NULL: no memory.
 */
ngx_tg_backend_t *ngx_tg_backend_find_or_create(
    const ngx_tg_backend_protocol_t *protocol, struct sockaddr *sockaddr,
    socklen_t socklen, const ngx_str_t *name);

/* Sends or queues a call, which is answered at once if that is impossible. */
void ngx_tg_backend_send_call(ngx_tg_backend_t *backend,
                              ngx_tg_backend_call_t *query);

/* Cancels a call in progress without an answer. is_late: it timed out. */
void ngx_tg_backend_call_cancel(ngx_tg_backend_call_t *query,
                                ngx_uint_t is_late);

/* Keeps a connection open from now on, to receive notifications. */
void ngx_tg_backend_keep_open(ngx_tg_backend_t *backend);

/* Checks whether connecting failed a moment ago, so that a call would wait. */
ngx_uint_t ngx_tg_backend_is_backing_off(ngx_tg_backend_t *backend);

/* Returns the error of the last attempt to connect, for people. */
const char *ngx_tg_backend_get_error(ngx_tg_backend_t *backend);

void ngx_tg_backends_exit_process(void);

#endif
