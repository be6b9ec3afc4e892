/* Settings of `http` and its related directives in a tool's block. */
#ifndef _NGX_TG_HTTP_H_INCLUDED_
#define _NGX_TG_HTTP_H_INCLUDED_

#include "nginx/call/ngx_tg_template.h"
#include "nginx/config/ngx_tg_http_common_directives.h"
#include "nginx/config/ngx_tg_spec.h"
#include "spec/tg_http_spec.h"

/*
 * One header, or one field of a query or form: `header NAME VALUE`, `query NAME
 * VALUE`, `field NAME VALUE`.
 */
typedef struct {
    ngx_str_t name; /* encoded, except for a header */
    ngx_stream_complex_value_t value;
    ngx_uint_t is_secret;    /* the value is from a file */
    ngx_tg_arg_path_t *each; /* array whose elements `value` renders, or NULL */
    ngx_str_t separator; /* text between the elements; empty: repeat the name */
} ngx_tg_http_field_t;

typedef struct {
    ngx_str_t method; /* empty: no `http` */
    ngx_str_t scheme; /* empty: the URL is one variable */
    ngx_tg_template_t *url;
    /* host pattern, see tg_url.h; empty: variables choose the host */
    ngx_str_t host;
    ngx_array_t *headers; /* ngx_tg_http_field_t */
    ngx_array_t *query;
    ngx_array_t *form;       /* body of `field` directives */
    ngx_tg_template_t *body; /* NULL: no `body` */
    const char *body_type;   /* type of the body; NULL: no body */
    ngx_array_t *hosts;      /* patterns of allowed hosts: ngx_str_t */
    ngx_str_t proxy;
    ngx_str_t ca_file;
    tg_http_spec_t options; /* the members that directives set */
    unsigned has_hosts:1;   /* `hosts` is set, not inherited */
    unsigned has_type:1;    /* a header is the Content-Type */
} ngx_tg_http_conf_t;

/* Parses `http METHOD URL`; cmd->post is the handler. */
char *ngx_tg_http_set_target(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
/* Parses `header` and `tool_header`. */
char *ngx_tg_http_set_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
/*
 * Parses `query`, `tool_query` and `field`; the array is at cmd->offset of
 * conf.
 */
char *ngx_tg_http_set_field(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
/* Parses `body [json|form|text] VALUE`. */
char *ngx_tg_http_set_body(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_http_set_hosts(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Checks the settings of a tool whose block was read. Returns NULL, or an error
 * text.
 */
const char *ngx_tg_http_check(ngx_tg_tool_t *tool, void *conf);
/*
 * Checks the settings after those of the server were inherited. Returns NULL,
 * or an error text.
 */
const char *ngx_tg_http_check_merged(const void *conf);

/*
 * Appends fields as NAME=VALUE, encoded. The character `before` (NUL: none)
 * comes before the first one, `&` before the others. A value with variables
 * that is empty is left out. Returns NULL, or an error text.
 */
const char *ngx_tg_http_append_fields(ngx_tg_call_t *call,
                                      const ngx_array_t *fields, char before,
                                      tg_buf_t *buf);

/*
 * Inherits unset settings from a server, for a tool or for another server (tool
 * is NULL).
 */
void ngx_tg_http_inherit(const ngx_tg_tool_t *tool, void *own,
                         const void *from);

/*
 * Checks whether an array has a header or field with a name; case does not
 * matter.
 */
ngx_uint_t ngx_tg_http_has_field(const ngx_array_t *fields, tg_str_t name);

#endif
