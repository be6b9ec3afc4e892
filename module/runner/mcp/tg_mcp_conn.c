/* States of a connection to an MCP server: start, handshake, restart, end. */
#include "runner/mcp/tg_mcp_conn.h"

#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_mcp_resource_watch.h"
#include "runner/mcp/tg_mcp_server_notify.h"
#include "runner/logging/tg_log.h"

#include <stdlib.h>

static void tg_mcp_conn_on_timer(uv_timer_t *timer);

void
tg_mcp_conn_set_state(tg_mcp_conn_t *mcp_conn, tg_mcp_conn_state_t state)
{
    tg_mcp_servers_t *servers;

    servers = mcp_conn->server->servers;
    servers->nrunning -= mcp_conn->state != TG_MCP_CONN_STOPPED;
    servers->nrunning += state != TG_MCP_CONN_STOPPED;
    mcp_conn->state = state;
    tg_mcp_server_on_state_changed(mcp_conn->server);
}

/* --- time --- */

static int
tg_mcp_conn_is_wanted(const tg_mcp_conn_t *mcp_conn)
{
    return !TAILQ_EMPTY(&mcp_conn->waiting) || mcp_conn->nwatches != 0
           || tg_mcp_server_is_conn_wanted(mcp_conn->server, mcp_conn);
}

/* Returns the loop time of the next timer event, in ms; 0: none. */
static uint64_t
tg_mcp_conn_get_deadline(const tg_mcp_conn_t *mcp_conn)
{
    uint64_t due, other;

    due = mcp_conn->client.due;
    other = 0;

    switch (mcp_conn->state) {
    case TG_MCP_CONN_STOPPED:
        return tg_mcp_conn_is_wanted(mcp_conn) ? mcp_conn->retry_at : 0;

    case TG_MCP_CONN_STARTING:
        other = mcp_conn->started_at + mcp_conn->server->spec.start_ms;
        break;

    case TG_MCP_CONN_READY:
        if (mcp_conn->is_filter_due) {
            return uv_now(mcp_conn->timer.loop);
        }

        if (mcp_conn->ncalls == 0 && mcp_conn->nwatches == 0
            && !tg_mcp_server_is_conn_wanted(mcp_conn->server, mcp_conn))
        {
            other = tg_mcp_server_get_idle_deadline(mcp_conn->server, mcp_conn);
        }

        break;

    default:
        return 0;
    }

    return due == 0 || (other != 0 && other < due) ? other : due;
}

static void
tg_mcp_conn_set_timer(tg_mcp_conn_t *mcp_conn)
{
    uint64_t due, now;

    due = tg_mcp_conn_get_deadline(mcp_conn);
    now = uv_now(mcp_conn->timer.loop);

    if (due == 0) {
        uv_timer_stop(&mcp_conn->timer);
    } else {
        uv_timer_start(&mcp_conn->timer, tg_mcp_conn_on_timer,
                       due > now ? due - now : 0, 0);
    }
}

void
tg_mcp_conn_flush(tg_mcp_conn_t *mcp_conn)
{
    mcp_conn->transport->flush(mcp_conn);
    tg_mcp_conn_set_timer(mcp_conn);
}

/* --- end --- */

static void
tg_mcp_conn_on_timer_closed(uv_handle_t *handle)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = handle->data;
    tg_sched_dequeue(&mcp_conn->server->servers->jobs->sched.sched,
                     &mcp_conn->reader);
    tg_mcp_client_deinit(&mcp_conn->client);
    tg_buf_deinit(&mcp_conn->capabilities);
    tg_mcp_resource_watches_free(mcp_conn);
    tg_buf_deinit(&mcp_conn->uris);
    tg_caller_deinit(&mcp_conn->caller);
    free(mcp_conn->cwd);
    tg_mcp_server_on_conn_freed(mcp_conn->server);
    free(mcp_conn);
}

