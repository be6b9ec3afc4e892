/*
 * What a client says and is told: read from its socket and fed to the peer,
 * and on its way back; and how long it may take for either.
 *
 * An idle connection holds no buffers: reads go through one buffer of the
 * worker, and a session keeps only what its peer did not consume or the
 * client did not take.  The rest of a large message is read right behind its
 * beginning, so that each byte is copied once at most.
 */
#include "nginx/stream/ngx_toolgate_session.h"

/* What is left of a message from this size on is no usual burst's last one. */
#define NGX_TOOLGATE_DIRECT 32768
/* tool_send_timeout of a worker that exits, where it is for ever. */
#define NGX_TOOLGATE_SEND_LAST 60000

/* A worker has one thread: what is read lives until the handler returns. */
static u_char ngx_toolgate_buffer[NGX_TOOLGATE_READ];

/* Gives the peer bytes: what it leaves goes to, or stays in, session->in. */
static int
ngx_toolgate_feed(ngx_toolgate_session_t *session, const char *data, size_t len,
                  size_t *consumed)
{
    ngx_time_t *tp;
    int rc;

    if (session->front.conf->trace != NULL) {
        ngx_toolgate_traced_begin(session);
    }

    tp = ngx_timeofday();
    session->front.peer.now_ms = (uint64_t) tp->sec * 1000 + tp->msec;

    rc = tg_peer_input(&session->front.peer, data, len, consumed);

    if (*consumed != 0) {
        ngx_toolgate_silent_leave(&session->silent);
        session->has_read = 1;

        if (session->front.conf->trace != NULL) {
            ngx_toolgate_traced_in(session, tg_str(data, *consumed));
        }
    }

    if (rc == TG_CLOSED) {
        session->state = NGX_TOOLGATE_ENDING;
    }

    if (rc == TG_NOMEM) {
        ngx_log_error(NGX_LOG_ERR, session->front.connection->log, 0,
                      "no memory to serve a client");
        session->is_broken = 1;
    }

    return rc;
}

/*
 * A large message is in: its reply may be as large, and would grow from
 * little, through fresh memory each time.
 */
static void
ngx_toolgate_expect(ngx_toolgate_session_t *session)
{
    tg_buf_t *out;

    out = &session->front.peer.out;

    if (out->len == 0 && out->cap < session->in.len
        && session->in.len >= NGX_TOOLGATE_LARGE)
    {
        if (out->cap != 0) {
            ngx_toolgate_give_back(out);
        }

        ngx_toolgate_block_get(out, session->in.len * 2);
    }
}

/* The beginning of a next message must not hold what a large one needed. */
static void
ngx_toolgate_shrink(ngx_toolgate_session_t *session)
{
    tg_buf_t small;

    if (session->in.len >= NGX_TOOLGATE_DIRECT) {
        return;
    }

    tg_buf_init(&small, session->in.alloc);
    tg_buf_str(&small, tg_buf_view(&session->in));

    if (!tg_buf_failed(&small)) {
        ngx_toolgate_block_put(&session->in);
        session->in = small;
    }
}

/* What is left of earlier reads. */
static int
ngx_toolgate_serve(ngx_toolgate_session_t *session)
{
    size_t consumed;
    tg_buf_t *in;
    int rc;

    in = &session->in;

    if (in->len == 0) {
        return TG_OK;
    }

    ngx_toolgate_expect(session);
    rc = ngx_toolgate_feed(session, in->data, in->len, &consumed);
    tg_buf_drop(in, consumed);

    if (in->len == 0) {
        ngx_toolgate_block_put(in);
    } else if (consumed != 0 && in->cap >= NGX_TOOLGATE_LARGE) {
        ngx_toolgate_shrink(session);
    }

    return rc;
}

/*
 * Room behind what came of a large message.  What is sent to us is what we
 * hold memory for: a prefix alone promises nothing.
 */
static void
ngx_toolgate_make_room(ngx_toolgate_session_t *session)
{
    size_t want;
    tg_buf_t *in;

    in = &session->in;

    if (in->cap - in->len >= NGX_TOOLGATE_DIRECT) {
        return;
    }

    want = ngx_max(in->len * 2, NGX_TOOLGATE_LARGE);
    ngx_toolgate_block_get(in, SIZE_MAX);

    if (in->cap < want && tg_buf_reserve(in, want - in->len) != TG_OK) {
        session->is_broken = 1;
    }
}

static void
ngx_toolgate_append(ngx_toolgate_session_t *session, const u_char *data,
                    size_t len)
{
    if (len >= NGX_TOOLGATE_DIRECT) {
        ngx_toolgate_block_get(&session->in, SIZE_MAX);
    }

    tg_buf_put(&session->in, (const char *) data, len);

    if (tg_buf_failed(&session->in)) {
        session->is_broken = 1;
    }
}

