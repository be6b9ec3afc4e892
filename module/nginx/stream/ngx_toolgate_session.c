/*
 * A session: its beginning, the events of its client's socket, and its work.
 */
#include "nginx/stream/ngx_toolgate_session.h"

#include <sys/ioctl.h>

static void ngx_toolgate_cleanup(void *data);
static void ngx_toolgate_read_handler(ngx_event_t *rev);
static void ngx_toolgate_write_handler(ngx_event_t *wev);
static void ngx_toolgate_session_run(ngx_toolgate_session_t *session);
static void ngx_toolgate_offer_leave(ngx_toolgate_session_t *session);
static void ngx_toolgate_refused(void *host, const char *why);
static const char *ngx_toolgate_session_refusal(void *host, tg_peer_t *peer);

static const tg_peer_ops_t ngx_toolgate_peer_ops = {
    .call = ngx_toolgate_call_start,
    .unknown = ngx_toolgate_parked_unknown,
    .list = ngx_toolgate_parked_list,
    .list_meta = ngx_toolgate_parked_meta,
    .cancel = ngx_toolgate_call_cancel,
    .log = ngx_toolgate_call_log,
    .refused = ngx_toolgate_refused,
    .told = ngx_toolgate_call_told,
    .is_visible = ngx_toolgate_is_visible,
    .refusal = ngx_toolgate_session_refusal,
    .is_turn_over = ngx_toolgate_turn_is_over,
};

static const ngx_toolgate_mover_t *ngx_toolgate_mover;
static ngx_queue_t ngx_toolgate_sessions = { &ngx_toolgate_sessions,
                                             &ngx_toolgate_sessions };

void
ngx_toolgate_session_init(const ngx_toolgate_mover_t *mover)
{
    ngx_toolgate_mover = mover;
}

static void
ngx_toolgate_front_init(ngx_toolgate_session_t *session,
                        ngx_stream_session_t *s)
{
    ngx_toolgate_srv_conf_t *scf;
    ngx_toolgate_front_t *front;

    scf = ngx_stream_get_module_srv_conf(s, ngx_stream_toolgate_module);

    session->source.run = ngx_toolgate_turn_run;
    front = &session->front;
    front->stream = s;
    front->connection = s->connection;
    front->conf = scf;
    tg_peer_init(&front->peer, tg_alloc_libc(), &ngx_toolgate_peer_ops, front,
                 (tg_dialect_t) scf->protocol, scf->catalogue, &scf->info,
                 scf->max_frame, (unsigned) scf->max_inflight);
}

/* Of the server's connections, it is one more or less of its dialect. */
static void
ngx_toolgate_session_count(ngx_toolgate_session_t *session, uint64_t n)
{
    ngx_toolgate_count(session->front.conf->counters,
                       NGX_TOOLGATE_N_OPEN + session->dialect, n);
}

/* The first bytes may have told which one it speaks. */
static void
ngx_toolgate_session_spoke(ngx_toolgate_session_t *session)
{
    if (session->dialect != session->front.peer.dialect) {
        ngx_toolgate_session_count(session, (uint64_t) -1);
        session->dialect = session->front.peer.dialect;
        ngx_toolgate_session_count(session, 1);
    }
}

static const char *
ngx_toolgate_session_refusal(void *host, tg_peer_t *peer)
{
    ngx_toolgate_session_spoke(host);

    return ngx_toolgate_told_refusal(host, peer);
}

/* It is counted from here on, and once where it has moved. */
static void
ngx_toolgate_session_begin(ngx_toolgate_session_t *session, ngx_uint_t is_new)
{
    ngx_toolgate_srv_conf_t *scf;

    scf = session->front.conf;

    if (scf->counters == NULL) {
        scf->counters = ngx_toolgate_counters(scf, NULL);
    }

    session->dialect = session->front.peer.dialect;
    ngx_toolgate_count(scf->counters, NGX_TOOLGATE_N_ACCEPTED, is_new);
    ngx_toolgate_session_count(session, 1);
}

