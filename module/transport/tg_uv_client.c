/* Connections of a client: connecting, handshake, retries, closing. */
#include "transport/tg_uv_client_request.h"

#include "base/tg_list.h"

#include <limits.h>

/* Returns how many connections in a row may fail with client->err. */
static unsigned
tg_uv_client_get_max_tries(const tg_uv_client_t *client)
{
    if (client->has_endless_connect
        || (client->has_endless_reconnect && client->was_open))
    {
        return UINT_MAX;
    }

    switch (client->err) {
    case UV_EAGAIN: /* the listener's queue is full */
        return TG_UV_CLIENT_TRIES_MAX;

    case UV_ENOENT:
    case UV_ECONNREFUSED:
        return client->was_open ? TG_UV_CLIENT_TRIES_MAX : 0;

    case UV_EOF:
    case UV_EPIPE:
    case UV_ECONNRESET:
        return client->was_open ? TG_UV_CLIENT_TRIES_MAX
                                : TG_UV_CLIENT_SILENT_TRIES_MAX;

    default:
        return 0;
    }
}

/* Returns the delay in ms, or -1 for no further attempt. */
static int64_t
tg_uv_client_get_retry_delay(tg_uv_client_t *client, int was_open)
{
    uint64_t wait;

    /* A dialect with a shutdown message is for one connection only. */
    if (client->caller.dialect->shutdown != NULL) {
        return -1;
    }

    if (was_open) {
        if ((client->first == NULL && !client->is_persistent)
            || (!client->has_endless_reconnect && client->err == UV_ENOMEM))
        {
            return -1;
        }

        client->tries = 0;

        if (client->is_drained
            && uv_now(client->loop) - client->opened
                   > TG_UV_CLIENT_LIFETIME_MIN)
        {
            return 0;
        }
    }

    if (client->tries >= tg_uv_client_get_max_tries(client)) {
        return -1;
    }

    wait = (uint64_t) TG_UV_CLIENT_RETRY_DELAY_MIN << client->tries;

    if (client->has_endless_reconnect && wait > TG_UV_CLIENT_RETRY_DELAY_MAX) {
        wait = TG_UV_CLIENT_RETRY_DELAY_MAX;
    } else {
        client->tries++;
    }

    client->jitter = client->jitter * UINT64_C(6364136223846793005) + 1;

    return (int64_t) (wait + (client->jitter >> 33) % wait / 2);
}

static void
tg_uv_client_on_retry_timer(uv_timer_t *timer)
{
    tg_uv_client_connect(timer->data);
}

static void
tg_uv_client_handle_disconnect(tg_uv_client_t *client)
{
    int64_t wait;
    int was_open;

    /* Requests that the callbacks add must wait as well. */
    was_open = client->state == TG_UV_CLIENT_OPEN;
    client->state = TG_UV_CLIENT_WAITING;
    (void) uv_timer_stop(&client->timer);

    if (client->ops->on_disconnect != NULL) {
        client->ops->on_disconnect(client->host);
    }

    tg_caller_on_disconnect(&client->caller);
    wait = tg_uv_client_get_retry_delay(client, was_open);

    if (client->state != TG_UV_CLIENT_WAITING) {
        return;
    }

    if (wait >= 0) {
        (void) uv_timer_start(&client->timer, tg_uv_client_on_retry_timer,
                              (uint64_t) wait, 0);
    } else {
        client->state = TG_UV_CLIENT_IDLE;
        client->tries = 0;
        tg_uv_client_fail_unsent(client);
    }

    client->ops->on_conn_lost(client->host, was_open);
}

static void
tg_uv_client_on_timer_closed(uv_handle_t *handle)
{
    tg_uv_client_t *client;

    client = handle->data;
    client->state = TG_UV_CLIENT_CLOSED;

    if (client->ops->closed != NULL) {
        client->ops->closed(client->host);
    }
}

static void
tg_uv_client_on_closed(void *host, int err)
{
    tg_uv_client_t *client;

    client = host;
    client->has_conn = 0;

    if (client->state == TG_UV_CLIENT_CLOSING) {
        uv_close((uv_handle_t *) &client->timer, tg_uv_client_on_timer_closed);
        return;
    }

    if (client->err == 0) {
        client->err = err != 0 ? err : UV_EOF;
    }

    tg_uv_client_handle_disconnect(client);
}

/* Sets is_read_stopped if the owner must resume reading later. */
static int
tg_uv_client_can_read(tg_uv_client_t *client)
{
    client->is_read_stopped = client->ops->can_read != NULL
                              && !client->ops->can_read(client->host);

    return !client->is_read_stopped
           && client->caller.refused_bytes <= TG_UV_CLIENT_REFUSALS_MAX;
}

static int
tg_uv_client_is_slice_over(void *host)
{
    tg_uv_client_t *client;

    client = host;

    return !tg_uv_client_can_read(client)
           || tg_uv_conn_is_slice_over(&client->conn,
                                       client->caller.frame_size);
}

