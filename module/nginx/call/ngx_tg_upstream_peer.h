/*
 * Which server of an upstream of NGINX's a call goes to.
 */
#ifndef _NGX_TG_UPSTREAM_PEER_H_INCLUDED_
#define _NGX_TG_UPSTREAM_PEER_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

/* In memory of the call's. */
typedef struct {
    ngx_peer_connection_t peer; /* its tries: servers that are left */
    ngx_uint_t is_made;         /* and the upstream counts the call there */
    ngx_uint_t servers;         /* their number, as `resolve` counts lists */
} ngx_tg_upstream_peer_t;

/* Lets the upstream begin, for the call's session: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_upstream_peer_init(ngx_tg_call_t *call,
                                    ngx_tg_upstream_peer_t *choice,
                                    ngx_stream_upstream_srv_conf_t *upstream);

/* Has the upstream other servers since then?  It gives no more of those. */
ngx_uint_t ngx_tg_upstream_peer_is_stale(
    const ngx_tg_upstream_peer_t *choice,
    const ngx_stream_upstream_srv_conf_t *upstream);

/* NGX_OK: peer has its address; NGX_BUSY: there is none left. */
ngx_int_t ngx_tg_upstream_peer_select_next(ngx_tg_upstream_peer_t *choice);

/* The call is done with it; state: 0 or NGX_PEER_FAILED. */
void ngx_tg_upstream_peer_release(ngx_tg_upstream_peer_t *choice,
                                  ngx_uint_t state);

#endif