void
ngx_toolgate_handler(ngx_stream_session_t *s)
{
    ngx_toolgate_session_t *session;
    ngx_pool_cleanup_t *cln;
    ngx_connection_t *c;
    void *arrival;

    c = s->connection;
    c->log->action = "serving tools";

    session = ngx_pcalloc(c->pool, sizeof(ngx_toolgate_session_t));
    cln = ngx_pool_cleanup_add(c->pool, 0);

    if (session == NULL || cln == NULL) {
        ngx_stream_finalize_session(s, NGX_STREAM_INTERNAL_SERVER_ERROR);
        return;
    }

    (void) ngx_toolgate_silent_preread(s);
    ngx_toolgate_front_init(session, s);
    ngx_queue_insert_tail(&ngx_toolgate_sessions, &session->all);
    ngx_toolgate_silent_join(&session->silent, c);
    tg_buf_init(&session->in, tg_alloc_libc());
    cln->handler = ngx_toolgate_cleanup;
    cln->data = session;

    ngx_stream_set_ctx(s, session, ngx_stream_toolgate_module);

    c->read->handler = ngx_toolgate_read_handler;
    c->write->handler = ngx_toolgate_write_handler;

    arrival = ngx_toolgate_mover->arrival(c);
    ngx_toolgate_session_begin(session, arrival == NULL);

    if ((arrival != NULL ? ngx_toolgate_mover->resume(session, arrival)
                         : ngx_toolgate_told_join(session))
        == NGX_ERROR)
    {
        ngx_stream_finalize_session(s, NGX_STREAM_INTERNAL_SERVER_ERROR);
        return;
    }

    /* What a preread phase may have taken from the socket already. */
    if (c->buffer != NULL && c->buffer->last != c->buffer->pos) {
        tg_buf_put(&session->in, (char *) c->buffer->pos,
                   (size_t) (c->buffer->last - c->buffer->pos));
        session->is_broken = tg_buf_failed(&session->in) ? 1 : 0;
        c->buffer->pos = c->buffer->last;
    }

    ngx_toolgate_session_run(session);
}

static void
ngx_toolgate_cleanup(void *data)
{
    ngx_toolgate_session_t *session = data;

    ngx_toolgate_front_t *front;

    front = &session->front;
    front->is_gone = 1;
    ngx_toolgate_session_count(session, (uint64_t) -1);
    ngx_toolgate_offer_leave(session);
    ngx_queue_remove(&session->all);
    ngx_toolgate_turn_leave(session);
    ngx_toolgate_memory_drop(session);
    ngx_toolgate_text_clear(session);
    ngx_toolgate_silent_leave(&session->silent);
    ngx_toolgate_told_leave(session);
    tg_peer_deinit(&front->peer);
    ngx_toolgate_front_leave(front);
    tg_buf_deinit(&session->in);

    if (session->again != NULL && session->again->timer_set) {
        ngx_del_timer(session->again);
    }
}

ngx_uint_t
ngx_toolgate_has_sessions(void)
{
    return !ngx_queue_empty(&ngx_toolgate_sessions);
}

void
ngx_toolgate_session_stop(void)
{
    ngx_toolgate_session_t *session;
    tg_call_t *call;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_toolgate_sessions);
         q != ngx_queue_sentinel(&ngx_toolgate_sessions); q = ngx_queue_next(q))
    {
        session = ngx_queue_data(q, ngx_toolgate_session_t, all);

        for (call = session->front.peer.oldest; call != NULL; call = call->prev)
        {
            ngx_toolgate_call_killed(call->host);
        }

        ngx_toolgate_session_stopped(session);
    }
}

/* --- catalogues --- */

/* What a client sees of the catalogue that it is served now. */
static uint64_t
ngx_toolgate_front_view(ngx_toolgate_front_t *front)
{
    if (front->viewed != front->peer.catalogue) {
        front->viewed = front->peer.catalogue;
        front->view = tg_catalogue_view(front->viewed, ngx_toolgate_is_visible,
                                        front);
    }

    return front->view;
}

static void
ngx_toolgate_front_offer(ngx_toolgate_front_t *front, tg_catalogue_t *catalogue)
{
    ngx_toolgate_record_t *last;
    uint64_t before;

    before = ngx_toolgate_front_view(front);
    last = &front->last;

    if (last->entry != NULL) {
        last->entry = tg_catalogue_get(catalogue, last->entry->kind,
                                       last->entry->name);
    }

    front->viewed = NULL;
    tg_peer_offer(&front->peer, catalogue);

    if (ngx_toolgate_front_view(front) != before) {
        tg_peer_list_changed(&front->peer);
        ngx_toolgate_wake(front);
    }
}