static int
tg_uv_client_on_input(void *host, const char *data, size_t len,
                      size_t *consumed)
{
    tg_uv_client_t *client;
    int rc;

    client = host;
    *consumed = 0;

    if (!tg_uv_client_can_read(client)) {
        return TG_LIMIT;
    }

    rc = tg_caller_handle_input(&client->caller, data, len, consumed);

    if (client->ops->trace != NULL) {
        client->ops->trace(client->host, 1, tg_str(data, *consumed));
    }

    if (rc == TG_AGAIN) {
        return tg_uv_client_can_read(client) ? TG_AGAIN : TG_LIMIT;
    }

    /* The connection ends: the remaining output is of no use to the server. */
    if (rc != TG_OK && client->state != TG_UV_CLIENT_CLOSING) {
        client->err = rc == TG_NOMEM ? UV_ENOMEM : client->err;
        tg_uv_conn_close(&client->conn);
    }

    return rc;
}

static void
tg_uv_client_on_written(void *host, size_t len)
{
    tg_uv_client_t *client;

    client = host;

    if (client->ops->trace != NULL) {
        client->ops->trace(client->host, 0,
                           tg_str(client->caller.out.data, len));
    }

    tg_caller_count_written(&client->caller, len);
    tg_uv_output_drop(&client->caller.out, len);
}

static void
tg_uv_client_on_connect_timeout(uv_timer_t *timer)
{
    tg_uv_client_t *client;

    client = timer->data;
    client->err = UV_ETIMEDOUT;
    tg_uv_conn_close(&client->conn);
}

static int
tg_uv_client_send_initialize(tg_uv_client_t *client)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_cstr(&params, TG_MCP_INITIALIZE_PARAMS_OPEN);
    tg_buf_append_cstr(&params, client->info);
    tg_buf_append_char(&params, '}');
    rc = tg_buf_has_failed(&params)
             ? TG_NOMEM
             : tg_caller_send_request(&client->caller, TG_STR("initialize"),
                                      tg_buf_view(&params), client, NULL);
    tg_buf_deinit(&params);

    return rc;
}

static int
tg_uv_client_start_handshake(tg_uv_client_t *client)
{
    int rc;

    if (client->ops->start_handshake != NULL) {
        (void) uv_timer_stop(&client->timer);
        return client->ops->start_handshake(client->host);
    }

    rc = client->info != NULL ? tg_caller_send_client_info(
             &client->caller, 0, tg_str_from_cstr(client->info), TG_STR_NONE)
                              : tg_caller_send_hello(&client->caller, 0);

    if (rc != TG_OK) {
        return rc;
    }

    return client->has_mcp_initialize
               ? tg_uv_client_send_initialize(client)
               : tg_caller_send_request(&client->caller, TG_STR("ping"),
                                        TG_STR_NONE, client, NULL);
}

static void
tg_uv_client_on_connected(void *host, int err)
{
    tg_uv_client_t *client;

    client = host;

    if (err == 0 && client->state == TG_UV_CLIENT_CONNECTING) {
        if (tg_uv_client_start_handshake(client) != TG_OK) {
            tg_uv_client_drop_conn_nomem(client);
        }

        tg_uv_conn_flush(&client->conn);
    }
}

void
tg_uv_client_connect(tg_uv_client_t *client)
{
    static const tg_uv_conn_ops_t ops = {
        .connected = tg_uv_client_on_connected,
        .input = tg_uv_client_on_input,
        .written = tg_uv_client_on_written,
        .closed = tg_uv_client_on_closed,
    };

    if (client->has_conn || client->state >= TG_UV_CLIENT_CLOSING) {
        return;
    }

    client->state = TG_UV_CLIENT_CONNECTING;
    client->err = 0;
    client->has_conn = 1;
    client->is_drained = 0;
    tg_uv_conn_init(&client->conn, client->sched, &ops, client,
                    &client->caller.out);

    if (client->ops->on_connect_attempt != NULL) {
        client->ops->on_connect_attempt(client->host);
    }

    (void) uv_timer_stop(&client->timer);

    if (client->connect_timeout != 0) {
        (void) uv_timer_start(&client->timer, tg_uv_client_on_connect_timeout,
                              client->connect_timeout, 0);
    }

    /* If connecting fails at once, on_closed is called. */
    (void) tg_uv_conn_connect_endpoint(&client->conn, client->endpoint);
}

void
tg_uv_client_complete_handshake(tg_uv_client_t *client)
{
    tg_uv_request_t *request, *next;

    client->state = TG_UV_CLIENT_OPEN;
    client->was_open = 1;
    client->opened = uv_now(client->loop);
    (void) uv_timer_stop(&client->timer);

    if (client->has_mcp_initialize) {
        tg_uv_client_notify(client, TG_STR("notifications/initialized"),
                            TG_STR_NONE);
    }

    for (request = client->first; request != NULL; request = next) {
        next = request->next;
        tg_uv_request_send(client, request);
    }

    client->ops->opened(client->host);
}

