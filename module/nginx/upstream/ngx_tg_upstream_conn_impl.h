/*
 * What the files of a line share.
 *
 *   ngx_tg_upstream_request.c          requests and answers
 *   ngx_tg_upstream_conn_connect.c  until it is open
 *   ngx_tg_upstream_conn_io.c       then, and its end
 */
#ifndef _NGX_TG_UPSTREAM_CONN_IMPL_H_INCLUDED_
#define _NGX_TG_UPSTREAM_CONN_IMPL_H_INCLUDED_

#include "nginx/upstream/ngx_tg_upstream_conn.h"

void ngx_tg_upstream_conn_on_readable(ngx_event_t *rev);
void ngx_tg_upstream_conn_on_writable(ngx_event_t *wev);
void ngx_tg_upstream_conn_on_timer(ngx_event_t *ev);

/* A time slice of its own; and, for the caller: is it over? */
void ngx_tg_upstream_conn_on_slice(tg_sched_source_t *source);
int ngx_tg_upstream_conn_is_slice_over(void *host);

/* There is no connection any more; requests are as they were. */
void ngx_tg_upstream_conn_close(ngx_tg_upstream_conn_t *conn);

/* The same, and they are answered with that. */
void ngx_tg_upstream_conn_drop(ngx_tg_upstream_conn_t *conn,
                               ngx_uint_t has_ended);

#endif
