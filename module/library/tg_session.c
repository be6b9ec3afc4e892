/*
 * One client: at a socket, at two descriptors, or behind a link.
 */
#include "library/tg_run.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

/* --- the list, which a fork looks at --- */

static void
tg_session_join(tg_run_t *run, tg_session_t *session)
{
    tg_library_lock();
    session->next = run->first;

    if (run->first != NULL) {
        run->first->prev = session;
    } else {
        run->last = session;
    }

    run->first = session;
    run->nsessions++;
    tg_library_unlock();
    run->nopen++;
}

static void
tg_session_leave(tg_session_t *session)
{
    tg_run_t *run;

    run = session->run;
    tg_library_lock();
    *(session->prev != NULL ? &session->prev->next
                            : &run->first) = session->next;
    *(session->next != NULL ? &session->next->prev
                            : &run->last) = session->prev;
    run->nsessions--;
    tg_library_unlock();
}

/* Which one it is, so that a child that forks finds no other one there. */
static tg_end_t
tg_session_end(const tg_uv_end_t *end)
{
    tg_end_t found;
    struct stat st;

    memset(&found, 0, sizeof(found));

    if (end->kind != TG_UV_END_STREAM
        || uv_fileno(&end->as.handle, &found.fd) != 0
        || fstat(found.fd, &st) != 0
        || (!S_ISSOCK(st.st_mode) && !S_ISFIFO(st.st_mode)))
    {
        found.fd = -1;
        return found;
    }

    found.id = tg_file_id(&st);

    return found;
}

static void
tg_session_name(tg_session_t *session)
{
    tg_end_t in, out;

    in = tg_session_end(session->conn.in);
    out = tg_session_end(session->conn.out_end);
    tg_library_lock();
    session->in = in;
    session->out = out;
    tg_library_unlock();
}

/* --- its end --- */

static void
tg_session_undirty(tg_session_t *session)
{
    tg_session_t **at;

    for (at = &session->run->dirty; *at != NULL; at = &(*at)->next_dirty) {
        if (*at == session) {
            *at = session->next_dirty;
            break;
        }
    }

    session->is_dirty = 0;
}

/* The last of it: nothing of libuv's has it any more. */
static void
tg_session_free(tg_session_t *session)
{
    tg_run_t *run;

    run = session->run;
    session->is_closed = 1;
    tg_session_undirty(session);
    tg_session_leave(session);
    tg_peer_deinit(&session->peer);
    free(session);
    tg_run_gone(run);
}

/* The program is told nothing more, and may free the link. */
static void
tg_session_unlink(tg_session_t *session)
{
    toolgate_link_t *link;

    link = session->link;
    tg_library_lock();
    link->session = NULL;
    link->has_session = 0;
    link->run = NULL;
    tg_library_signal();

    if (--link->refs == 0) {
        tg_order_free(link->goodbye);
        free(link);
    }

    tg_library_unlock();
}

void
tg_session_close(tg_session_t *session)
{
    if (session->is_closed) {
        return;
    }

    session->is_closed = 1;

    if (session->link == NULL) {
        tg_uv_conn_close(&session->conn);
        return;
    }

    tg_session_unlink(session);
    tg_session_free(session);
}

void
tg_session_finish(tg_session_t *session)
{
    if (session->is_closed || session->link != NULL) {
        tg_session_close(session);
        return;
    }

    session->is_closed = 1;
    tg_uv_conn_finish(&session->conn);

    if (session->conn.state == TG_UV_FLUSHING) {
        session->is_lingering = 1;
        session->run->nlingering++;
    }
}

/* --- output and time --- */

/* Each line is a message. */
static void
tg_session_tell(tg_session_t *session)
{
    toolgate_link_t *link;
    const char *at, *end, *line;
    tg_buf_t out;

    link = session->link;
    out = session->peer.out;
    tg_buf_init(&session->peer.out, out.alloc);
    at = out.data;
    end = out.len != 0 ? out.data + out.len : at;

    for (/* void */; at < end && !atomic_load(&link->is_closed); at = line + 1)
    {
        line = memchr(at, '\n', (size_t) (end - at));

        if (line == NULL) {
            break;
        }

        session->run->is_calling++;
        link->message(at, (size_t) (line - at), link->data);
        session->run->is_calling--;
    }

    tg_buf_deinit(&out);
}

static uint64_t
tg_session_time(const tg_session_t *session, tg_wait_t wait)
{
    const tg_conf_t *conf;

    conf = &session->run->conf;

    return wait == TG_WAIT_SENT    ? conf->send_timeout
           : wait == TG_WAIT_FRAME ? conf->frame_timeout
           : wait == TG_WAIT_IDLE  ? conf->idle_timeout
                                   : 0;
}

