/*
 * What becomes of a session when its worker exits: it goes to another one.
 */
#include "nginx/move/ngx_toolgate_move.h"

/* Nothing that runs keeps it here: NGX_OK, or NGX_AGAIN. */
static ngx_int_t
ngx_toolgate_leave_calls(ngx_toolgate_session_t *session)
{
    ngx_msec_t passed;

    passed = ngx_current_msec - session->leaving_since;

    if (session->front.peer.ncalls != 0 && passed < NGX_TOOLGATE_MOVE_GRACE) {
        ngx_toolgate_session_wait(session, NGX_TOOLGATE_MOVE_GRACE - passed);
        return NGX_AGAIN;
    }

    return ngx_toolgate_calls_release(&session->front);
}

ngx_int_t
ngx_toolgate_go(ngx_toolgate_session_t *session)
{
    ngx_toolgate_taker_t taker;

    taker = ngx_toolgate_is_movable(session)
                ? ngx_toolgate_session_taker(session)
                : NGX_TOOLGATE_TAKER_NONE;

    if (taker == NGX_TOOLGATE_TAKER_NONE
        || (session->state == NGX_TOOLGATE_PACKED
            && ngx_current_msec - session->packed_since
                   >= NGX_TOOLGATE_MOVE_TIME))
    {
        ngx_toolgate_calls_reclaim(&session->front);
        return NGX_DECLINED;
    }

    if (ngx_toolgate_leave_calls(session) != NGX_OK) {
        return NGX_AGAIN;
    }

    if (session->state != NGX_TOOLGATE_PACKED) {
        session->state = NGX_TOOLGATE_PACKED;
        session->packed_since = ngx_current_msec;
    }

    if (taker == NGX_TOOLGATE_TAKER_READY
        && ngx_toolgate_move(session) == NGX_DONE) {
        return NGX_DONE;
    }

    ngx_toolgate_session_wait(session, NGX_TOOLGATE_MOVE_PAUSE);

    return NGX_AGAIN;
}
