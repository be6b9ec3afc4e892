/* Restoring of a session in the new worker from its snapshot. */
#include "nginx/handoff/ngx_tg_handoff.h"

static void
ngx_tg_session_restore_last_call(ngx_tg_session_base_t *base,
                                 const ngx_tg_session_snapshot_head_t *head)
{
    if (head->last.end < NGX_TG_END_COUNT && head->last_len <= TG_NAME_MAX) {
        base->last = head->last;
        base->last.entry = tg_catalog_find(
            base->peer.catalog, (tg_catalog_entry_type_t) head->last_kind,
            tg_str(head->last_name, head->last_len));
    }
}

static int
ngx_tg_session_restore_peer(ngx_tg_session_t *session,
                            ngx_tg_session_snapshot_t *snapshot,
                            unsigned *changes)
{
    tg_buf_t state;
    tg_peer_t *peer;
    int rc;

    peer = &session->base.peer;
    tg_buf_init(&state, tg_alloc_libc());
    rc = ngx_tg_session_snapshot_read_part(snapshot, NGX_TG_SNAPSHOT_PEER_STATE,
                                           &state);

    if (rc == TG_OK) {
        rc = ngx_tg_session_snapshot_read_part(snapshot, NGX_TG_SNAPSHOT_INPUT,
                                               &session->in);
    }

    if (rc == TG_OK) {
        rc = ngx_tg_session_snapshot_read_part(snapshot, NGX_TG_SNAPSHOT_OUTPUT,
                                               &peer->out);
    }

    /* The old worker has traced this output. */
    session->traced = peer->out.len;

    session->base.is_restoring = 1;

    if (rc == TG_OK) {
        rc = tg_peer_load(peer, tg_buf_view(&state),
                          ngx_tg_session_snapshot_read_replies, snapshot,
                          ngx_tg_call_restore, changes);
    }

    session->base.is_restoring = 0;
    tg_buf_deinit(&state);

    return rc;
}

ngx_int_t
ngx_tg_session_restore(ngx_tg_session_t *session, void *received_snapshot)
{
    ngx_tg_session_snapshot_t *snapshot = received_snapshot;

    ngx_tg_session_snapshot_head_t *head;
    unsigned changes;
    int rc;

    head = &snapshot->head;
    session->bytes_in = head->bytes_in;
    session->bytes_out = head->bytes_out;
    session->base.stream->received = (off_t) head->received;
    session->base.stream->start_sec = (time_t) head->start_sec;
    session->base.stream->start_msec = (ngx_msec_t) head->start_msec;
    session->base.connection->sent = (off_t) head->sent;

    ngx_memcpy(session->base.key, head->key, NGX_TG_TOKEN_LEN);
    ngx_tg_session_base_hold_runner(&session->base);

    rc = ngx_tg_session_restore_peer(session, snapshot, &changes);

    if (rc != TG_OK) {
        ngx_log_error(NGX_LOG_ERR, session->base.connection->log, 0,
                      "a session from another worker could not be restored "
                      "(%d)",
                      rc);
        return NGX_ERROR;
    }

    if (ngx_tg_session_attach_client_slot(session, &head->client_slot,
                                          head->backlog_bytes)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* The session owns the client now, so the snapshot must not close it. */
    ngx_tg_session_snapshot_deinit(snapshot);

    ngx_tg_session_restore_last_call(&session->base, head);

    if (head->has_spoken) {
        ngx_tg_pre_request_remove(&session->pre_request);
    }

    ngx_tg_session_set_wait(session, (tg_peer_wait_t) head->wait,
                            head->timer_left != 0
                                ? (ngx_msec_t) head->timer_left
                                : NGX_TIMER_INFINITE);

    tg_peer_notify_list_changes(&session->base.peer, changes);

    return NGX_OK;
}