/*
 * A time runs on until the client does what is expected: single bytes of a
 * frame, or of requests while it reads no answers, put nothing off.  1: it has
 * its time anew.
 */
static int
tg_session_expect(tg_session_t *session)
{
    size_t unsent;
    tg_wait_t wait;
    uint64_t now, time;

    unsent = tg_uv_conn_backlog(&session->conn);
    wait = tg_peer_waits(&session->peer, unsent, session->conn.in_buf.len);

    if (wait == session->wait
        && (wait == TG_WAIT_SENT ? unsent >= session->unsent
                                 : !session->has_read))
    {
        return 0;
    }

    now = uv_now(session->run->loop);
    time = tg_session_time(session, wait);
    session->wait = wait;
    session->unsent = unsent;
    session->has_read = 0;
    session->deadline = time != 0 ? now + time : 0;

    if (time != 0) {
        tg_run_due(session->run, session->deadline);
    }

    return 1;
}

/* Until it is closed: also who sends no more has to take what there is. */
static void
tg_session_expect_more(tg_session_t *session)
{
    if (session->conn.state < TG_UV_CLOSING) {
        (void) tg_session_expect(session);
    }
}

/* Half closed, it may still wait for its answers; or it is gone. */
static int
tg_session_is_gone(const tg_session_t *session)
{
    struct pollfd pfd;

    pfd.fd = session->out.fd;
    pfd.events = 0;
    pfd.revents = 0;

    return session->out.fd != -1 && poll(&pfd, 1, 0) == 1
           && (pfd.revents & (POLLHUP | POLLERR)) != 0;
}

static void
tg_session_look(tg_session_t *session)
{
    if (tg_session_is_gone(session)) {
        tg_session_close(session);

    } else if (session->peer.ncalls == 0 && !session->conn.source.is_waiting) {
        tg_uv_conn_finish(&session->conn);
        session->wait = TG_WAIT_NOTHING;
        tg_session_expect_more(session);

    } else {
        session->deadline = uv_now(session->run->loop) + TG_SESSION_LOOK;
        tg_run_due(session->run, session->deadline);
    }
}

void
tg_session_flush(tg_session_t *session)
{
    if (session->link != NULL) {
        tg_session_tell(session);
        return;
    }

    tg_uv_conn_flush(&session->conn);
    tg_uv_conn_resume(&session->conn);

    if (tg_uv_conn_backlog(&session->conn) == 0) {
        session->told = 0;
    }

    if (session->is_eof && session->conn.state == TG_UV_OPEN) {
        tg_session_look(session);
    } else {
        tg_session_expect_more(session);
    }
}

/* What it waited for did not come. */
static void
tg_session_late(tg_session_t *session)
{
    static const char *const texts[] = {
        [TG_WAIT_NOTHING] = "",
        [TG_WAIT_FRAME] = "it did not end a message in time (frame_timeout)",
        [TG_WAIT_IDLE] = "it was silent for too long (idle_timeout)",
        [TG_WAIT_SENT] = "it did not read its answers in time (send_timeout)",
    };

    tg_report(session->run, TOOLGATE_ERR_CONNECTION, "client closed: %s",
              texts[session->wait]);
    tg_session_close(session);
}

uint64_t
tg_session_due(tg_session_t *session, uint64_t now)
{
    if (session->is_closed || session->deadline == 0
        || session->conn.state >= TG_UV_CLOSING)
    {
        return UINT64_MAX;
    }

    if (session->deadline > now) {
        return session->deadline;
    }

    session->deadline = 0;

    if (session->is_eof && session->conn.state == TG_UV_OPEN) {
        tg_session_look(session);

    } else if (!tg_session_expect(session)) {
        tg_session_late(session);
    }

    return UINT64_MAX;
}

/* --- input --- */

static void
tg_session_log(void *host, const char *text)
{
    tg_session_t *session;

    session = host;
    tg_report(session->run, TOOLGATE_ERR_IPC, "client: %s", text);
}

static int
tg_session_is_slice_over(void *host)
{
    tg_session_t *session;

    session = host;

    /* A session of this process has no connection, and no bytes either. */
    return session->link == NULL
           && tg_uv_conn_slice_is_over(&session->conn, session->peer.serving);
}

static const tg_peer_ops_t tg_session_ops = {
    .call = tg_answer_call,
    .cancel = tg_answer_cancel,
    .log = tg_session_log,
    .is_turn_over = tg_session_is_slice_over,
};

static void
tg_session_now(tg_session_t *session)
{
    struct timeval now;

    (void) gettimeofday(&now, NULL);
    session->peer.now_ms = (uint64_t) now.tv_sec * 1000
                           + (uint64_t) now.tv_usec / 1000;
}