/* Ends the server. Calls that it has read fail; others wait for a start. */
static void
tg_mcp_conn_close(tg_mcp_conn_t *mcp_conn, int is_now, tg_str_t why)
{
    if (mcp_conn->state == TG_MCP_CONN_STARTING
        || mcp_conn->state == TG_MCP_CONN_READY)
    {
        tg_mcp_conn_set_state(mcp_conn, TG_MCP_CONN_ENDING);
        mcp_conn->why = why;
        tg_mcp_client_on_disconnect(&mcp_conn->client);
        tg_caller_on_disconnect(&mcp_conn->caller);
        mcp_conn->why = TG_STR_NONE;
    }

    tg_sched_dequeue(&mcp_conn->server->servers->jobs->sched.sched,
                     &mcp_conn->reader);
    uv_timer_stop(&mcp_conn->timer);
    mcp_conn->transport->close(mcp_conn, is_now);
}

void
tg_mcp_conn_finish_shutdown(tg_mcp_conn_t *mcp_conn)
{
    if (!mcp_conn->is_leaving || mcp_conn->ncalls != 0) {
        return;
    }

    switch (mcp_conn->state) {
    case TG_MCP_CONN_STOPPED:
        if (!uv_is_closing((uv_handle_t *) &mcp_conn->timer)) {
            TAILQ_REMOVE(&mcp_conn->server->mcp_conns, mcp_conn, link);
            uv_close((uv_handle_t *) &mcp_conn->timer,
                     tg_mcp_conn_on_timer_closed);
        }

        break;

    case TG_MCP_CONN_ENDING:
        break;

    default:
        tg_mcp_conn_close(mcp_conn, 0, TG_STR_NONE);
    }
}

static void
tg_mcp_conn_fail_waiting(tg_mcp_conn_t *mcp_conn, tg_failure_t failure,
                         tg_str_t text)
{
    tg_mcp_job_t *call;

    while ((call = TAILQ_FIRST(&mcp_conn->waiting)) != NULL) {
        tg_mcp_job_fail(call, failure, text);
    }
}

void
tg_mcp_conn_shutdown(tg_mcp_conn_t *mcp_conn, int is_now)
{
    static const char why[] = "The MCP server is stopped, because "
                              "toolgate-runner exits.";

    mcp_conn->is_leaving = 1;
    tg_mcp_resource_watches_free(mcp_conn);

    if (is_now) {
        tg_mcp_conn_fail_waiting(mcp_conn, TG_FAILURE_LOST,
                                 tg_str_from_cstr(why));
    }

    if (is_now && mcp_conn->state != TG_MCP_CONN_STOPPED) {
        tg_mcp_conn_close(mcp_conn, 1, tg_str_from_cstr(why));
    }

    tg_mcp_conn_finish_shutdown(mcp_conn);
}

void
tg_mcp_conn_ref_handle(tg_mcp_conn_t *mcp_conn)
{
    mcp_conn->nhandles++;
}

void
tg_mcp_conn_unref_handle(tg_mcp_conn_t *mcp_conn)
{
    if (--mcp_conn->nhandles == 0) {
        mcp_conn->is_restart &= tg_mcp_conn_is_wanted(mcp_conn);
        tg_mcp_conn_set_state(mcp_conn, TG_MCP_CONN_STOPPED);
        tg_mcp_conn_set_timer(mcp_conn);
        tg_mcp_conn_finish_shutdown(mcp_conn);
    }
}

static void
tg_mcp_conn_back_off(tg_mcp_conn_t *mcp_conn)
{
    uint64_t wait, now;
    unsigned i;

    now = uv_now(mcp_conn->timer.loop);

    if (mcp_conn->ready_at != 0
        && now - mcp_conn->ready_at >= TG_MCP_CONN_STABLE_MS)
    {
        mcp_conn->nfailures = 0;
    }

    wait = TG_MCP_CONN_RETRY_MIN_MS;

    for (i = 0; i < mcp_conn->nfailures && wait < TG_MCP_CONN_RETRY_MAX_MS; i++)
    {
        wait *= 2;
    }

    if (wait > TG_MCP_CONN_RETRY_MAX_MS) {
        wait = TG_MCP_CONN_RETRY_MAX_MS;
    }

    mcp_conn->nfailures++;
    mcp_conn->retry_at = now + wait;
}

void
tg_mcp_conn_log(tg_mcp_conn_t *mcp_conn, int level, const char *format, ...)
{
    tg_buf_t text;
    va_list args;

    if (!tg_mcp_server_can_log(mcp_conn->server, level)) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    va_start(args, format);
    tg_buf_vprintf(&text, format, args);
    va_end(args);
    tg_mcp_server_log(mcp_conn->server, level, "%.*s", (int) text.len,
                      text.data);
    tg_buf_deinit(&text);
}

