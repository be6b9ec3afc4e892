/*
 * The memory that a worker keeps for its clients: beginnings of frames,
 * answers that nobody reads or that wait for their batch, and calls.
 *
 * Each client's share has its own bound; a thousand clients that all fill
 * theirs would still be gigabytes.  Over the worker's bound, who has kept the
 * most for the longest is closed: bytes times time, so that a large frame on
 * its way is not closed for it.
 */
#include "nginx/stream/ngx_toolgate_session.h"

/* Far above what honest clients have half-way at the same moment. */
#define NGX_TOOLGATE_MEMORY 268435456
/* What is less is not worth a look. */
#define NGX_TOOLGATE_MEMORY_MIN 4096

static void ngx_toolgate_memory_relieve(ngx_event_t *ev);

static ngx_queue_t ngx_toolgate_memory_queue = { &ngx_toolgate_memory_queue,
                                                 &ngx_toolgate_memory_queue };
static size_t ngx_toolgate_held;
static ngx_event_t ngx_toolgate_memory_event;

void
ngx_toolgate_memory_drop(ngx_toolgate_session_t *session)
{
    if (session->held != 0) {
        ngx_toolgate_held -= session->held;
        ngx_queue_remove(&session->memory);
        session->held = 0;
    }
}

void
ngx_toolgate_memory_count(ngx_toolgate_session_t *session)
{
    ngx_event_t *ev;
    size_t held;

    held = session->in.cap + tg_peer_kept(&session->peer);

    if (held < NGX_TOOLGATE_MEMORY_MIN) {
        ngx_toolgate_memory_drop(session);
        return;
    }

    if (session->held == 0) {
        session->held_since = ngx_current_msec;
        ngx_queue_insert_tail(&ngx_toolgate_memory_queue, &session->memory);
    }

    ngx_toolgate_held += held - session->held;
    session->held = held;

    if (ngx_toolgate_held > NGX_TOOLGATE_MEMORY) {
        ev = &ngx_toolgate_memory_event;
        ev->handler = ngx_toolgate_memory_relieve;
        ev->log = ngx_cycle->log;
        ngx_post_event(ev, &ngx_posted_events);
    }
}

static ngx_toolgate_session_t *
ngx_toolgate_memory_worst(void)
{
    ngx_toolgate_session_t *session, *worst;
    uint64_t weight, most;
    ngx_queue_t *q;

    worst = NULL;
    most = 0;

    for (q = ngx_queue_head(&ngx_toolgate_memory_queue);
         q != ngx_queue_sentinel(&ngx_toolgate_memory_queue);
         q = ngx_queue_next(q))
    {
        session = ngx_queue_data(q, ngx_toolgate_session_t, memory);
        weight = (uint64_t) session->held
                 * (ngx_current_msec - session->held_since + 1);

        if (weight > most) {
            most = weight;
            worst = session;
        }
    }

    return worst;
}

static void
ngx_toolgate_memory_relieve(ngx_event_t *ev)
{
    ngx_toolgate_session_t *session;

    (void) ev;

    while (ngx_toolgate_held > NGX_TOOLGATE_MEMORY) {
        session = ngx_toolgate_memory_worst();

        if (session == NULL) {
            return;
        }

        ngx_log_error(NGX_LOG_WARN, session->connection->log, 0,
                      "client closed: the worker keeps more than %d MiB of "
                      "unfinished frames and unread answers, %uz bytes of "
                      "them this client's",
                      NGX_TOOLGATE_MEMORY / 1048576, session->held);
        ngx_toolgate_end(session, NGX_STREAM_OK);
    }
}
