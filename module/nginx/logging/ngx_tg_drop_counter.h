/*
 * Counter of lost log lines or records, reported in the error log at once, then
 * once a minute, and when the log can be written again.
 */
#ifndef _NGX_TG_DROP_COUNTER_H_INCLUDED_
#define _NGX_TG_DROP_COUNTER_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>

#include "nginx/shm/ngx_tg_counters.h"

typedef struct {
    const char *directive;
    const char *unit;    /* unit of the log, such as "line" */
    const char *name;    /* name of the file */
    ngx_uint_t lost;     /* units lost since the log could last be written */
    ngx_uint_t reported; /* number of these that the error log has reported */
    time_t reported_at;  /* time of the last report; 0: none */
    /* units lost, for all workers; NULL: none was lost in this one */
    ngx_tg_counters_t *counters;
} ngx_tg_drop_counter_t;

/* Adds n lost units, or 0, and reports them if that is due. */
void ngx_tg_drop_counter_add(ngx_tg_drop_counter_t *loss, ngx_uint_t n,
                             ngx_err_t err, ngx_log_t *log);

/* Reports the end of a loss and clears the counter. */
void ngx_tg_drop_counter_end(ngx_tg_drop_counter_t *loss, ngx_log_t *log);

#endif
