#include "runner/http/tg_http_params.h"
#include "runner/mcp/tg_sessions.h"
#include "runner/tg_answer.h"

static void tg_streamable_on_timer(uv_timer_t *timer);

static tg_sched_t *
tg_streamable_sched(const tg_streamable_t *streamable)
{
    return &streamable->instance->server->servers->jobs->sched.sched;
}

/* libcurl may be beneath it: what there is to do is done when it is not. */
static void
tg_streamable_on_news(tg_exchange_t *exchange)
{
    tg_streamable_t *streamable;

    streamable = exchange->host;
    tg_source_wait(tg_streamable_sched(streamable), &streamable->source);
}

static uint64_t
tg_streamable_now(const tg_streamable_t *streamable)
{
    return uv_now(streamable->timer.loop);
}

/* --- what is heard --- */

/* Can it go back in a header? */
static int
tg_streamable_is_version(tg_str_t version)
{
    size_t i;

    for (i = 0; i < version.len
                && (tg_is_digit(version.data[i]) || tg_is_alpha(version.data[i])
                    || tg_is_one_of(version.data[i], "-._"));
         i++)
    {
        /* void */
    }

    return i == version.len && i <= TG_STREAMABLE_VERSION_MAX;
}

/* What of the handshake is the transport's: the session and the version. */
static void
tg_streamable_greeted(tg_streamable_t *streamable,
                      const tg_exchange_t *exchange, tg_str_t line)
{
    tg_message_t message;
    tg_str_t version;

    if (exchange->session != streamable->session
        || tg_message_parse(&message, line) != TG_OK
        || !tg_json_has(message.result, TG_STR("protocolVersion"),
                        TG_JSON_STRING, &version))
    {
        return;
    }

    memcpy(streamable->session_id, exchange->session_id,
           sizeof(streamable->session_id));
    version = tg_json_body(version);

    if (tg_streamable_is_version(version)) {
        memcpy(streamable->version, version.data, version.len);
        streamable->version[version.len] = '\0';
    }

    if (streamable->session_id[0] != '\0') {
        tg_sessions_note(streamable->instance->server);
    }
}

/*
 * What an exchange has brought: what of it is the transport's, and without the
 * secrets of the config.
 */
static void
tg_streamable_look(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    const tg_server_url_t *url;
    const char *end;
    char *at;
    tg_buf_t *in;

    in = &exchange->in;

    for (at = in->data + exchange->seen;
         exchange->is_hello
         && (end = memchr(at, '\n', in->len - (size_t) (at - in->data)))
                != NULL;
         at += end - at + 1)
    {
        tg_streamable_greeted(streamable, exchange,
                              tg_str(at, (size_t) (end - at)));
    }

    url = &streamable->instance->server->spec.url;
    tg_http_hide(url->headers, url->nsecrets, in->data + exchange->seen,
                 in->len - exchange->seen);
    exchange->seen = in->len;
}

/* Reads the messages of an exchange until the time slice is over. */
static void
tg_streamable_hear(tg_streamable_t *streamable, tg_exchange_t *exchange)
{
    size_t consumed;
    tg_buf_t in;

    /* What comes in the place of an answer is for nobody: it is sent again. */
    if (tg_streamable_says_lost(streamable, exchange,
                                tg_str(exchange->in.data + exchange->seen,
                                       exchange->in.len - exchange->seen)))
    {
        tg_buf_reset(&exchange->in, 0);
        exchange->seen = 0;
        exchange->is_lost = 1;
        exchange->is_over = 1;
        return;
    }

    tg_streamable_look(streamable, exchange);
    in = exchange->in;
    tg_buf_init(&exchange->in, tg_alloc_libc());
    exchange->seen = 0;
    streamable->hearing = exchange;
    consumed = 0;

    /* From here on the exchange may be gone. */
    (void) tg_instance_input(streamable->instance, in.data, in.len, &consumed);

    if (streamable->hearing == exchange) {
        streamable->hearing = NULL;

        if (consumed != in.len) {
            tg_buf_drop(&in, consumed);
            exchange->seen = in.len;
            exchange->in = in;
            tg_buf_init(&in, tg_alloc_libc());
        }

        tg_exchange_resume(exchange);
    }

    tg_buf_deinit(&in);
}

