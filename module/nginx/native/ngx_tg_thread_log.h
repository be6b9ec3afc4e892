/* Log lines of threads, which the worker writes: only NGINX reopens the log. */
#ifndef _NGX_TG_THREAD_LOG_H_INCLUDED_
#define _NGX_TG_THREAD_LOG_H_INCLUDED_

#include "nginx/native/ngx_tg_worker_wakeup.h"

#include "threading/tg_threading.h"

/* Queues a line with a tool's name, in any thread. */
void ngx_tg_thread_log_write(ngx_uint_t level, tg_str_t name, const char *text);

/* Writes the queued lines, in the worker's thread. */
void ngx_tg_thread_log_flush(void);

/* Writes the queued lines, and drops later ones. */
void ngx_tg_thread_log_close(void);

#endif
