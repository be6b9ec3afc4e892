/*
 * What the files of `pass` share.
 *
 *   …_pass.c       a call
 *   …_pass_conf.c  directives, and whose notifications are heard
 */
#ifndef _NGX_TOOLGATE_PASS_H_INCLUDED_
#define _NGX_TOOLGATE_PASS_H_INCLUDED_

#include "nginx/call/ngx_toolgate_choice.h"
#include "nginx/line/ngx_toolgate_backend.h"

/* Of a tool, and of a server, which has no more than its TLS. */
typedef struct {
    ngx_stream_upstream_srv_conf_t *upstream; /* NULL: no `pass` */
    ngx_toolgate_speech_t speech;
    ngx_str_t name; /* at the backend; empty: the tool's */
    tg_str_t sent;  /* the same, as it is sent */
    ngx_uint_t is_method;
    ngx_uint_t is_told; /* `notify` */
    ngx_toolgate_tls_t tls;
} ngx_toolgate_pass_t;

void ngx_toolgate_pass_start(ngx_toolgate_call_t *call, tg_request_t *request);
void ngx_toolgate_pass_run(ngx_toolgate_call_t *call);
void ngx_toolgate_pass_cancel(ngx_toolgate_call_t *call);

#endif
