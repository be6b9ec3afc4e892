#include "nginx/log/ngx_toolgate_loss.h"

#include "base/tg_base.h"

#include <ngx_event.h>

/* How often it is said that something is lost. */
#define NGX_TOOLGATE_LOG_PACE 60

static ngx_uint_t
ngx_toolgate_loss_may_tell(const ngx_toolgate_loss_t *loss)
{
    return loss->told_at == 0
           || ngx_time() - loss->told_at >= NGX_TOOLGATE_LOG_PACE || ngx_exiting
           || ngx_quit || ngx_terminate;
}

void
ngx_toolgate_loss_add(ngx_toolgate_loss_t *loss, ngx_uint_t n, ngx_err_t err,
                      ngx_log_t *log)
{
    loss->lost += n;

    if (loss->lost == loss->told || !ngx_toolgate_loss_may_tell(loss)) {
        return;
    }

    loss->told = loss->lost;
    loss->told_at = ngx_time();
    ngx_log_error(NGX_LOG_ERR, log, err,
                  "%s: \"%s\" cannot be written; %ui %s%s lost so far",
                  loss->directive, loss->name, loss->lost, loss->what,
                  tg_plural(loss->lost, " was", "s were"));
}

void
ngx_toolgate_loss_over(ngx_toolgate_loss_t *loss, ngx_log_t *log)
{
    /* What nobody was told of waits for its time, and others may join it. */
    if (loss->lost == 0
        || (loss->told == 0 && !ngx_toolgate_loss_may_tell(loss))) {
        return;
    }

    ngx_log_error(NGX_LOG_ERR, log, 0,
                  "%s: \"%s\" can be written again; %ui %s%s lost",
                  loss->directive, loss->name, loss->lost, loss->what,
                  tg_plural(loss->lost, " was", "s were"));
    loss->lost = 0;
    loss->told = 0;
    loss->told_at = ngx_time();
}
