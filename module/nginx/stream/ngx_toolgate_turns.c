/*
 * Turns: who sends a lot waits for those who send little.
 *
 * A client is served until there is nothing left of it, or its turn is over.
 * Clients that were not done by then wait in a row, and each round of the
 * event loop serves the first of them, after all that others have brought.
 * So a light client waits for one turn at most, however many flood the
 * worker.  Only a single call is never divided.
 */
#include "nginx/stream/ngx_toolgate_session.h"

/* One turn, in microseconds: some fifty usual calls. */
#define NGX_TOOLGATE_TURN 50

static void ngx_toolgate_turn_next(ngx_event_t *ev);

static ngx_queue_t ngx_toolgate_turn_queue = { &ngx_toolgate_turn_queue,
                                               &ngx_toolgate_turn_queue };
static ngx_event_t ngx_toolgate_turn_event;

/* When this turn ends, in microseconds; 0: the clock was not asked yet. */
static uint64_t ngx_toolgate_turn_end;

static uint64_t
ngx_toolgate_microseconds(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

void
ngx_toolgate_turn_begin(void)
{
    /* Most clients are done before anybody asks. */
    ngx_toolgate_turn_end = 0;
}

int
ngx_toolgate_turn_is_over(void *host)
{
    ngx_toolgate_session_t *session = host;
    ngx_event_t *ev;
    uint64_t now;

    if (session->is_waiting) {
        return 1;
    }

    /* Who leaves is done with at once. */
    if (session->is_leaving) {
        return 0;
    }

    now = ngx_toolgate_microseconds();

    if (ngx_toolgate_turn_end == 0) {
        ngx_toolgate_turn_end = now + NGX_TOOLGATE_TURN;
        return 0;
    }

    if (now < ngx_toolgate_turn_end) {
        return 0;
    }

    session->is_waiting = 1;
    ngx_queue_insert_tail(&ngx_toolgate_turn_queue, &session->turn);

    ev = &ngx_toolgate_turn_event;
    ev->handler = ngx_toolgate_turn_next;
    ev->log = ngx_cycle->log;
    ngx_post_event(ev, &ngx_posted_next_events);

    return 1;
}

void
ngx_toolgate_turn_leave(ngx_toolgate_session_t *session)
{
    if (session->is_waiting) {
        session->is_waiting = 0;
        ngx_queue_remove(&session->turn);
    }
}

static void
ngx_toolgate_turn_next(ngx_event_t *ev)
{
    ngx_toolgate_session_t *session;
    ngx_queue_t *q;

    if (ngx_queue_empty(&ngx_toolgate_turn_queue)) {
        return;
    }

    q = ngx_queue_head(&ngx_toolgate_turn_queue);
    session = ngx_queue_data(q, ngx_toolgate_session_t, turn);
    ngx_toolgate_turn_leave(session);
    ngx_toolgate_session_run(session);

    if (!ngx_queue_empty(&ngx_toolgate_turn_queue)) {
        ngx_post_event(ev, &ngx_posted_next_events);
    }
}
