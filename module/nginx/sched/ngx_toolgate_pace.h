/*
 * Lines of the error log that a stranger causes by what it sends, of which it
 * can send as many as it likes.
 */
#ifndef _NGX_TOOLGATE_PACE_H_INCLUDED_
#define _NGX_TOOLGATE_PACE_H_INCLUDED_

/* First: it says what the system has. */
#include "nginx/ngx_toolgate.h"

#include "base/tg_pace.h"

/*
 * May one more be logged?  Takes room of the pace, if the level is logged at
 * all, and logs that there is none left.
 */
ngx_uint_t ngx_toolgate_may_log(tg_pace_t *pace, ngx_uint_t level,
                                ngx_log_t *log);

#endif
