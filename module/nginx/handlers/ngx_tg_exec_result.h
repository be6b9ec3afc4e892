/*
 * Result of a program that has ended: which statuses are a success, and how its
 * stderr is used (`success` and `stderr`).
 */
#ifndef _NGX_TG_EXEC_RESULT_H_INCLUDED_
#define _NGX_TG_EXEC_RESULT_H_INCLUDED_

#include "nginx/config/ngx_tg_config.h"

typedef struct {
    ngx_array_t *success; /* ngx_uint_t: exit statuses; NULL: only 0 */
    ngx_str_t err;        /* value of `stderr`; empty: not set */
} ngx_tg_exec_result_t;

/* Parses `success`; the ngx_tg_exec_result_t is at cmd->offset of conf. */
char *ngx_tg_exec_result_set_success(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
/* Parses `stderr`; the ngx_tg_exec_result_t is at cmd->offset of conf. */
char *ngx_tg_exec_result_set_stderr(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);

/*
 * Checks the settings of a tool whose block was read. Returns NULL, or an error
 * text.
 */
const char *ngx_tg_exec_result_check(const ngx_tg_tool_t *tool,
                                     const ngx_tg_exec_result_t *result,
                                     ngx_uint_t has_exec);

/*
 * Inherits unset settings from a server, for a tool or for another server (tool
 * is NULL). `stderr append` is not inherited if the tool's output is not text.
 */
void ngx_tg_exec_result_inherit(const ngx_tg_tool_t *tool,
                                ngx_tg_exec_result_t *result,
                                const ngx_tg_exec_result_t *from);

/* Appends the settings to the runner's params, if there are any. */
void ngx_tg_exec_result_write_json(tg_buf_t *params,
                                   const ngx_tg_exec_result_t *result);

#endif
