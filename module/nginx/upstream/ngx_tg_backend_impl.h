/*
 * Declarations that only the files of backends use.
 *
 *   ngx_tg_backend.c       list of backends
 *   ngx_tg_backend_conn.c  connections to backends
 *   ngx_tg_backend_call.c  calls, and their queue
 */
#ifndef _NGX_TG_BACKEND_IMPL_H_INCLUDED_
#define _NGX_TG_BACKEND_IMPL_H_INCLUDED_

#include "nginx/upstream/ngx_tg_backend.h"

/* A connection and its MCP handshake, if the backend has one. */
typedef struct {
    ngx_tg_upstream_conn_t conn;
    ngx_tg_backend_t *backend;
    tg_mcp_client_t client;
    ngx_event_t tick;
    ngx_msec_t hung_at; /* time when it was found to be hung, in ms; 0: never */
} ngx_tg_backend_conn_t;

struct ngx_tg_backend_s {
    ngx_queue_t queue;
    ngx_queue_t waiting; /* calls without a connection: ngx_tg_backend_call_t */
    ngx_tg_backend_protocol_t protocol;
    ngx_sockaddr_t sockaddr;
    socklen_t socklen;
    ngx_str_t name;
    ngx_event_t idle;
    ngx_uint_t is_used; /* used since the last check for idle backends */
    ngx_uint_t is_kept;
    ngx_uint_t ncalls;
    ngx_ssl_session_t *session; /* TLS session to resume, or NULL */
    char error[NGX_MAX_ERROR_STR / 8];
    ngx_uint_t nconns;
    ngx_tg_backend_conn_t conns[];
};

/* Sends the waiting calls on connections that can take a call. */
void ngx_tg_backend_send_waiting(ngx_tg_backend_t *backend);

/* Fails all waiting calls as NOT_STARTED: no connection can be opened. */
void ngx_tg_backend_fail_waiting(ngx_tg_backend_t *backend);

/* Returns the best connection for a call; NULL: the call must wait. */
ngx_tg_backend_conn_t *ngx_tg_backend_select_conn(ngx_tg_backend_t *backend);

/* Initializes a connection, which stays closed until it is needed. */
void ngx_tg_backend_conn_init(ngx_tg_backend_conn_t *backend_conn,
                              ngx_tg_backend_t *backend);
/* Closes a connection and frees its memory; requests on it are not answered. */
void ngx_tg_backend_conn_deinit(ngx_tg_backend_conn_t *backend_conn);

#endif
