/*
 * The new worker's side: a session goes on where the old one was.
 */
#include "nginx/move/ngx_toolgate_move.h"

/* What an access log says of the last call. */
static void
ngx_toolgate_resume_last(ngx_toolgate_session_t *session,
                         const ngx_toolgate_packed_head_t *head)
{
    ngx_toolgate_record_t *last;

    last = &session->front.last;

    if (head->last_is_known && head->last_end < NGX_TOOLGATE_ENDS
        && head->last_len <= TG_NAME_MAX)
    {
        last->is_known = 1;
        last->entry = tg_catalogue_get(session->front.conf->catalogue,
                                       (tg_entry_kind_t) head->last_kind,
                                       tg_str(head->last_name, head->last_len));
        last->end = head->last_end;
        last->time = (ngx_msec_t) head->last_time;
        last->queued = (ngx_msec_t) head->last_queued;
    }
}

/* What is left of a time that may be shorter by now, or without end. */
static ngx_msec_t
ngx_toolgate_resume_time(uint64_t left, ngx_msec_t timeout)
{
    return left == 0 ? timeout : (ngx_msec_t) ngx_min(left, timeout);
}

static void
ngx_toolgate_resume_timers(ngx_toolgate_session_t *session,
                           const ngx_toolgate_packed_head_t *head)
{
    ngx_msec_t to_read, to_send;
    ngx_connection_t *c;

    c = session->front.connection;
    session->wait = (ngx_toolgate_wait_t) head->wait;

    if (head->has_spoken) {
        ngx_toolgate_silent_leave(session);
    }

    to_read = 0;
    to_send = 0;

    if (session->wait == NGX_TOOLGATE_WAIT_FRAME) {
        to_read = ngx_toolgate_resume_time(head->to_read,
                                           session->front.conf->frame_timeout);
    } else if (session->wait == NGX_TOOLGATE_WAIT_IDLE) {
        to_read = ngx_toolgate_resume_time(head->to_read,
                                           session->front.conf->idle_timeout);
    } else if (session->wait == NGX_TOOLGATE_WAIT_SENT) {
        to_send = ngx_toolgate_resume_time(head->to_send,
                                           session->front.conf->send_timeout);
    }

    c->read->cancelable = 1;

    if (to_read != 0) {
        ngx_add_timer(c->read, to_read);
    }

    if (to_send != 0) {
        ngx_add_timer(c->write, to_send);
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

    rc = ngx_toolgate_resume_peer(session, packed, &has_changed);

    if (rc != TG_OK) {
        ngx_log_error(NGX_LOG_ERR, session->front.connection->log, 0,
                      "a session of another worker could not be resumed (%d)",
                      rc);
        return NGX_ERROR;
    }

    /* From here on it is ours, and needs no goodbye of somebody else. */
    ngx_toolgate_packed_deinit(packed);

    ngx_toolgate_resume_last(session, head);
    ngx_toolgate_resume_timers(session, head);

    if (has_changed) {
        tg_peer_list_changed(&session->front.peer);
    }

    return NGX_OK;
}
