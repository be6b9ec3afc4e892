/*
 * Lines to backends, with MCP's handshake where there is one.
 */
#include "nginx/line/ngx_toolgate_backend_impl.h"

/* Calls of a line at once, as many as Toolgate itself takes, and bytes. */
#define NGX_TOOLGATE_BACKEND_CALLS 1024
#define NGX_TOOLGATE_BACKEND_BYTES 67108864
/* Twice the largest output, as JSON escapes it. */
#define NGX_TOOLGATE_BACKEND_FRAME 67108864
/* The largest output, and what is around it. */
#define NGX_TOOLGATE_BACKEND_ANSWER 33619968
/* Whoever listens accepts at once, or is hung. */
#define NGX_TOOLGATE_BACKEND_CONNECT 5000
#define NGX_TOOLGATE_BACKEND_RETRY_MIN 10
#define NGX_TOOLGATE_BACKEND_RETRY_MAX 1000

/* --- MCP's handshake --- */

static void
ngx_toolgate_channel_watch(ngx_toolgate_channel_t *channel)
{
    if (channel->tick.timer_set) {
        ngx_del_timer(&channel->tick);
    }

    if (channel->client.due != 0) {
        ngx_add_timer(&channel->tick,
                      channel->client.due > ngx_current_msec
                          ? (ngx_msec_t) channel->client.due - ngx_current_msec
                          : 0);
    }
}

/* What it says is in client->error; 1: the connection is of no use. */
static ngx_uint_t
ngx_toolgate_channel_event(ngx_toolgate_channel_t *channel,
                           tg_mcp_event_t event)
{
    ngx_toolgate_backend_t *backend;
    tg_str_t why;

    backend = channel->backend;

    switch (event) {
    case TG_MCP_GREETED:
        ngx_toolgate_backend_pump(backend);
        break;
    case TG_MCP_REFUSED:
    case TG_MCP_SILENT:
    case TG_MCP_FAILED:
        why = event == TG_MCP_REFUSED  ? channel->client.error.message
              : event == TG_MCP_SILENT ? TG_STR("it does not answer")
                                       : TG_STR("no memory");
        (void) ngx_snprintf((u_char *) backend->why, sizeof(backend->why),
                            "MCP's handshake failed: %*s%Z",
                            ngx_min(why.len, sizeof(backend->why) / 2),
                            why.data);
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0, "backend \"%V\": %s",
                      &backend->name, backend->why);
        return 1;
    default:
        break;
    }

    ngx_toolgate_channel_watch(channel);

    return 0;
}

static ngx_uint_t
ngx_toolgate_channel_answer(ngx_toolgate_line_t *line, void *tag,
                            const tg_answer_t *answer)
{
    ngx_toolgate_channel_t *channel = line->data;
    tg_mcp_event_t event;

    event = tg_mcp_client_answer(&channel->client, tag, answer,
                                 ngx_current_msec);

    if (event == TG_MCP_OTHER) {
        return 0;
    }

    line->is_over |= ngx_toolgate_channel_event(channel, event);

    return 1;
}

static void
ngx_toolgate_channel_tick(ngx_event_t *ev)
{
    ngx_toolgate_channel_t *channel = ev->data;

    if (ngx_toolgate_channel_event(
            channel, tg_mcp_client_tick(&channel->client, ngx_current_msec)))
    {
        ngx_toolgate_line_end(&channel->line);
        return;
    }

    ngx_toolgate_line_wake(&channel->line);
}

static ngx_int_t
ngx_toolgate_channel_greet(ngx_toolgate_channel_t *channel)
{
    if (tg_mcp_client_start(&channel->client, ngx_current_msec) != TG_OK) {
        return NGX_ERROR;
    }

    ngx_toolgate_channel_watch(channel);

    return NGX_OK;
}

/* --- lines --- */

static void
ngx_toolgate_channel_save(ngx_connection_t *c)
{
    ngx_toolgate_backend_t *backend;
    ngx_toolgate_line_t *line;

    line = c->data;
    backend = ((ngx_toolgate_channel_t *) line->data)->backend;
    ngx_toolgate_tls_free(backend->session);
    backend->session = ngx_toolgate_tls_session(c);
}

/* The TLS handshake is over. */
static ngx_int_t
ngx_toolgate_channel_verify(ngx_toolgate_line_t *line)
{
    ngx_toolgate_channel_t *channel = line->data;
    ngx_toolgate_speech_t *speech;
    const char *mistake;

    speech = &channel->backend->speech;
    mistake = ngx_toolgate_tls_mistake(line->connection, speech->tls,
                                       &speech->tls_name);

    if (mistake == NULL) {
        return ngx_toolgate_channel_greet(channel);
    }

    (void) ngx_cpystrn((u_char *) channel->backend->why, (u_char *) mistake,
                       sizeof(channel->backend->why));

    return NGX_ERROR;
}

