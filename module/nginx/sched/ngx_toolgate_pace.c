#include "nginx/sched/ngx_toolgate_pace.h"

ngx_uint_t
ngx_toolgate_may_log(tg_pace_t *pace, ngx_uint_t level, ngx_log_t *log)
{
    int room;

    if (log->log_level < level) {
        return 0;
    }

    room = tg_pace_take(pace,
                        level < NGX_LOG_INFO ? TG_PACE_WARNINGS
                                             : TG_PACE_REMARKS,
                        ngx_current_msec);

    if (room < 0) {
        ngx_log_error(level, log, 0,
                      "too many lines at once, after the next one some are "
                      "left out");
    }

    return room != 0;
}