/* Closes a failed connection; sent calls fail as maybe executed. */
static void
tg_mcp_conn_on_failed(tg_mcp_conn_t *mcp_conn, tg_failure_t failure,
                      tg_buf_t *text)
{
    tg_mcp_server_on_conn_failed(mcp_conn->server, mcp_conn, tg_buf_view(text));
    tg_mcp_conn_back_off(mcp_conn);

    /* One start tries one handshake; the next start tries the other one. */
    if (mcp_conn->state == TG_MCP_CONN_STARTING) {
        mcp_conn->client.handshake = mcp_conn->nfailures > 1
                                             && mcp_conn->client.handshake
                                                    == TG_MCP_DISCOVER_FIRST
                                             && mcp_conn->server->spec.url.url
                                                    == NULL
                                         ? TG_MCP_INITIALIZE_FIRST
                                         : TG_MCP_DISCOVER_FIRST;
        mcp_conn->server->is_legacy = 0;
        tg_mcp_conn_fail_waiting(mcp_conn, failure, tg_buf_view(text));
    }

    tg_buf_append_cstr(text,
                       "\nIt ended before it answered; the call may have "
                       "been executed. Check what it did before you call it "
                       "again.");
    tg_mcp_conn_close(mcp_conn, 1, tg_buf_view(text));
}

/* Appends the beginning of each message about the server. */
static void
tg_mcp_conn_append_name(const tg_mcp_conn_t *mcp_conn, tg_buf_t *text)
{
    tg_buf_printf(text,
                  mcp_conn->state == TG_MCP_CONN_STARTING
                      ? "%s could not be started: it"
                      : "%s",
                  mcp_conn->server->spec.name);
}

void
tg_mcp_conn_fail(tg_mcp_conn_t *mcp_conn, const char *format, ...)
{
    tg_buf_t text;
    va_list args;

    tg_buf_init(&text, tg_alloc_libc());
    tg_mcp_conn_append_name(mcp_conn, &text);
    va_start(args, format);
    tg_buf_vprintf(&text, format, args);
    va_end(args);
    mcp_conn->transport->append_reason(mcp_conn, &text);
    tg_mcp_conn_on_failed(mcp_conn, TG_FAILURE_PROGRAM, &text);
    tg_buf_deinit(&text);
}

static size_t
tg_mcp_conn_get_unread(const tg_mcp_conn_t *mcp_conn)
{
    return mcp_conn->transport->get_unread != NULL
               ? mcp_conn->transport->get_unread(mcp_conn)
               : 0;
}

/*
 * Handles servers that answer one call and exit: the next call, or an unread
 * one, starts them again. Returns 1 for such a server.
 */
static int
tg_mcp_conn_restart_if_exited(tg_mcp_conn_t *mcp_conn)
{
    if (mcp_conn->state != TG_MCP_CONN_READY || !mcp_conn->has_served
        || !tg_caller_is_all_unread(&mcp_conn->caller)
        || mcp_conn->transport->has_finished == NULL
        || !mcp_conn->transport->has_finished(mcp_conn))
    {
        return 0;
    }

    tg_mcp_conn_log(mcp_conn, TG_LOG_INFO,
                    "it exited with status 0 after its response; the next "
                    "call starts it again");
    mcp_conn->nfailures = 0;
    mcp_conn->is_restart = 1;
    mcp_conn->retry_at = uv_now(mcp_conn->timer.loop);
    tg_mcp_conn_close(mcp_conn, 1, TG_STR_NONE);

    return 1;
}

/*
 * Handles legacy servers that exit if the first request is not initialize.
 * Returns 1 if it starts again with initialize, but not if the request was not
 * read or the last start failed: it then exits for another reason.
 */
