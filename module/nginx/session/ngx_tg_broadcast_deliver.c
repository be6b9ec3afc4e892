/*
 * Delivery of broadcasts to this worker's sessions, one after the other and in
 * time slices. All sessions share one copy of a text (ngx_tg_broadcast_text.h).
 * A client is closed when its own backlog is too large, or when it is the
 * slowest one and the backlog of all is too large.
 */
#include "nginx/session/ngx_tg_session_impl.h"

/* Maximum backlog of one client, in bytes. */
#define NGX_TG_BROADCAST_BACKLOG_MAX 4194304
/* Delay until a worker without memory tries again, in ms. */
#define NGX_TG_BROADCAST_RETRY_DELAY 100

static void ngx_tg_broadcast_run(tg_sched_source_t *source);
static void ngx_tg_broadcast_on_event(ngx_event_t *ev);

static ngx_queue_t ngx_tg_shared_clients = { &ngx_tg_shared_clients,
                                             &ngx_tg_shared_clients };
static ngx_event_t ngx_tg_broadcast_event = {
    .handler = ngx_tg_broadcast_on_event,
    .data = &ngx_tg_dummy_connection,
};
static tg_sched_source_t ngx_tg_broadcast_source = {
    .run = ngx_tg_broadcast_run
};

/* A broadcast that is being delivered. */
typedef struct {
    tg_buf_t copy;
    ngx_tg_broadcast_message_t broadcast;
    ngx_tg_broadcast_text_t *texts[TG_DIALECT_COUNT]; /* indexed by dialect */
} ngx_tg_broadcast_delivery_t;

/* The broadcast that is being delivered, and its next session. */
static ngx_tg_broadcast_delivery_t ngx_tg_broadcast_delivery;
static ngx_queue_t *ngx_tg_broadcast_next_session;

void
ngx_tg_broadcast_add_listener(ngx_tg_shared_client_t *shared_client)
{
    ngx_queue_insert_tail(&ngx_tg_shared_clients, &shared_client->queue);
}

void
ngx_tg_broadcast_remove_listener(ngx_tg_shared_client_t *shared_client)
{
    if (ngx_tg_broadcast_next_session == &shared_client->queue) {
        ngx_tg_broadcast_next_session = ngx_queue_next(&shared_client->queue);
    }

    ngx_queue_remove(&shared_client->queue);
}

/* --- one session --- */

static void
ngx_tg_broadcast_close_session(ngx_tg_session_t *session, const char *why)
{
    ngx_log_error(NGX_LOG_WARN, session->base.connection->log, 0,
                  "client closed: %s; %uz bytes of notifications wait for it",
                  why, session->priv->shared_client->backlog_bytes);
    session->base.is_broken = 1;
    ngx_tg_session_base_wake(&session->base);
}

/* Checks whether this client receives a broadcast. */
static ngx_uint_t
ngx_tg_broadcast_is_for_client(const ngx_tg_shared_client_t *shared_client,
                               const ngx_tg_broadcast_message_t *broadcast)
{
    return shared_client->can_receive
           && (broadcast->audience == NGX_TG_AUDIENCE_ALL
               || broadcast->audience == shared_client->audience
               || shared_client->sees_all)
           && ngx_tg_address_set_contains(&broadcast->addresses,
                                          shared_client->address);
}

static ngx_tg_session_t *
ngx_tg_shared_client_get_session(ngx_queue_t *q)
{
    ngx_tg_shared_client_t *shared_client;

    shared_client = ngx_queue_data(q, ngx_tg_shared_client_t, queue);

    return shared_client->session;
}

static void
ngx_tg_broadcast_delivery_end(ngx_tg_broadcast_delivery_t *telling)
{
    ngx_uint_t i;

    for (i = 0; i < TG_DIALECT_COUNT; i++) {
        if (telling->texts[i] != NULL) {
            ngx_tg_broadcast_text_release(telling->texts[i]);
            telling->texts[i] = NULL;
        }
    }
}

/* Closes the slowest sessions while all texts exceed the worker's limit. */
static void
ngx_tg_broadcast_close_slowest(const ngx_tg_broadcast_text_t *spared)
{
    ngx_tg_session_t *session;
    ngx_tg_broadcast_text_t *text;
    ngx_queue_t *q;

    while ((text = ngx_tg_broadcast_text_find_surplus()) != NULL
           && text != spared) {
        text->nrefs++;

        for (q = ngx_queue_head(&ngx_tg_shared_clients);
             q != ngx_queue_sentinel(&ngx_tg_shared_clients);
             q = ngx_queue_next(q))
        {
            session = ngx_tg_shared_client_get_session(q);

            if (session->priv->texts.first != NULL
                && session->priv->texts.first->text == text)
            {
                ngx_tg_broadcast_close_session(
                    session, "it is the slowest reader of notifications, and "
                             "too many wait for all clients");
                ngx_tg_unsent_texts_clear(session);
            }
        }

        if (text->nrefs != 1) {
            ngx_tg_broadcast_text_release(text);
            return;
        }

        ngx_tg_broadcast_text_release(text);
    }
}

