/*
 * What the files of a line share.
 *
 *   …_line.c          requests and answers
 *   …_line_connect.c  until it is open
 *   …_line_io.c       then, and its end
 */
#ifndef _NGX_TOOLGATE_LINE_IMPL_H_INCLUDED_
#define _NGX_TOOLGATE_LINE_IMPL_H_INCLUDED_

#include "nginx/line/ngx_toolgate_line.h"

void ngx_toolgate_line_read(ngx_event_t *rev);
void ngx_toolgate_line_write(ngx_event_t *wev);
void ngx_toolgate_line_tick(ngx_event_t *ev);

/* A time slice of its own; and, for the caller: is it over? */
void ngx_toolgate_line_run(tg_source_t *source);
int ngx_toolgate_line_slice_is_over(void *host);

/* There is no connection any more; requests are as they were. */
void ngx_toolgate_line_close(ngx_toolgate_line_t *line);

/* The same, and they are answered with that. */
void ngx_toolgate_line_lose(ngx_toolgate_line_t *line, ngx_uint_t has_ended);

#endif
