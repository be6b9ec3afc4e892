/*
 * The old worker's side: a session that its worker's exit drives away waits
 * for its calls and for somebody to take it, is packed, and sent.
 *
 * All of the session ends in this worker before it is sent: what counts
 * connections (limit_conn) must not see it twice.  From then on it is a
 * packed session in the outbox until the pair has taken it.
 */
#include "nginx/move/ngx_toolgate_move.h"

/* One at most: packing is for once, so the next one waits as it is. */
static struct {
    ngx_toolgate_packed_t packed;
    uint64_t listener;
    ngx_msec_t since;
    ngx_uint_t is_full;
    ngx_event_t event;
} ngx_toolgate_outbox;

static ngx_uint_t ngx_toolgate_moved;

static ngx_uint_t
ngx_toolgate_is_movable(const ngx_toolgate_session_t *session)
{
    ngx_connection_t *c;

    c = session->front.connection;

#if (NGX_STREAM_SSL)
    if (c->ssl != NULL) {
        return 0; /* its keys cannot leave the library */
    }
#endif

    /* Who speaks through a proxy said so once, in front of the session. */
    return c->listening != NULL && c->proxy_protocol == NULL
           && c->socklen <= sizeof(ngx_sockaddr_t)
           && c->listening->socklen <= sizeof(ngx_sockaddr_t)
           && session->state != NGX_TOOLGATE_ENDING && !session->is_broken
           && !session->front.peer.is_closing;
}

static uint64_t
ngx_toolgate_listener_hash(const ngx_toolgate_session_t *session)
{
    ngx_listening_t *ls;

    ls = session->front.connection->listening;

    return ngx_toolgate_takers_hash(ls->sockaddr, ls->socklen);
}

/* --- packing --- */

static void
ngx_toolgate_pack_head(const ngx_toolgate_session_t *session,
                       ngx_toolgate_packed_head_t *head)
{
    const tg_entry_t *entry;
    ngx_connection_t *c;

    c = session->front.connection;
    head->bytes_in = session->bytes_in;
    head->bytes_out = session->bytes_out;
    head->received = (uint64_t) session->front.stream->received;
    head->sent = (uint64_t) c->sent;
    head->number = c->number;
    head->start_sec = (uint64_t) session->front.stream->start_sec;
    head->start_msec = (uint64_t) session->front.stream->start_msec;
    head->wait = session->wait;
    head->left = ngx_toolgate_time_left(
        session->wait == TG_WAIT_SENT ? c->write : c->read);
    head->has_spoken = ngx_queue_empty(&session->silent.queue);
    head->listener_len = c->listening->socklen;
    head->client_len = c->socklen;
    ngx_memcpy(&head->listener, c->listening->sockaddr, c->listening->socklen);
    ngx_memcpy(&head->client, c->sockaddr, c->socklen);

    ngx_memcpy(head->key, session->front.key, NGX_TOOLGATE_KEY);

    entry = session->front.last.entry;
    head->last = session->front.last;
    head->last.entry = NULL;

    if (entry != NULL) {
        head->last_kind = entry->kind;
        head->last_len = (uint32_t) ngx_min(entry->name.len, TG_NAME_MAX);
        ngx_memcpy(head->last_name, entry->name.data, head->last_len);
    }
}

/* Takes everything out of the session; it is to be dropped then. */
static ngx_int_t
ngx_toolgate_pack(ngx_toolgate_session_t *session,
                  ngx_toolgate_packed_t *packed)
{
    tg_buf_t state;
    tg_peer_t *peer;
    int rc;

    peer = &session->front.peer;
    tg_buf_init(&state, tg_alloc_libc());
    rc = ngx_toolgate_packed_alloc(packed, peer->ncalls + 1) != NGX_OK
             ? TG_NOMEM
             : tg_peer_save(peer, ngx_toolgate_call_pack, 1, &state);

    if (rc != TG_OK) {
        ngx_log_error(NGX_LOG_ERR, session->front.connection->log, 0,
                      "a session could not be packed to move (%d)", rc);
        tg_buf_deinit(&state);
        return NGX_ERROR;
    }

    ngx_toolgate_told_send(session, &packed->head.seat, &packed->head.told);
    ngx_toolgate_pack_head(session, &packed->head);
    ngx_toolgate_traced_out(session);
    tg_buf_drop(&peer->out, session->sent);
    ngx_toolgate_packed_set(packed, NGX_TOOLGATE_PACKED_STATE, &state);
    ngx_toolgate_packed_set(packed, NGX_TOOLGATE_PACKED_IN, &session->in);
    ngx_toolgate_packed_set(packed, NGX_TOOLGATE_PACKED_OUT, &peer->out);
    tg_peer_take_replies(peer, ngx_toolgate_packed_take, packed);

    /* To a bridge of ours it promises that nothing was started. */
    if (peer->ncalls == 0 || !peer->is_toolgate) {
        tg_peer_farewell(peer, TG_STR("Toolgate reloads or stops"));
    }

    ngx_toolgate_packed_set(packed, NGX_TOOLGATE_PACKED_FAREWELL, &peer->out);

    return NGX_OK;
}

/*
 * As ngx_close_connection(), but the descriptor stays open.  The event loop
 * must be told to forget it: the taker's copy keeps the file, which epoll
 * goes by, open in this process's sight as well.
 */
static ngx_socket_t
ngx_toolgate_detach(ngx_connection_t *c)
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