typedef struct {
    ngx_tg_session_t *session;
    ngx_tg_broadcast_delivery_t *telling;
} ngx_tg_broadcast_recipient_t;

/*
 * Adds a message to a session's output: its own head and the shared text. A
 * callback of tg_peer_foreach_broadcast().
 */
static void
ngx_tg_broadcast_on_message(void *data, tg_dialect_t form, tg_str_t head)
{
    const ngx_tg_broadcast_recipient_t *hearer = data;

    ngx_tg_session_t *session;
    ngx_tg_broadcast_text_t **text;
    size_t size;

    session = hearer->session;
    text = &hearer->telling->texts[form];

    if (*text == NULL) {
        *text = ngx_tg_broadcast_text_get(&hearer->telling->broadcast, form);

        if (*text == NULL) {
            session->base.is_broken = 1;
            return;
        }

        ngx_tg_broadcast_close_slowest(*text);
    }

    size = head.len + (*text)->bytes.len;

    if (size - 1 > tg_peer_max_message_size(&session->base.peer)) {
        ngx_tg_session_base_on_log(session,
                                   "notification larger than the maximum "
                                   "message dropped");
        return;
    }

    session->priv->shared_client->backlog_bytes += size;
    session->base.is_broken |= ngx_tg_unsent_texts_add(session, *text, head)
                               != TG_OK;
}

/* Sends a broadcast to a session that has received all earlier ones. */
static void
ngx_tg_broadcast_send_to_session(ngx_tg_session_t *session,
                                 ngx_tg_broadcast_delivery_t *telling)
{
    ngx_tg_broadcast_recipient_t hearer;
    ngx_tg_shared_client_t *shared_client;
    const ngx_tg_broadcast_message_t *broadcast;

    shared_client = session->priv->shared_client;
    broadcast = &telling->broadcast;

    if (broadcast->at < shared_client->client_slot.read_position) {
        return;
    }

    shared_client->client_slot.read_position = broadcast->next;

    if (session->base.is_broken || session->state == NGX_TG_SESSION_CLOSING
        || !ngx_tg_broadcast_is_for_client(shared_client, broadcast)
        || !tg_peer_has_broadcasts(&session->base.peer))
    {
        return;
    }

    if (shared_client->backlog_bytes + broadcast->method.len
            + broadcast->params.len
        > NGX_TG_BROADCAST_BACKLOG_MAX)
    {
        ngx_tg_broadcast_close_session(session,
                                       "it does not read its notifications");
        return;
    }

    hearer.session = session;
    hearer.telling = telling;
    tg_peer_foreach_broadcast(&session->base.peer, broadcast->method,
                              ngx_tg_broadcast_on_message, &hearer);
    ngx_tg_session_base_wake(&session->base);
}

/* --- all sessions --- */

/* Closes the clients that missed broadcasts, as the worker read too late. */
static void
ngx_tg_broadcast_on_log_overrun(void)
{
    ngx_tg_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_tg_shared_clients);
         q != ngx_queue_sentinel(&ngx_tg_shared_clients); q = ngx_queue_next(q))
    {
        session = ngx_tg_shared_client_get_session(q);
        session->priv->shared_client->client_slot.read_position =
            ngx_tg_broadcast_log_get_position();

        if (tg_peer_has_broadcasts(&session->base.peer)) {
            ngx_tg_broadcast_close_session(session,
                                           "its worker was too slow to deliver "
                                           "notifications");
        }
    }
}

void
ngx_tg_session_displace_bridge(ngx_tg_session_t *session)
{
    if (session->state == NGX_TG_SESSION_CLOSING) {
        return;
    }

    ngx_log_error(NGX_LOG_INFO, session->base.connection->log, 0,
                  "bridge displaced by another one (tool_relay_bridges)");
    tg_peer_send_shutdown_notice(
        &session->base.peer,
        TG_STR("another bridge has connected and displaced this "
               "one (tool_relay_bridges displace)"));
    session->state = NGX_TG_SESSION_CLOSING;
    ngx_tg_session_base_wake(&session->base);
}

static void
ngx_tg_broadcast_close_displaced(void)
{
    ngx_tg_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_tg_shared_clients);
         q != ngx_queue_sentinel(&ngx_tg_shared_clients); q = ngx_queue_next(q))
    {
        session = ngx_tg_shared_client_get_session(q);

        if (ngx_tg_client_slot_is_displaced(
                &session->priv->shared_client->client_slot)) {
            ngx_tg_session_displace_bridge(session);
        }
    }
}

