/* Start and end of the listen stream, whose messages have no request. */
#include "runner/mcp/tg_mcp_server.h"

/* Handles an opened stream. Fetches the list, which may have changed. */
static void
tg_streamable_on_listen_opened(tg_streamable_t *streamable)
{
    tg_mcp_conn_t *mcp_conn;
    tg_streamable_listen_t *listen_stream;

    mcp_conn = streamable->mcp_conn;
    listen_stream = &streamable->listen_stream;
    listen_stream->opened_at = tg_streamable_get_now(streamable);

    if (listen_stream->nopened++ != 0
        && tg_mcp_client_fetch_list(&mcp_conn->client, listen_stream->opened_at)
               != TG_OK)
    {
        tg_mcp_conn_on_event(mcp_conn, TG_MCP_EVENT_NO_MEMORY);
    }
}

/* Returns the time of the next attempt. Short streams increase the delay. */
static uint64_t
tg_streamable_get_listen_retry(tg_streamable_t *streamable)
{
    tg_streamable_listen_t *listen_stream;
    uint64_t now;

    listen_stream = &streamable->listen_stream;
    now = tg_streamable_get_now(streamable);

    if (listen_stream->delay == 0
        || (listen_stream->opened_at != 0
            && now - listen_stream->opened_at >= TG_STREAMABLE_STABLE_MS))
    {
        listen_stream->delay = TG_STREAMABLE_RETRY_MIN_MS;
    } else if (listen_stream->delay < TG_STREAMABLE_RETRY_MAX_MS / 2) {
        listen_stream->delay *= 2;
    } else {
        listen_stream->delay = TG_STREAMABLE_RETRY_MAX_MS;
    }

    return now + listen_stream->delay;
}

/*
 * Handles the end: servers without a listen stream respond with various
 * statuses. A server that had one may have lost the session.
 */
void
tg_streamable_on_listen_done(tg_streamable_t *streamable,
                             tg_mcp_exchange_t *exchange)
{
    tg_streamable_listen_t *listen_stream;

    listen_stream = &streamable->listen_stream;

    if (exchange->status >= 300 && exchange->status < 500
        && exchange->status != 429)
    {
        if (listen_stream->nopened != 0 && exchange->request == 0
            && tg_streamable_is_session_unknown(streamable, exchange))
        {
            (void) tg_streamable_renew_session(streamable, exchange->session);
        }

    } else if (exchange->request != 0) {
        (void) tg_caller_forget_request(&streamable->mcp_conn->caller,
                                        exchange->request);
        listen_stream->due = listen_stream->nopened != 0
                                 ? tg_streamable_get_listen_retry(streamable)
                                 : 0;

    } else if (!tg_mcp_exchange_is_success(exchange)
               || exchange->type == TG_MCP_EXCHANGE_EVENTS)
    {
        exchange->due = tg_streamable_get_listen_retry(streamable);
        listen_stream->opened_at = 0;
        tg_mcp_exchange_reset(exchange);
        return;
    }

    if (listen_stream->exchange == exchange) {
        tg_streamable_drop_exchange(streamable, exchange);
    }
}

void
tg_streamable_update_listen(tg_streamable_t *streamable)
{
    tg_streamable_listen_t *listen_stream;

    listen_stream = &streamable->listen_stream;

    if (listen_stream->exchange != NULL && listen_stream->opened_at == 0
        && listen_stream->exchange->type == TG_MCP_EXCHANGE_EVENTS
        && tg_mcp_exchange_is_success(listen_stream->exchange))
    {
        tg_streamable_on_listen_opened(streamable);
    }

    if (!streamable->is_closing && listen_stream->due != 0
        && listen_stream->due <= tg_streamable_get_now(streamable))
    {
        listen_stream->due = 0;

        if (streamable->mcp_conn->client.is_modern
            && tg_mcp_client_listen(&streamable->mcp_conn->client) != TG_OK)
        {
            tg_mcp_conn_on_event(streamable->mcp_conn, TG_MCP_EVENT_NO_MEMORY);
        }
    }
}
