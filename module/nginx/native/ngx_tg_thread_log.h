/*
 * Lines that threads write to the error log: the worker's thread writes them,
 * because only NGINX knows when the log file is reopened.
 */
#ifndef _NGX_TG_THREAD_LOG_H_INCLUDED_
#define _NGX_TG_THREAD_LOG_H_INCLUDED_

#include "nginx/native/ngx_tg_worker_wakeup.h"

#include "threading/tg_threading.h"

/* Queues a line with the name of a tool; may be called in any thread. */
void ngx_tg_thread_log_write(ngx_uint_t level, tg_str_t name, const char *text);

/*
 * Writes the queued lines to the error log, in the worker's thread; called
 * directly where no event loop runs.
 */
void ngx_tg_thread_log_flush(void);

/* Writes the queued lines and drops all later ones. */
void ngx_tg_thread_log_close(void);

#endif