/* Reads once: the bytes that came, or 0 with what that means noted. */
static size_t
ngx_toolgate_recv(ngx_toolgate_session_t *session, u_char *buf, size_t size)
{
    ngx_connection_t *c;
    ssize_t n;

    c = session->front.connection;
    n = c->recv(c, buf, size);

    if (n == NGX_AGAIN) {
        return 0;
    }

    if (n == NGX_ERROR) {
        session->is_broken = 1;
        return 0;
    }

    if (n == 0) {
        session->is_eof = 1;
        return 0;
    }

    session->bytes_in += (uint64_t) n;
    session->front.stream->received += n;

    return (size_t) n;
}

/* The rest of a large message. */
static int
ngx_toolgate_read_on(ngx_toolgate_session_t *session)
{
    tg_buf_t *in;
    size_t n;

    in = &session->in;
    ngx_toolgate_make_room(session);

    if (session->is_broken) {
        return TG_NOMEM;
    }

    n = ngx_toolgate_recv(session, (u_char *) in->data + in->len,
                          in->cap - in->len);

    if (n == 0) {
        return TG_AGAIN;
    }

    in->len += n;

    return ngx_toolgate_serve(session);
}

/*
 * Reads once and serves it.  TG_OK: there may be more; TG_AGAIN: not now;
 * else as tg_peer_input().
 */
static int
ngx_toolgate_read(ngx_toolgate_session_t *session)
{
    size_t n, consumed;
    int rc;

    if (!session->front.connection->read->ready) {
        return TG_AGAIN;
    }

    if (session->in.len >= NGX_TOOLGATE_DIRECT) {
        return ngx_toolgate_read_on(session);
    }

    n = ngx_toolgate_recv(session, ngx_toolgate_buffer, NGX_TOOLGATE_READ);

    if (n == 0) {
        return TG_AGAIN;
    }

    if (session->in.len != 0) {
        ngx_toolgate_append(session, ngx_toolgate_buffer, n);
        return session->is_broken ? TG_NOMEM : ngx_toolgate_serve(session);
    }

    rc = ngx_toolgate_feed(session, (char *) ngx_toolgate_buffer, n, &consumed);

    if (consumed != n) {
        ngx_toolgate_append(session, ngx_toolgate_buffer + consumed,
                            n - consumed);
    }

    return rc;
}

/*
 * An exiting worker takes no more of a bridge of ours, which sends it anew
 * elsewhere; another Toolgate is told so of each request.  Other clients would
 * lose what is not read: what had come by then is, and what comes while calls
 * of theirs run, but not for ever, or one that is never idle would keep the
 * old worker, and the old tools.
 */
static ngx_uint_t
ngx_toolgate_may_read(const ngx_toolgate_session_t *session)
{
    return session->state == NGX_TOOLGATE_SERVING
           || session->front.peer.is_leaving
           || (!session->is_drained && !session->front.peer.is_toolgate
               && (session->bytes_in < session->bytes_due
                   || ngx_current_msec - session->leaving_since
                          < NGX_TOOLGATE_LEAVE));
}

void
ngx_toolgate_pump(ngx_toolgate_session_t *session)
{
    size_t before, kept;
    int rc;

    if (ngx_toolgate_turn_is_awaited(session) || session->is_broken) {
        return;
    }

    ngx_toolgate_turn_begin(session);
    rc = ngx_toolgate_serve(session);

    for (;;) {
        if (session->is_broken || session->state == NGX_TOOLGATE_ENDING
            || session->is_eof || ngx_toolgate_turn_is_awaited(session))
        {
            return;
        }

        if (rc == TG_LIMIT) {
            /*
             * By the peer's measure, with what was sent: whoever is stopped
             * for its output must be looked at again when that has gone.
             */
            if (session->front.peer.out.len <= TG_PEER_BACKLOG
                || ngx_toolgate_flush(session) != NGX_OK
                || ngx_toolgate_turn_is_over(session))
            {
                return;
            }

            rc = ngx_toolgate_serve(session);
            continue;
        }

        if (!ngx_toolgate_may_read(session)) {
            return;
        }

        before = session->in.len;
        rc = ngx_toolgate_read(session);
        kept = session->in.len > before ? session->in.len - before : 0;

        /* With nothing left to read, there is no need for a clock. */
        if (rc == TG_AGAIN
            || (rc == TG_OK && session->front.connection->read->ready
                && ngx_toolgate_turn_is_over_after(
                    session, kept + session->front.peer.serving)))
        {
            return;
        }
    }
}

/* --- output --- */