/* --- the transport --- */

static void
tg_streamable_on_closed(uv_handle_t *handle)
{
    tg_streamable_t *streamable;

    streamable = handle->data;
    streamable->is_open = 0;
    tg_buf_deinit(&streamable->refusal);
    tg_instance_release(streamable->instance);
}

static void
tg_streamable_drop_all(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange;

    while ((exchange = TAILQ_FIRST(&streamable->exchanges)) != NULL) {
        tg_streamable_drop(streamable, exchange);
    }
}

/* Its session was ended, or there is nothing to end. */
static void
tg_streamable_finish(tg_streamable_t *streamable)
{
    tg_streamable_drop_all(streamable);
    tg_source_leave(tg_streamable_sched(streamable), &streamable->source);
    tg_sessions_over(streamable);

    if (!uv_is_closing((uv_handle_t *) &streamable->timer)) {
        uv_close((uv_handle_t *) &streamable->timer, tg_streamable_on_closed);
    }
}

static void
tg_streamable_close(tg_instance_t *instance, int is_now)
{
    tg_streamable_t *streamable;
    tg_exchange_t *last;

    streamable = &instance->streamable;

    if (!streamable->is_open || streamable->is_closing) {
        return;
    }

    streamable->is_closing = 1;
    uv_timer_stop(&streamable->timer);
    tg_streamable_drop_all(streamable);
    last = tg_streamable_delete(streamable);

    if (last == NULL) {
        tg_streamable_finish(streamable);
    }
}

/* The next one of which something is new, after which all may be different. */
static tg_exchange_t *
tg_streamable_next(const tg_streamable_t *streamable)
{
    tg_exchange_t *exchange;
    int is_behind;

    is_behind = streamable->nreplies > TG_STREAMABLE_REPLIES
                && !streamable->is_closing;

    TAILQ_FOREACH(exchange, &streamable->exchanges, place)
    {
        if (exchange->in.len != 0 ? !is_behind : exchange->is_over) {
            break;
        }
    }

    return exchange;
}

/* Of a request: nobody waits for anything on this stream any more. */
static int
tg_streamable_is_answered(const tg_streamable_t *streamable,
                          const tg_exchange_t *exchange)
{
    return exchange->request != 0 && !exchange->is_channel
           && tg_caller_tag(&streamable->instance->caller, exchange->request)
                  == NULL;
}

