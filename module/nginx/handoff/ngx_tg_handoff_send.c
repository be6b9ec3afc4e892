/*
 * Sending of sessions by the exiting worker: a session waits for its calls and
 * for a receiver, is written to a snapshot, freed and sent. It is freed first
 * so that limit_conn does not count it twice. The snapshot waits in the outbox
 * until the channel takes it.
 */
#include "nginx/handoff/ngx_tg_handoff.h"
#include "nginx/shm/ngx_tg_counters.h"
#include "nginx/shm/ngx_tg_state_key.h"

/* The outbox has one snapshot; further sessions wait as they are. */
static struct {
    ngx_tg_session_snapshot_t snapshot;
    uint64_t listener;
    ngx_msec_t since;
    ngx_uint_t is_full;
    ngx_event_t event;
} ngx_tg_handoff_outbox;

static ngx_uint_t ngx_tg_handoff_sent_count;

static ngx_uint_t
ngx_tg_session_can_move(const ngx_tg_session_t *session)
{
    ngx_connection_t *c;

    c = session->base.connection;

#if (NGX_STREAM_SSL)
    if (c->ssl != NULL) {
        return 0; /* TLS keys cannot leave the library */
    }
#endif

    /* The PROXY header came once, before the session. */
    return c->listening != NULL && c->proxy_protocol == NULL
           && c->socklen <= sizeof(ngx_sockaddr_t)
           && c->listening->socklen <= sizeof(ngx_sockaddr_t)
           && session->state != NGX_TG_SESSION_CLOSING
           && !session->base.is_broken && !session->base.peer.is_closing;
}

static uint64_t
ngx_tg_session_get_listener_hash(const ngx_tg_session_t *session)
{
    ngx_listening_t *ls;

    ls = session->base.connection->listening;

    return ngx_tg_sockaddr_hash(ls->sockaddr, ls->socklen);
}

/* --- snapshot --- */

static void
ngx_tg_session_snapshot_write_head(const ngx_tg_session_t *session,
                                   ngx_tg_session_snapshot_head_t *head)
{
    const tg_catalog_entry_t *entry;
    ngx_connection_t *c;

    c = session->base.connection;
    head->bytes_in = session->bytes_in;
    head->bytes_out = session->bytes_out;
    head->received = (uint64_t) session->base.stream->received;
    head->sent = (uint64_t) c->sent;
    head->number = c->number;
    head->start_sec = (uint64_t) session->base.stream->start_sec;
    head->start_msec = (uint64_t) session->base.stream->start_msec;
    head->wait = session->wait;
    head->timer_left = ngx_tg_timer_get_remaining_ms(
        session->wait == TG_WAIT_READ ? c->write : c->read);
    head->has_spoken = ngx_queue_empty(&session->pre_request.queue);
    head->listener_len = c->listening->socklen;
    head->client_len = c->socklen;
    ngx_memcpy(&head->listener, c->listening->sockaddr, c->listening->socklen);
    ngx_memcpy(&head->client, c->sockaddr, c->socklen);

    ngx_memcpy(head->key, session->base.key, NGX_TG_TOKEN_LEN);

    entry = session->base.last.entry;
    head->last = session->base.last;
    head->last.entry = NULL;

    if (entry != NULL) {
        head->last_kind = entry->kind;
        head->last_len = (uint32_t) ngx_min(entry->name.len, TG_NAME_MAX);
        ngx_memcpy(head->last_name, entry->name.data, head->last_len);
    }
}

/* Moves all state of the session, which must be dropped afterwards. */
static ngx_int_t
ngx_tg_session_snapshot_write(ngx_tg_session_t *session,
                              ngx_tg_session_snapshot_t *snapshot)
{
    tg_buf_t state;
    tg_peer_t *peer;
    int rc;

    peer = &session->base.peer;
    tg_buf_init(&state, tg_alloc_libc());
    rc = ngx_tg_session_snapshot_alloc(snapshot, peer->ncalls + 1) != NGX_OK
             ? TG_NOMEM
             : tg_peer_save(peer, ngx_tg_call_write_snapshot, 1, &state);

    if (rc != TG_OK) {
        ngx_log_error(NGX_LOG_ERR, session->base.connection->log, 0,
                      "a session could not be serialized to move to another "
                      "worker (%d)",
                      rc);
        tg_buf_deinit(&state);
        return NGX_ERROR;
    }

    ngx_tg_session_detach_client_slot(session, &snapshot->head.client_slot,
                                      &snapshot->head.backlog_bytes);
    ngx_tg_session_snapshot_write_head(session, &snapshot->head);
    ngx_tg_session_trace_output(session);
    tg_buf_consume(&peer->out, session->sent);
    ngx_tg_session_snapshot_set_part(snapshot, NGX_TG_SNAPSHOT_PEER_STATE,
                                     &state);
    ngx_tg_session_snapshot_set_part(snapshot, NGX_TG_SNAPSHOT_INPUT,
                                     &session->in);
    ngx_tg_session_snapshot_set_part(snapshot, NGX_TG_SNAPSHOT_OUTPUT,
                                     &peer->out);
    tg_peer_take_replies(peer, ngx_tg_session_snapshot_add_replies, snapshot);

    /* Our bridge takes the notice to mean that no call was started. */
    if (peer->ncalls == 0 || !peer->is_toolgate) {
        tg_peer_send_shutdown_notice(peer, TG_STR("Toolgate is reloading or "
                                                  "stopping"));
    }

    ngx_tg_session_snapshot_set_part(snapshot, NGX_TG_SNAPSHOT_SHUTDOWN_NOTICE,
                                     &peer->out);

    return NGX_OK;
}

