/*
 * What a client says and is told: read from its socket and fed to the peer,
 * and on its way back; and how long it may take for either.
 *
 * An idle connection holds no buffers: reads go through one buffer of the
 * worker, and a session keeps only what its peer did not consume or the
 * client did not take.  The rest of a large message is read right behind its
 * beginning, so that each byte is copied once at most.
 */
#include "nginx/session/ngx_tg_session.h"

/* What is left of a message from this size on is no usual burst's last one. */
#define NGX_TG_DIRECT_READ_MIN 32768
/* tool_send_timeout of a worker that exits, where it is for ever. */
#define NGX_TG_EXIT_SEND_TIMEOUT 60000

/* A worker has one thread: what is read lives until the handler returns. */
static u_char ngx_tg_read_buffer[NGX_TG_READ_BUFFER_SIZE];

/* Gives the peer bytes: what it leaves goes to, or stays in, session->in. */
static int
ngx_tg_session_feed_peer(ngx_tg_session_t *session, const char *data,
                         size_t len, size_t *consumed)
{
    ngx_time_t *tp;
    int rc;

    if (session->base.conf->trace != NULL) {
        ngx_tg_session_trace_begin(session);
    }

    tp = ngx_timeofday();
    session->base.peer.now_ms = (uint64_t) tp->sec * 1000 + tp->msec;

    rc = tg_peer_handle_input(&session->base.peer, data, len, consumed);

    if (*consumed != 0) {
        ngx_tg_pre_request_remove(&session->pre_request);
        session->has_read = 1;

        if (session->base.conf->trace != NULL) {
            ngx_tg_session_trace_input(session, tg_str(data, *consumed));
        }
    }

    if (rc == TG_CLOSED) {
        session->state = NGX_TG_SESSION_CLOSING;
    }

    if (rc == TG_NOMEM) {
        ngx_log_error(NGX_LOG_ERR, session->base.connection->log, 0,
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
ngx_tg_session_reserve_output(ngx_tg_session_t *session)
{
    tg_buf_t *out;

    out = &session->base.peer.out;

    if (out->len == 0 && out->cap < session->in.len
        && session->in.len >= NGX_TG_LARGE_BUFFER_SIZE)
    {
        if (out->cap != 0) {
            ngx_tg_output_buffer_return(out);
        }

        ngx_tg_buffer_cache_get(out, session->in.len * 2);
    }
}

/* The beginning of a next message must not hold what a large one needed. */
static void
ngx_tg_session_shrink_input(ngx_tg_session_t *session)
{
    tg_buf_t small;

    if (session->in.len >= NGX_TG_DIRECT_READ_MIN) {
        return;
    }

    tg_buf_init(&small, session->in.alloc);
    tg_buf_append_str(&small, tg_buf_view(&session->in));

    if (!tg_buf_has_failed(&small)) {
        ngx_tg_buffer_cache_recycle(&session->in);
        session->in = small;
    }
}

/* What is left of earlier reads. */
static int
ngx_tg_session_serve_input(ngx_tg_session_t *session)
{
    size_t consumed;
    tg_buf_t *in;
    int rc;

    in = &session->in;

    if (in->len == 0) {
        return TG_OK;
    }

    ngx_tg_session_reserve_output(session);
    rc = ngx_tg_session_feed_peer(session, in->data, in->len, &consumed);
    tg_buf_consume(in, consumed);

    if (in->len == 0) {
        ngx_tg_buffer_cache_recycle(in);
    } else if (consumed != 0 && in->cap >= NGX_TG_LARGE_BUFFER_SIZE) {
        ngx_tg_session_shrink_input(session);
    }

    return rc;
}

/*
 * Room behind what came of a large message.  What is sent to us is what we
 * hold memory for: a prefix alone promises nothing.
 */
static void
ngx_tg_session_reserve_input(ngx_tg_session_t *session)
{
    size_t want;
    tg_buf_t *in;

    in = &session->in;

    if (in->cap - in->len >= NGX_TG_DIRECT_READ_MIN) {
        return;
    }

    want = ngx_max(in->len * 2, NGX_TG_LARGE_BUFFER_SIZE);
    ngx_tg_buffer_cache_get(in, SIZE_MAX);

    if (in->cap < want && tg_buf_reserve(in, want - in->len) != TG_OK) {
        session->is_broken = 1;
    }
}

static void
ngx_tg_session_append_input(ngx_tg_session_t *session, const u_char *data,
                            size_t len)
{
    if (len >= NGX_TG_DIRECT_READ_MIN) {
        ngx_tg_buffer_cache_get(&session->in, SIZE_MAX);
    }

    tg_buf_append(&session->in, (const char *) data, len);

    if (tg_buf_has_failed(&session->in)) {
        session->is_broken = 1;
    }
}

/* Reads once: the bytes that came, or 0 with what that means noted. */
static size_t
ngx_tg_session_recv(ngx_tg_session_t *session, u_char *buf, size_t size)
{
    ngx_connection_t *c;
    ssize_t n;

    c = session->base.connection;
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
    session->base.stream->received += n;

    return (size_t) n;
}

/* The rest of a large message. */
static int
ngx_tg_session_read_rest(ngx_tg_session_t *session)
{
    tg_buf_t *in;
    size_t n;

    in = &session->in;
    ngx_tg_session_reserve_input(session);

    if (session->is_broken) {
        return TG_NOMEM;
    }

    n = ngx_tg_session_recv(session, (u_char *) in->data + in->len,
                            in->cap - in->len);

    if (n == 0) {
        return TG_AGAIN;
    }

    in->len += n;

    return ngx_tg_session_serve_input(session);
}

/*
 * Reads once and serves it.  TG_OK: there may be more; TG_AGAIN: not now;
 * else as tg_peer_handle_input().
 */
static int
ngx_tg_session_read(ngx_tg_session_t *session)
{
    size_t n, consumed;
    int rc;

    if (!session->base.connection->read->ready) {
        return TG_AGAIN;
    }

    if (session->in.len >= NGX_TG_DIRECT_READ_MIN) {
        return ngx_tg_session_read_rest(session);
    }

    n = ngx_tg_session_recv(session, ngx_tg_read_buffer,
                            NGX_TG_READ_BUFFER_SIZE);

    if (n == 0) {
        return TG_AGAIN;
    }

    if (session->in.len != 0) {
        ngx_tg_session_append_input(session, ngx_tg_read_buffer, n);
        return session->is_broken ? TG_NOMEM
                                  : ngx_tg_session_serve_input(session);
    }

    rc = ngx_tg_session_feed_peer(session, (char *) ngx_tg_read_buffer, n,
                                  &consumed);

    if (consumed != n) {
        ngx_tg_session_append_input(session, ngx_tg_read_buffer + consumed,
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
ngx_tg_session_can_read(const ngx_tg_session_t *session)
{
    return session->state == NGX_TG_SESSION_SERVING
           || session->base.peer.is_leaving
           || (!session->is_drained && !session->base.peer.is_toolgate
               && (session->bytes_in < session->bytes_to_read
                   || ngx_current_msec - session->leaving_since
                          < NGX_TG_LEAVING_TIMEOUT));
}

void
ngx_tg_session_read_and_serve(ngx_tg_session_t *session)
{
    size_t before, kept;
    int rc;

    if (ngx_tg_time_slice_is_awaited(session) || session->is_broken) {
        return;
    }

    ngx_tg_time_slice_begin(session);
    rc = ngx_tg_session_serve_input(session);

    for (;;) {
        if (session->is_broken || session->state == NGX_TG_SESSION_CLOSING
            || session->is_eof || ngx_tg_time_slice_is_awaited(session))
        {
            return;
        }

        if (rc == TG_LIMIT) {
            /*
             * By the peer's measure, with what was sent: whoever is stopped
             * for its output must be looked at again when that has gone.
             */
            if (session->base.peer.out.len <= TG_PEER_OUTPUT_MAX
                || ngx_tg_session_flush(session) != NGX_OK
                || ngx_tg_time_slice_is_over(session))
            {
                return;
            }

            rc = ngx_tg_session_serve_input(session);
            continue;
        }

        if (!ngx_tg_session_can_read(session)) {
            return;
        }

        before = session->in.len;
        rc = ngx_tg_session_read(session);
        kept = session->in.len > before ? session->in.len - before : 0;

        /* With nothing left to read, there is no need for a clock. */
        if (rc == TG_AGAIN
            || (rc == TG_OK && session->base.connection->read->ready
                && ngx_tg_time_slice_is_over_after(
                    session, kept + session->base.peer.frame_size)))
        {
            return;
        }
    }
}

/* --- output --- */

/* Sends the peer's output up to a place: as ngx_tg_session_flush(). */
static ngx_int_t
ngx_tg_session_flush_output(ngx_tg_session_t *session, size_t end)
{
    ngx_connection_t *c;
    tg_buf_t *out;
    ssize_t n;

    c = session->base.connection;
    out = &session->base.peer.out;

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
                && out->len - session->sent <= TG_PEER_OUTPUT_MAX)
            {
                tg_buf_consume(out, session->sent);
                ngx_tg_unsent_texts_shift(session, session->sent);
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
ngx_tg_session_flush(ngx_tg_session_t *session)
{
    const ngx_tg_unsent_texts_t *texts;
    ngx_int_t rc;
    tg_buf_t *out;

    out = &session->base.peer.out;
    texts = &session->texts;

    for (;;) {
        if (session->base.conf->trace != NULL) {
            ngx_tg_session_trace_output(session);
        }

        rc = ngx_tg_session_flush_output(session, texts->first != NULL
                                                      ? texts->first_offset
                                                      : out->len);

        if (rc == NGX_OK && session->sent == out->len) {
            ngx_tg_unsent_texts_shift(session, out->len);
            session->sent = 0;
            session->traced = 0;
            out->len = 0;
        }

        if (rc != NGX_OK || texts->first == NULL) {
            break;
        }

        rc = ngx_tg_unsent_texts_flush(session);

        if (rc != NGX_OK) {
            break;
        }
    }

    if (rc == NGX_OK && session->shared_client != NULL) {
        session->shared_client->backlog_bytes = 0;
    }

    return rc;
}

/*
 * The kernel would tell of room with each reply that a client takes: an
 * event that nobody waits for, as often as calls.
 */
ngx_int_t
ngx_tg_session_watch_writable(ngx_tg_session_t *session)
{
    ngx_event_t *wev;

    wev = session->base.connection->write;

#if (NGX_STREAM_SSL)
    if (session->base.connection->ssl != NULL) {
        return ngx_handle_write_event(wev, 0);
    }
#endif

    if (ngx_tg_session_get_unsent_size(session) != 0) {
        return ngx_handle_write_event(wev, 0);
    }

    return wev->active && (ngx_event_flags & NGX_USE_CLEAR_EVENT)
               ? ngx_del_event(wev, NGX_WRITE_EVENT, 0)
               : NGX_OK;
}

/* --- timers --- */

static void
ngx_tg_event_set_timeout(ngx_event_t *ev, ngx_msec_t timeout)
{
    if (timeout != 0) {
        ngx_add_timer(ev, timeout);
    } else if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}

void
ngx_tg_session_set_wait(ngx_tg_session_t *session, tg_peer_wait_t wait,
                        ngx_msec_t most)
{
    const ngx_tg_srv_conf_t *conf;
    ngx_msec_t to_read, to_send;
    ngx_connection_t *c;

    c = session->base.connection;
    conf = session->base.conf;
    to_read = wait == TG_WAIT_FRAME  ? conf->frame_timeout
              : wait == TG_WAIT_IDLE ? conf->idle_timeout
                                     : 0;
    to_send = wait == TG_WAIT_READ ? conf->send_timeout : 0;

    /* Without a timer the worker would not wait for it at all. */
    if (wait == TG_WAIT_READ && to_send == 0 && ngx_tg_worker_is_exiting()) {
        to_send = NGX_TG_EXIT_SEND_TIMEOUT;
    }

    /* An idle session must not hold an exiting worker, nor be held. */
    c->read->cancelable = 1;
    ngx_tg_event_set_timeout(c->read, ngx_min(to_read, most));
    ngx_tg_event_set_timeout(c->write, ngx_min(to_send, most));
    session->wait = wait;
}

void
ngx_tg_session_set_timers(ngx_tg_session_t *session)
{
    tg_peer_wait_t wait;
    ngx_uint_t is_due;

    wait = tg_peer_get_wait(&session->base.peer,
                            ngx_tg_session_get_unsent_size(session),
                            session->in.len);

    is_due = wait == TG_WAIT_READ ? session->has_sent : session->has_read;

    /* Most have no time to be idle, before a call and after it. */
    if (wait != session->wait
        || (wait == TG_WAIT_READ && ngx_tg_worker_is_exiting()
            && !session->base.connection->write->timer_set)
        || (is_due
            && (wait != TG_WAIT_IDLE || session->base.conf->idle_timeout != 0)))
    {
        ngx_tg_session_set_wait(session, wait, NGX_TIMER_INFINITE);
    }

    session->has_sent = 0;
    session->has_read = 0;
}