/* Reads the next broadcast. NGX_AGAIN: there is none, or no memory. */
static ngx_int_t
ngx_tg_broadcast_delivery_begin(void)
{
    ngx_int_t rc;

    rc = ngx_tg_broadcast_log_read_next(&ngx_tg_broadcast_delivery.copy,
                                        &ngx_tg_broadcast_delivery.broadcast);

    if (rc == NGX_OK) {
        ngx_tg_broadcast_next_session = ngx_queue_head(&ngx_tg_shared_clients);
        return NGX_OK;
    }

    if (rc == NGX_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0, TG_TEXT_NO_MEMORY);
        ngx_add_timer(&ngx_tg_broadcast_event, NGX_TG_BROADCAST_RETRY_DELAY);
    }

    if (rc == NGX_ABORT) {
        ngx_tg_broadcast_on_log_overrun();
    }

    return NGX_AGAIN;
}

/*
 * Sends the broadcast to the next session, except to one that is catching up:
 * it reads the broadcast itself. NGX_DONE: that was the last one.
 */
static ngx_int_t
ngx_tg_broadcast_delivery_advance(void)
{
    ngx_tg_session_t *session;

    if (ngx_tg_broadcast_next_session
        == ngx_queue_sentinel(&ngx_tg_shared_clients)) {
        ngx_tg_broadcast_delivery_end(&ngx_tg_broadcast_delivery);
        ngx_tg_broadcast_next_session = NULL;
        return NGX_DONE;
    }

    session = ngx_tg_shared_client_get_session(ngx_tg_broadcast_next_session);
    ngx_tg_broadcast_next_session = ngx_queue_next(
        ngx_tg_broadcast_next_session);

    if (!session->priv->shared_client->is_catching_up) {
        ngx_tg_broadcast_send_to_session(session, &ngx_tg_broadcast_delivery);
    }

    return NGX_OK;
}

/* Handles changes in shared memory for a time slice. */
static void
ngx_tg_broadcast_run(tg_sched_source_t *source)
{
    size_t steps;

    if (ngx_tg_client_table_has_displaced()) {
        ngx_tg_broadcast_close_displaced();
    }

    do {
        steps = NGX_TG_SESSION_STEPS_PER_SLICE;

        if (ngx_tg_broadcast_next_session == NULL) {
            if (ngx_tg_broadcast_delivery_begin() != NGX_OK) {
                return;
            }

            steps = ngx_tg_broadcast_delivery.copy.len;
        }

        if (ngx_tg_broadcast_delivery_advance() == NGX_DONE) {
            steps = 64;
        }
    } while (!tg_sched_is_slice_over(&ngx_tg_sched, source, steps));
}

static void
ngx_tg_broadcast_on_event(ngx_event_t *ev)
{
    if (!ngx_tg_broadcast_source.is_queued) {
        tg_sched_begin_slice(&ngx_tg_sched);
        ngx_tg_broadcast_run(&ngx_tg_broadcast_source);
    }
}

static void
ngx_tg_broadcast_wake(void)
{
    ngx_tg_broadcast_event.log = ngx_cycle->log;
    ngx_tg_broadcast_event.cancelable = 1;
    ngx_post_event(&ngx_tg_broadcast_event, &ngx_posted_events);
}

void
ngx_tg_broadcast_start_worker(ngx_cycle_t *cycle)
{
    ngx_tg_shm_page_start_worker(cycle, ngx_tg_init_client_connection,
                                 ngx_tg_broadcast_wake);
}

/* --- sessions after a handoff --- */

void
ngx_tg_session_send_missed_broadcasts(ngx_tg_session_t *session)
{
    static ngx_tg_broadcast_delivery_t telling;

    ngx_tg_shared_client_t *shared_client;
    ngx_int_t rc;

    shared_client = session->priv->shared_client;

    if (tg_peer_is_pre_request_listener(&session->base.peer)
        && ngx_current_msec - shared_client->connected
               < NGX_TG_FIRST_BYTE_TIMEOUT)
    {
        return;
    }

    do {
        rc = ngx_tg_broadcast_log_read_at(
            shared_client->client_slot.read_position, &telling.copy,
            &telling.broadcast);

        if (rc == NGX_AGAIN) {
            shared_client->is_catching_up = 0;
            return;
        }

        if (rc != NGX_OK) {
            shared_client->is_catching_up = 0;
            ngx_tg_broadcast_close_session(session,
                                           "it missed notifications while it "
                                           "moved between workers");
            return;
        }

        ngx_tg_broadcast_send_to_session(session, &telling);
        ngx_tg_broadcast_delivery_end(&telling);
    } while (!tg_sched_is_slice_over(&ngx_tg_sched, &session->priv->source,
                                     telling.copy.len));
}
