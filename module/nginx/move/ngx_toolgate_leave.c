/*
 * What becomes of a session when its worker exits: it goes to another one,
 * or, where that cannot be, ends with its last call.
 */
#include "nginx/move/ngx_toolgate_move.h"

/* How long an exiting worker serves a client that is never idle. */
#define NGX_TOOLGATE_LEAVE 5000

static void
ngx_toolgate_leave_again(ngx_event_t *ev)
{
    ngx_toolgate_session_run(ev->data);
}

void
ngx_toolgate_leave_begin(ngx_toolgate_session_t *session)
{
    session->is_leaving = 1;
    session->leaving_since = ngx_current_msec;
    session->leaving.handler = ngx_toolgate_leave_again;
    session->leaving.data = session;
    session->leaving.log = session->connection->log;
    ngx_toolgate_turn_leave(session);
    ngx_toolgate_arrive_stop();
}

void
ngx_toolgate_leave_end(ngx_toolgate_session_t *session)
{
    if (session->leaving.timer_set) {
        ngx_del_timer(&session->leaving);
    }
}

/*
 * An exiting worker takes no more of a bridge of ours, which sends it anew
 * elsewhere.  Other clients would lose what is not read: they are served on
 * while calls of theirs run, but not for ever, or one that is never idle
 * would keep the old worker, and the old tools.
 */
ngx_uint_t
ngx_toolgate_may_read(const ngx_toolgate_session_t *session)
{
    if (!session->is_leaving) {
        return 1;
    }

    return !session->is_drained && !session->peer.is_toolgate
           && ngx_current_msec - session->leaving_since < NGX_TOOLGATE_LEAVE;
}

/* Not cancelable: an exiting worker stays for it. */
static void
ngx_toolgate_leave_wait(ngx_toolgate_session_t *session, ngx_msec_t time)
{
    if (!session->leaving.timer_set) {
        ngx_add_timer(&session->leaving, time);
    }
}

/* Nothing that runs keeps it here: NGX_OK, or NGX_AGAIN. */
static ngx_int_t
ngx_toolgate_leave_calls(ngx_toolgate_session_t *session)
{
    ngx_msec_t passed;

    passed = ngx_current_msec - session->leaving_since;

    if (session->peer.ncalls != 0 && passed < NGX_TOOLGATE_MOVE_GRACE) {
        ngx_toolgate_leave_wait(session, NGX_TOOLGATE_MOVE_GRACE - passed);
        return NGX_AGAIN;
    }

    return ngx_toolgate_release(session);
}

ngx_int_t
ngx_toolgate_go(ngx_toolgate_session_t *session)
{
    ngx_toolgate_taker_t taker;

    taker = ngx_toolgate_is_movable(session)
                ? ngx_toolgate_session_taker(session)
                : NGX_TOOLGATE_TAKER_NONE;

    if (taker == NGX_TOOLGATE_TAKER_NONE
        || (session->is_packed
            && ngx_current_msec - session->packed_since
                   >= NGX_TOOLGATE_MOVE_TIME))
    {
        ngx_toolgate_reclaim(session);
        return NGX_DECLINED;
    }

    if (ngx_toolgate_leave_calls(session) != NGX_OK) {
        return NGX_AGAIN;
    }

    if (!session->is_packed) {
        session->is_packed = 1;
        session->packed_since = ngx_current_msec;
    }

    if (taker == NGX_TOOLGATE_TAKER_READY
        && ngx_toolgate_move(session) == NGX_DONE) {
        return NGX_DONE;
    }

    ngx_toolgate_leave_wait(session, NGX_TOOLGATE_MOVE_PAUSE);

    return NGX_AGAIN;
}

void
ngx_toolgate_leave(ngx_toolgate_session_t *session)
{
    if (session->peer.ncalls != 0 || session->is_ending) {
        return;
    }

    if (!session->is_drained) {
        ngx_toolgate_pump(session);
        session->is_drained = 1;

        if (session->peer.ncalls != 0 || session->is_ending) {
            return;
        }
    }

    tg_peer_farewell(&session->peer, TG_STR("Toolgate reloads or stops"));
    session->is_ending = 1;
}
