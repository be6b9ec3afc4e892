/*
 * Broadcasts on their way to the sessions of this worker.
 *
 * The worker reads one broadcast after the other from the page that all workers
 * share, and gives each to its sessions, in time slices.  All sessions share
 * one copy of a text, see ngx_toolgate_text.h.  A client is closed when too
 * much waits for it, or when it is the slowest one and too much waits for all.
 */
#include "nginx/stream/ngx_toolgate_session.h"

/* What a client was told and has not taken. */
#define NGX_TOOLGATE_TOLD_MAX 4194304
/* ms until a worker without memory tries again. */
#define NGX_TOOLGATE_TOLD_PAUSE 100

static void ngx_toolgate_told_run(tg_source_t *source);
static void ngx_toolgate_told_handler(ngx_event_t *ev);

static ngx_queue_t ngx_toolgate_shared = { &ngx_toolgate_shared,
                                           &ngx_toolgate_shared };
static ngx_event_t ngx_toolgate_told_event = {
    .handler = ngx_toolgate_told_handler,
    .data = &ngx_toolgate_no_connection,
};
static tg_source_t ngx_toolgate_told_source = { .run = ngx_toolgate_told_run };

/* A broadcast on its way to the sessions. */
typedef struct {
    tg_buf_t copy;
    ngx_toolgate_news_t news;
    ngx_toolgate_text_t *texts[TG_DIALECT_END]; /* by their form */
} ngx_toolgate_telling_t;

/* What all sessions are told, up to which session; NULL: it is not read. */
static ngx_toolgate_telling_t ngx_toolgate_telling;
static ngx_queue_t *ngx_toolgate_telling_next;

void
ngx_toolgate_telling_join(ngx_toolgate_shared_t *shared)
{
    ngx_queue_insert_tail(&ngx_toolgate_shared, &shared->queue);
}

void
ngx_toolgate_telling_leave(ngx_toolgate_shared_t *shared)
{
    if (ngx_toolgate_telling_next == &shared->queue) {
        ngx_toolgate_telling_next = ngx_queue_next(&shared->queue);
    }

    ngx_queue_remove(&shared->queue);
}

/* --- one session --- */

static void
ngx_toolgate_told_close(ngx_toolgate_session_t *session, const char *why)
{
    ngx_log_error(NGX_LOG_WARN, session->front.connection->log, 0,
                  "client closed: %s; %uz bytes of what it was told wait for "
                  "it",
                  why, session->shared->told);
    session->is_broken = 1;
    ngx_toolgate_wake(&session->front);
}

/* Is it for this client? */
static ngx_uint_t
ngx_toolgate_told_is_for(const ngx_toolgate_shared_t *shared,
                         const ngx_toolgate_news_t *news)
{
    return shared->may_hear
           && (news->whom == NGX_TOOLGATE_TO_ALL || news->whom == shared->who
               || shared->sees_all)
           && ngx_toolgate_has_address(&news->addresses, shared->address);
}

static ngx_toolgate_session_t *
ngx_toolgate_told_of(ngx_queue_t *q)
{
    ngx_toolgate_shared_t *shared;

    shared = ngx_queue_data(q, ngx_toolgate_shared_t, queue);

    return shared->session;
}

static void
ngx_toolgate_telling_end(ngx_toolgate_telling_t *telling)
{
    ngx_uint_t i;

    for (i = 0; i < TG_DIALECT_END; i++) {
        if (telling->texts[i] != NULL) {
            ngx_toolgate_text_release(telling->texts[i]);
            telling->texts[i] = NULL;
        }
    }
}

/* Its clients hold the oldest text, and all of them too much. */
static void
ngx_toolgate_told_relieve(const ngx_toolgate_text_t *spared)
{
    ngx_toolgate_session_t *session;
    ngx_toolgate_text_t *text;
    ngx_queue_t *q;

    while ((text = ngx_toolgate_text_surplus()) != NULL && text != spared) {
        text->nrefs++;

        for (q = ngx_queue_head(&ngx_toolgate_shared);
             q != ngx_queue_sentinel(&ngx_toolgate_shared);
             q = ngx_queue_next(q))
        {
            session = ngx_toolgate_told_of(q);

            if (session->texts.first != NULL
                && session->texts.first->text == text) {
                ngx_toolgate_told_close(session,
                                        "it takes the least of what clients "
                                        "are told, and too much waits for all "
                                        "of them");
                ngx_toolgate_text_clear(session);
            }
        }

        if (text->nrefs != 1) {
            ngx_toolgate_text_release(text);
            return;
        }

        ngx_toolgate_text_release(text);
    }
}

