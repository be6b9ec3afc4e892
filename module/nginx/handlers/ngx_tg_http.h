/*
 * What a tool's block says with `http` and the directives that belong to it.
 */
#ifndef _NGX_TG_HTTP_H_INCLUDED_
#define _NGX_TG_HTTP_H_INCLUDED_

#include "nginx/call/ngx_tg_template.h"
#include "nginx/config/ngx_tg_http_common_directives.h"

/* `header NAME VALUE`, `query NAME VALUE`, `field NAME VALUE` */
typedef struct {
    ngx_str_t name; /* of a query or a form, encoded */
    ngx_stream_complex_value_t value;
    ngx_uint_t is_secret;    /* value is from a file */
    ngx_tg_arg_path_t *each; /* of an array: value is one element; or NULL */
    ngx_str_t separator; /* between those; empty: each has a name of its own */
} ngx_tg_http_field_t;

typedef struct {
    ngx_str_t method; /* empty: no `http` */
    ngx_str_t scheme; /* empty: the URL is one variable */
    ngx_tg_template_t *url;
    ngx_str_t host; /* empty: variables choose it; a pattern, see tg_url.h */
    ngx_array_t *headers; /* ngx_tg_http_field_t */
    ngx_array_t *query;
    ngx_array_t *form;       /* what `field` says: the body */
    ngx_tg_template_t *body; /* NULL: no `body` */
    const char *body_type;   /* of it; NULL: it is empty */
    ngx_array_t *hosts;      /* ngx_str_t */
    ngx_str_t proxy;
    ngx_str_t ca_file;
    ngx_msec_t connect_timeout; /* 0: the runner's */
    ngx_uint_t redirects;
    unsigned has_redirects:1;
    unsigned has_hosts:1; /* of its own */
    unsigned has_type:1;  /* a header is the Content-Type */
} ngx_tg_http_conf_t;

/* Its directives; the post of the first one is the handler. */
char *ngx_tg_http_set_target(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_field(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_body(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_hosts(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_redirects(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_proxy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_ca_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_connect_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                      void *conf);

/*
 * What is wrong with all of a block, and once it has those of its server, too:
 * NULL, or what to write.
 */
const char *ngx_tg_http_check(ngx_tg_tool_t *tool, void *conf);
const char *ngx_tg_http_check_merged(const void *conf);

/*
 * Appends fields as NAME=VALUE, the first one behind `before`, if it is not
 * NUL, the others behind `&`.  What is empty was left out by the caller.
 * NULL, or what is wrong.
 */
const char *ngx_tg_http_append_fields(ngx_tg_call_t *call,
                                      const ngx_array_t *fields, char before,
                                      tg_buf_t *buf);

/* Takes from a server's what a block, or a server, does not say. */
void ngx_tg_http_inherit(const ngx_tg_tool_t *tool, void *own,
                         const void *from);

/* Is there a header, or a field of the query, of this name? */
ngx_uint_t ngx_tg_http_has_field(const ngx_array_t *fields, tg_str_t name);

#endif