/* When something is to be done though nothing happens, of the loop's clock. */
static uint64_t
tg_streamable_due(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange;
    uint64_t due, now;

    now = tg_streamable_now(streamable);
    due = streamable->channel.due;

    TAILQ_FOREACH(exchange, &streamable->exchanges, place)
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

/* Sends what there is, and waits. */
static void
tg_streamable_turn(tg_streamable_t *streamable)
{
    uint64_t due, now;

    tg_streamable_take(streamable);
    tg_streamable_start(streamable);
    due = tg_streamable_due(streamable);
    now = tg_streamable_now(streamable);

    if (due != 0) {
        uv_timer_start(&streamable->timer, tg_streamable_on_timer,
                       due > now ? due - now : 1, 0);
    }
}

static void
tg_streamable_wake(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange, *next;
    uint64_t now;

    now = tg_streamable_now(streamable);

    for (exchange = TAILQ_FIRST(&streamable->exchanges); exchange != NULL;
         exchange = next)
    {
        next = TAILQ_NEXT(exchange, place);

        if (exchange->due == 0 || exchange->due > now) {
            continue;
        }

        if (exchange->is_started
            || tg_streamable_is_answered(streamable, exchange)) {
            tg_streamable_drop(streamable, exchange);
        } else {
            exchange->due = 0;
        }
    }
}

/* What exchanges have brought, until the time slice is over. */
static void
tg_streamable_read(tg_streamable_t *streamable)
{
    tg_exchange_t *exchange;

    while (!streamable->is_closing
           && (exchange = tg_streamable_next(streamable)) != NULL)
    {
        if (exchange->in.len != 0) {
            tg_streamable_hear(streamable, exchange);
        } else {
            tg_streamable_end(streamable, exchange);
        }

        tg_streamable_take(streamable);

        if (!streamable->is_closing
            && tg_slice_is_over(tg_streamable_sched(streamable),
                                &streamable->source, TG_STREAMABLE_STEPS))
        {
            break;
        }
    }
}

static void
tg_streamable_run(tg_source_t *source)
{
    tg_streamable_t *streamable;
    tg_exchange_t *exchange;

    streamable = TG_OWNER(source, tg_streamable_t, source);
    tg_streamable_read(streamable);

    if (!streamable->is_closing) {
        tg_streamable_see_channel(streamable);
    }

    if (!streamable->is_closing) {
        tg_streamable_wake(streamable);
        tg_streamable_turn(streamable);

    } else if ((exchange = tg_streamable_next(streamable)) != NULL
               && exchange->is_over)
    {
        tg_streamable_finish(streamable);
    }
}

static void
tg_streamable_on_timer(uv_timer_t *timer)
{
    tg_streamable_t *streamable;

    streamable = timer->data;
    tg_source_wait(tg_streamable_sched(streamable), &streamable->source);
}

static tg_failure_t
tg_streamable_open(tg_instance_t *instance, tg_buf_t *why)
{
    tg_streamable_t *streamable;
    const char *reason;

    streamable = &instance->streamable;
    memset(streamable, 0, sizeof(*streamable));
    streamable->instance = instance;
    streamable->source.run = tg_streamable_run;
    streamable->news = tg_streamable_on_news;
    tg_buf_init(&streamable->refusal, tg_alloc_libc());
    streamable->is_open = 1;
    TAILQ_INIT(&streamable->exchanges);
    uv_timer_init(instance->timer.loop, &streamable->timer);
    streamable->timer.data = streamable;
    tg_instance_hold(instance);
    reason = TG_RUNNER_NO_MEMORY;

    if (tg_http_loop_open(&instance->server->servers->http->loop, &reason)
        != TG_OK) {
        tg_buf_printf(why, "%s cannot be called: %s",
                      instance->server->spec.name, reason);
        return TG_FAILURE_INTERNAL;
    }

    tg_instance_opened(instance);

    return TG_FAILURE_NONE;
}

static void
tg_streamable_flush(tg_instance_t *instance)
{
    tg_streamable_t *streamable;

    streamable = &instance->streamable;

    if (streamable->is_open && !streamable->is_closing) {
        tg_streamable_turn(streamable);
    }
}

/* What it has not answered at all. */
static size_t
tg_streamable_backlog(const tg_instance_t *instance)
{
    const tg_exchange_t *exchange;
    size_t n;

    n = instance->caller.out.len;

    if (instance->streamable.is_open) {
        TAILQ_FOREACH(exchange, &instance->streamable.exchanges, place)
        {
            n += exchange->status == 0 && !exchange->is_resuming ? exchange->len
                                                                 : 0;
        }
    }

    return n;
}

static int
tg_streamable_is_slice_over(tg_instance_t *instance, size_t size)
{
    tg_streamable_t *streamable;

    streamable = &instance->streamable;

    return tg_slice_is_over(tg_streamable_sched(streamable),
                            &streamable->source, size);
}

static void
tg_streamable_explain(const tg_instance_t *instance, tg_buf_t *text)
{
    tg_buf_text(text, instance->streamable.why);
}

const tg_transport_t tg_streamable_transport = {
    .open = tg_streamable_open,
    .flush = tg_streamable_flush,
    .backlog = tg_streamable_backlog,
    .is_slice_over = tg_streamable_is_slice_over,
    .explain = tg_streamable_explain,
    .close = tg_streamable_close,
};
