/* The Streamable HTTP transport: input, timers, open and close. */
#include "runner/http/tg_http_params.h"
#include "runner/mcp/tg_mcp_sessions.h"
#include "runner/jobs/tg_job_result.h"

static void tg_streamable_on_timer(uv_timer_t *timer);

static tg_sched_t *
tg_streamable_get_sched(const tg_streamable_t *streamable)
{
    return &streamable->mcp_conn->server->servers->jobs->sched.sched;
}

/* Schedules the work: libcurl may be on the stack. */
static void
tg_streamable_on_exchange_event(tg_mcp_exchange_t *exchange)
{
    tg_streamable_t *streamable;

    streamable = exchange->host;
    tg_sched_enqueue(tg_streamable_get_sched(streamable), &streamable->source);
}

/* --- incoming messages --- */

/* Checks whether the version can be sent in a header. */
static int
tg_streamable_is_valid_version(tg_str_t version)
{
    return version.len <= TG_STREAMABLE_VERSION_MAX
           && tg_str_is_word(version, "-._");
}

/* Stores the session id and the version of the handshake's response. */
static void
tg_streamable_on_initialized(tg_streamable_t *streamable,
                             const tg_mcp_exchange_t *exchange, tg_str_t line)
{
    tg_message_t message;
    tg_str_t version;

    if (exchange->session != streamable->session
        || tg_message_parse(&message, line) != TG_OK
        || !tg_json_has_member(message.result, TG_STR("protocolVersion"),
                               TG_JSON_STRING, &version))
    {
        return;
    }

    memcpy(streamable->session_id, exchange->session_id,
           sizeof(streamable->session_id));
    version = tg_json_string_body(version);

    if (tg_streamable_is_valid_version(version)) {
        memcpy(streamable->version, version.data, version.len);
        streamable->version[version.len] = '\0';
    }

    if (streamable->session_id[0] != '\0') {
        tg_mcp_sessions_save(streamable->mcp_conn->server);
    }
}

/* Looks for the handshake's response, and hides secrets of the config. */
static void
tg_streamable_inspect_input(tg_streamable_t *streamable,
                            tg_mcp_exchange_t *exchange)
{
    const tg_mcp_server_url_t *url;
    const char *end;
    char *at;
    tg_buf_t *in;

    in = &exchange->in;

    for (at = in->data + exchange->inspected_len;
         exchange->is_initialize
         && (end = memchr(at, '\n', in->len - (size_t) (at - in->data)))
                != NULL;
         at += end - at + 1)
    {
        tg_streamable_on_initialized(streamable, exchange,
                                     tg_str(at, (size_t) (end - at)));
    }

    url = &streamable->mcp_conn->server->spec.url;
    tg_http_redact_headers(url->headers, url->nsecrets,
                           in->data + exchange->inspected_len,
                           in->len - exchange->inspected_len);
    exchange->inspected_len = in->len;
}

/* Reads the messages of an exchange until the time slice is over. */
static void
tg_streamable_read_exchange(tg_streamable_t *streamable,
                            tg_mcp_exchange_t *exchange)
{
    size_t consumed;
    tg_buf_t in;

    /* Drop the error message, as the request will be sent again. */
    if (tg_streamable_is_session_lost(
            streamable, exchange,
            tg_str(exchange->in.data + exchange->inspected_len,
                   exchange->in.len - exchange->inspected_len)))
    {
        tg_buf_reset(&exchange->in, 0);
        exchange->inspected_len = 0;
        exchange->is_session_lost = 1;
        exchange->is_over = 1;
        return;
    }

    tg_streamable_inspect_input(streamable, exchange);
    in = exchange->in;
    tg_buf_init(&exchange->in, tg_alloc_libc());
    exchange->inspected_len = 0;
    streamable->reading = exchange;
    consumed = 0;

    /* The exchange may be freed within this call. */
    (void) tg_mcp_conn_on_input(streamable->mcp_conn, in.data, in.len,
                                &consumed);

    if (streamable->reading == exchange) {
        streamable->reading = NULL;

        if (consumed != in.len) {
            tg_buf_consume(&in, consumed);
            exchange->inspected_len = in.len;
            exchange->in = in;
            tg_buf_init(&in, tg_alloc_libc());
        }

        tg_mcp_exchange_resume(exchange);
    }

    tg_buf_deinit(&in);
}

/* --- transport interface --- */

