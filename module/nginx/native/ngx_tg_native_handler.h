/*
 * Native handlers (api/toolgate_handler.h) in this process: their hooks, and
 * what they may ask of us.
 */
#ifndef _NGX_TG_NATIVE_HANDLER_H_INCLUDED_
#define _NGX_TG_NATIVE_HANDLER_H_INCLUDED_

#include "nginx/native/ngx_tg_reply_queue.h"

#include "api/toolgate_handler.h"

/* Why one does not load: the beginning of what it says. */
#define NGX_TG_NATIVE_ERROR_MAX 512

/* One of a tool. */
typedef struct {
    const toolgate_handler_t *ops;
    toolgate_tool_t tool; /* what the library has of it */
    ngx_str_t file;
    ngx_str_t symbol;
    void *state; /* the library's own */
    ngx_msec_t tried_at;
    ngx_msec_t logged_at; /* when a hook was logged that held the worker */
    ngx_uint_t nslow;     /* how many were since then */
    char load_error[NGX_TG_NATIVE_ERROR_MAX]; /* of the last load() */
    unsigned is_loaded:1;
    unsigned is_refused:1;
    unsigned has_logged:1;
} ngx_tg_native_handler_t;

/*
 * With all but ops set: does this handler take the tool?  NULL, and it has it;
 * or what is wrong and what to write, which may be in text.
 */
const char *ngx_tg_native_handler_check(ngx_tg_native_handler_t *native,
                                        const toolgate_handler_t *ops,
                                        u_char *text, size_t size);

/* Loads it, when it is not yet: 1: it can be called; 0: see refusal. */
ngx_uint_t ngx_tg_native_handler_ensure_loaded(ngx_tg_native_handler_t *native);

/* No thread of it is to run any more.  As a pool's cleanup. */
void ngx_tg_native_handler_unload(void *native);

void ngx_tg_native_handler_call(ngx_tg_native_handler_t *native,
                                const toolgate_request_t *request);
void ngx_tg_native_handler_cancel(ngx_tg_native_handler_t *native,
                                  toolgate_call_t call);

#endif
