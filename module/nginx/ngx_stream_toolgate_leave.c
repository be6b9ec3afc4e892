/*
 * What becomes of a session when its worker exits.
 */
#include "nginx/ngx_stream_toolgate_session.h"

/* How long an exiting worker serves a client that is never idle. */
#define NGX_STREAM_TOOLGATE_LEAVE 5000

/*
 * An exiting worker takes no more of a bridge of ours, which sends it anew
 * elsewhere.  Other clients would lose what is not read: they are served on
 * while calls of theirs run, but not for ever, or one that is never idle
 * would keep the old worker, and the old tools.
 */
ngx_uint_t
ngx_stream_toolgate_may_read(const ngx_stream_toolgate_session_t *session)
{
    if (!session->is_leaving) {
        return 1;
    }

    return !session->is_drained && !session->peer.is_toolgate
           && ngx_current_msec - session->leaving_since
                  < NGX_STREAM_TOOLGATE_LEAVE;
}

void
ngx_stream_toolgate_leave(ngx_stream_toolgate_session_t *session)
{
    if (session->peer.ncalls != 0 || session->is_ending) {
        return;
    }

    if (!session->is_drained) {
        ngx_stream_toolgate_pump(session);
        session->is_drained = 1;

        if (session->peer.ncalls != 0 || session->is_ending) {
            return;
        }
    }

    tg_peer_farewell(&session->peer, TG_STR("Toolgate reloads or stops"));
    session->is_ending = 1;
}
