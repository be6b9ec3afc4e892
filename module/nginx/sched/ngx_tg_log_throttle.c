#include "nginx/sched/ngx_tg_log_throttle.h"

ngx_uint_t
ngx_tg_log_throttle_take(tg_throttle_t *throttle, ngx_uint_t level,
                         ngx_log_t *log)
{
    int room;

    if (log->log_level < level) {
        return 0;
    }

    room = tg_throttle_take(throttle,
                            level < NGX_LOG_INFO ? TG_THROTTLE_WARNING_BURST
                                                 : TG_THROTTLE_INFO_BURST,
                            ngx_current_msec);

    if (room < 0) {
        ngx_log_error(level, log, 0,
                      "too many log lines at once; some are omitted");
    }

    return room != 0;
}