static void
tg_streamable_on_closed(uv_handle_t *handle)
{
    tg_streamable_t *streamable;

    streamable = handle->data;
    streamable->is_open = 0;
    tg_buf_deinit(&streamable->init_error);
    tg_mcp_conn_unref_handle(streamable->mcp_conn);
}

static void
tg_streamable_drop_exchanges(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange;

    while ((exchange = TAILQ_FIRST(&streamable->exchanges)) != NULL) {
        tg_streamable_drop_exchange(streamable, exchange);
    }
}

/* Finishes the close after the session was ended, or if there is none. */
static void
tg_streamable_finish_close(tg_streamable_t *streamable)
{
    tg_streamable_drop_exchanges(streamable);
    tg_sched_dequeue(tg_streamable_get_sched(streamable), &streamable->source);
    tg_mcp_sessions_on_ended(streamable);

    if (!uv_is_closing((uv_handle_t *) &streamable->timer)) {
        uv_close((uv_handle_t *) &streamable->timer, tg_streamable_on_closed);
    }
}

static void
tg_streamable_close(tg_mcp_conn_t *mcp_conn, int is_now)
{
    tg_streamable_t *streamable;
    tg_mcp_exchange_t *last;

    streamable = &mcp_conn->streamable;

    if (!streamable->is_open || streamable->is_closing) {
        return;
    }

    streamable->is_closing = 1;
    uv_timer_stop(&streamable->timer);
    tg_streamable_drop_exchanges(streamable);
    last = tg_streamable_delete_session(streamable);

    if (last == NULL) {
        tg_streamable_finish_close(streamable);
    }
}

/* Returns the next exchange with unread messages or an unhandled end. */
static tg_mcp_exchange_t *
tg_streamable_next_exchange(const tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange;
    int is_behind;

    is_behind = streamable->nreplies > TG_STREAMABLE_REPLIES_MAX
                && !streamable->is_closing;

    TAILQ_FOREACH(exchange, &streamable->exchanges, link)
    {
        if (exchange->in.len != 0 ? !is_behind : exchange->is_over) {
            break;
        }
    }

    return exchange;
}

/* Checks for a request that does not wait for a response any more. */
static int
tg_streamable_is_answered(const tg_streamable_t *streamable,
                          const tg_mcp_exchange_t *exchange)
{
    return exchange->request != 0 && !exchange->is_listen_stream
           && tg_caller_find_tag(&streamable->mcp_conn->caller,
                                 exchange->request)
                  == NULL;
}

/* Returns the loop time of the next timer event, in ms; 0: none. */
static uint64_t
tg_streamable_get_deadline(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange;
    uint64_t due, now;

    now = tg_streamable_get_now(streamable);
    due = streamable->listen_stream.due;

    TAILQ_FOREACH(exchange, &streamable->exchanges, link)
    {
        if (exchange->due == 0
            && tg_streamable_is_answered(streamable, exchange)) {
            exchange->due = now + TG_STREAMABLE_LINGER_MS;
        }

        if (exchange->due != 0 && (due == 0 || exchange->due < due)) {
            due = exchange->due;
        }
    }

    return due;
}

/* Sends pending messages and sets the timer. */
static void
tg_streamable_send_pending(tg_streamable_t *streamable)
{
    uint64_t due, now;

    tg_streamable_queue_messages(streamable);
    tg_streamable_start_queued(streamable);
    due = tg_streamable_get_deadline(streamable);
    now = tg_streamable_get_now(streamable);

    if (due != 0) {
        uv_timer_start(&streamable->timer, tg_streamable_on_timer,
                       due > now ? due - now : 1, 0);
    }
}

static void
tg_streamable_expire_exchanges(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange, *next;
    uint64_t now;

    now = tg_streamable_get_now(streamable);

    TG_TAILQ_FOREACH_SAFE(exchange, &streamable->exchanges, link, next)
    {
        if (exchange->due == 0 || exchange->due > now) {
            continue;
        }

        if (exchange->is_started
            || tg_streamable_is_answered(streamable, exchange)) {
            tg_streamable_drop_exchange(streamable, exchange);
        } else {
            exchange->due = 0;
        }
    }
}

/* Handles the exchanges with events, until the time slice is over. */
static void
tg_streamable_read_exchanges(tg_streamable_t *streamable)
{
    tg_mcp_exchange_t *exchange;

    while (!streamable->is_closing
           && (exchange = tg_streamable_next_exchange(streamable)) != NULL)
    {
        if (exchange->in.len != 0) {
            tg_streamable_read_exchange(streamable, exchange);
        } else {
            tg_streamable_on_exchange_done(streamable, exchange);
        }

        tg_streamable_queue_messages(streamable);

        if (!streamable->is_closing
            && tg_sched_is_slice_over(tg_streamable_get_sched(streamable),
                                      &streamable->source, TG_STREAMABLE_STEPS))
        {
            break;
        }
    }
}

