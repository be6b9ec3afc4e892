/*
 * Directives about HTTP connections, shared by the http handler and by MCP
 * servers.
 */
#ifndef _NGX_TG_HTTP_COMMON_DIRECTIVES_H_INCLUDED_
#define _NGX_TG_HTTP_COMMON_DIRECTIVES_H_INCLUDED_

#include "nginx/ngx_tg.h"

/*
 * Checks whether a text contains a control character, which is not allowed in
 * an HTTP header.
 */
ngx_uint_t ngx_tg_has_control_char(const ngx_str_t *text);

/*
 * Checks that a config may set this header, not HTTP itself. Returns NULL, or
 * the text of the error message.
 */
const char *ngx_tg_header_name_check(const ngx_str_t *name);

/*
 * Reads the value of a header from a file, `file=PATH`: text becomes the file's
 * only line. Returns NGX_CONF_OK or an error.
 */
char *ngx_tg_conf_read_header_file(ngx_conf_t *cf, ngx_str_t *path,
                                   ngx_str_t *text);

/* Handles `ca_file PATH`: sets an ngx_str_t of conf to the full path. */
char *ngx_tg_conf_set_ca_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Handles `proxy URL`: sets an ngx_str_t of conf. */
char *ngx_tg_conf_set_proxy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Checks whether the runner can load libcurl. Returns NGX_OK, or NGX_ERROR
 * after logging.
 */
ngx_int_t ngx_tg_conf_check_libcurl(ngx_conf_t *cf);

#endif
