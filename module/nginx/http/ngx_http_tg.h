/*
 * The HTTP module: what an NGINX with `http` offers about the servers with
 * tools of its `stream` block. An NGINX without `http` lacks this folder.
 *
 *   ngx_http_toolgate_module.c  directives
 *   ngx_http_tg_status.c        toolgate_status, toolgate_metrics
 *   ngx_http_tg_metrics*.c      text of toolgate_metrics
 *   ngx_http_tg_mcp*.c          mcp_pass, see ngx_http_tg_mcp.h
 */
#ifndef _NGX_HTTP_TG_H_INCLUDED_
#define _NGX_HTTP_TG_H_INCLUDED_

#include "nginx/handlers/ngx_tg_status.h"

#include <ngx_http.h>

extern ngx_module_t ngx_http_toolgate_module;

/*
 * Sets the content handler of the current location. Returns NGX_CONF_OK, or an
 * error if the location has a handler already.
 */
char *ngx_http_tg_conf_set_handler(ngx_conf_t *cf, ngx_http_handler_pt handler);

/* Setters of directives without arguments. */
char *ngx_http_tg_conf_set_status(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_http_tg_conf_set_metrics(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);

/* Appends a collected status in Prometheus' text format. */
void ngx_http_tg_write_metrics(ngx_tg_status_t *status, tg_buf_t *out);

#endif
