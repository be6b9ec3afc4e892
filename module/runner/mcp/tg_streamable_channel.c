/*
 * The channel for what belongs to no request: when it is opened, and what
 * happens when it ends.
 */
#include "runner/mcp/tg_server.h"

static uint64_t
tg_streamable_now(const tg_streamable_t *streamable)
{
    return uv_now(streamable->timer.loop);
}

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
 * Servers that have none say so by all kinds of status; one
 * that had it may not know the session any more.
 */
void
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
