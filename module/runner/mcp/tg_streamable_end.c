/*
 * How an exchange ends: with an answer, or what else became of its request.
 */
#include "base/tg_utf8.h"
#include "runner/http/tg_http_params.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_sessions.h"
#include "runner/tg_log.h"

#include <stdio.h>

/* Of an error's body, in a message. */
#define TG_STREAMABLE_HEAD_MAX 512

static uint64_t
tg_streamable_now(const tg_streamable_t *streamable)
{
    return uv_now(streamable->timer.loop);
}

/* --- what is told --- */

/* A request of the instance's got no answer: the caller hears an error. */
static void
tg_streamable_answer(tg_streamable_t *streamable, const tg_exchange_t *exchange,
                     tg_str_t error)
{
    size_t consumed;
    tg_buf_t line;

    tg_buf_init(&line, tg_alloc_libc());
    tg_buf_text(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    tg_buf_uint(&line, exchange->request);
    tg_buf_text(&line, ",\"error\":");
    tg_json_put_compact(&line, error);
    tg_buf_text(&line, "}\n");

    if (!tg_buf_failed(&line)) {
        (void) tg_instance_input(streamable->instance, line.data, line.len,
                                 &consumed);
    }

    tg_buf_deinit(&line);
}

/* What the server said instead, for people. */
static void
tg_streamable_put_status(tg_buf_t *text, const tg_exchange_t *exchange)
{
    tg_str_t head;

    tg_buf_printf(text, "it answered with status %d", exchange->status);

    if (exchange->is_redirect) {
        tg_buf_text(text, ", a redirect, which is not followed; write the URL "
                          "that it leads to");
        return;
    }

    head = tg_buf_view(&exchange->text);

    if (head.len != 0) {
        head.len = head.len < TG_STREAMABLE_HEAD_MAX ? head.len
                                                     : TG_STREAMABLE_HEAD_MAX;
        tg_buf_text(text, ": ");
        tg_utf8_put_visible(text, head, 1);
    }
}

/* The error of JSON-RPC that a status comes with; or absent. */
static tg_str_t
tg_streamable_error(const tg_exchange_t *exchange)
{
    tg_message_t message;

    if (exchange->type != TG_EXCHANGE_JSON
        || tg_message_parse(&message, tg_buf_view(&exchange->text)) != TG_OK
        || tg_json_type(message.error) != TG_JSON_OBJECT)
    {
        return TG_STR_NONE;
    }

    return message.error;
}

/* Appends an error of JSON-RPC. */
static void
tg_streamable_put_error(tg_buf_t *error, tg_str_t text)
{
    tg_buf_printf(error, "{\"code\":%d,\"message\":", TG_RPC_INTERNAL);
    tg_json_put_string(error, text);
    tg_buf_char(error, '}');
}

static void
tg_streamable_say_status(tg_streamable_t *streamable,
                         const tg_exchange_t *exchange)
{
    tg_buf_t text, error;
    tg_str_t raw;

    raw = tg_streamable_error(exchange);
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());

    if (raw.data == NULL) {
        tg_streamable_put_status(&text, exchange);
        tg_streamable_put_error(&error, tg_buf_view(&text));
        raw = tg_buf_view(&error);
    }

    if (!tg_buf_failed(&text) && !tg_buf_failed(&error)) {
        tg_streamable_answer(streamable, exchange, raw);
    }

    tg_buf_deinit(&text);
    tg_buf_deinit(&error);
}

/* --- the end of an exchange --- */

/* A session that is over: other servers than those of the SDK say it so. */
static int
tg_streamable_is_unknown(const tg_streamable_t *streamable,
                         const tg_exchange_t *exchange)
{
    tg_str_t text;

    if (streamable->session_id[0] == '\0'
        && exchange->session == streamable->session)
    {
        return 0;
    }

    text = tg_buf_view(&exchange->text);

    return exchange->status == 404
           || (exchange->status == 400
               && (memmem(text.data, text.len, "session", 7) != NULL
                   || memmem(text.data, text.len, "Session", 7) != NULL));
}

