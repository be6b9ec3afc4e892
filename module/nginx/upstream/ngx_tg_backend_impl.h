/*
 * What the files of backends share.
 *
 *   ngx_tg_backend.c  which there are
 *   ngx_tg_backend_conn.c  their lines
 *   ngx_tg_backend_call.c    what waits for one
 */
#ifndef _NGX_TG_BACKEND_IMPL_H_INCLUDED_
#define _NGX_TG_BACKEND_IMPL_H_INCLUDED_

#include "nginx/upstream/ngx_tg_backend.h"

/* A line and, where it has one, its handshake. */
typedef struct {
    ngx_tg_upstream_conn_t conn;
    ngx_tg_backend_t *backend;
    tg_mcp_client_t client;
    ngx_event_t tick;
    ngx_msec_t hung_at; /* when it was found to say nothing; 0: it was not */
} ngx_tg_backend_conn_t;

struct ngx_tg_backend_s {
    ngx_queue_t queue;
    ngx_queue_t waiting; /* ngx_tg_backend_call_t */
    ngx_tg_backend_protocol_t protocol;
    ngx_sockaddr_t sockaddr;
    socklen_t socklen;
    ngx_str_t name;
    ngx_event_t idle;
    ngx_uint_t is_used; /* since it was looked for that */
    ngx_uint_t is_kept;
    ngx_uint_t ncalls;
    ngx_ssl_session_t *session; /* of TLS, to be used again */
    char error[NGX_MAX_ERROR_STR / 8];
    ngx_uint_t nconns;
    ngx_tg_backend_conn_t conns[];
};

/* Gives what waits to lines that take it. */
void ngx_tg_backend_send_waiting(ngx_tg_backend_t *backend);

/* There will be no line for what waits. */
void ngx_tg_backend_fail_waiting(ngx_tg_backend_t *backend);

/* The best line for another call; NULL: it has to wait. */
ngx_tg_backend_conn_t *ngx_tg_backend_select_conn(ngx_tg_backend_t *backend);

void ngx_tg_backend_conn_init(ngx_tg_backend_conn_t *backend_conn,
                              ngx_tg_backend_t *backend);
void ngx_tg_backend_conn_deinit(ngx_tg_backend_conn_t *backend_conn);

#endif