static void
tg_uv_client_on_response(void *host, void *tag, const tg_response_t *answer)
{
    tg_uv_client_t *client;

    client = host;

    if (client->state == TG_UV_CLIENT_CLOSING) {
        return;
    }

    if (client->ops->answer != NULL
        && client->ops->answer(client->host, tag, answer))
    {
        return;
    }

    if (tag != client) {
        tg_uv_request_handle_response(client, tag, answer);

    } else if (answer->kind == TG_RESPONSE_RESULT
               || answer->kind == TG_RESPONSE_ERROR)
    {
        /* An error is a response too: the server is alive. */
        tg_uv_client_complete_handshake(client);
    }
}

static void
tg_uv_client_on_notification(void *host, tg_str_t method,
                             const tg_message_t *message)
{
    tg_uv_client_t *client;

    client = host;

    if (client->ops->notification != NULL
        && client->state != TG_UV_CLIENT_CLOSING) {
        client->ops->notification(client->host, method, message);
    }
}

static void
tg_uv_client_on_shutdown_notice(void *host, tg_str_t reason, int is_drained)
{
    tg_uv_client_t *client;

    client = host;
    client->is_drained = is_drained != 0;

    if (client->ops->on_shutdown_notice != NULL) {
        client->ops->on_shutdown_notice(client->host, reason, is_drained);
    }
}

static void
tg_uv_client_on_log(void *host, const char *text)
{
    tg_uv_client_t *client;

    client = host;

    if (client->ops->log != NULL) {
        client->ops->log(client->host, text);
    }
}

static void
tg_uv_client_on_server_request(void *host, const tg_message_t *message)
{
    tg_uv_client_t *client;

    client = host;
    client->ops->on_request(client->host, message);
}

void
tg_uv_client_init(tg_uv_client_t *client, tg_uv_sched_t *sched,
                  const tg_uv_client_ops_t *ops, void *host,
                  tg_dialect_t dialect, size_t max_frame)
{
    client->caller_ops = (tg_caller_ops_t){
        .answer = tg_uv_client_on_response,
        .notification = tg_uv_client_on_notification,
        .on_shutdown_notice = tg_uv_client_on_shutdown_notice,
        .log = tg_uv_client_on_log,
        .on_request = ops->on_request != NULL ? tg_uv_client_on_server_request
                                              : NULL,
        .is_slice_over = tg_uv_client_is_slice_over,
    };
    client->loop = sched->loop;
    client->sched = sched;
    client->ops = ops;
    client->host = host;
    client->state = TG_UV_CLIENT_IDLE;
    client->jitter = uv_hrtime();
    (void) uv_timer_init(client->loop, &client->timer);
    client->timer.data = client;

    tg_caller_init(&client->caller, tg_alloc_libc(), &client->caller_ops,
                   client, dialect, max_frame);
}

void
tg_uv_client_send_request(tg_uv_client_t *client, tg_uv_request_t *request)
{
    request->is_sent = 0;
    request->is_queued = 1;
    request->tries = 0;
    request->seq = ++client->seq;
    TG_LIST_INSERT(client->first, client->last, client->last, request);
    tg_uv_request_send(client, request);

    if (client->state == TG_UV_CLIENT_IDLE) {
        tg_uv_client_connect(client);
    }
}

void
tg_uv_client_notify(tg_uv_client_t *client, tg_str_t method, tg_str_t params)
{
    /* If memory is exhausted, the connection closes at the next flush. */
    if (client->state == TG_UV_CLIENT_OPEN) {
        (void) tg_caller_send_notification(&client->caller, method, params);
    }
}

void
tg_uv_client_flush(tg_uv_client_t *client)
{
    if (client->has_conn) {
        tg_uv_conn_flush(&client->conn);
    }
}

void
tg_uv_client_resume(tg_uv_client_t *client)
{
    if (client->has_conn && client->is_read_stopped
        && tg_uv_client_can_read(client))
    {
        tg_uv_conn_resume(&client->conn);
    }
}

void
tg_uv_client_drop_conn(tg_uv_client_t *client)
{
    if (client->has_conn) {
        tg_uv_conn_close(&client->conn);
    }
}

void
tg_uv_client_reject_conn(tg_uv_client_t *client)
{
    if (client->state == TG_UV_CLIENT_OPEN) {
        client->state = TG_UV_CLIENT_CONNECTING;
    }

    tg_uv_client_drop_conn(client);
}

static void
tg_uv_client_on_close_timeout(uv_timer_t *timer)
{
    tg_uv_client_t *client;

    client = timer->data;
    tg_uv_conn_close(&client->conn);
}

void
tg_uv_client_close(tg_uv_client_t *client)
{
    if (client->state >= TG_UV_CLIENT_CLOSING) {
        return;
    }

    client->state = TG_UV_CLIENT_CLOSING;

    if (client->has_conn) {
        (void) uv_timer_start(&client->timer, tg_uv_client_on_close_timeout,
                              TG_UV_CLIENT_CLOSE_TIMEOUT, 0);
        tg_uv_conn_close_after_flush(&client->conn);
    } else {
        uv_close((uv_handle_t *) &client->timer, tg_uv_client_on_timer_closed);
    }
}

void
tg_uv_client_deinit(tg_uv_client_t *client)
{
    tg_caller_deinit(&client->caller);
}