/* The session that is next to hear of another catalogue; NULL: none is. */
static ngx_queue_t *ngx_toolgate_offer_next;

static void
ngx_toolgate_offer_leave(ngx_toolgate_session_t *session)
{
    if (ngx_toolgate_offer_next == &session->all) {
        ngx_toolgate_offer_next = ngx_queue_next(&session->all);
    }
}

/* A session has the catalogue of its server, whenever it is served. */
static void
ngx_toolgate_offer_renew(ngx_toolgate_session_t *session)
{
    ngx_toolgate_front_t *front;

    front = &session->front;

    if (front->peer.catalogue != front->conf->catalogue) {
        ngx_toolgate_front_offer(front, front->conf->catalogue);
    }
}

/* One slice of telling all sessions. */
static void
ngx_toolgate_offer_run(tg_source_t *source)
{
    ngx_toolgate_session_t *session;
    ngx_uint_t is_new;

    while (ngx_toolgate_offer_next != NULL
           && ngx_toolgate_offer_next
                  != ngx_queue_sentinel(&ngx_toolgate_sessions))
    {
        session = ngx_queue_data(ngx_toolgate_offer_next,
                                 ngx_toolgate_session_t, all);
        ngx_toolgate_offer_next = ngx_queue_next(ngx_toolgate_offer_next);
        is_new = session->front.peer.catalogue
                 != session->front.conf->catalogue;
        ngx_toolgate_offer_renew(session);

        if (tg_slice_is_over(&ngx_toolgate_sched, source,
                             is_new ? NGX_TOOLGATE_SESSION_STEPS : 64))
        {
            return;
        }
    }

    ngx_toolgate_offer_next = NULL;
}

void
ngx_toolgate_session_offer(ngx_toolgate_srv_conf_t *scf,
                           tg_catalogue_t *catalogue)
{
    static tg_source_t source = { .run = ngx_toolgate_offer_run };

    (void) tg_catalogue_hold(catalogue);
    tg_catalogue_release(scf->catalogue);
    scf->catalogue = catalogue;
    ngx_toolgate_offer_next = ngx_queue_head(&ngx_toolgate_sessions);
    tg_source_wait(&ngx_toolgate_sched, &source);
}

void
ngx_toolgate_session_unpark(ngx_toolgate_srv_conf_t *scf)
{
    ngx_toolgate_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_toolgate_sessions);
         q != ngx_queue_sentinel(&ngx_toolgate_sessions); q = ngx_queue_next(q))
    {
        session = ngx_queue_data(q, ngx_toolgate_session_t, all);

        if (session->front.conf == scf && session->front.peer.nparked != 0) {
            session->is_parked_over = 1;
            ngx_toolgate_wake(&session->front);
        }
    }
}

/* --- events --- */

static void
ngx_toolgate_refused(void *host, const char *why)
{
    ngx_toolgate_front_t *front = host;

    if (ngx_toolgate_may_log(&front->pace, NGX_LOG_INFO,
                             front->connection->log)) {
        ngx_log_error(NGX_LOG_INFO, front->connection->log, 0,
                      "message refused: %s", why);
    }
}

static void
ngx_toolgate_read_handler(ngx_event_t *rev)
{
    ngx_toolgate_session_t *session;
    ngx_stream_session_t *s;
    ngx_connection_t *c;

    c = rev->data;
    s = c->data;
    session = ngx_stream_get_module_ctx(s, ngx_stream_toolgate_module);

    if (rev->timedout) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT,
                      session->wait == TG_WAIT_IDLE
                          ? "client was silent (tool_idle_timeout)"
                          : "client sent no whole frame in time "
                            "(tool_idle_timeout frame=)");
        ngx_toolgate_session_end(session, NGX_STREAM_OK);
        return;
    }

    ngx_toolgate_session_run(session);
}

static void
ngx_toolgate_write_handler(ngx_event_t *wev)
{
    ngx_toolgate_session_t *session;
    ngx_connection_t *c;

    c = wev->data;
    session = ngx_stream_get_module_ctx((ngx_stream_session_t *) c->data,
                                        ngx_stream_toolgate_module);

    if (wev->timedout) {
        c->timedout = 1;
        ngx_connection_error(c, NGX_ETIMEDOUT,
                             "client did not read its answers "
                             "(tool_send_timeout)");
        ngx_toolgate_session_end(session, NGX_STREAM_OK);
        return;
    }

    ngx_toolgate_session_run(session);
}