/* The session ends here, unlogged: it goes on. */
static ngx_socket_t
ngx_toolgate_drop(ngx_toolgate_session_t *session)
{
    ngx_connection_t *c;
    ngx_socket_t fd;
    ngx_pool_t *pool;

    c = session->front.connection;
    ngx_toolgate_calls_leave(&session->front);
    ngx_toolgate_front_forget(&session->front);

#if (NGX_STAT_STUB)
    (void) ngx_atomic_fetch_add(ngx_stat_active, -1);
#endif

    pool = c->pool;
    fd = ngx_toolgate_detach(c);
    ngx_destroy_pool(pool);

    return fd;
}

/* --- the outbox --- */

/* It was sent, gets its farewell, or stays as nobody takes it any more. */
static void
ngx_toolgate_outbox_clear(ngx_int_t rc)
{
    ngx_toolgate_packed_t packed;

    packed = ngx_toolgate_outbox.packed;
    ngx_toolgate_outbox.is_full = 0;

    if (rc == NGX_DECLINED) {
        ngx_toolgate_arrive_back(&packed);
        return;
    }

    if (rc == NGX_OK) {
        ngx_toolgate_moved++;
    } else {
        ngx_toolgate_packed_farewell(&packed);
    }

    ngx_toolgate_packed_deinit(&packed);
}

static void
ngx_toolgate_outbox_try(ngx_event_t *ev)
{
    ngx_uint_t is_late;
    ngx_int_t rc;

    is_late = ngx_current_msec - ngx_toolgate_outbox.since
              >= NGX_TOOLGATE_MOVE_TIME;

    rc = NGX_DECLINED;

    if (ngx_toolgate_handover_taker(ngx_toolgate_outbox.listener)
        == NGX_TOOLGATE_TAKER_READY)
    {
        rc = ngx_toolgate_packed_send(&ngx_toolgate_outbox.packed,
                                      ngx_cycle->log);
        rc = rc == NGX_AGAIN && is_late ? NGX_ERROR : rc;
    }

    if (rc == NGX_AGAIN) {
        /* Not cancelable: an exiting worker stays for it. */
        ngx_add_timer(ev, NGX_TOOLGATE_MOVE_PAUSE);
        return;
    }

    ngx_toolgate_outbox_clear(rc);

    /* The last taker may have left between the question and the sending. */
    if (ngx_toolgate_handover_is_last()) {
        ngx_toolgate_arrive_drain();
    }
}

/* NGX_DONE, and the session is gone, or NGX_AGAIN. */
static ngx_int_t
ngx_toolgate_send(ngx_toolgate_session_t *session)
{
    ngx_event_t *ev;

    ngx_toolgate_packed_init(&ngx_toolgate_outbox.packed);

    if (ngx_toolgate_pack(session, &ngx_toolgate_outbox.packed) != NGX_OK) {
        ngx_toolgate_packed_deinit(&ngx_toolgate_outbox.packed);
        return NGX_AGAIN;
    }

    ngx_log_error(NGX_LOG_INFO, session->front.connection->log, 0,
                  "client goes to another worker");
    ngx_toolgate_outbox.is_full = 1;
    ngx_toolgate_outbox.listener = ngx_toolgate_listener_hash(session);
    ngx_toolgate_outbox.since = ngx_current_msec;
    ngx_toolgate_outbox.packed.fd = ngx_toolgate_drop(session);

    ev = &ngx_toolgate_outbox.event;
    ev->data = &ngx_toolgate_no_connection;
    ev->handler = ngx_toolgate_outbox_try;
    ev->log = ngx_cycle->log;
    ngx_toolgate_outbox_try(ev);

    return NGX_DONE;
}

void
ngx_toolgate_move_exit(ngx_cycle_t *cycle)
{
    if (ngx_toolgate_outbox.is_full) {
        ngx_toolgate_outbox_clear(NGX_ERROR);
    }

    if (ngx_toolgate_moved != 0) {
        ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0, "%ui %s",
                      ngx_toolgate_moved,
                      tg_plural(ngx_toolgate_moved,
                                "session went on to another worker",
                                "sessions went on to other workers"));
    }
}

/* --- leaving --- */

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

/* As ngx_toolgate_mover_t has it. */
static ngx_int_t
ngx_toolgate_go(ngx_toolgate_session_t *session)
{
    ngx_toolgate_taker_t taker;

    taker = ngx_toolgate_is_movable(session) ? ngx_toolgate_handover_taker(
                ngx_toolgate_listener_hash(session))
                                             : NGX_TOOLGATE_TAKER_NONE;

    if (taker == NGX_TOOLGATE_TAKER_SOON && ngx_toolgate_stay()) {
        return NGX_BUSY;
    }

    if (taker != NGX_TOOLGATE_TAKER_READY
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

    if (!ngx_toolgate_outbox.is_full && ngx_toolgate_packed_may_send()
        && ngx_toolgate_send(session) == NGX_DONE)
    {
        return NGX_DONE;
    }

    ngx_toolgate_session_wait(session, NGX_TOOLGATE_MOVE_PAUSE);

    return NGX_AGAIN;
}

void
ngx_toolgate_move_start(ngx_cycle_t *cycle)
{
    static const ngx_toolgate_mover_t mover = {
        ngx_toolgate_arrival,
        ngx_toolgate_resume,
        ngx_toolgate_arrive_stop,
        ngx_toolgate_go,
    };

    ngx_toolgate_session_init(&mover);
    ngx_toolgate_numbers_start(cycle, ngx_toolgate_init_connection);
    ngx_toolgate_told_start(cycle);

    /* One process alone has nobody to give to or take from. */
    if (ngx_process == NGX_PROCESS_WORKER) {
        ngx_toolgate_arrive_start(cycle);
    }
}