static void
tg_streamable_run(tg_sched_source_t *source)
{
    tg_streamable_t *streamable;
    tg_mcp_exchange_t *exchange;

    streamable = TG_CONTAINER_OF(source, tg_streamable_t, source);
    tg_streamable_read_exchanges(streamable);

    if (!streamable->is_closing) {
        tg_streamable_update_listen(streamable);
    }

    if (!streamable->is_closing) {
        tg_streamable_expire_exchanges(streamable);
        tg_streamable_send_pending(streamable);

    } else if ((exchange = tg_streamable_next_exchange(streamable)) != NULL
               && exchange->is_over)
    {
        tg_streamable_finish_close(streamable);
    }
}

static void
tg_streamable_on_timer(uv_timer_t *timer)
{
    tg_streamable_t *streamable;

    streamable = timer->data;
    tg_sched_enqueue(tg_streamable_get_sched(streamable), &streamable->source);
}

static tg_failure_t
tg_streamable_open(tg_mcp_conn_t *mcp_conn, tg_buf_t *why)
{
    tg_streamable_t *streamable;
    const char *reason;

    streamable = &mcp_conn->streamable;
    memset(streamable, 0, sizeof(*streamable));
    streamable->mcp_conn = mcp_conn;
    streamable->source.run = tg_streamable_run;
    streamable->on_event = tg_streamable_on_exchange_event;
    tg_buf_init(&streamable->init_error, tg_alloc_libc());
    streamable->is_open = 1;
    TAILQ_INIT(&streamable->exchanges);
    uv_timer_init(mcp_conn->timer.loop, &streamable->timer);
    streamable->timer.data = streamable;
    tg_mcp_conn_ref_handle(mcp_conn);
    reason = TG_RUNNER_NO_MEMORY;

    if (tg_curl_loop_open(&mcp_conn->server->servers->http->loop, &reason)
        != TG_OK) {
        tg_buf_printf(why, "%s cannot be called: %s",
                      mcp_conn->server->spec.name, reason);
        return TG_FAILURE_INTERNAL;
    }

    tg_mcp_conn_on_opened(mcp_conn);

    return TG_FAILURE_NONE;
}

static void
tg_streamable_flush(tg_mcp_conn_t *mcp_conn)
{
    tg_streamable_t *streamable;

    streamable = &mcp_conn->streamable;

    if (streamable->is_open && !streamable->is_closing) {
        tg_streamable_send_pending(streamable);
    }
}

/* Returns the size of the messages for which no response has begun. */
static size_t
tg_streamable_get_backlog(const tg_mcp_conn_t *mcp_conn)
{
    const tg_mcp_exchange_t *exchange;
    size_t n;

    n = mcp_conn->caller.out.len;

    if (mcp_conn->streamable.is_open) {
        TAILQ_FOREACH(exchange, &mcp_conn->streamable.exchanges, link)
        {
            n += exchange->status == 0 && !exchange->is_resuming ? exchange->len
                                                                 : 0;
        }
    }

    return n;
}

static int
tg_streamable_is_slice_over(tg_mcp_conn_t *mcp_conn, size_t size)
{
    tg_streamable_t *streamable;

    streamable = &mcp_conn->streamable;

    return tg_sched_is_slice_over(tg_streamable_get_sched(streamable),
                                  &streamable->source, size);
}

static void
tg_streamable_append_failure(const tg_mcp_conn_t *mcp_conn, tg_buf_t *text)
{
    tg_buf_append_cstr(text, mcp_conn->streamable.why);
}

static uint64_t
tg_streamable_get_request(const tg_mcp_conn_t *mcp_conn)
{
    return mcp_conn->streamable.reading != NULL
               ? mcp_conn->streamable.reading->request
               : 0;
}

const tg_mcp_transport_t tg_mcp_streamable_transport = {
    .open = tg_streamable_open,
    .flush = tg_streamable_flush,
    .backlog = tg_streamable_get_backlog,
    .is_slice_over = tg_streamable_is_slice_over,
    .get_request = tg_streamable_get_request,
    .append_reason = tg_streamable_append_failure,
    .close = tg_streamable_close,
};
