/* Throttle for lines of the error log that a client or server causes. */
#ifndef _NGX_TG_LOG_THROTTLE_H_INCLUDED_
#define _NGX_TG_LOG_THROTTLE_H_INCLUDED_

/* Included first: it defines the features of the system. */
#include "nginx/ngx_tg.h"

#include "base/tg_throttle.h"

/*
 * Counts a line to log. Returns 0 if the log level is off or the throttle is
 * used up; logs that lines are omitted before the last one.
 */
ngx_uint_t ngx_tg_log_throttle_take(tg_throttle_t *throttle, ngx_uint_t level,
                                    ngx_log_t *log);

#endif