typedef struct {
    ngx_toolgate_session_t *session;
    ngx_toolgate_telling_t *telling;
} ngx_toolgate_hearer_t;

/* One message for a session: its own head, and the text for all. */
static void
ngx_toolgate_told_message(void *data, tg_dialect_t form, tg_str_t head)
{
    const ngx_toolgate_hearer_t *hearer = data;

    ngx_toolgate_session_t *session;
    ngx_toolgate_text_t **text;
    size_t size;

    session = hearer->session;
    text = &hearer->telling->texts[form];

    if (*text == NULL) {
        *text = ngx_toolgate_text_get(&hearer->telling->news, form);

        if (*text == NULL) {
            session->is_broken = 1;
            return;
        }

        ngx_toolgate_told_relieve(*text);
    }

    size = head.len + (*text)->bytes.len;

    if (size - 1 > tg_peer_limit(&session->front.peer)) {
        ngx_toolgate_call_log(session,
                              "notification beyond the largest message "
                              "dropped");
        return;
    }

    session->shared->told += size;
    session->is_broken |= ngx_toolgate_text_add(session, *text, head) != TG_OK;
}

/* A broadcast for a session that has heard all before it. */
static void
ngx_toolgate_told_tell(ngx_toolgate_session_t *session,
                       ngx_toolgate_telling_t *telling)
{
    ngx_toolgate_hearer_t hearer;
    ngx_toolgate_shared_t *shared;
    const ngx_toolgate_news_t *news;

    shared = session->shared;
    news = &telling->news;

    if (news->at < shared->seat.heard) {
        return;
    }

    shared->seat.heard = news->next;

    if (session->is_broken || session->state == NGX_TOOLGATE_ENDING
        || !ngx_toolgate_told_is_for(shared, news)
        || !tg_peer_is_told(&session->front.peer))
    {
        return;
    }

    if (shared->told + news->method.len + news->params.len
        > NGX_TOOLGATE_TOLD_MAX) {
        ngx_toolgate_told_close(session,
                                "it does not take what clients are told");
        return;
    }

    hearer.session = session;
    hearer.telling = telling;
    tg_peer_broadcast_each(&session->front.peer, news->method,
                           ngx_toolgate_told_message, &hearer);
    ngx_toolgate_wake(&session->front);
}

/* --- all sessions --- */

/* This worker came too late for some of the news. */
static void
ngx_toolgate_told_lost(void)
{
    ngx_toolgate_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_toolgate_shared);
         q != ngx_queue_sentinel(&ngx_toolgate_shared); q = ngx_queue_next(q))
    {
        session = ngx_toolgate_told_of(q);
        session->shared->seat.heard = ngx_toolgate_news_read();

        if (tg_peer_is_told(&session->front.peer)) {
            ngx_toolgate_told_close(session, "its worker was too late for what "
                                             "clients are told");
        }
    }
}

void
ngx_toolgate_told_displace(ngx_toolgate_session_t *session)
{
    if (session->state == NGX_TOOLGATE_ENDING) {
        return;
    }

    ngx_log_error(NGX_LOG_INFO, session->front.connection->log, 0,
                  "bridge displaced by another one (tool_relay_bridges)");
    tg_peer_farewell(&session->front.peer,
                     TG_STR("another bridge has connected and displaced this "
                            "one (tool_relay_bridges displace)"));
    session->state = NGX_TOOLGATE_ENDING;
    ngx_toolgate_wake(&session->front);
}

static void
ngx_toolgate_told_orders(void)
{
    ngx_toolgate_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_toolgate_shared);
         q != ngx_queue_sentinel(&ngx_toolgate_shared); q = ngx_queue_next(q))
    {
        session = ngx_toolgate_told_of(q);

        if (ngx_toolgate_seat_is_displaced(&session->shared->seat)) {
            ngx_toolgate_told_displace(session);
        }
    }
}

