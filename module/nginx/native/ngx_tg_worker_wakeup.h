/*
 * How a thread wakes the worker.  NGINX's own ngx_notify() is no way to: it
 * has one handler at a time, which thread pools of NGINX set.
 */
#ifndef _NGX_TG_WORKER_WAKEUP_H_INCLUDED_
#define _NGX_TG_WORKER_WAKEUP_H_INCLUDED_

#include "nginx/ngx_tg.h"

/*
 * From now on news is called in the event loop, once for any number of
 * notifications before it: NGX_OK, also when it was so before, or NGX_ERROR,
 * logged.
 */
ngx_int_t ngx_tg_worker_wakeup_init(ngx_cycle_t *cycle,
                                    void (*on_wakeup)(void));
void ngx_tg_worker_wakeup_exit(void);

/* In any thread, at any time. */
void ngx_tg_worker_wakeup_send(void);

#endif
