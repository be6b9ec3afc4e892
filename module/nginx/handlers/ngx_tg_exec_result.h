/*
 * What of a program that has ended is no error, and what becomes of its
 * stderr: `success` and `stderr`.
 */
#ifndef _NGX_TG_EXEC_RESULT_H_INCLUDED_
#define _NGX_TG_EXEC_RESULT_H_INCLUDED_

#include "nginx/config/ngx_tg_config.h"

typedef struct {
    ngx_array_t *success; /* ngx_uint_t: statuses; NULL: 0 alone */
    ngx_str_t err;        /* the word of `stderr`; empty: none */
} ngx_tg_exec_result_t;

/* Of conf, an ngx_tg_exec_result_t is at cmd->offset. */
char *ngx_tg_exec_result_set_success(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_tg_exec_result_set_stderr(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);

/* The block was read: NULL, or what is wrong. */
const char *ngx_tg_exec_result_check(const ngx_tg_tool_t *tool,
                                     const ngx_tg_exec_result_t *result,
                                     ngx_uint_t has_exec);

/*
 * Takes what it does not say from a server's; tool is NULL for that itself.
 * What a tool's output has no room for is left out.
 */
void ngx_tg_exec_result_inherit(const ngx_tg_tool_t *tool,
                                ngx_tg_exec_result_t *result,
                                const ngx_tg_exec_result_t *from);

/* Appends what the runner is told of it, if anything. */
void ngx_tg_exec_result_write_json(tg_buf_t *params,
                                   const ngx_tg_exec_result_t *result);

#endif
