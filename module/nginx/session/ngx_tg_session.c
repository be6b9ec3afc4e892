/* A session: its start, socket events and main function. */
#include "nginx/session/ngx_tg_session_impl.h"
#include "nginx/call/ngx_tg_call_checks.h"
#include "nginx/shm/ngx_tg_counters.h"
#include "nginx/sched/ngx_tg_log_throttle.h"
#include "nginx/subscription/ngx_tg_subscription.h"

#include <sys/ioctl.h>

static void ngx_tg_session_cleanup(void *data);
static void ngx_tg_session_read_handler(ngx_event_t *rev);
static void ngx_tg_session_write_handler(ngx_event_t *wev);
static void ngx_tg_session_run(ngx_tg_session_t *session);
static const char *ngx_tg_session_check_access(void *host, tg_peer_t *peer);

static const tg_peer_ops_t ngx_tg_session_peer_ops = {
    .call = ngx_tg_call_start,
    .on_unknown = ngx_tg_parked_on_unknown_tool,
    .list = ngx_tg_parked_on_list,
    .write_list_meta = ngx_tg_parked_append_list_meta,
    .cancel = ngx_tg_call_cancel,
    .log = ngx_tg_session_base_on_log,
    .on_refused = ngx_tg_session_on_rejected_message,
    .on_response = ngx_tg_call_on_client_response,
    .on_subscribe = ngx_tg_subscription_on_change,
    .can_report = ngx_tg_subscription_can_report,
    .is_visible = ngx_tg_session_base_can_see,
    .refusal = ngx_tg_session_check_access,
    .is_slice_over = ngx_tg_time_slice_is_over,
};

static const ngx_tg_handoff_ops_t *ngx_tg_handoff_ops;

void
ngx_tg_session_set_handoff_ops(const ngx_tg_handoff_ops_t *handoff_ops)
{
    ngx_tg_handoff_ops = handoff_ops;
}

static int
ngx_tg_session_init_base(ngx_tg_session_block_t *block, ngx_stream_session_t *s)
{
    ngx_tg_srv_conf_t *scf;
    ngx_tg_session_base_t *base;

    scf = ngx_stream_get_module_srv_conf(s, ngx_stream_toolgate_module);

    block->session.priv = &block->priv;
    block->priv.source.run = ngx_tg_session_run_time_slice;
    base = &block->session.base;
    base->stream = s;
    base->connection = s->connection;
    base->conf = scf;

    return tg_peer_init(&base->peer, tg_alloc_libc(), &ngx_tg_session_peer_ops,
                        base, (tg_dialect_t) scf->protocol, scf->catalog,
                        &scf->info, scf->max_frame,
                        (unsigned) scf->max_inflight);
}

/* Adds n to the open connections, or subtracts 1 if n is (uint64_t) -1. */
static void
ngx_tg_session_count_connection(ngx_tg_session_t *session, uint64_t n)
{
    ngx_tg_counters_add(session->base.conf->counters,
                        NGX_TG_COUNTER_OPEN_CONNECTIONS
                            + session->priv->dialect,
                        n);
}

/* Recounts the connection after the first bytes have shown its dialect. */
static void
ngx_tg_session_update_dialect(ngx_tg_session_t *session)
{
    if (session->priv->dialect != session->base.peer.dialect) {
        ngx_tg_session_count_connection(session, (uint64_t) -1);
        session->priv->dialect = session->base.peer.dialect;
        ngx_tg_session_count_connection(session, 1);
    }
}

static const char *
ngx_tg_session_check_access(void *host, tg_peer_t *peer)
{
    ngx_tg_session_update_dialect(host);

    return ngx_tg_session_check_bridge_policy(host, peer);
}

/* Starts counting a connection; is_new is 0 if it came from another worker. */
static void
ngx_tg_session_start_counting(ngx_tg_session_t *session, ngx_uint_t is_new)
{
    ngx_tg_srv_conf_t *scf;

    scf = session->base.conf;

    if (scf->counters == NULL) {
        scf->counters = ngx_tg_counters_find(scf, NULL);
    }

    session->priv->dialect = session->base.peer.dialect;
    ngx_tg_counters_add(scf->counters, NGX_TG_COUNTER_ACCEPTED, is_new);
    ngx_tg_session_count_connection(session, 1);
}

