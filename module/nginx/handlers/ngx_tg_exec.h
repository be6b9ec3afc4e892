/* Settings of `exec` and its related directives in a tool's block. */
#ifndef _NGX_TG_EXEC_H_INCLUDED_
#define _NGX_TG_EXEC_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "nginx/config/ngx_tg_command_lint.h"
#include "nginx/config/ngx_tg_spec.h"
#include "spec/tg_exec_spec.h"

/* One variable of the environment: `env NAME VALUE`. */
typedef struct {
    ngx_str_t name;
    ngx_stream_complex_value_t value;
} ngx_tg_exec_env_t;

typedef struct {
    ngx_array_t *argv; /* ngx_stream_complex_value_t; NULL: no `exec` */
    ngx_array_t *args; /* ngx_tg_exec_arg_t: arguments of `arg`, after argv */
    ngx_str_t program; /* absolute path, NUL-terminated */
    ngx_array_t *env;  /* ngx_tg_exec_env_t */
    ngx_stream_complex_value_t *stdin_value;
    ngx_stream_complex_value_t *cwd;
    ngx_tg_command_line_t command; /* command line as the config has it */
    tg_exec_spec_t options;        /* the members that directives set */
} ngx_tg_exec_conf_t;

extern const ngx_tg_handler_t ngx_tg_exec_handler;

/* Creates unset settings. Returns NULL if there is no memory. */
void *ngx_tg_exec_create_conf(ngx_conf_t *cf);

/*
 * Reads a program and its words from the current directive; `first` is the
 * index of the program. Returns the result of the directive.
 */
char *ngx_tg_exec_read_command(ngx_conf_t *cf, ngx_tg_exec_conf_t *exec,
                               ngx_uint_t first);

/* Parses `arg WORD … [if=[!]VALUE] [each]`. */
char *ngx_tg_exec_set_arg(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Appends the value of one word of the command line as JSON. Returns NULL, or
 * an error text: `invalid` for invalid UTF-8, or a reason why no program can
 * receive the word.
 */
const char *ngx_tg_exec_write_word(ngx_tg_call_t *call, tg_buf_t *buf,
                                   ngx_stream_complex_value_t *value,
                                   const char *invalid);

/*
 * Appends the program and its arguments as a JSON array. Returns NULL, or an
 * error text.
 */
const char *ngx_tg_exec_write_argv(ngx_tg_call_t *call,
                                   ngx_tg_exec_conf_t *exec, tg_buf_t *buf);

#endif