/* Is it a request of the client's own, such as for the list? */
static int
tg_streamable_is_own(const tg_streamable_t *streamable,
                     const tg_exchange_t *exchange)
{
    const tg_instance_t *instance;

    instance = streamable->instance;

    return tg_mcp_client_is_own(
        &instance->client, tg_caller_tag(&instance->caller, exchange->request));
}

/* What the client asked in a session that is over, the next one is asked. */
static void
tg_streamable_forget(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange, *next;

    for (exchange = TAILQ_FIRST(&streamable->exchanges); exchange != NULL;
         exchange = next)
    {
        next = TAILQ_NEXT(exchange, place);

        if (exchange->is_channel || exchange->is_ready
            || (exchange->request != 0
                && tg_streamable_is_own(streamable, exchange)))
        {
            (void) tg_caller_forget(&streamable->instance->caller,
                                    exchange->request);
            tg_streamable_drop(streamable, exchange);
        }
    }
}

/* Begins another session; says whether it does. */
static int
tg_streamable_renew(tg_streamable_t *streamable, unsigned session)
{
    tg_instance_t *instance;

    instance = streamable->instance;

    if (session != streamable->session) {
        return 1;
    }

    if (instance->state != TG_INSTANCE_READY) {
        return 0;
    }

    tg_instance_log(instance, TG_LOG_INFO,
                    "its session is over, another one begins");
    streamable->session++;
    tg_sessions_over(streamable);
    streamable->version[0] = '\0';
    streamable->channel.nopened = 0;
    tg_streamable_forget(streamable);
    tg_instance_renew(instance);

    return 1;
}

/*
 * A request was not answered, as something is in the way.  Without any
 * answer, a server that is to be started cannot be.
 */
