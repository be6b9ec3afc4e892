/* One client of a server: at the socket, at two descriptors, or of a link. */
#include "lib/tg_runtime.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

/* Identifies a descriptor: a forked child closes only this one. */
static tg_fd_identity_t
tg_session_identify_fd(const tg_uv_io_t *end)
{
    tg_fd_identity_t found;
    struct stat st;

    memset(&found, 0, sizeof(found));

    if (end->type != TG_UV_IO_STREAM
        || uv_fileno(&end->as.handle, &found.fd) != 0
        || fstat(found.fd, &st) != 0
        || (!S_ISSOCK(st.st_mode) && !S_ISFIFO(st.st_mode)))
    {
        found.fd = -1;
        return found;
    }

    found.id = tg_file_id_make(&st);

    return found;
}

static void
tg_session_identify_fds(tg_session_t *session)
{
    tg_fd_identity_t in, out;

    in = tg_session_identify_fd(session->conn.in);
    out = tg_session_identify_fd(session->conn.out_end);
    tg_lib_lock();
    session->in = in;
    session->out = out;
    tg_lib_unlock();
}

static void
tg_session_clear_dirty(tg_session_t *session)
{
    tg_session_t **at;

    for (at = &session->runtime->dirty; *at != NULL; at = &(*at)->next_dirty) {
        if (*at == session) {
            *at = session->next_dirty;
            break;
        }
    }

    session->is_dirty = 0;
}

/* Frees a session after libuv has closed its handles. */
static void
tg_session_free(tg_session_t *session)
{
    tg_runtime_t *runtime;

    runtime = session->runtime;
    session->is_closed = 1;
    tg_session_clear_dirty(session);
    tg_session_unregister(session);
    tg_peer_deinit(&session->peer);
    free(session);
    tg_runtime_unref_handle(runtime);
}

/* Detaches a session from its link, which the program may then free. */
static void
tg_session_detach_link(tg_session_t *session)
{
    toolgate_link_t *link;

    link = session->link;
    tg_lib_lock();
    link->session = NULL;
    link->has_session = 0;
    link->runtime = NULL;
    tg_lib_cond_broadcast();

    if (--link->refs == 0) {
        tg_runtime_command_free(link->close_command);
        free(link);
    }

    tg_lib_unlock();
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

    tg_session_detach_link(session);
    tg_session_free(session);
}

void
tg_session_close_after_flush(tg_session_t *session)
{
    if (session->is_closed || session->link != NULL) {
        tg_session_close(session);
        return;
    }

    session->is_closed = 1;
    tg_uv_conn_close_after_flush(&session->conn);

    if (session->conn.state == TG_UV_CONN_FLUSHING) {
        session->is_lingering = 1;
        session->runtime->nlingering++;
    }
}

/* Delivers the output to the link, one message per line. */
static void
tg_session_deliver_messages(tg_session_t *session)
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

        session->runtime->ncallbacks++;
        link->message(at, (size_t) (line - at), link->data);
        session->runtime->ncallbacks--;
    }

    tg_buf_deinit(&out);
}

static uint64_t
tg_session_get_timeout(const tg_session_t *session, tg_peer_wait_t wait)
{
    const tg_server_config_t *conf;

    conf = &session->runtime->conf;

    return wait == TG_WAIT_READ    ? conf->send_timeout
           : wait == TG_WAIT_FRAME ? conf->frame_timeout
           : wait == TG_WAIT_IDLE  ? conf->idle_timeout
                                   : 0;
}

/*
 * The deadline stays until the client does what is expected: single bytes of a
 * frame do not extend it, nor do requests while the client does not read its
 * answers. Returns 1 if the deadline was set again.
 */
static int
tg_session_update_deadline(tg_session_t *session)
{
    size_t unsent;
    tg_peer_wait_t wait;
    uint64_t now, time;

    unsent = tg_uv_conn_get_backlog(&session->conn);
    wait = tg_peer_get_wait(&session->peer, unsent, session->conn.in_buf.len);

    if (wait == session->wait
        && (wait == TG_WAIT_READ ? unsent >= session->unsent
                                 : !session->has_new_frame))
    {
        return 0;
    }

    now = uv_now(session->runtime->loop);
    time = tg_session_get_timeout(session, wait);
    session->wait = wait;
    session->unsent = unsent;
    session->has_new_frame = 0;
    session->deadline = time != 0 ? now + time : 0;

    if (time != 0) {
        tg_runtime_schedule(session->runtime, session->deadline);
    }

    return 1;
}

