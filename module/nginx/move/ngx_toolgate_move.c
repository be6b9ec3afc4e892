/*
 * The old worker's side: a session is packed and sent.
 *
 * All of the session ends in this worker before it is sent: what counts
 * connections (limit_conn) must not see it twice.  From then on it is a
 * packed session in the outbox until the pair has taken it.
 */
#include "nginx/move/ngx_toolgate_move.h"

typedef struct {
    ngx_queue_t queue;
    ngx_toolgate_packed_t packed;
    uint64_t listener;
    ngx_msec_t since;
} ngx_toolgate_outgoing_t;

static void ngx_toolgate_outbox_try(ngx_event_t *ev);

static ngx_queue_t ngx_toolgate_outbox = { &ngx_toolgate_outbox,
                                           &ngx_toolgate_outbox };
static ngx_event_t ngx_toolgate_outbox_event;
static ngx_uint_t ngx_toolgate_moved;

ngx_uint_t
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

ngx_toolgate_taker_t
ngx_toolgate_session_taker(const ngx_toolgate_session_t *session)
{
    return ngx_toolgate_handover_taker(ngx_toolgate_listener_hash(session));
}

/* --- packing --- */

static void
ngx_toolgate_pack_head(const ngx_toolgate_session_t *session,
                       ngx_toolgate_packed_head_t *head)
{
    const ngx_toolgate_record_t *last;
    ngx_connection_t *c;
    tg_str_t name;

    c = session->front.connection;
    head->bytes_in = session->bytes_in;
    head->bytes_out = session->bytes_out;
    head->received = (uint64_t) session->front.stream->received;
    head->sent = (uint64_t) c->sent;
    head->start_sec = (uint64_t) session->front.stream->start_sec;
    head->start_msec = (uint64_t) session->front.stream->start_msec;
    head->to_read = ngx_toolgate_time_left(c->read);
    head->to_send = ngx_toolgate_time_left(c->write);
    head->wait = session->wait;
    head->has_spoken = ngx_queue_empty(&session->silent);
    head->listener_len = c->listening->socklen;
    head->client_len = c->socklen;
    ngx_memcpy(&head->listener, c->listening->sockaddr, c->listening->socklen);
    ngx_memcpy(&head->client, c->sockaddr, c->socklen);

    last = &session->front.last;
    head->last_is_known = (uint32_t) last->is_known;
    head->last_end = (uint32_t) last->end;
    head->last_time = last->time;
    head->last_queued = last->queued;

    if (last->entry != NULL) {
        name = last->entry->name;
        head->last_kind = last->entry->kind;
        head->last_len = (uint32_t) ngx_min(name.len, TG_NAME_MAX);
        ngx_memcpy(head->last_name, name.data, head->last_len);
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

    ngx_toolgate_pack_head(session, &packed->head);
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

#if (NGX_STAT_STUB)
    (void) ngx_atomic_fetch_add(ngx_stat_active, -1);
#endif

    pool = c->pool;
    fd = ngx_toolgate_detach(c);
    ngx_destroy_pool(pool);

    return fd;
}

/* --- the outbox --- */

static void
ngx_toolgate_outgoing_free(ngx_toolgate_outgoing_t *out)
{
    ngx_toolgate_packed_deinit(&out->packed);
    tg_free(tg_alloc_libc(), out);
}

/* NGX_AGAIN: it stays.  Else it is out of the box, and freed. */
static ngx_int_t
ngx_toolgate_outgoing_try(ngx_toolgate_outgoing_t *out)
{
    ngx_toolgate_taker_t taker;
    ngx_int_t rc;

    rc = NGX_ERROR;
    taker = ngx_toolgate_handover_taker(out->listener);

    if (taker != NGX_TOOLGATE_TAKER_NONE
        && ngx_current_msec - out->since < NGX_TOOLGATE_MOVE_TIME)
    {
        rc = taker == NGX_TOOLGATE_TAKER_READY
                 ? ngx_toolgate_packed_send(&out->packed, ngx_cycle->log)
                 : NGX_AGAIN;
    }

    if (rc == NGX_AGAIN) {
        return NGX_AGAIN;
    }

    if (rc == NGX_OK) {
        ngx_toolgate_moved++;
    } else {
        ngx_toolgate_packed_farewell(&out->packed);
    }

    ngx_toolgate_outgoing_free(out);

    /* The last taker may have left between the question and the sending. */
    if (ngx_toolgate_handover_is_last()) {
        ngx_toolgate_arrive_drain();
    }

    return rc;
}

static void
ngx_toolgate_outbox_wait(void)
{
    ngx_event_t *ev;

    ev = &ngx_toolgate_outbox_event;
    ev->handler = ngx_toolgate_outbox_try;
    ev->log = ngx_cycle->log;

    /* Not cancelable: an exiting worker stays for it. */
    if (!ev->timer_set) {
        ngx_add_timer(ev, NGX_TOOLGATE_MOVE_PAUSE);
    }
}

static void
ngx_toolgate_outbox_try(ngx_event_t *ev)
{
    ngx_toolgate_outgoing_t *out;
    ngx_queue_t *q;

    (void) ev;

    while (!ngx_queue_empty(&ngx_toolgate_outbox)) {
        q = ngx_queue_head(&ngx_toolgate_outbox);
        out = ngx_queue_data(q, ngx_toolgate_outgoing_t, queue);
        ngx_queue_remove(q);

        if (ngx_toolgate_outgoing_try(out) == NGX_AGAIN) {
            ngx_queue_insert_head(&ngx_toolgate_outbox, q);
            ngx_toolgate_outbox_wait();
            return;
        }
    }
}

ngx_int_t
ngx_toolgate_move(ngx_toolgate_session_t *session)
{
    ngx_toolgate_outgoing_t *out;

    /* Packing is for once, so it waits until it is of use. */
    if (!ngx_queue_empty(&ngx_toolgate_outbox)
        || !ngx_toolgate_packed_may_send()) {
        return NGX_AGAIN;
    }

    out = tg_alloc(tg_alloc_libc(), sizeof(ngx_toolgate_outgoing_t));

    if (out == NULL) {
        return NGX_AGAIN;
    }

    ngx_toolgate_packed_init(&out->packed);

    if (ngx_toolgate_pack(session, &out->packed) != NGX_OK) {
        ngx_toolgate_outgoing_free(out);
        return NGX_AGAIN;
    }

    ngx_log_error(NGX_LOG_INFO, session->front.connection->log, 0,
                  "client goes to another worker");
    out->listener = ngx_toolgate_listener_hash(session);
    out->since = ngx_current_msec;
    out->packed.fd = ngx_toolgate_drop(session);

    if (ngx_toolgate_outgoing_try(out) == NGX_AGAIN) {
        ngx_queue_insert_tail(&ngx_toolgate_outbox, &out->queue);
        ngx_toolgate_outbox_wait();
    }

    return NGX_DONE;
}

void
ngx_toolgate_move_exit(ngx_cycle_t *cycle)
{
    ngx_toolgate_outgoing_t *out;
    ngx_queue_t *q;

    while (!ngx_queue_empty(&ngx_toolgate_outbox)) {
        q = ngx_queue_head(&ngx_toolgate_outbox);
        out = ngx_queue_data(q, ngx_toolgate_outgoing_t, queue);
        ngx_queue_remove(q);
        ngx_toolgate_packed_farewell(&out->packed);
        ngx_toolgate_outgoing_free(out);
    }

    if (ngx_toolgate_moved != 0) {
        ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                      "%ui sessions went on to other workers",
                      ngx_toolgate_moved);
    }
}