static void
tg_streamable_fail(tg_streamable_t *streamable, const tg_exchange_t *exchange,
                   tg_failure_t failure, tg_str_t text)
{
    tg_instance_t *instance;
    tg_buf_t said, error;

    instance = streamable->instance;

    if (!tg_streamable_is_own(streamable, exchange)) {
        tg_instance_give_up(instance, exchange->request, failure, text);
        return;
    }

    if (instance->state == TG_INSTANCE_STARTING && exchange->status == 0) {
        (void) snprintf(streamable->why, sizeof(streamable->why), " %.*s",
                        (int) text.len, text.data);
        tg_instance_lost(instance);
        return;
    }

    tg_buf_init(&said, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_text(&said, "it ");
    tg_buf_str(&said, text);
    tg_streamable_put_error(&error, tg_buf_view(&said));

    if (!tg_buf_failed(&said) && !tg_buf_failed(&error)) {
        tg_streamable_answer(streamable, exchange, tg_buf_view(&error));
    }

    tg_buf_deinit(&said);
    tg_buf_deinit(&error);
}

/* The stream of a request has ended early: can it be resumed? */
static int
tg_streamable_resume(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    uint64_t wait;

    if (streamable->instance->client.is_modern
        || tg_exchange_last_id(exchange).len == 0
        || exchange->nresumed >= TG_STREAMABLE_RESUMES || exchange->is_too_large
        || exchange->status >= 400)
    {
        return 0;
    }

    wait = exchange->events.retry != 0 ? exchange->events.retry
                                       : TG_STREAMABLE_RETRY_MIN;
    exchange->nresumed++;
    exchange->is_resuming = 1;
    exchange->due = tg_streamable_now(streamable)
                    + (wait < TG_STREAMABLE_RETRY_MAX
                           ? wait
                           : TG_STREAMABLE_RETRY_MAX);
    streamable->nrequests--;
    tg_exchange_rewind(exchange);

    return 1;
}

/* Why there is no answer, though there may have been one. */
static void
tg_streamable_put_why(const tg_streamable_t *streamable,
                      const tg_exchange_t *exchange, tg_buf_t *text)
{
    if (exchange->is_refused) {
        tg_buf_printf(text, "cannot be asked this over HTTP: %s",
                      exchange->why);
        return;
    }

    if (exchange->status == 0 && !exchange->was_sent) {
        tg_buf_printf(text, "cannot be reached, and was asked for nothing (%s)",
                      exchange->why);
        return;
    }

    tg_buf_printf(text, "gave no whole answer (%s)",
                  exchange->why[0] != '\0' ? exchange->why
                  : exchange->type == TG_EXCHANGE_OTHER
                      ? "what it said is no message of MCP"
                      : "it ended without one");

    if (!tg_streamable_is_own(streamable, exchange)) {
        tg_buf_text(text, "; the call may have been executed. See what it did "
                          "before it is called again.");
    }
}

/* A request got a status that is no answer. */
static void
tg_streamable_end_refused(tg_streamable_t *streamable,
                          const tg_exchange_t *exchange)
{
    if (tg_streamable_is_unknown(streamable, exchange)
        && !tg_streamable_is_own(streamable, exchange)
        && tg_streamable_renew(streamable, exchange->session))
    {
        tg_instance_again(streamable->instance, exchange->request);
    } else {
        tg_streamable_say_status(streamable, exchange);
    }
}

/*
 * The status is that of a GET which was to resume the stream: the call itself
 * was taken before, so that it is never sent again.
 */
static void
tg_streamable_end_resumed(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    if (tg_streamable_is_unknown(streamable, exchange)) {
        (void) tg_streamable_renew(streamable, exchange->session);
    }

    (void) snprintf(exchange->why, sizeof(exchange->why),
                    "its stream could not be resumed: status %d",
                    exchange->status);
}

static void
tg_streamable_end_request(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    tg_buf_t text;

    if (tg_caller_tag(&streamable->instance->caller, exchange->request) == NULL)
    {
        return;
    }

    if (exchange->status >= 300) {
        if (!exchange->is_resuming
            || tg_streamable_is_own(streamable, exchange)) {
            tg_streamable_end_refused(streamable, exchange);
            return;
        }

        tg_streamable_end_resumed(streamable, exchange);
    }

    streamable->is_away = exchange->status == 0 && !exchange->was_sent;
    tg_buf_init(&text, tg_alloc_libc());
    tg_streamable_put_why(streamable, exchange, &text);
    tg_streamable_fail(streamable, exchange,
                       exchange->is_refused ? TG_FAILURE_PROGRAM
                                            : TG_FAILURE_LOST,
                       tg_buf_view(&text));
    tg_buf_deinit(&text);
}

/* What is no request was taken, or not. */
static void
tg_streamable_end_note(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    tg_buf_t text;

    if (tg_exchange_is_ok(exchange)) {
        return;
    }

    if (exchange->status >= 400
        && tg_streamable_is_unknown(streamable, exchange)
        && tg_streamable_renew(streamable, exchange->session))
    {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (exchange->status != 0) {
        tg_streamable_put_status(&text, exchange);
    } else {
        tg_buf_text(&text, exchange->why);
    }

    tg_instance_log(streamable->instance, TG_LOG_WARN,
                    "it did not take a message: %.*s", (int) text.len,
                    text.data);
    tg_buf_deinit(&text);
}

/* --- the channel --- */

/* The channel is open; what changed while it was not, is asked. */
static void
tg_streamable_channel_opened(tg_streamable_t *streamable)
{
    tg_instance_t *instance;
    tg_channel_t *channel;

    instance = streamable->instance;
    channel = &streamable->channel;
    channel->opened_at = tg_streamable_now(streamable);

    if (channel->nopened++ != 0
        && tg_mcp_client_list(&instance->client, channel->opened_at) != TG_OK)
    {
        instance->ops->event(instance, TG_MCP_FAILED);
    }
}

/* How long until it is opened again: longer, the shorter it was there. */
static uint64_t
tg_streamable_channel_wait(tg_streamable_t *streamable)
{
    tg_channel_t *channel;
    uint64_t now;

    channel = &streamable->channel;
    now = tg_streamable_now(streamable);

    if (channel->delay == 0
        || (channel->opened_at != 0
            && now - channel->opened_at >= TG_STREAMABLE_LIVED_MS))
    {
        channel->delay = TG_STREAMABLE_RETRY_MIN;
    } else if (channel->delay < TG_STREAMABLE_RETRY_MAX / 2) {
        channel->delay *= 2;
    } else {
        channel->delay = TG_STREAMABLE_RETRY_MAX;
    }

    return now + channel->delay;
}

/*
 * It has ended.  Servers that have none say so by all kinds of status; one
 * that had it may not know the session any more.
 */
static void
tg_streamable_end_channel(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    tg_channel_t *channel;

    channel = &streamable->channel;

    if (exchange->status >= 300 && exchange->status < 500
        && exchange->status != 429)
    {
        if (channel->nopened != 0 && exchange->request == 0
            && tg_streamable_is_unknown(streamable, exchange))
        {
            (void) tg_streamable_renew(streamable, exchange->session);
        }

    } else if (exchange->request != 0) {
        (void) tg_caller_forget(&streamable->instance->caller,
                                exchange->request);
        channel->due = channel->nopened != 0
                           ? tg_streamable_channel_wait(streamable)
                           : 0;

    } else if (!tg_exchange_is_ok(exchange)
               || exchange->type == TG_EXCHANGE_EVENTS) {
        exchange->due = tg_streamable_channel_wait(streamable);
        channel->opened_at = 0;
        tg_exchange_rewind(exchange);
        return;
    }

    if (channel->exchange == exchange) {
        tg_streamable_drop(streamable, exchange);
    }
}

void
tg_streamable_see_channel(tg_streamable_t *streamable)
{
    tg_channel_t *channel;

    channel = &streamable->channel;

    if (channel->exchange != NULL && channel->opened_at == 0
        && channel->exchange->type == TG_EXCHANGE_EVENTS
        && tg_exchange_is_ok(channel->exchange))
    {
        tg_streamable_channel_opened(streamable);
    }

    if (!streamable->is_closing && channel->due != 0
        && channel->due <= tg_streamable_now(streamable))
    {
        channel->due = 0;

        if (streamable->instance->client.is_modern
            && tg_mcp_client_listen(&streamable->instance->client) != TG_OK)
        {
            streamable->instance->ops->event(streamable->instance,
                                             TG_MCP_FAILED);
        }
    }
}

void
tg_streamable_end(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    const tg_server_url_t *url;
    int was_ready;

    url = &streamable->instance->server->spec.url;
    tg_http_hide(url->headers, url->nsecrets, exchange->text.data,
                 exchange->text.len);

    if (exchange->is_channel) {
        tg_streamable_end_channel(streamable, exchange);
        return;
    }

    if (exchange->request != 0
        && tg_caller_tag(&streamable->instance->caller, exchange->request)
               != NULL
        && tg_streamable_resume(streamable, exchange))
    {
        return;
    }

    /* It is in the list no more, whatever its end brings about. */
    was_ready = exchange->is_ready && tg_exchange_is_ok(exchange);
    streamable->ready = streamable->ready == exchange ? NULL
                                                      : streamable->ready;
    TAILQ_REMOVE(&streamable->exchanges, exchange, place);
    streamable->nrequests -= exchange->request != 0 && exchange->is_started;
    streamable->nnotes -= exchange->is_started && tg_exchange_is_note(exchange);
    streamable->nreplies -= exchange->is_reply;

    if (exchange->request != 0) {
        tg_streamable_end_request(streamable, exchange);
    } else {
        tg_streamable_end_note(streamable, exchange);
    }

    if (was_ready && !streamable->is_closing) {
        tg_streamable_get(streamable);
    }

    tg_exchange_free(exchange);
}