static int
tg_mcp_conn_restart_as_legacy(tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_client_t *client;

    client = &mcp_conn->client;

    if (mcp_conn->nfailures != 0 || tg_mcp_conn_get_unread(mcp_conn) != 0) {
        return 0;
    }

    if (client->handshake != TG_MCP_DISCOVER_FIRST
        || (client->state != TG_MCP_PROBING
            && client->state != TG_MCP_INITIALIZING)
        || mcp_conn->server->spec.url.url != NULL)
    {
        return 0;
    }

    client->handshake = TG_MCP_INITIALIZE_FIRST;
    mcp_conn->is_restart = 1;
    tg_mcp_conn_log(mcp_conn, TG_LOG_INFO,
                    "it exited on server/discover; it is started again, with "
                    "initialize first");
    tg_mcp_conn_close(mcp_conn, 1, TG_STR_NONE);

    return 1;
}

void
tg_mcp_conn_on_lost(tg_mcp_conn_t *mcp_conn)
{
    tg_buf_t text;

    tg_caller_report_unread(&mcp_conn->caller,
                            tg_mcp_conn_get_unread(mcp_conn));

    if (tg_mcp_conn_restart_if_exited(mcp_conn)) {
        return;
    }

    if ((mcp_conn->state == TG_MCP_CONN_STARTING
         && !tg_mcp_conn_restart_as_legacy(mcp_conn))
        || mcp_conn->state == TG_MCP_CONN_READY)
    {
        tg_buf_init(&text, tg_alloc_libc());
        tg_mcp_conn_append_name(mcp_conn, &text);
        mcp_conn->transport->append_reason(mcp_conn, &text);
        tg_mcp_conn_on_failed(mcp_conn, TG_FAILURE_PROGRAM, &text);
        tg_buf_deinit(&text);
    }
}

/* --- start --- */

tg_mcp_conn_t *
tg_mcp_conn_find(const tg_mcp_server_t *server, tg_str_t id)
{
    tg_mcp_conn_t *mcp_conn;

    TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
    {
        if (tg_str_eq(tg_str_from_cstr(mcp_conn->id), id)) {
            return mcp_conn;
        }
    }

    return NULL;
}

tg_mcp_conn_t *
tg_mcp_conn_new(tg_mcp_server_t *server, const tg_mcp_transport_t *transport,
                tg_str_t id)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = calloc(1, sizeof(*mcp_conn) + id.len + 1);

    if (mcp_conn == NULL) {
        return NULL;
    }

    memcpy(mcp_conn->id, id.data, id.len);
    mcp_conn->server = server;
    mcp_conn->transport = transport;
    TAILQ_INIT(&mcp_conn->waiting);
    TAILQ_INIT(&mcp_conn->calls);
    TAILQ_INIT(&mcp_conn->server_requests);
    TAILQ_INIT(&mcp_conn->watches);
    tg_buf_init(&mcp_conn->uris, tg_alloc_libc());
    tg_caller_init(&mcp_conn->caller, tg_alloc_libc(), &tg_mcp_conn_caller_ops,
                   mcp_conn, TG_DIALECT_JSONRPC, TG_MCP_CONN_FRAME_MAX);
    tg_mcp_client_init(&mcp_conn->client, tg_alloc_libc(), &mcp_conn->caller,
                       server->is_legacy ? TG_MCP_INITIALIZE_FIRST
                                         : TG_MCP_DISCOVER_FIRST,
                       TG_STR(TG_MCP_CLIENT_INFO("toolgate")));
    mcp_conn->client.seed = server->servers->seed;
    mcp_conn->client.has_slices = 1;
    mcp_conn->client.kinds = TG_MCP_ALL_KINDS;
    tg_buf_init(&mcp_conn->capabilities, tg_alloc_libc());
    mcp_conn->client.handshake_timeout = server->spec.start_ms;

    if (server->spec.roots != NULL) {
        mcp_conn->client.client_caps = TG_CLIENT_CAP_ROOTS;
    }

    uv_timer_init(server->servers->jobs->loop, &mcp_conn->timer);
    mcp_conn->timer.data = mcp_conn;
    mcp_conn->retry_at = uv_now(mcp_conn->timer.loop);
    TAILQ_INSERT_TAIL(&server->mcp_conns, mcp_conn, link);
    server->nmcp_conns++;

    return mcp_conn;
}

