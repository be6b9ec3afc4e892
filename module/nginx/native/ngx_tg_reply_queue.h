/* The worker's mailbox for libraries' replies (threading/tg_threading.h). */
#ifndef _NGX_TG_REPLY_QUEUE_H_INCLUDED_
#define _NGX_TG_REPLY_QUEUE_H_INCLUDED_

#include "nginx/native/ngx_tg_thread_log.h"
#include "nginx/sched/ngx_tg_sched.h"

/* Opens the worker's mailbox. NGX_ERROR: logged. */
ngx_int_t ngx_tg_reply_queue_init_process(ngx_cycle_t *cycle);

/* Closes the worker's mailbox: later replies of threads are dropped. */
void ngx_tg_reply_queue_exit_process(void);

/* Returns the worker's mailbox. */
tg_mailbox_t *ngx_tg_reply_queue_get(void);

/* --- functions for any thread: members of toolgate_api_t --- */

/* Answers a call: TOOLGATE_OK, _NO_MEMORY, or _GONE if nobody waits for it. */
int ngx_tg_native_send_reply(uint64_t number, tg_failure_t failure,
                             const char *data, size_t len);
/* Sends progress: TOOLGATE_OK, or TOOLGATE_GONE if nobody waits. */
int ngx_tg_native_send_progress(uint64_t number, uint64_t progress,
                                uint64_t total, const char *message);

#endif
