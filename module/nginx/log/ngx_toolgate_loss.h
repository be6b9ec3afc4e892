/*
 * What a log could not take, and when that is said: at once, then once a
 * minute, and when it can be written again.
 */
#ifndef _NGX_TOOLGATE_LOSS_H_INCLUDED_
#define _NGX_TOOLGATE_LOSS_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>

typedef struct {
    const char *directive;
    const char *what; /* "line": one of them */
    const char *name; /* of the file */
    ngx_uint_t lost;  /* since it was said that it can be written */
    ngx_uint_t told;  /* of these: how many the error log knows of */
    time_t told_at;   /* 0: never */
} ngx_toolgate_loss_t;

/* So many more are lost, or none: says so when it is time. */
void ngx_toolgate_loss_add(ngx_toolgate_loss_t *loss, ngx_uint_t n,
                           ngx_err_t err, ngx_log_t *log);

/* Something was written. */
void ngx_toolgate_loss_over(ngx_toolgate_loss_t *loss, ngx_log_t *log);

#endif
