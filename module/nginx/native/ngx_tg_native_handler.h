/* Native handlers (api/toolgate_handler.h): calls of hooks, and their API. */
#ifndef _NGX_TG_NATIVE_HANDLER_H_INCLUDED_
#define _NGX_TG_NATIVE_HANDLER_H_INCLUDED_

#include "nginx/native/ngx_tg_reply_queue.h"

#include "api/toolgate_handler.h"

/* Size of a load error's text in bytes; longer ones are cut. */
#define NGX_TG_NATIVE_ERROR_MAX 512

/* The native handler of one tool. */
typedef struct {
    const toolgate_handler_t *ops;
    toolgate_tool_t tool; /* the tool, as the library sees it */
    ngx_str_t file;
    ngx_str_t symbol;
    void *state; /* private to the library */
    ngx_msec_t tried_at;
    ngx_msec_t logged_at; /* time of the last log line about a slow hook */
    ngx_uint_t nslow;     /* number of slow hooks since that line */
    char load_error[NGX_TG_NATIVE_ERROR_MAX]; /* error of the last load() */
    unsigned is_loaded:1;
    unsigned is_refused:1;
    unsigned has_logged:1;
} ngx_tg_native_handler_t;

/*
 * Lets a library's handler check its tool; all members but `ops` and `tool.api`
 * are set. Returns NULL and sets ops, or an error, which may be in text.
 */
const char *ngx_tg_native_handler_check(ngx_tg_native_handler_t *native,
                                        const toolgate_handler_t *ops,
                                        u_char *text, size_t size);

/* Loads the handler if needed. Returns 0 with the reason in load_error. */
ngx_uint_t ngx_tg_native_handler_ensure_loaded(ngx_tg_native_handler_t *native);

/* Unloads the handler and ends its threads. A cleanup of a pool. */
void ngx_tg_native_handler_unload(void *native);

void ngx_tg_native_handler_call(ngx_tg_native_handler_t *native,
                                const toolgate_request_t *request);
/* Calls the handler's cancel(), if any, for a call that nobody waits for. */
void ngx_tg_native_handler_cancel(ngx_tg_native_handler_t *native,
                                  toolgate_call_t call);

#endif