/* Updates the deadline: after EOF the client must still read in time. */
static void
tg_session_update_open_deadline(tg_session_t *session)
{
    if (session->conn.state < TG_UV_CONN_CLOSING) {
        (void) tg_session_update_deadline(session);
    }
}

/* Checks for a disconnect; after EOF a client may wait for answers. */
static int
tg_session_has_hung_up(const tg_session_t *session)
{
    struct pollfd pfd;

    pfd.fd = session->out.fd;
    pfd.events = 0;
    pfd.revents = 0;

    return session->out.fd != -1 && poll(&pfd, 1, 0) == 1
           && (pfd.revents & (POLLHUP | POLLERR)) != 0;
}

static void
tg_session_check_hangup(tg_session_t *session)
{
    if (tg_session_has_hung_up(session)) {
        tg_session_close(session);

    } else if (session->peer.ncalls == 0 && !session->conn.source.is_queued) {
        tg_uv_conn_close_after_flush(&session->conn);
        session->wait = TG_WAIT_NOTHING;
        tg_session_update_open_deadline(session);

    } else {
        session->deadline = uv_now(session->runtime->loop)
                            + TG_SESSION_HANGUP_CHECK_MS;
        tg_runtime_schedule(session->runtime, session->deadline);
    }
}

void
tg_session_flush(tg_session_t *session)
{
    if (session->link != NULL) {
        tg_session_deliver_messages(session);
        return;
    }

    tg_uv_conn_flush(&session->conn);
    tg_uv_conn_resume(&session->conn);

    if (tg_uv_conn_get_backlog(&session->conn) == 0) {
        session->notified_bytes = 0;
    }

    if (session->is_eof && session->conn.state == TG_UV_CONN_OPEN) {
        tg_session_check_hangup(session);
    } else {
        tg_session_update_open_deadline(session);
    }
}

static void
tg_session_on_timeout(tg_session_t *session)
{
    static const char *const texts[] = {
        [TG_WAIT_NOTHING] = "",
        [TG_WAIT_FRAME] = "it did not complete a message in time "
                          "(frame_timeout)",
        [TG_WAIT_IDLE] = "it was idle for too long (idle_timeout)",
        [TG_WAIT_READ] = "it did not read its responses in time "
                         "(send_timeout)",
    };

    tg_runtime_report(session->runtime, TOOLGATE_ERR_CONNECTION,
                      "client closed: %s", texts[session->wait]);
    tg_session_close(session);
}

uint64_t
tg_session_check_deadline(tg_session_t *session, uint64_t now)
{
    if (session->is_closed || session->deadline == 0
        || session->conn.state >= TG_UV_CONN_CLOSING)
    {
        return UINT64_MAX;
    }

    if (session->deadline > now) {
        return session->deadline;
    }

    session->deadline = 0;

    if (session->is_eof && session->conn.state == TG_UV_CONN_OPEN) {
        tg_session_check_hangup(session);

    } else if (!tg_session_update_deadline(session)) {
        tg_session_on_timeout(session);
    }

    return UINT64_MAX;
}

static void
tg_session_on_log(void *host, const char *text)
{
    tg_session_t *session;

    session = host;
    tg_runtime_report(session->runtime, TOOLGATE_ERR_IPC, "client: %s", text);
}

static int
tg_session_is_slice_over(void *host)
{
    tg_session_t *session;

    session = host;

    /* A session of a link has no connection and no time slice. */
    return session->link == NULL
           && tg_uv_conn_is_slice_over(&session->conn,
                                       session->peer.frame_size);
}

static const tg_peer_ops_t tg_session_peer_ops = {
    .call = tg_server_call_on_call,
    .cancel = tg_server_call_on_cancel,
    .log = tg_session_on_log,
    .is_slice_over = tg_session_is_slice_over,
};

static void
tg_session_update_clock(tg_session_t *session)
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

    /* Applies the changes that threads made before this input was sent. */
    if (atomic_load(&session->runtime->has_commands)) {
        session->runtime->run_commands(session->runtime);

        if (session->is_closed) {
            return TG_OK;
        }
    }

    tg_session_update_clock(session);
    rc = tg_peer_handle_input(&session->peer, data, len, consumed);
    session->has_new_frame |= *consumed != 0;
    tg_session_mark_dirty(session);

    /* A deferred call's connection is still read, to notice its end. */
    return rc == TG_LIMIT && session->peer.out.len <= TG_PEER_OUTPUT_MAX
               ? TG_AGAIN
               : rc;
}

static void
tg_session_on_eof(void *host)
{
    tg_session_t *session;

    session = host;
    session->is_eof = 1;
    tg_session_check_hangup(session);
}

