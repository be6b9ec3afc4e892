/*
 * The boxes of calls that libraries answer (threading/tg_threading.h), in this
 * worker.
 */
#ifndef _NGX_TG_REPLY_QUEUE_H_INCLUDED_
#define _NGX_TG_REPLY_QUEUE_H_INCLUDED_

#include "nginx/native/ngx_tg_thread_log.h"
#include "nginx/sched/ngx_tg_sched.h"

/* From now on this worker has boxes: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_tg_reply_queue_init_process(ngx_cycle_t *cycle);

/* Whatever threads say from now on is dropped. */
void ngx_tg_reply_queue_exit_process(void);

/* The worker's: of all its boxes. */
tg_mailbox_t *ngx_tg_reply_queue_get(void);

/* --- any thread: as toolgate_api_t has them --- */

int ngx_tg_native_send_reply(uint64_t number, tg_failure_t failure,
                             const char *data, size_t len);
int ngx_tg_native_send_progress(uint64_t number, uint64_t progress,
                                uint64_t total, const char *message);

#endif
