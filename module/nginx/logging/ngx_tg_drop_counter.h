/*
 * What a log could not take, and when that is said: at once, then once a
 * minute, and when it can be written again.
 */
#ifndef _NGX_TG_DROP_COUNTER_H_INCLUDED_
#define _NGX_TG_DROP_COUNTER_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>

typedef struct {
    const char *directive;
    const char *unit;    /* "line": one of them */
    const char *name;    /* of the file */
    ngx_uint_t lost;     /* since it was said that it can be written */
    ngx_uint_t reported; /* of these: how many the error log knows of */
    time_t reported_at;  /* 0: never */
} ngx_tg_drop_counter_t;

/* So many more are lost, or none: says so when it is time. */
void ngx_tg_drop_counter_add(ngx_tg_drop_counter_t *loss, ngx_uint_t n,
                             ngx_err_t err, ngx_log_t *log);

/* Something was written. */
void ngx_tg_drop_counter_end(ngx_tg_drop_counter_t *loss, ngx_log_t *log);

#endif
