/*
 * What directives say that lead to HTTP, of handlers and of MCP servers.
 */
#ifndef _NGX_TG_HTTP_COMMON_DIRECTIVES_H_INCLUDED_
#define _NGX_TG_HTTP_COMMON_DIRECTIVES_H_INCLUDED_

#include "nginx/ngx_tg.h"

/* Has text a character that no header may have? */
ngx_uint_t ngx_tg_has_control_char(const ngx_str_t *text);

/*
 * May a config set this header, or is it one that HTTP itself needs?  NULL,
 * or what to write.
 */
const char *ngx_tg_header_name_check(const ngx_str_t *name);

/*
 * `file=PATH`: text becomes the one line of that file.  NGX_CONF_OK, or an
 * error.
 */
char *ngx_tg_conf_read_header_file(ngx_conf_t *cf, ngx_str_t *path,
                                   ngx_str_t *text);

/* `ca_file PATH`: path becomes the full one.  NGX_CONF_OK, or an error. */
char *ngx_tg_conf_set_ca_file(ngx_conf_t *cf, ngx_str_t *path);

/* `proxy URL`, and `connect_timeout TIME`, likewise. */
char *ngx_tg_conf_set_proxy(ngx_conf_t *cf, ngx_str_t *proxy);
char *ngx_tg_conf_set_connect_timeout(ngx_conf_t *cf, ngx_msec_t *timeout);

/* Will the runner be able to load libcurl?  NGX_ERROR: logged. */
ngx_int_t ngx_tg_conf_check_libcurl(ngx_conf_t *cf);

#endif