/*
 * Frees a connection but not its descriptor, which it removes from epoll: the
 * receiver's copy would keep the registration.
 */
static ngx_socket_t
ngx_tg_connection_release_fd(ngx_connection_t *c)
{
    ngx_socket_t fd;

    if (c->read->timer_set) {
        ngx_del_timer(c->read);
    }

    if (c->write->timer_set) {
        ngx_del_timer(c->write);
    }

    if (ngx_del_conn != NULL) {
        if (c->read->active || c->write->active) {
            (void) ngx_del_conn(c, 0);
        }

    } else {
        if (c->read->active || c->read->disabled) {
            (void) ngx_del_event(c->read, NGX_READ_EVENT, 0);
        }

        if (c->write->active || c->write->disabled) {
            (void) ngx_del_event(c->write, NGX_WRITE_EVENT, 0);
        }
    }

    if (c->read->posted) {
        ngx_delete_posted_event(c->read);
    }

    if (c->write->posted) {
        ngx_delete_posted_event(c->write);
    }

    c->read->closed = 1;
    c->write->closed = 1;
    ngx_reusable_connection(c, 0);
    ngx_free_connection(c);

    fd = c->fd;
    c->fd = (ngx_socket_t) -1;

    return fd;
}

/* Frees the session without logging its end. Returns the client's socket. */
static ngx_socket_t
ngx_tg_session_drop(ngx_tg_session_t *session)
{
    ngx_connection_t *c;
    ngx_socket_t fd;
    ngx_pool_t *pool;

    c = session->base.connection;
    ngx_tg_session_base_hand_off_calls(&session->base);
    ngx_tg_session_base_release_runner(&session->base);

#if (NGX_STAT_STUB)
    (void) ngx_atomic_fetch_add(ngx_stat_active, -1);
#endif

    pool = c->pool;
    fd = ngx_tg_connection_release_fd(c);
    ngx_destroy_pool(pool);

    return fd;
}

/* --- the outbox --- */

/* Empties the outbox: sent (NGX_OK), taken back (NGX_DECLINED), or failed. */
static void
ngx_tg_handoff_outbox_clear(ngx_int_t rc)
{
    ngx_tg_session_snapshot_t snapshot;

    snapshot = ngx_tg_handoff_outbox.snapshot;
    ngx_tg_handoff_outbox.is_full = 0;

    if (rc == NGX_DECLINED) {
        ngx_tg_handoff_receive_back(&snapshot);
        return;
    }

    if (rc == NGX_OK) {
        ngx_tg_handoff_sent_count++;
    } else {
        ngx_tg_session_snapshot_close_client(&snapshot);
    }

    ngx_tg_session_snapshot_deinit(&snapshot);
}

static void
ngx_tg_handoff_outbox_send(ngx_event_t *ev)
{
    ngx_tg_receiver_state_t state;
    ngx_uint_t is_late;
    ngx_int_t rc;

    is_late = ngx_current_msec - ngx_tg_handoff_outbox.since
              >= NGX_TG_HANDOFF_TIMEOUT;

    state = ngx_tg_handoff_get_receiver_state(ngx_tg_handoff_outbox.listener);
    rc = state == NGX_TG_RECEIVER_UNKNOWN ? NGX_AGAIN : NGX_DECLINED;

    if (state == NGX_TG_RECEIVER_READY) {
        rc = ngx_tg_session_snapshot_send(&ngx_tg_handoff_outbox.snapshot,
                                          ngx_cycle->log);
        rc = rc == NGX_AGAIN && is_late ? NGX_ERROR : rc;
    }

    if (rc == NGX_AGAIN) {
        /* Not cancelable, so that the exiting worker waits for the timer. */
        ngx_add_timer(ev, NGX_TG_LINGER_CHECK_INTERVAL);
        return;
    }

    ngx_tg_handoff_outbox_clear(rc);

    /* The last receiver may have stopped between the check and the sending. */
    if (ngx_tg_handoff_is_last_receiver()) {
        ngx_tg_handoff_receive_drain();
    }
}