void
ngx_tg_stream_content_handler(ngx_stream_session_t *s)
{
    ngx_tg_session_block_t *block;
    ngx_tg_session_t *session;
    ngx_pool_cleanup_t *cln;
    ngx_connection_t *c;
    void *received_snapshot;

    c = s->connection;
    c->log->action = "serving tools";

    block = ngx_pcalloc(c->pool, sizeof(ngx_tg_session_block_t));
    cln = ngx_pool_cleanup_add(c->pool, 0);

    if (block == NULL || cln == NULL
        || ngx_tg_session_init_base(block, s) != TG_OK) {
        ngx_stream_finalize_session(s, NGX_STREAM_INTERNAL_SERVER_ERROR);
        return;
    }

    session = &block->session;
    (void) ngx_tg_pre_request_preread(s);
    ngx_tg_session_list_add(session);
    ngx_tg_pre_request_add(&session->pre_request, c);
    tg_buf_init(&session->in, tg_alloc_libc());
    cln->handler = ngx_tg_session_cleanup;
    cln->data = session;

    ngx_stream_set_ctx(s, session, ngx_stream_toolgate_module);

    c->read->handler = ngx_tg_session_read_handler;
    c->write->handler = ngx_tg_session_write_handler;

    received_snapshot = ngx_tg_handoff_ops->received_snapshot(c);
    ngx_tg_session_start_counting(session, received_snapshot == NULL);

    if ((received_snapshot != NULL
             ? ngx_tg_handoff_ops->restore(session, received_snapshot)
             : ngx_tg_session_register_client(session))
        == NGX_ERROR)
    {
        ngx_stream_finalize_session(s, NGX_STREAM_INTERNAL_SERVER_ERROR);
        return;
    }

    /* The preread phase may have read bytes already. */
    if (c->buffer != NULL && c->buffer->last != c->buffer->pos) {
        tg_buf_append(&session->in, (char *) c->buffer->pos,
                      (size_t) (c->buffer->last - c->buffer->pos));
        session->base.is_broken = tg_buf_has_failed(&session->in) ? 1 : 0;
        c->buffer->pos = c->buffer->last;
    }

    ngx_tg_session_run(session);
}

static void
ngx_tg_session_cleanup(void *data)
{
    ngx_tg_session_t *session = data;

    ngx_tg_session_base_t *base;

    base = &session->base;
    base->is_gone = 1;
    ngx_tg_session_count_connection(session, (uint64_t) -1);
    ngx_tg_session_list_remove(session);
    ngx_tg_time_slice_leave_queue(session);
    ngx_tg_session_clear_memory(session);
    ngx_tg_unsent_texts_clear(session);
    ngx_tg_pre_request_remove(&session->pre_request);
    ngx_tg_session_unregister_client(session);
    tg_peer_deinit(&base->peer);
    ngx_tg_session_base_notify_gone(base);
    tg_buf_deinit(&session->in);

    if (session->priv->timer != NULL && session->priv->timer->timer_set) {
        ngx_del_timer(session->priv->timer);
    }
}

/* --- events --- */

void
ngx_tg_session_on_rejected_message(void *host, const char *why)
{
    ngx_tg_session_base_t *base = host;

    if (ngx_tg_log_throttle_take(&base->throttle, NGX_LOG_INFO,
                                 base->connection->log))
    {
        ngx_log_error(NGX_LOG_INFO, base->connection->log, 0,
                      "message rejected: %s", why);
    }
}

static void
ngx_tg_session_read_handler(ngx_event_t *rev)
{
    ngx_tg_session_t *session;
    ngx_stream_session_t *s;
    ngx_connection_t *c;

    c = rev->data;
    s = c->data;
    session = ngx_stream_get_module_ctx(s, ngx_stream_toolgate_module);

    if (rev->timedout) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT,
                      session->wait == TG_WAIT_IDLE
                          ? "client sent nothing in time (tool_idle_timeout)"
                          : "client sent no complete frame in time "
                            "(tool_idle_timeout frame=)");
        ngx_tg_session_close(session, NGX_STREAM_OK);
        return;
    }

    ngx_tg_session_run(session);
}

static void
ngx_tg_session_write_handler(ngx_event_t *wev)
{
    ngx_tg_session_t *session;
    ngx_connection_t *c;

    c = wev->data;
    session = ngx_stream_get_module_ctx((ngx_stream_session_t *) c->data,
                                        ngx_stream_toolgate_module);

    if (wev->timedout) {
        c->timedout = 1;
        ngx_connection_error(c, NGX_ETIMEDOUT,
                             "client did not read its answers "
                             "(tool_send_timeout)");
        ngx_tg_session_close(session, NGX_STREAM_OK);
        return;
    }

    ngx_tg_session_run(session);
}

/* --- main function --- */

/* Returns the number of unread bytes, for TLS including its overhead. */
static uint64_t
ngx_tg_session_get_pending_bytes(const ngx_tg_session_t *session)
{
    int n;

    return ioctl(session->base.connection->fd, FIONREAD, &n) == 0 && n > 0
               ? (uint64_t) n
               : 0;
}

