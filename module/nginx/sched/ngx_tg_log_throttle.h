/*
 * Lines of the error log that a stranger causes by what it sends, of which it
 * can send as many as it likes.
 */
#ifndef _NGX_TG_LOG_THROTTLE_H_INCLUDED_
#define _NGX_TG_LOG_THROTTLE_H_INCLUDED_

/* First: it says what the system has. */
#include "nginx/ngx_tg.h"

#include "base/tg_throttle.h"

/*
 * May one more be logged?  Takes room of the pace, if the level is logged at
 * all, and logs that there is none left.
 */
ngx_uint_t ngx_tg_log_throttle_take(tg_throttle_t *throttle, ngx_uint_t level,
                                    ngx_log_t *log);

#endif
