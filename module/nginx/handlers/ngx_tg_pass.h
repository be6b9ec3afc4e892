/*
 * Declarations that only the files of `pass` use.
 *
 *   ngx_tg_pass.c             calls
 *   ngx_tg_pass_directives.c  directives; notifications of backends
 */
#ifndef _NGX_TG_PASS_H_INCLUDED_
#define _NGX_TG_PASS_H_INCLUDED_

#include "nginx/call/ngx_tg_upstream_peer.h"
#include "nginx/upstream/ngx_tg_backend.h"

/* Settings of a tool, or of a server, which has TLS settings only. */
typedef struct {
    ngx_stream_upstream_srv_conf_t *upstream; /* NULL: no `pass` */
    ngx_tg_backend_protocol_t protocol;
    ngx_str_t name; /* name at the backend; empty: the tool's name */
    tg_str_t sent;  /* that name as it is sent: of a tool, escaped for JSON */
    ngx_uint_t is_method;
    /* MCP method of a prompt or resource, such as prompts/get; or empty */
    tg_str_t mcp_method;
    ngx_uint_t has_notify; /* `notify` is set */
    ngx_tg_tls_t tls;
} ngx_tg_pass_conf_t;

void ngx_tg_pass_start(ngx_tg_call_t *call, tg_request_t *request);
void ngx_tg_pass_run(ngx_tg_call_t *call);
void ngx_tg_pass_cancel(ngx_tg_call_t *call);

#endif