static int
tg_session_on_input(void *host, const char *data, size_t len, size_t *consumed)
{
    tg_session_t *session;
    int rc;

    session = host;

    /* What threads have changed before it was sent. */
    if (atomic_load(&session->run->has_orders)) {
        session->run->obey(session->run);

        if (session->is_closed) {
            return TG_OK;
        }
    }

    tg_session_now(session);
    rc = tg_peer_input(&session->peer, data, len, consumed);
    session->has_read |= *consumed != 0;
    tg_session_mark(session);

    /* While its call runs, it is still read from: so its end is noticed. */
    return rc == TG_LIMIT && session->peer.out.len <= TG_PEER_BACKLOG ? TG_AGAIN
                                                                      : rc;
}

static void
tg_session_on_eof(void *host)
{
    tg_session_t *session;

    session = host;
    session->is_eof = 1;
    tg_session_look(session);
}

static void
tg_session_on_closed(void *host, int err)
{
    tg_session_t *session;

    session = host;

    if (err == UV_ENOMEM) {
        tg_report(session->run, TOOLGATE_ERR_MEMORY,
                  "client closed: there is no memory to serve it");
    }

    if (session->is_lingering) {
        tg_run_lingered(session->run);
    }

    tg_session_free(session);
}

static const tg_uv_conn_ops_t tg_session_conn_ops = {
    .input = tg_session_on_input,
    .eof = tg_session_on_eof,
    .closed = tg_session_on_closed,
};

/* --- its beginning --- */

static tg_session_t *
tg_session_new(tg_run_t *run, tg_dialect_t dialect)
{
    tg_session_t *session;

    session = calloc(1, sizeof(*session));

    if (session == NULL) {
        tg_report(run, TOOLGATE_ERR_MEMORY,
                  "there is no memory to serve a client");
        return NULL;
    }

    session->run = run;
    session->in.fd = -1;
    session->out.fd = -1;
    tg_peer_init(&session->peer, tg_alloc_libc(), &tg_session_ops, session,
                 dialect, run->catalogue, &run->info,
                 (size_t) run->conf.max_frame,
                 (unsigned) run->conf.max_inflight);
    tg_session_join(run, session);

    return session;
}

static tg_session_t *
tg_session_new_conn(tg_run_t *run)
{
    tg_session_t *session;

    session = tg_session_new(run, run->conf.dialect);

    if (session != NULL) {
        tg_uv_conn_init(&session->conn, &run->sched, &tg_session_conn_ops,
                        session, &session->peer.out);
        session->conn.spare = &run->spare;
    }

    return session;
}

void
tg_session_accept(tg_run_t *run)
{
    tg_session_t *session;
    int rc;

    session = tg_session_new_conn(run);

    /* libuv accepts nobody else before this one is taken. */
    if (session == NULL) {
        run->accept_at = uv_now(run->loop) + TG_SESSION_AGAIN;
        tg_run_due(run, run->accept_at);
        return;
    }

    rc = tg_uv_conn_accept(&session->conn, (uv_stream_t *) &run->listener);

    if (rc != 0) {
        tg_report(run, TOOLGATE_ERR_CONNECTION, "a client cannot be served: %s",
                  uv_strerror(rc));

    } else if (run->nsessions > run->conf.max_clients) {
        tg_report(run, TOOLGATE_ERR_BUSY,
                  "client closed: there %s %u (max_clients)",
                  tg_plural(run->nsessions - 1, "is", "are"),
                  run->nsessions - 1);
        tg_session_close(session);

    } else {
        tg_session_name(session);
        tg_session_mark(session);
    }
}

void
tg_session_serve(tg_run_t *run, int in, int out)
{
    tg_session_t *session;
    int rc;

    session = tg_session_new_conn(run);

    if (session == NULL) {
        (void) close(in);

        if (out != in) {
            (void) close(out);
        }

        return;
    }

    rc = tg_uv_conn_open(&session->conn, in, out);

    if (rc != 0) {
        tg_report(run, TOOLGATE_ERR_CONNECTION,
                  "a client at descriptors %d and %d cannot be served: %s", in,
                  out, uv_strerror(rc));
        return;
    }

    tg_session_name(session);
    tg_session_mark(session);
}

tg_session_t *
tg_session_link(tg_run_t *run, toolgate_link_t *link)
{
    tg_session_t *session;

    session = tg_session_new(run, TG_DIALECT_JSONRPC);

    if (session != NULL) {
        session->link = link;
        link->session = session;
    }

    return session;
}

void
tg_session_message(tg_session_t *session, tg_str_t message)
{
    int rc;

    tg_session_now(session);
    rc = tg_peer_message(&session->peer, message);
    tg_session_tell(session);

    if (rc == TG_NOMEM) {
        tg_report(session->run, TOOLGATE_ERR_MEMORY,
                  "client closed: there is no memory to serve it");
    }

    if (rc == TG_CLOSED || rc == TG_NOMEM) {
        tg_session_close(session);
    }
}
