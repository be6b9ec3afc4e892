/* Selection of a server of an NGINX upstream for a call. */
#ifndef _NGX_TG_UPSTREAM_PEER_H_INCLUDED_
#define _NGX_TG_UPSTREAM_PEER_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

/* State of the selection, in memory of the call. */
typedef struct {
    /* its `tries`: number of servers not yet tried */
    ngx_peer_connection_t peer;
    /* a server is selected and counted by the upstream */
    ngx_uint_t is_made;
    /* generation of the server list, as `resolve` counts it */
    ngx_uint_t servers;
} ngx_tg_upstream_peer_t;

/* Initializes the selection with the call's session. NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_upstream_peer_init(ngx_tg_call_t *call,
                                    ngx_tg_upstream_peer_t *choice,
                                    ngx_stream_upstream_srv_conf_t *upstream);

/*
 * Checks whether the upstream's server list has changed since the selection
 * began; the old list must not be used any more.
 */
ngx_uint_t ngx_tg_upstream_peer_is_stale(
    const ngx_tg_upstream_peer_t *choice,
    const ngx_stream_upstream_srv_conf_t *upstream);

/*
 * Selects the next server. NGX_OK: peer has its address; NGX_BUSY: no server is
 * left.
 */
ngx_int_t ngx_tg_upstream_peer_select_next(ngx_tg_upstream_peer_t *choice);

/* Releases the selected server; state: 0 or NGX_PEER_FAILED. */
void ngx_tg_upstream_peer_release(ngx_tg_upstream_peer_t *choice,
                                  ngx_uint_t state);

#endif
