/*
 * Wakeup of the worker by a thread. ngx_notify() is not suitable: it has one
 * handler at a time, which NGINX's thread pools set.
 */
#ifndef _NGX_TG_WORKER_WAKEUP_H_INCLUDED_
#define _NGX_TG_WORKER_WAKEUP_H_INCLUDED_

#include "nginx/ngx_tg.h"

/*
 * Enables wakeups: on_wakeup is called in the event loop, once for any number
 * of earlier wakeups. May be called again. NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_worker_wakeup_init(ngx_cycle_t *cycle,
                                    void (*on_wakeup)(void));
void ngx_tg_worker_wakeup_exit(void);

/* Wakes the worker, in any thread at any time. */
void ngx_tg_worker_wakeup_send(void);

#endif