static void
ngx_toolgate_channel_verified(ngx_connection_t *c)
{
    ngx_toolgate_line_t *line;

    line = c->data;

    if (ngx_toolgate_channel_verify(line) == NGX_OK) {
        ngx_toolgate_line_open(line);
    } else {
        ngx_toolgate_line_fail(line, 0);
    }
}

static ngx_int_t
ngx_toolgate_channel_connected(ngx_toolgate_line_t *line)
{
    ngx_toolgate_channel_t *channel = line->data;
    ngx_toolgate_backend_t *backend;
    ngx_int_t rc;

    backend = channel->backend;

    if (backend->speech.tls == NULL) {
        return ngx_toolgate_channel_greet(channel);
    }

    rc = ngx_toolgate_tls_start(line->connection, backend->speech.tls,
                                &backend->speech.tls_name, backend->session,
                                ngx_toolgate_channel_verified,
                                ngx_toolgate_channel_save);

    if (rc == NGX_ERROR) {
        (void) ngx_cpystrn((u_char *) backend->why,
                           (u_char *) "the TLS handshake failed",
                           sizeof(backend->why));
    }

    return rc == NGX_OK ? ngx_toolgate_channel_verify(line) : rc;
}

static ngx_int_t
ngx_toolgate_channel_absent(ngx_toolgate_line_t *line, ngx_err_t err)
{
    ngx_toolgate_channel_t *channel = line->data;
    ngx_toolgate_backend_t *backend;
    u_char *p;

    backend = channel->backend;

    if (err != 0) {
        p = ngx_strerror(err, (u_char *) backend->why,
                         sizeof(backend->why) - 1);
        *p = '\0';
    }

    /* One that is kept is tried again for ever. */
    if (!backend->is_kept || line->delay <= 2 * line->min_delay) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "no connection to backend \"%V\": %s", &backend->name,
                      backend->why);
    }

    return NGX_ERROR;
}

/* Is a line open, and others may wait for it? */
static ngx_uint_t
ngx_toolgate_backend_is_there(const ngx_toolgate_backend_t *backend)
{
    ngx_uint_t i;

    for (i = 0; i < backend->nchannels; i++) {
        if (backend->channels[i].client.state == TG_MCP_OPEN) {
            return 1;
        }
    }

    return 0;
}

/* It is the line on which notifications come: there has to be one. */
static void
ngx_toolgate_channel_keep(ngx_toolgate_channel_t *channel, ngx_uint_t has_ended)
{
    ngx_toolgate_line_t *line;

    line = &channel->line;

    if (channel != channel->backend->channels
        || line->state != NGX_TOOLGATE_LINE_AWAY)
    {
        return;
    }

    /* Who accepts and leaves without a word is as good as not there. */
    if (has_ended && !line->is_heard) {
        ngx_toolgate_line_fail(line, NGX_ECONNRESET);
    } else {
        ngx_toolgate_line_begin(line);
    }
}

/*
 * Some servers of the older era end when the first that they hear is not
 * initialize.  Says whether that is to be said now.
 */
static ngx_uint_t
ngx_toolgate_channel_greets(ngx_toolgate_channel_t *channel,
                            ngx_uint_t has_ended)
{
    tg_mcp_client_t *client;

    client = &channel->client;

    if (client->state == TG_MCP_PROBING && has_ended) {
        client->era = TG_MCP_GREETS;
        return 1;
    }

    if (client->state == TG_MCP_GREETING) {
        client->era = TG_MCP_PROBES;
    }

    return 0;
}

static void
ngx_toolgate_channel_lost(ngx_toolgate_line_t *line, ngx_uint_t nasks,
                          ngx_uint_t has_ended)
{
    ngx_toolgate_channel_t *channel = line->data;
    ngx_uint_t was_open;

    was_open = channel->client.state == TG_MCP_OPEN
               || ngx_toolgate_channel_greets(channel, has_ended);
    tg_mcp_client_lose(&channel->client);
    ngx_toolgate_channel_watch(channel);
    channel->hung = 0;

    if (has_ended && nasks != 0) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "backend \"%V\" ended with %ui %s in flight",
                      &channel->backend->name, nasks,
                      tg_plural(nasks, "call", "calls"));
    }

    if (was_open || (has_ended && !channel->backend->speech.is_mcp)) {
        ngx_toolgate_backend_pump(channel->backend);
    } else if (!ngx_toolgate_backend_is_there(channel->backend)) {
        ngx_toolgate_backend_refuse(channel->backend);
    }

    if (channel->backend->is_kept && !ngx_toolgate_exits()) {
        ngx_toolgate_channel_keep(channel, has_ended);
    }
}

