/*
 * Lines of the error log that threads write: the worker puts them there, as
 * nobody else knows when NGINX opens its log anew.
 */
#ifndef _NGX_TOOLGATE_LINES_H_INCLUDED_
#define _NGX_TOOLGATE_LINES_H_INCLUDED_

#include "nginx/native/ngx_toolgate_notify.h"

#include "thread/tg_mail.h"

/* A line in somebody's name; in any thread. */
void ngx_toolgate_line(ngx_uint_t level, tg_str_t name, const char *text);

/* Writes what there is; where no event loop does it, too. */
void ngx_toolgate_lines_flush(void);

/* The same, and no more from now on. */
void ngx_toolgate_lines_exit(void);

#endif