/* Reads the next broadcast: NGX_OK, or NGX_AGAIN. */
static ngx_int_t
ngx_toolgate_telling_begin(void)
{
    ngx_int_t rc;

    rc = ngx_toolgate_news_next(&ngx_toolgate_telling.copy,
                                &ngx_toolgate_telling.news);

    if (rc == NGX_OK) {
        ngx_toolgate_telling_next = ngx_queue_head(&ngx_toolgate_shared);
        return NGX_OK;
    }

    if (rc == NGX_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0, TG_NO_MEMORY);
        ngx_add_timer(&ngx_toolgate_told_event, NGX_TOOLGATE_TOLD_PAUSE);
    }

    if (rc == NGX_ABORT) {
        ngx_toolgate_told_lost();
    }

    return NGX_AGAIN;
}

/*
 * Gives the broadcast to the next session; NGX_DONE: there was none.  A
 * session that catches up reads it by itself.
 */
static ngx_int_t
ngx_toolgate_telling_go_on(void)
{
    ngx_toolgate_session_t *session;

    if (ngx_toolgate_telling_next == ngx_queue_sentinel(&ngx_toolgate_shared)) {
        ngx_toolgate_telling_end(&ngx_toolgate_telling);
        ngx_toolgate_telling_next = NULL;
        return NGX_DONE;
    }

    session = ngx_toolgate_told_of(ngx_toolgate_telling_next);
    ngx_toolgate_telling_next = ngx_queue_next(ngx_toolgate_telling_next);

    if (!session->shared->is_late) {
        ngx_toolgate_told_tell(session, &ngx_toolgate_telling);
    }

    return NGX_OK;
}

/* What changed on the page, for one slice. */
static void
ngx_toolgate_told_run(tg_source_t *source)
{
    size_t steps;

    if (ngx_toolgate_clients_have_orders()) {
        ngx_toolgate_told_orders();
    }

    do {
        steps = NGX_TOOLGATE_SESSION_STEPS;

        if (ngx_toolgate_telling_next == NULL) {
            if (ngx_toolgate_telling_begin() != NGX_OK) {
                return;
            }

            steps = ngx_toolgate_telling.copy.len;
        }

        if (ngx_toolgate_telling_go_on() == NGX_DONE) {
            steps = 64;
        }
    } while (!tg_slice_is_over(&ngx_toolgate_sched, source, steps));
}

static void
ngx_toolgate_told_handler(ngx_event_t *ev)
{
    (void) ev;

    if (!ngx_toolgate_told_source.is_waiting) {
        tg_slice_begin(&ngx_toolgate_sched);
        ngx_toolgate_told_run(&ngx_toolgate_told_source);
    }
}

static void
ngx_toolgate_told_wake(void)
{
    ngx_toolgate_told_event.log = ngx_cycle->log;
    ngx_toolgate_told_event.cancelable = 1;
    ngx_post_event(&ngx_toolgate_told_event, &ngx_posted_events);
}

void
ngx_toolgate_told_start(ngx_cycle_t *cycle)
{
    ngx_toolgate_share_start(cycle, ngx_toolgate_init_connection,
                             ngx_toolgate_told_wake);
}

/* --- arrivals --- */

void
ngx_toolgate_told_catch_up(ngx_toolgate_session_t *session)
{
    static ngx_toolgate_telling_t telling;

    ngx_toolgate_shared_t *shared;
    ngx_int_t rc;

    shared = session->shared;

    if (tg_peer_is_silent_listener(&session->front.peer)
        && ngx_current_msec - shared->connected < NGX_TOOLGATE_FIRST_BYTE)
    {
        return;
    }

    do {
        rc = ngx_toolgate_news_from(shared->seat.heard, &telling.copy,
                                    &telling.news);

        if (rc == NGX_AGAIN) {
            shared->is_late = 0;
            return;
        }

        if (rc != NGX_OK) {
            shared->is_late = 0;
            ngx_toolgate_told_close(session,
                                    "it was too long on its way between "
                                    "workers for what clients are told");
            return;
        }

        ngx_toolgate_told_tell(session, &telling);
        ngx_toolgate_telling_end(&telling);
    } while (!tg_slice_is_over(&ngx_toolgate_sched, &session->source,
                               telling.copy.len));
}
