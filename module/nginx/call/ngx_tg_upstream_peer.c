/* Selection of an upstream's server for a call, by NGINX's load balancing. */
#include "nginx/call/ngx_tg_upstream_peer.h"

#include "nginx/call/ngx_tg_call_impl.h"

/* Returns the number of lists that NGINX has resolved for `resolve`, or 0. */
static ngx_uint_t
ngx_tg_upstream_get_resolve_count(
    const ngx_stream_upstream_srv_conf_t *upstream)
{
#if (NGX_STREAM_UPSTREAM_ZONE && nginx_version >= 1027003)
    const ngx_stream_upstream_rr_peers_t *peers;

    /* Upstreams in a shared zone have peers of this type. */
    peers = upstream->shm_zone != NULL ? upstream->peer.data : NULL;

    return peers != NULL && peers->config != NULL ? *peers->config : 0;
#else
    return 0;
#endif
}

ngx_int_t
ngx_tg_upstream_peer_init(ngx_tg_call_t *call, ngx_tg_upstream_peer_t *choice,
                          ngx_stream_upstream_srv_conf_t *upstream)
{
    /* Load balancers only use `peer`, which is copied afterwards. */
    static ngx_stream_upstream_t made;

    ngx_stream_session_t *s;
    ngx_tg_borrowed_session_t borrowed;
    ngx_uint_t servers;
    ngx_int_t rc;

    if (ngx_tg_call_borrow_session(call, &borrowed) != NGX_OK) {
        return NGX_ERROR;
    }

    s = call->base->stream;
    servers = ngx_tg_upstream_get_resolve_count(upstream);
    ngx_memzero(&made, sizeof(made));
    made.peer.log = ngx_cycle->log;
    made.peer.type = SOCK_STREAM;
    made.upstream = upstream;
    s->upstream = &made;
    rc = upstream->peer.init(s, upstream);
    s->upstream = NULL;
    choice->peer = made.peer;
    choice->servers = servers;
    ngx_tg_call_return_session(call, &borrowed);

    /* The load balancer's key may be an argument that was not found in time. */
    return call->is_out_of_steps ? NGX_ERROR : rc;
}

ngx_uint_t
ngx_tg_upstream_peer_is_stale(const ngx_tg_upstream_peer_t *choice,
                              const ngx_stream_upstream_srv_conf_t *upstream)
{
    return choice->servers != ngx_tg_upstream_get_resolve_count(upstream);
}

ngx_int_t
ngx_tg_upstream_peer_select_next(ngx_tg_upstream_peer_t *choice)
{
    ngx_peer_connection_t *peer;

    peer = &choice->peer;

    if (peer->tries == 0 || peer->get(peer, peer->data) != NGX_OK) {
        return NGX_BUSY;
    }

    choice->is_made = 1;

    return NGX_OK;
}

void
ngx_tg_upstream_peer_release(ngx_tg_upstream_peer_t *choice, ngx_uint_t state)
{
    if (choice->is_made) {
        choice->is_made = 0;
        choice->peer.free(&choice->peer, choice->peer.data, state);
    }
}
