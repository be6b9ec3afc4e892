/*
 * The new worker's side: a session goes on where the old one was.
 */
#include "nginx/move/ngx_toolgate_move.h"

/* What an access log says of the last call. */
static void
ngx_toolgate_resume_last(ngx_toolgate_front_t *front,
                         const ngx_toolgate_packed_head_t *head)
{
    if (head->last.end < NGX_TOOLGATE_ENDS && head->last_len <= TG_NAME_MAX) {
        front->last = head->last;
        front->last.entry = tg_catalogue_get(
            front->peer.catalogue, (tg_entry_kind_t) head->last_kind,
            tg_str(head->last_name, head->last_len));
    }
}

static int
ngx_toolgate_resume_peer(ngx_toolgate_session_t *session,
                         ngx_toolgate_packed_t *packed, int *has_changed)
{
    tg_buf_t state;
    tg_peer_t *peer;
    int rc;

    peer = &session->front.peer;
    tg_buf_init(&state, tg_alloc_libc());
    rc = ngx_toolgate_packed_get(packed, NGX_TOOLGATE_PACKED_STATE, &state);

    if (rc == TG_OK) {
        rc = ngx_toolgate_packed_get(packed, NGX_TOOLGATE_PACKED_IN,
                                     &session->in);
    }

    if (rc == TG_OK) {
        rc = ngx_toolgate_packed_get(packed, NGX_TOOLGATE_PACKED_OUT,
                                     &peer->out);
    }

    /* The old worker has traced it. */
    session->traced = peer->out.len;

    if (rc == TG_OK) {
        rc = tg_peer_load(peer, tg_buf_view(&state), ngx_toolgate_packed_give,
                          packed, ngx_toolgate_call_unpack, has_changed);
    }

    tg_buf_deinit(&state);

    return rc;
}

ngx_int_t
ngx_toolgate_resume(ngx_toolgate_session_t *session, void *arrival)
{
    ngx_toolgate_packed_t *packed = arrival;

    ngx_toolgate_packed_head_t *head;
    int rc, has_changed;

    head = &packed->head;
    session->bytes_in = head->bytes_in;
    session->bytes_out = head->bytes_out;
    session->front.stream->received = (off_t) head->received;
    session->front.stream->start_sec = (time_t) head->start_sec;
    session->front.stream->start_msec = (ngx_msec_t) head->start_msec;
    session->front.connection->sent = (off_t) head->sent;

    ngx_memcpy(session->front.key, head->key, NGX_TOOLGATE_KEY);
    ngx_toolgate_front_keyed(&session->front);

    rc = ngx_toolgate_resume_peer(session, packed, &has_changed);

    if (rc != TG_OK) {
        ngx_log_error(NGX_LOG_ERR, session->front.connection->log, 0,
                      "a session of another worker could not be resumed (%d)",
                      rc);
        return NGX_ERROR;
    }

    if (ngx_toolgate_told_arrive(session, &head->seat, head->told) != NGX_OK) {
        return NGX_ERROR;
    }

    /* From here on it is ours, and needs no goodbye of somebody else. */
    ngx_toolgate_packed_deinit(packed);

    ngx_toolgate_resume_last(&session->front, head);

    if (head->has_spoken) {
        ngx_toolgate_silent_leave(&session->silent);
    }

    ngx_toolgate_wait_for(session, (tg_wait_t) head->wait,
                          head->left != 0 ? (ngx_msec_t) head->left
                                          : NGX_TIMER_INFINITE);

    if (has_changed) {
        tg_peer_list_changed(&session->front.peer);
    }

    return NGX_OK;
}