/* Checks whether the session leaves this worker; starts leaving if so. */
static ngx_uint_t
ngx_tg_session_must_leave(ngx_tg_session_t *session)
{
    if (session->state == NGX_TG_SESSION_SERVING && ngx_tg_worker_is_exiting())
    {
        ngx_tg_handoff_ops->stop();
    }

    /* stop() may have decided to linger. */
    if (session->state == NGX_TG_SESSION_SERVING && ngx_tg_worker_is_exiting())
    {
        session->state = NGX_TG_SESSION_LEAVING;
        session->leaving_since = ngx_current_msec;
        session->priv->bytes_to_read = session->bytes_in
                                       + ngx_tg_session_get_pending_bytes(
                                           session);
        ngx_tg_time_slice_leave_queue(session);
    }

    return session->state != NGX_TG_SESSION_SERVING;
}

/*
 * Serves the session, or prepares its end. NGX_AGAIN: waits for a handoff;
 * NGX_DONE: the session is freed.
 */
static ngx_int_t
ngx_tg_session_work(ngx_tg_session_t *session)
{
    ngx_uint_t is_leaving;
    ngx_int_t rc;

    if (ngx_tg_is_past_shutdown_timeout(session->base.connection)) {
        ngx_tg_session_close_past_shutdown(session);
        return NGX_OK;
    }

    is_leaving = ngx_tg_session_must_leave(session);
    /* The catalog comes first: it may answer parked requests. */
    ngx_tg_session_update_catalog(session);
    ngx_tg_session_serve_parked(session, is_leaving);

    if (session->base.has_new_resources) {
        session->base.has_new_resources = 0;
        tg_peer_notify_list_changed(&session->base.peer, TG_ENTRY_RESOURCE);
    }

    if (is_leaving) {
        rc = ngx_tg_handoff_ops->hand_off(session);

        if (rc == NGX_DECLINED) {
            session->base.peer.is_leaving = session->base.peer.resends;

        } else if (rc == NGX_BUSY) {
            session->state = NGX_TG_SESSION_SERVING;
            is_leaving = 0;

        } else {
            return rc;
        }
    }

    /* Calls detached for a handoff may still be on their way to the runner. */
    if (ngx_tg_worker_is_lingering && !is_leaving) {
        ngx_tg_session_base_reattach_calls(&session->base);
    }

    ngx_tg_output_buffer_borrow(&session->base.peer.out);
    ngx_tg_session_read_and_serve(session);

    if (is_leaving) {
        ngx_tg_session_finish_at_exit(session);
    }

    return NGX_OK;
}

/*
 * Reads, serves and writes, then sets timers or closes the session. Runs for
 * every event, never recursively.
 */
static void
ngx_tg_session_run(ngx_tg_session_t *session)
{
    ngx_connection_t *c;
    tg_peer_t *peer;
    ngx_int_t flushed;

    c = session->base.connection;
    peer = &session->base.peer;

    if (ngx_tg_session_work(session) == NGX_DONE) {
        return;
    }

    ngx_tg_session_expire_inputs(session);

    if (session->priv->shared_client != NULL
        && session->priv->shared_client->is_catching_up)
    {
        ngx_tg_session_send_missed_broadcasts(session);
    }

    ngx_tg_session_update_dialect(session);
    /* Update the slot first: a client with its response may rely on it. */
    if (session->priv->shared_client != NULL) {
        ngx_tg_session_update_client_slot(session);
    }

    flushed = session->base.is_broken ? NGX_ERROR
                                      : ngx_tg_session_flush(session);
    session->priv->has_slice = 0;

    if (peer->out.len == 0) {
        ngx_tg_output_buffer_return(&peer->out);
    }

    if (ngx_tg_session_close_if_done(session, flushed)) {
        return;
    }

    ngx_tg_session_update_memory(session);
    ngx_tg_session_set_timers(session);

    /*
     * The shutdown notice follows the last response. That was sent in this run,
     * so that no further event would come.
     */
    if (session->state == NGX_TG_SESSION_LEAVING && !session->priv->is_drained
        && peer->ncalls == 0 && ngx_tg_session_get_unsent_size(session) == 0)
    {
        ngx_tg_session_set_timer(session, 1);
    }

    /* Busy sessions set c->idle too: NGINX notifies them of the exit. */
    c->idle = 1;

    if (ngx_handle_read_event(c->read, 0) != NGX_OK
        || ngx_tg_session_watch_writable(session) != NGX_OK)
    {
        ngx_tg_session_close(session, NGX_STREAM_INTERNAL_SERVER_ERROR);
    }
}