/* --- the work --- */

/* Bytes that came and were not read; of TLS with what that adds. */
static uint64_t
ngx_toolgate_pending(const ngx_toolgate_session_t *session)
{
    int n;

    return ioctl(session->front.connection->fd, FIONREAD, &n) == 0 && n > 0
               ? (uint64_t) n
               : 0;
}

/* Is the session to leave this worker, or does it already? */
static ngx_uint_t
ngx_toolgate_is_leaving(ngx_toolgate_session_t *session)
{
    if (session->state == NGX_TOOLGATE_SERVING && ngx_toolgate_exits()) {
        ngx_toolgate_mover->stop();
    }

    /* Told for the first time, the worker may have decided to stay. */
    if (session->state == NGX_TOOLGATE_SERVING && ngx_toolgate_exits()) {
        session->state = NGX_TOOLGATE_LEAVING;
        session->leaving_since = ngx_current_msec;
        session->bytes_due = session->bytes_in + ngx_toolgate_pending(session);
        ngx_toolgate_turn_leave(session);
    }

    return session->state != NGX_TOOLGATE_SERVING;
}

/* Reads and serves, or says goodbye; NGX_DONE: the session is gone. */
static ngx_int_t
ngx_toolgate_work(ngx_toolgate_session_t *session)
{
    ngx_uint_t is_leaving;
    ngx_int_t rc;

    if (ngx_toolgate_is_overdue(session->front.connection)) {
        ngx_toolgate_session_overdue(session);
        return NGX_OK;
    }

    is_leaving = ngx_toolgate_is_leaving(session);
    /* What waited for a list is answered with that list. */
    ngx_toolgate_offer_renew(session);
    ngx_toolgate_parked_serve(session, is_leaving);

    if (is_leaving) {
        rc = ngx_toolgate_mover->go(session);

        if (rc == NGX_DECLINED) {
            session->front.peer.is_leaving = session->front.peer.resends;

        } else if (rc == NGX_BUSY) {
            session->state = NGX_TOOLGATE_SERVING;
            is_leaving = 0;

        } else {
            return rc;
        }
    }

    /* Calls that were to go along may still be on their way out. */
    if (ngx_toolgate_stays && !is_leaving) {
        ngx_toolgate_calls_reclaim(&session->front);
    }

    ngx_toolgate_borrow(&session->front.peer.out);
    ngx_toolgate_pump(session);

    if (is_leaving) {
        ngx_toolgate_session_farewell(session);
    }

    return NGX_OK;
}

/*
 * Reads, serves and writes as far as it goes now, then sets timers or closes
 * the session.  For every event; never from within itself.
 */
static void
ngx_toolgate_session_run(ngx_toolgate_session_t *session)
{
    ngx_connection_t *c;
    tg_peer_t *peer;
    ngx_int_t flushed;

    c = session->front.connection;
    peer = &session->front.peer;

    if (ngx_toolgate_work(session) == NGX_DONE) {
        return;
    }

    if (session->shared != NULL && session->shared->is_late) {
        ngx_toolgate_told_catch_up(session);
    }

    ngx_toolgate_session_spoke(session);
    /* Before it is answered: who knows that counts on the rest. */
    if (session->shared != NULL) {
        ngx_toolgate_told_update(session);
    }

    flushed = session->is_broken ? NGX_ERROR : ngx_toolgate_flush(session);
    session->has_slice = 0;

    if (peer->out.len == 0) {
        ngx_toolgate_give_back(&peer->out);
    }

    if (ngx_toolgate_session_ended(session, flushed)) {
        return;
    }

    ngx_toolgate_memory_count(session);
    ngx_toolgate_set_timers(session);

    /*
     * The goodbye waits until the answers are written, and they all were in
     * this run: no event would continue.
     */
    if (session->state == NGX_TOOLGATE_LEAVING && !session->is_drained
        && peer->ncalls == 0 && ngx_toolgate_unsent(session) == 0)
    {
        ngx_toolgate_session_wait(session, 1);
    }

    /* Busy or not, it is told when the worker shall exit. */
    c->idle = 1;

    if (ngx_handle_read_event(c->read, 0) != NGX_OK
        || ngx_toolgate_watch(session) != NGX_OK)
    {
        ngx_toolgate_session_end(session, NGX_STREAM_INTERNAL_SERVER_ERROR);
    }
}
