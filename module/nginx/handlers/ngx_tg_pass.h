/*
 * What the files of `pass` share.
 *
 *   ngx_tg_pass.c       a call
 *   ngx_tg_pass_directives.c  directives, and whose notifications are heard
 */
#ifndef _NGX_TG_PASS_H_INCLUDED_
#define _NGX_TG_PASS_H_INCLUDED_

#include "nginx/call/ngx_tg_upstream_peer.h"
#include "nginx/upstream/ngx_tg_backend.h"

/* Of a tool, and of a server, which has no more than its TLS. */
typedef struct {
    ngx_stream_upstream_srv_conf_t *upstream; /* NULL: no `pass` */
    ngx_tg_backend_protocol_t protocol;
    ngx_str_t name; /* at the backend; empty: the tool's */
    tg_str_t sent;  /* the same, as it is sent */
    ngx_uint_t is_method;
    ngx_uint_t has_notify; /* `notify` */
    ngx_tg_tls_t tls;
} ngx_tg_pass_conf_t;

void ngx_tg_pass_start(ngx_tg_call_t *call, tg_request_t *request);
void ngx_tg_pass_run(ngx_tg_call_t *call);
void ngx_tg_pass_cancel(ngx_tg_call_t *call);

#endif
