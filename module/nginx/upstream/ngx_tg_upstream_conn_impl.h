/*
 * Declarations that only the files of upstream connections use.
 *
 *   ngx_tg_upstream_request.c       requests and responses
 *   ngx_tg_upstream_conn_connect.c  attempts to connect
 *   ngx_tg_upstream_conn_io.c       reading, writing, closing
 */
#ifndef _NGX_TG_UPSTREAM_CONN_IMPL_H_INCLUDED_
#define _NGX_TG_UPSTREAM_CONN_IMPL_H_INCLUDED_

#include "nginx/upstream/ngx_tg_upstream_conn.h"

void ngx_tg_upstream_conn_on_readable(ngx_event_t *rev);
void ngx_tg_upstream_conn_on_writable(ngx_event_t *wev);
void ngx_tg_upstream_conn_on_timer(ngx_event_t *ev);

/* Runs a time slice of a connection that has waited for one. */
void ngx_tg_upstream_conn_on_slice(tg_sched_source_t *source);
/* Checks whether the slice has ended; a callback of tg_caller_ops_t. */
int ngx_tg_upstream_conn_is_slice_over(void *host);

/* Closes the connection; its requests stay as they are. */
void ngx_tg_upstream_conn_close(ngx_tg_upstream_conn_t *conn);

/* Closes the connection; answers requests as lost (1) or given up (0). */
void ngx_tg_upstream_conn_drop(ngx_tg_upstream_conn_t *conn,
                               ngx_uint_t has_ended);

#endif