static void
tg_mcp_conn_start(tg_mcp_conn_t *mcp_conn)
{
    tg_failure_t failure;
    tg_buf_t text;

    uv_update_time(mcp_conn->timer.loop);
    mcp_conn->started_at = uv_now(mcp_conn->timer.loop);
    mcp_conn->ready_at = 0;
    mcp_conn->has_served = 0;
    mcp_conn->has_cancelled_calls = 0;

    mcp_conn->server->restarts += mcp_conn->nfailures != 0
                                  && !mcp_conn->is_restart;
    mcp_conn->is_restart = 0;
    tg_caller_on_disconnect(&mcp_conn->caller);
    tg_mcp_conn_set_state(mcp_conn, TG_MCP_CONN_STARTING);
    tg_buf_init(&text, tg_alloc_libc());
    failure = mcp_conn->transport->open(mcp_conn, &text);

    if (failure != TG_FAILURE_NONE && mcp_conn->state == TG_MCP_CONN_STARTING) {
        tg_mcp_conn_on_failed(mcp_conn, failure, &text);
    }

    tg_buf_deinit(&text);
}

void
tg_mcp_conn_start_soon(tg_mcp_conn_t *mcp_conn)
{
    if (mcp_conn->state == TG_MCP_CONN_STOPPED) {
        tg_mcp_conn_set_timer(mcp_conn);
    }
}

void
tg_mcp_conn_on_opened(tg_mcp_conn_t *mcp_conn)
{
    if (tg_mcp_client_start(&mcp_conn->client, uv_now(mcp_conn->timer.loop))
        != TG_OK)
    {
        tg_mcp_conn_on_event(mcp_conn, TG_MCP_EVENT_NO_MEMORY);
        return;
    }

    tg_mcp_conn_flush(mcp_conn);
}

void
tg_mcp_conn_initialize_again(tg_mcp_conn_t *mcp_conn)
{
    mcp_conn->started_at = uv_now(mcp_conn->timer.loop);
    tg_mcp_client_on_disconnect(&mcp_conn->client);
    tg_mcp_conn_set_state(mcp_conn, TG_MCP_CONN_STARTING);
    tg_mcp_conn_on_opened(mcp_conn);
}

int
tg_mcp_conn_on_input(tg_mcp_conn_t *mcp_conn, const char *data, size_t len,
                     size_t *consumed)
{
    int rc;

    rc = tg_caller_handle_input(&mcp_conn->caller, data, len, consumed);

    if (rc == TG_NOMEM) {
        tg_mcp_conn_on_event(mcp_conn, TG_MCP_EVENT_NO_MEMORY);
    } else if (mcp_conn->transport->backlog(mcp_conn) > TG_MCP_CONN_BACKLOG_MAX)
    {
        tg_mcp_conn_fail(mcp_conn, " does not read its input");
    } else {
        tg_mcp_conn_set_timer(mcp_conn);
    }

    return rc;
}

/* Closes a connection without calls; frees it unless it is shared. */
static void
tg_mcp_conn_close_idle(tg_mcp_conn_t *mcp_conn)
{
    if (mcp_conn->id[0] != '\0') {
        tg_mcp_conn_shutdown(mcp_conn, 0);
    } else {
        tg_mcp_conn_close(mcp_conn, 0, TG_STR_NONE);
    }
}

static void
tg_mcp_conn_on_timer(uv_timer_t *timer)
{
    tg_mcp_conn_t *mcp_conn;
    uint64_t now;

    mcp_conn = timer->data;
    now = uv_now(timer->loop);

    switch (mcp_conn->state) {
    case TG_MCP_CONN_STOPPED:
        tg_mcp_conn_start(mcp_conn);
        return;

    case TG_MCP_CONN_STARTING:
        if (now >= mcp_conn->started_at + mcp_conn->server->spec.start_ms) {
            tg_mcp_conn_fail(mcp_conn, " was not ready within %g s",
                             (double) mcp_conn->server->spec.start_ms / 1000);
            return;
        }

        break;

    default:
        if (mcp_conn->is_filter_due) {
            tg_mcp_resource_watches_update(mcp_conn);
            tg_mcp_conn_flush(mcp_conn);
            return;
        }

        if (mcp_conn->client.due == 0 || now < mcp_conn->client.due) {
            tg_mcp_conn_close_idle(mcp_conn);
            return;
        }
    }

    tg_mcp_conn_on_event(mcp_conn,
                         tg_mcp_client_on_timer(&mcp_conn->client, now));
    tg_mcp_conn_flush(mcp_conn);
}
