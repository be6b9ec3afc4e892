/*
 * What a tool's block says with `exec` and the directives that belong to it.
 */
#ifndef _NGX_TG_EXEC_H_INCLUDED_
#define _NGX_TG_EXEC_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "nginx/config/ngx_tg_command_lint.h"
#include "nginx/handlers/ngx_tg_exec_result.h"

/* `env NAME VALUE` */
typedef struct {
    ngx_str_t name;
    ngx_stream_complex_value_t value;
} ngx_tg_exec_env_t;

typedef struct {
    ngx_array_t *argv; /* ngx_stream_complex_value_t; NULL: no `exec` */
    ngx_array_t *args; /* ngx_tg_exec_arg_t: what may follow */
    ngx_str_t program; /* absolute, terminated */
    ngx_array_t *env;  /* ngx_tg_exec_env_t */
    ngx_stream_complex_value_t *stdin_value;
    ngx_stream_complex_value_t *cwd;
    off_t memory; /* 0: no limit */
    off_t pids;
    ngx_tg_command_line_t command; /* as the block has it */
    ngx_tg_exec_result_t result;
} ngx_tg_exec_conf_t;

/* `arg WORD … [if=[!]VALUE] [each]` */
char *ngx_tg_exec_set_arg(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Appends the value of a word that the program is started with, as
 * ngx_tg_call_append_value(); or says why no program can be given it.
 */
const char *ngx_tg_exec_write_word(ngx_tg_call_t *call, tg_buf_t *buf,
                                   ngx_stream_complex_value_t *value,
                                   const char *invalid);

/* Appends the program and its arguments: NULL, or what is wrong with one. */
const char *ngx_tg_exec_write_argv(ngx_tg_call_t *call,
                                   ngx_tg_exec_conf_t *exec, tg_buf_t *buf);

#endif
