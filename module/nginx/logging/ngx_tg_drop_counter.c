#include "nginx/logging/ngx_tg_drop_counter.h"

#include "base/tg_base.h"

#include <ngx_event.h>

/* Minimum interval between reports, in seconds. */
#define NGX_TG_DROP_REPORT_INTERVAL 60

static ngx_uint_t
ngx_tg_drop_counter_is_report_due(const ngx_tg_drop_counter_t *loss)
{
    return loss->reported_at == 0
           || ngx_time() - loss->reported_at >= NGX_TG_DROP_REPORT_INTERVAL
           || ngx_exiting || ngx_quit || ngx_terminate;
}

void
ngx_tg_drop_counter_add(ngx_tg_drop_counter_t *loss, ngx_uint_t n,
                        ngx_err_t err, ngx_log_t *log)
{
    loss->lost += n;

    if (n != 0) {
        if (loss->counters == NULL) {
            loss->counters = ngx_tg_counters_find_named(
                TG_STR(""), NGX_TG_COUNTED_LOG, tg_str_from_cstr(loss->name));
        }

        ngx_tg_counters_add(loss->counters, NGX_TG_COUNTER_COUNT, n);
    }

    if (loss->lost == loss->reported
        || !ngx_tg_drop_counter_is_report_due(loss)) {
        return;
    }

    loss->reported = loss->lost;
    loss->reported_at = ngx_time();
    ngx_log_error(NGX_LOG_ERR, log, err,
                  "%s: \"%s\" cannot be written; %ui %s%s lost so far",
                  loss->directive, loss->name, loss->lost, loss->unit,
                  tg_pick_plural(loss->lost, " was", "s were"));
}

void
ngx_tg_drop_counter_end(ngx_tg_drop_counter_t *loss, ngx_log_t *log)
{
    /* An unreported loss waits for the next report. */
    if (loss->lost == 0
        || (loss->reported == 0 && !ngx_tg_drop_counter_is_report_due(loss)))
    {
        return;
    }

    ngx_log_error(NGX_LOG_ERR, log, 0,
                  "%s: \"%s\" can be written again; %ui %s%s lost",
                  loss->directive, loss->name, loss->lost, loss->unit,
                  tg_pick_plural(loss->lost, " was", "s were"));
    loss->lost = 0;
    loss->reported = 0;
    loss->reported_at = ngx_time();
}
