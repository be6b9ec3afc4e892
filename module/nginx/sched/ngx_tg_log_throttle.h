/*
 * Throttle for lines of the error log that a client or server causes by its
 * input, of which it can send any amount.
 */
#ifndef _NGX_TG_LOG_THROTTLE_H_INCLUDED_
#define _NGX_TG_LOG_THROTTLE_H_INCLUDED_

/* Included first: it defines which features of the system are available. */
#include "nginx/ngx_tg.h"

#include "base/tg_throttle.h"

/*
 * Checks whether one more line may be logged, and counts it. Returns 1, or 0:
 * the log level is off, or the throttle is used up. Before the last line it
 * logs that some lines are left out.
 */
ngx_uint_t ngx_tg_log_throttle_take(tg_throttle_t *throttle, ngx_uint_t level,
                                    ngx_log_t *log);

#endif