/* Sends the peer's output up to a place: as ngx_toolgate_flush(). */
static ngx_int_t
ngx_toolgate_flush_out(ngx_toolgate_session_t *session, size_t end)
{
    ngx_connection_t *c;
    tg_buf_t *out;
    ssize_t n;

    c = session->front.connection;
    out = &session->front.peer.out;

    while (session->sent < end) {

        /* After a short write NGINX knows that there is no more room. */
        n = c->write->ready ? c->send(c, (u_char *) out->data + session->sent,
                                      end - session->sent)
                            : NGX_AGAIN;

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (n == NGX_AGAIN || n == 0) {

            /*
             * The peer measures what is unsent: it goes on when that is
             * little, and then, with half gone, it is worth a move.
             */
            if (session->sent > out->len / 2
                && out->len - session->sent <= TG_PEER_BACKLOG) {
                tg_buf_drop(out, session->sent);
                ngx_toolgate_text_dropped(session, session->sent);
                session->traced -= ngx_min(session->traced, session->sent);
                session->sent = 0;
            }

            return NGX_AGAIN;
        }

        session->sent += (size_t) n;
        session->bytes_out += (uint64_t) n;
        session->has_sent = 1;
    }

    return NGX_OK;
}

ngx_int_t
ngx_toolgate_flush(ngx_toolgate_session_t *session)
{
    const ngx_toolgate_texts_t *texts;
    ngx_int_t rc;
    tg_buf_t *out;

    out = &session->front.peer.out;
    texts = &session->texts;

    for (;;) {
        if (session->front.conf->trace != NULL) {
            ngx_toolgate_traced_out(session);
        }

        rc = ngx_toolgate_flush_out(session, texts->first != NULL
                                                 ? texts->first_at
                                                 : out->len);

        if (rc == NGX_OK && session->sent == out->len) {
            ngx_toolgate_text_dropped(session, out->len);
            session->sent = 0;
            session->traced = 0;
            out->len = 0;
        }

        if (rc != NGX_OK || texts->first == NULL) {
            break;
        }

        rc = ngx_toolgate_text_flush(session);

        if (rc != NGX_OK) {
            break;
        }
    }

    if (rc == NGX_OK && session->shared != NULL) {
        session->shared->told = 0;
    }

    return rc;
}

/*
 * The kernel would tell of room with each reply that a client takes: an
 * event that nobody waits for, as often as calls.
 */
ngx_int_t
ngx_toolgate_watch(ngx_toolgate_session_t *session)
{
    ngx_event_t *wev;

    wev = session->front.connection->write;

#if (NGX_STREAM_SSL)
    if (session->front.connection->ssl != NULL) {
        return ngx_handle_write_event(wev, 0);
    }
#endif

    if (ngx_toolgate_unsent(session) != 0) {
        return ngx_handle_write_event(wev, 0);
    }

    return wev->active && (ngx_event_flags & NGX_USE_CLEAR_EVENT)
               ? ngx_del_event(wev, NGX_WRITE_EVENT, 0)
               : NGX_OK;
}

/* --- timers --- */

static void
ngx_toolgate_set_timer(ngx_event_t *ev, ngx_msec_t timeout)
{
    if (timeout != 0) {
        ngx_add_timer(ev, timeout);
    } else if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}

void
ngx_toolgate_wait_for(ngx_toolgate_session_t *session, tg_wait_t wait,
                      ngx_msec_t most)
{
    const ngx_toolgate_srv_conf_t *conf;
    ngx_msec_t to_read, to_send;
    ngx_connection_t *c;

    c = session->front.connection;
    conf = session->front.conf;
    to_read = wait == TG_WAIT_FRAME  ? conf->frame_timeout
              : wait == TG_WAIT_IDLE ? conf->idle_timeout
                                     : 0;
    to_send = wait == TG_WAIT_SENT ? conf->send_timeout : 0;

    /* Without a timer the worker would not wait for it at all. */
    if (wait == TG_WAIT_SENT && to_send == 0 && ngx_toolgate_exits()) {
        to_send = NGX_TOOLGATE_SEND_LAST;
    }

    /* An idle session must not hold an exiting worker, nor be held. */
    c->read->cancelable = 1;
    ngx_toolgate_set_timer(c->read, ngx_min(to_read, most));
    ngx_toolgate_set_timer(c->write, ngx_min(to_send, most));
    session->wait = wait;
}

void
ngx_toolgate_set_timers(ngx_toolgate_session_t *session)
{
    tg_wait_t wait;
    ngx_uint_t is_due;

    wait = tg_peer_waits(&session->front.peer, ngx_toolgate_unsent(session),
                         session->in.len);

    is_due = wait == TG_WAIT_SENT ? session->has_sent : session->has_read;

    /* Most have no time to be idle, before a call and after it. */
    if (wait != session->wait
        || (wait == TG_WAIT_SENT && ngx_toolgate_exits()
            && !session->front.connection->write->timer_set)
        || (is_due
            && (wait != TG_WAIT_IDLE
                || session->front.conf->idle_timeout != 0)))
    {
        ngx_toolgate_wait_for(session, wait, NGX_TIMER_INFINITE);
    }

    session->has_sent = 0;
    session->has_read = 0;
}
