/*
 * Native handlers (api/toolgate_handler.h) in this process: their hooks, and
 * what they may ask of us.
 */
#ifndef _NGX_TOOLGATE_NATIVE_H_INCLUDED_
#define _NGX_TOOLGATE_NATIVE_H_INCLUDED_

#include "nginx/native/ngx_toolgate_mail.h"

#include "api/toolgate_handler.h"

/* Why one does not load: the beginning of what it says. */
#define NGX_TOOLGATE_NATIVE_REFUSAL 512

/* One of a tool. */
typedef struct {
    const toolgate_handler_t *ops;
    toolgate_tool_t tool; /* what the library has of it */
    ngx_str_t file;
    ngx_str_t symbol;
    void *state; /* the library's own */
    ngx_msec_t tried;
    ngx_msec_t said; /* when a hook was logged that held the worker */
    ngx_uint_t held; /* how many were since then */
    char refusal[NGX_TOOLGATE_NATIVE_REFUSAL]; /* of the last load() */
    unsigned is_loaded:1;
    unsigned is_refused:1;
    unsigned has_said:1;
} ngx_toolgate_native_t;

/*
 * With all but ops set: does this handler take the tool?  NULL, and it has it;
 * or what is wrong and what to write, which may be in text.
 */
const char *ngx_toolgate_native_check(ngx_toolgate_native_t *native,
                                      const toolgate_handler_t *ops,
                                      u_char *text, size_t size);

/* Loads it, when it is not yet: 1: it can be called; 0: see refusal. */
ngx_uint_t ngx_toolgate_native_is_ready(ngx_toolgate_native_t *native);

/* No thread of it is to run any more.  As a pool's cleanup. */
void ngx_toolgate_native_unload(void *native);

void ngx_toolgate_native_call(ngx_toolgate_native_t *native,
                              const toolgate_request_t *request);
void ngx_toolgate_native_cancel(ngx_toolgate_native_t *native,
                                toolgate_call_t call);

#endif
