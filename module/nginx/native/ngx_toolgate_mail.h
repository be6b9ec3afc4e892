/*
 * The boxes of calls that libraries answer (thread/tg_mail.h), in this worker.
 */
#ifndef _NGX_TOOLGATE_MAIL_H_INCLUDED_
#define _NGX_TOOLGATE_MAIL_H_INCLUDED_

#include "nginx/native/ngx_toolgate_lines.h"
#include "nginx/sched/ngx_toolgate_sched.h"

/* From now on this worker has boxes: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_toolgate_mail_init(ngx_cycle_t *cycle);

/* Whatever threads say from now on is dropped. */
void ngx_toolgate_mail_exit(void);

/* The worker's: of all its boxes. */
tg_post_t *ngx_toolgate_mail_post(void);

/* --- any thread: as toolgate_api_t has them --- */

int ngx_toolgate_mail_reply(uint64_t number, tg_failure_t failure,
                            const char *data, size_t len);
int ngx_toolgate_mail_progress(uint64_t number, uint64_t progress,
                               uint64_t total, const char *message);

#endif