/* Returns NGX_DONE if the session is freed, or NGX_AGAIN. */
static ngx_int_t
ngx_tg_session_move_to_outbox(ngx_tg_session_t *session)
{
    ngx_event_t *ev;

    ngx_tg_session_snapshot_init(&ngx_tg_handoff_outbox.snapshot);

    if (ngx_tg_session_snapshot_write(session, &ngx_tg_handoff_outbox.snapshot)
        != NGX_OK)
    {
        ngx_tg_session_snapshot_deinit(&ngx_tg_handoff_outbox.snapshot);
        return NGX_AGAIN;
    }

    ngx_log_error(NGX_LOG_INFO, session->base.connection->log, 0,
                  "client moves to another worker");
    ngx_tg_handoff_outbox.is_full = 1;
    ngx_tg_handoff_outbox.listener = ngx_tg_session_get_listener_hash(session);
    ngx_tg_handoff_outbox.since = ngx_current_msec;
    ngx_tg_handoff_outbox.snapshot.fd = ngx_tg_session_drop(session);

    ev = &ngx_tg_handoff_outbox.event;
    ev->data = &ngx_tg_dummy_connection;
    ev->handler = ngx_tg_handoff_outbox_send;
    ev->log = ngx_cycle->log;
    ngx_tg_handoff_outbox_send(ev);

    return NGX_DONE;
}

void
ngx_tg_handoff_send_exit(ngx_cycle_t *cycle)
{
    if (ngx_tg_handoff_outbox.is_full) {
        ngx_tg_handoff_outbox_clear(NGX_ERROR);
    }

    if (ngx_tg_handoff_sent_count != 0) {
        ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0, "%ui %s",
                      ngx_tg_handoff_sent_count,
                      tg_pick_plural(ngx_tg_handoff_sent_count,
                                     "session moved to another worker",
                                     "sessions moved to other workers"));
    }
}

/* --- handoff of a session --- */

/* Waits for short calls (NGX_AGAIN), then detaches the others. */
static ngx_int_t
ngx_tg_session_detach_calls(ngx_tg_session_t *session)
{
    ngx_msec_t passed;

    passed = ngx_current_msec - session->leaving_since;

    if (session->base.peer.ncalls != 0 && passed < NGX_TG_HANDOFF_CALL_GRACE) {
        ngx_tg_session_set_timer(session, NGX_TG_HANDOFF_CALL_GRACE - passed);
        return NGX_AGAIN;
    }

    return ngx_tg_session_base_detach_calls(&session->base);
}

static ngx_int_t
ngx_tg_session_hand_off(ngx_tg_session_t *session)
{
    ngx_tg_receiver_state_t taker;

    taker = ngx_tg_session_can_move(session)
                ? ngx_tg_handoff_get_receiver_state(
                    ngx_tg_session_get_listener_hash(session))
                : NGX_TG_RECEIVER_NONE;

    if (taker == NGX_TG_RECEIVER_UNKNOWN) {
        ngx_tg_session_set_timer(session, NGX_TG_LINGER_CHECK_INTERVAL);
        return NGX_AGAIN;
    }

    if (taker == NGX_TG_RECEIVER_STARTING && ngx_tg_linger_start()) {
        return NGX_BUSY;
    }

    if (taker != NGX_TG_RECEIVER_READY
        || (session->state == NGX_TG_SESSION_AWAITING_HANDOFF
            && ngx_current_msec - session->handoff_since
                   >= NGX_TG_HANDOFF_TIMEOUT))
    {
        ngx_tg_session_base_reattach_calls(&session->base);
        return NGX_DECLINED;
    }

    if (ngx_tg_session_detach_calls(session) != NGX_OK) {
        return NGX_AGAIN;
    }

    if (session->state != NGX_TG_SESSION_AWAITING_HANDOFF) {
        session->state = NGX_TG_SESSION_AWAITING_HANDOFF;
        session->handoff_since = ngx_current_msec;
    }

    if (!ngx_tg_handoff_outbox.is_full && ngx_tg_session_snapshot_can_send()
        && ngx_tg_session_move_to_outbox(session) == NGX_DONE)
    {
        return NGX_DONE;
    }

    ngx_tg_session_set_timer(session, NGX_TG_LINGER_CHECK_INTERVAL);

    return NGX_AGAIN;
}

void
ngx_tg_handoff_start(ngx_cycle_t *cycle)
{
    static const ngx_tg_handoff_ops_t handoff_ops = {
        ngx_tg_connection_find_snapshot,
        ngx_tg_session_restore,
        ngx_tg_handoff_receive_stop,
        ngx_tg_session_hand_off,
    };

    ngx_tg_session_set_handoff_ops(&handoff_ops);
    ngx_tg_state_key_start_worker(cycle);
    ngx_tg_counters_start_worker(cycle, ngx_tg_init_client_connection);
    ngx_tg_broadcast_start_worker(cycle);

    /* A single process has no other worker. */
    if (ngx_process == NGX_PROCESS_WORKER) {
        ngx_tg_handoff_receive_start(cycle);
    }
}
