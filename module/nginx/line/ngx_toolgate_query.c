/*
 * Calls of a backend: what waits for a line, what is sent on one.
 */
#include "nginx/line/ngx_toolgate_backend_impl.h"

static void
ngx_toolgate_query_end(ngx_toolgate_query_t *query, const tg_answer_t *answer)
{
    query->backend->nqueries--;
    query->backend = NULL;
    query->answer(query->data, answer);
}

static void
ngx_toolgate_query_answer(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_query_t *query = data;
    ngx_toolgate_backend_t *backend;

    backend = query->backend;
    query->was_open |= query->ask.is_drained;
    ngx_toolgate_query_end(query, answer);
    ngx_toolgate_backend_pump(backend);
}

static void
ngx_toolgate_query_progress(void *data, const tg_message_t *message)
{
    ngx_toolgate_query_t *query = data;

    query->progress(query->data, message);
}

/*
 * The caller's progress token is its own business: in params that are passed
 * on it is replaced by the request's id.
 */
static tg_str_t
ngx_toolgate_query_params(ngx_toolgate_query_t *query, uint64_t id,
                          tg_buf_t *room)
{
    tg_str_t params, token;
    size_t at;

    params = query->call.arguments;
    token = query->token;

    if (token.data == NULL) {
        return params;
    }

    at = (size_t) (token.data - params.data);
    tg_buf_put(room, params.data, at);
    tg_buf_uint(room, id);
    tg_buf_put(room, token.data + token.len, params.len - at - token.len);

    return tg_buf_view(room);
}

static int
ngx_toolgate_query_send(ngx_toolgate_channel_t *channel,
                        ngx_toolgate_query_t *query)
{
    ngx_toolgate_line_t *line;
    tg_buf_t more;
    int rc;

    line = &channel->line;
    query->ask.data = query;
    query->ask.answer = ngx_toolgate_query_answer;
    query->ask.progress = ngx_toolgate_query_progress;
    query->since = ngx_current_msec;
    query->was_open = line->state == NGX_TOOLGATE_LINE_OPEN;
    tg_buf_init(&more, tg_alloc_libc());

    if (query->is_method) {
        rc = ngx_toolgate_line_ask(
            line, query->call.name,
            ngx_toolgate_query_params(query, line->caller.next_id, &more),
            &query->ask);
    } else {
        /* Whether its caller wants it or not, progress puts off its end. */
        tg_mcp_put_more(&channel->client, &query->call, line->caller.next_id,
                        &more);
        rc = tg_buf_failed(&more)
                 ? TG_NOMEM
                 : ngx_toolgate_line_call(line, query->call.name,
                                          query->call.arguments,
                                          tg_buf_view(&more), &query->ask);
    }

    tg_buf_deinit(&more);

    return rc;
}

/* --- which line --- */

static ngx_uint_t
ngx_toolgate_channel_is_hung(const ngx_toolgate_channel_t *channel)
{
    return channel->hung != 0
           && (ngx_msec_int_t) (channel->line.heard - channel->hung) <= 0;
}

/* May it be given a call, now or when it is open? */
static ngx_uint_t
ngx_toolgate_channel_is_free(const ngx_toolgate_channel_t *channel)
{
    if (channel->backend->speech.dialect == TG_DIALECT_IPC) {
        return channel->line.nasks == 0;
    }

    return !ngx_toolgate_channel_is_hung(channel)
           && !channel->line.caller.is_leaving;
}

ngx_toolgate_channel_t *
ngx_toolgate_backend_choose(ngx_toolgate_backend_t *backend)
{
    ngx_toolgate_channel_t *channel, *best;
    ngx_uint_t i;

    best = NULL;

    for (i = 0; i < backend->nchannels; i++) {
        channel = &backend->channels[i];

        if (ngx_toolgate_channel_is_free(channel)
            && (best == NULL || channel->line.state > best->line.state))
        {
            best = channel;
        }
    }

    return best;
}

void
ngx_toolgate_backend_pump(ngx_toolgate_backend_t *backend)
{
    ngx_toolgate_channel_t *channel;
    ngx_toolgate_query_t *query;

    while (!ngx_queue_empty(&backend->waiting)) {
        channel = ngx_toolgate_backend_choose(backend);

        if (channel == NULL) {
            return;
        }

        if (backend->speech.is_mcp && channel->client.state != TG_MCP_OPEN) {
            ngx_toolgate_line_begin(&channel->line);
            return;
        }

        query = ngx_queue_data(ngx_queue_head(&backend->waiting),
                               ngx_toolgate_query_t, queue);
        ngx_queue_remove(&query->queue);
        query->is_waiting = 0;

        if (ngx_toolgate_query_send(channel, query) != TG_OK) {
            ngx_toolgate_query_end(query, NULL);
        }
    }
}

void
ngx_toolgate_backend_refuse(ngx_toolgate_backend_t *backend)
{
    ngx_toolgate_query_t *query;
    tg_answer_t answer;
    ngx_queue_t waiting;

    if (ngx_queue_empty(&backend->waiting)) {
        return;
    }

    /* Their ends may ask anew. */
    waiting = backend->waiting;
    waiting.next->prev = &waiting;
    waiting.prev->next = &waiting;
    ngx_queue_init(&backend->waiting);

    ngx_memzero(&answer, sizeof(answer));
    answer.kind = TG_ANSWER_NOT_STARTED;

    while (!ngx_queue_empty(&waiting)) {
        query = ngx_queue_data(ngx_queue_head(&waiting), ngx_toolgate_query_t,
                               queue);
        ngx_queue_remove(&query->queue);
        query->is_waiting = 0;
        query->was_open = 0;
        ngx_toolgate_query_end(query, &answer);
    }
}

/* --- from outside --- */

void
ngx_toolgate_backend_ask(ngx_toolgate_backend_t *backend,
                         ngx_toolgate_query_t *query)
{
    query->backend = backend;
    query->is_waiting = 1;
    backend->is_used = 1;
    backend->nqueries++;
    ngx_queue_insert_tail(&backend->waiting, &query->queue);
    ngx_toolgate_backend_pump(backend);
}

void
ngx_toolgate_backend_cancel(ngx_toolgate_query_t *query, ngx_uint_t is_late)
{
    ngx_toolgate_backend_t *backend;
    ngx_toolgate_channel_t *channel;
    ngx_toolgate_line_t *line;

    backend = query->backend;

    if (backend == NULL) {
        return;
    }

    backend->nqueries--;
    query->backend = NULL;

    if (query->is_waiting) {
        ngx_queue_remove(&query->queue);
        query->is_waiting = 0;
        return;
    }

    line = query->ask.line;
    channel = line->data;

    if (is_late && (ngx_msec_int_t) (line->heard - query->since) <= 0) {
        channel->hung = ngx_current_msec;
    }

    ngx_toolgate_line_cancel(&query->ask, !query->is_method);

    /* It cannot be told otherwise, or has gone without a word. */
    if (backend->speech.dialect == TG_DIALECT_IPC
        || (ngx_toolgate_channel_is_hung(channel) && line->nasks == 0))
    {
        ngx_toolgate_line_end(line);
    }
}
