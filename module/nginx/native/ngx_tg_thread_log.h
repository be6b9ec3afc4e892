/*
 * Lines of the error log that threads write: the worker puts them there, as
 * nobody else knows when NGINX opens its log anew.
 */
#ifndef _NGX_TG_THREAD_LOG_H_INCLUDED_
#define _NGX_TG_THREAD_LOG_H_INCLUDED_

#include "nginx/native/ngx_tg_worker_wakeup.h"

#include "threading/tg_threading.h"

/* A line in somebody's name; in any thread. */
void ngx_tg_thread_log_write(ngx_uint_t level, tg_str_t name, const char *text);

/* Writes what there is; where no event loop does it, too. */
void ngx_tg_thread_log_flush(void);

/* The same, and no more from now on. */
void ngx_tg_thread_log_close(void);

#endif