static void
tg_session_on_closed(void *host, int err)
{
    tg_session_t *session;

    session = host;

    if (err == UV_ENOMEM) {
        tg_runtime_report(session->runtime, TOOLGATE_ERR_MEMORY,
                          "client closed: out of memory");
    }

    if (session->is_lingering) {
        tg_runtime_end_linger(session->runtime);
    }

    tg_session_free(session);
}

static const tg_uv_conn_ops_t tg_session_conn_ops = {
    .input = tg_session_on_input,
    .eof = tg_session_on_eof,
    .closed = tg_session_on_closed,
};

static tg_session_t *
tg_session_new(tg_runtime_t *runtime, tg_dialect_t dialect)
{
    tg_session_t *session;

    session = calloc(1, sizeof(*session));

    if (session == NULL
        || tg_peer_init(&session->peer, tg_alloc_libc(), &tg_session_peer_ops,
                        session, dialect, runtime->catalog, &runtime->info,
                        (size_t) runtime->conf.max_frame,
                        (unsigned) runtime->conf.max_inflight)
               != TG_OK)
    {
        free(session);
        tg_runtime_report(runtime, TOOLGATE_ERR_MEMORY,
                          "out of memory for a client");
        return NULL;
    }

    session->runtime = runtime;
    session->in.fd = -1;
    session->out.fd = -1;
    tg_session_register(runtime, session);

    return session;
}

static tg_session_t *
tg_session_new_conn(tg_runtime_t *runtime)
{
    tg_session_t *session;

    session = tg_session_new(runtime, runtime->conf.dialect);

    if (session != NULL) {
        tg_uv_conn_init(&session->conn, &runtime->sched, &tg_session_conn_ops,
                        session, &session->peer.out);
        session->conn.buffer_cache = &runtime->buffer_cache;
    }

    return session;
}

void
tg_session_accept(tg_runtime_t *runtime)
{
    tg_session_t *session;
    int rc;

    session = tg_session_new_conn(runtime);

    /* libuv reports no further client before this one is accepted. */
    if (session == NULL) {
        runtime->accept_retry_at = uv_now(runtime->loop)
                                   + TG_SESSION_ACCEPT_RETRY_MS;
        tg_runtime_schedule(runtime, runtime->accept_retry_at);
        return;
    }

    rc = tg_uv_conn_accept(&session->conn, (uv_stream_t *) &runtime->listener);

    if (rc != 0) {
        tg_runtime_report(runtime, TOOLGATE_ERR_CONNECTION,
                          "cannot serve a client: %s", uv_strerror(rc));

    } else if (runtime->nsessions > runtime->conf.max_clients) {
        tg_runtime_report(runtime, TOOLGATE_ERR_BUSY,
                          "client closed: there %s %u (max_clients)",
                          tg_pick_plural(runtime->nsessions - 1, "is", "are"),
                          runtime->nsessions - 1);
        tg_session_close(session);

    } else {
        tg_session_identify_fds(session);
        tg_session_mark_dirty(session);
    }
}

void
tg_session_open_fds(tg_runtime_t *runtime, int in, int out)
{
    tg_session_t *session;
    int rc;

    session = tg_session_new_conn(runtime);

    if (session == NULL) {
        (void) close(in);

        if (out != in) {
            (void) close(out);
        }

        return;
    }

    rc = tg_uv_conn_open_fds(&session->conn, in, out);

    if (rc != 0) {
        tg_runtime_report(runtime, TOOLGATE_ERR_CONNECTION,
                          "cannot serve a client on descriptors %d and %d: %s",
                          in, out, uv_strerror(rc));
        return;
    }

    tg_session_identify_fds(session);
    tg_session_mark_dirty(session);
}

tg_session_t *
tg_session_open_link(tg_runtime_t *runtime, toolgate_link_t *link)
{
    tg_session_t *session;

    session = tg_session_new(runtime, TG_DIALECT_JSONRPC);

    if (session != NULL) {
        session->link = link;
        link->session = session;
    }

    return session;
}

void
tg_session_handle_message(tg_session_t *session, tg_str_t message)
{
    int rc;

    tg_session_update_clock(session);
    rc = tg_peer_handle_message(&session->peer, message);
    tg_session_deliver_messages(session);

    if (rc == TG_NOMEM) {
        tg_runtime_report(session->runtime, TOOLGATE_ERR_MEMORY,
                          "client closed: out of memory");
    }

    if (rc == TG_CLOSED || rc == TG_NOMEM) {
        tg_session_close(session);
    }
}