/* It tells how far a call is; of its own requests the line knows no ask. */
static void
ngx_toolgate_channel_progress(ngx_toolgate_channel_t *channel,
                              const tg_message_t *message)
{
    ngx_toolgate_ask_t *ask;

    ask = ngx_toolgate_line_find(&channel->line, message->p.progress_token);

    if (ask != NULL && !tg_mcp_client_is_own(&channel->client, ask)
        && ask->progress != NULL)
    {
        ask->progress(ask->data, message);
    }
}

static void
ngx_toolgate_channel_notification(ngx_toolgate_line_t *line, tg_str_t method,
                                  const tg_message_t *message)
{
    ngx_toolgate_channel_t *channel = line->data;
    tg_mcp_event_t event;

    if (tg_json_body_is(method, TG_STR("notifications/progress"))) {
        ngx_toolgate_channel_progress(channel, message);
        return;
    }

    event = tg_mcp_client_notification(&channel->client, method,
                                       ngx_current_msec);

    if (event == TG_MCP_OTHER) {
        if (channel->backend->speech.notify != NULL) {
            channel->backend->speech.notify(channel->backend->speech.data,
                                            method, message);
        }

        return;
    }

    line->is_over |= ngx_toolgate_channel_event(channel, event);
}

/* Calls wait for its handshake. */
static ngx_uint_t
ngx_toolgate_channel_is_needed(const ngx_toolgate_line_t *line)
{
    const ngx_toolgate_channel_t *channel = line->data;

    return channel->client.state != TG_MCP_OPEN
           && !ngx_queue_empty(&channel->backend->waiting);
}

static const ngx_toolgate_line_ops_t ngx_toolgate_channel_ops = {
    .absent = ngx_toolgate_channel_absent,
    .connected = ngx_toolgate_channel_connected,
    .lost = ngx_toolgate_channel_lost,
    .answer = ngx_toolgate_channel_answer,
    .notification = ngx_toolgate_channel_notification,
    .is_needed = ngx_toolgate_channel_is_needed,
};

void
ngx_toolgate_channel_init(ngx_toolgate_channel_t *channel,
                          ngx_toolgate_backend_t *backend)
{
    ngx_toolgate_line_t *line;

    channel->backend = backend;
    channel->tick.handler = ngx_toolgate_channel_tick;
    channel->tick.data = channel;
    channel->tick.log = ngx_cycle->log;
    channel->tick.cancelable = 1;

    line = &channel->line;
    line->ops = &ngx_toolgate_channel_ops;
    line->data = channel;
    line->name = backend->name;
    line->sockaddr = &backend->sockaddr.sockaddr;
    line->socklen = backend->socklen;
    line->max_asks = NGX_TOOLGATE_BACKEND_CALLS;
    line->max_bytes = NGX_TOOLGATE_BACKEND_BYTES;
    line->min_delay = NGX_TOOLGATE_BACKEND_RETRY_MIN;
    line->max_delay = NGX_TOOLGATE_BACKEND_RETRY_MAX;
    line->connect_time = NGX_TOOLGATE_BACKEND_CONNECT;
    line->says_hello = backend->speech.dialect == TG_DIALECT_JSONRPC
                       && !backend->speech.is_mcp;
    ngx_toolgate_line_init(line, backend->speech.dialect,
                           NGX_TOOLGATE_BACKEND_FRAME);
    tg_caller_limit(&line->caller, NGX_TOOLGATE_BACKEND_ANSWER);
    tg_mcp_client_init(&channel->client, tg_alloc_libc(), &line->caller,
                       backend->speech.is_mcp ? TG_MCP_PROBES : TG_MCP_BARE,
                       TG_STR(TG_MCP_INFO("toolgate")));
    channel->client.is_unlisted = 1;
}

void
ngx_toolgate_channel_deinit(ngx_toolgate_channel_t *channel)
{
    tg_mcp_client_lose(&channel->client);
    ngx_toolgate_channel_watch(channel);
    tg_mcp_client_deinit(&channel->client);
    ngx_toolgate_line_deinit(&channel->line);
}
