/* A client's connection and its requests, in the loop's thread. */
#include "lib/tg_client.h"

#include "base/tg_json.h"
#include "base/tg_list.h"

#include <stdlib.h>

static void
tg_client_conn_on_response(void *host, tg_uv_request_t *uv_request,
                           const tg_response_t *answer)
{
    tg_client_conn_t *conn;
    tg_client_request_t *request;

    conn = host;
    request = (tg_client_request_t *) uv_request;

    if (conn->conf.hooks != NULL) {
        conn->conf.hooks->on_response(request->call, answer, uv_request->list,
                                      conn->conf.hooks->data);
    }

    switch (answer->kind) {
    case TG_RESPONSE_RESULT:
        tg_client_conn_finish_result(conn, request, answer->result);
        break;
    case TG_RESPONSE_ERROR:
        tg_client_conn_finish_error(conn, request, answer);
        break;
    case TG_RESPONSE_LOST:
        tg_client_conn_finish_request(
            conn, request,
            tg_lib_set_error(TOOLGATE_ERR_CONNECTION,
                             "the connection to %s was lost before the "
                             "response; the request may have been executed",
                             conn->endpoint.text),
            TG_STR_NONE);
        break;
    default:
        tg_client_conn_finish_request(
            conn, request,
            tg_lib_set_error(TOOLGATE_ERR_CONNECTION,
                             "%s The request was not executed.", conn->why),
            TG_STR_NONE);
    }
}

static void
tg_client_conn_notify_program(tg_client_conn_t *conn, int is_connected)
{
    if (conn->conf.connected != NULL) {
        conn->runtime.ncallbacks++;
        conn->conf.connected(is_connected, is_connected ? NULL : conn->why,
                             conn->conf.connected_data);
        conn->runtime.ncallbacks--;
    }
}

/*
 * Ends the wait of toolgate_client_open(). Returns 1 if there was one: then no
 * failure is reported to the program's callback.
 */
static int
tg_client_conn_set_connected(tg_client_conn_t *conn, int is_connected)
{
    struct stat st;
    uv_os_fd_t fd;
    int is_opening;

    fd = -1;

    if (is_connected
        && (uv_fileno(&conn->client.conn.ends[0].as.handle, &fd) != 0
            || fstat(fd, &st) != 0))
    {
        fd = -1;
    }

    if (fd != -1) {
        conn->id = tg_file_id_make(&st);
    }

    tg_lib_lock();
    conn->fd = fd;
    conn->is_connected = is_connected;
    is_opening = conn->opener != NULL;

    if (is_opening) {
        tg_waiter_complete(conn->opener,
                           is_connected
                               ? 0
                               : tg_lib_set_error(TOOLGATE_ERR_CONNECTION, "%s",
                                                  conn->why),
                           NULL);
        conn->opener = NULL;
    }

    tg_lib_unlock();

    return is_opening;
}

static void
tg_client_conn_on_open(void *host)
{
    (void) tg_client_conn_set_connected(host, 1);
    tg_client_conn_notify_program(host, 1);
    tg_client_conn_renew_subscriptions(host);
}

static void
tg_client_conn_on_lost(void *host, int was_open)
{
    tg_uv_client_t *client;
    tg_client_conn_t *conn;
    uint64_t now;

    conn = host;
    client = &conn->client;
    now = uv_now(conn->runtime.loop);

    /* Failed attempts to reconnect are not reported, except the last one. */
    if (was_open) {
        conn->grace_until = conn->conf.hooks == NULL ? now + conn->conf.grace
                                                     : UINT64_MAX;
    }

    if (was_open || client->state == TG_UV_CLIENT_IDLE) {
        if (!tg_client_conn_set_connected(conn, 0)) {
            tg_client_conn_notify_program(conn, 0);
        }

    } else if (client->was_open && now >= conn->grace_until) {
        tg_uv_client_fail_unsent(client);
    }
}

/* Keeps the reason of a disconnect before it is reported. */
static void
tg_client_conn_on_disconnect(void *host)
{
    tg_client_conn_t *conn;

    conn = host;
    tg_uv_endpoint_explain_error(&conn->endpoint, conn->client.err, conn->why);
}

/*
 * Delivers the progress of a call, whose number is the progress token. Returns
 * 0 if there is no such call.
 */
static int
tg_client_conn_on_progress(tg_client_conn_t *conn, const tg_message_t *message)
{
    const char *params;
    uint64_t token;
    tg_client_request_t *request;

    if (conn->conf.progress == NULL
        || tg_caller_parse_id(message->p.progress_token, &token) != TG_OK)
    {
        return 0;
    }

    for (request = conn->first;
         request != NULL && request->call != TG_CLIENT_CALL_NUMBER(token);
         request = request->next)
    { /* void */
    }

    if (request == NULL) {
        return 0;
    }

    params = tg_client_conn_copy_text(conn, message->params);

    if (params == NULL) {
        return 1;
    }

    if (request->timeout != 0) {
        request->deadline = uv_now(conn->runtime.loop) + request->timeout;
    }

    conn->runtime.ncallbacks++;
    conn->conf.progress(request->call, params, message->params.len,
                        conn->conf.progress_data);
    conn->runtime.ncallbacks--;

    return 1;
}

static void
tg_client_conn_on_notification(void *host, tg_str_t method,
                               const tg_message_t *message)
{
    const char *params;
    tg_client_conn_t *conn;
    tg_buf_t name;

    conn = host;

    /* Only the command line shows the progress of unknown calls. */
    if (tg_json_body_eq_text(method, TG_STR("notifications/progress"))
        && (tg_client_conn_on_progress(conn, message)
            || conn->conf.hooks == NULL))
    {
        return;
    }

    if (tg_json_body_eq_text(method, TG_STR("notifications/resources/updated")))
    {
        tg_client_conn_report_update(conn, message->params);
    }

    if (conn->conf.notified == NULL) {
        return;
    }

    tg_buf_init(&name, tg_alloc_libc());
    tg_json_append_unescaped(&name, method);
    tg_buf_append_char(&name, '\0');
    params = message->params.data != NULL
                 ? tg_client_conn_copy_text(conn, message->params)
                 : NULL;

    /* Without memory the notification is lost, as while disconnected. */
    if (!tg_buf_has_failed(&name)
        && (params != NULL || message->params.data == NULL))
    {
        conn->runtime.ncallbacks++;
        conn->conf.notified(name.data, params, message->params.len,
                            conn->conf.notified_data);
        conn->runtime.ncallbacks--;
    }

    tg_buf_deinit(&name);
}

static void
tg_client_conn_on_trace(void *host, int is_theirs, tg_str_t bytes)
{
    const tg_client_hooks_t *hooks;

    hooks = ((tg_client_conn_t *) host)->conf.hooks;

    if (hooks != NULL) {
        hooks->on_trace(is_theirs, bytes, hooks->data);
    }
}

/* Counts unsent requests, cancelled ones included. */
static int
tg_client_conn_is_backlog_full(const tg_client_conn_t *conn)
{
    return conn->client.has_conn
           && tg_uv_conn_get_backlog(&conn->client.conn)
                  > TG_RUNTIME_COMMANDS_MAX;
}

void
tg_client_conn_send_request(tg_client_conn_t *conn,
                            tg_client_request_t *request)
{
    tg_uv_client_t *client;
    tg_runtime_t *runtime;

    client = &conn->client;
    runtime = &conn->runtime;
    TG_LIST_INSERT(conn->first, conn->last, conn->last, request);

    if (tg_client_conn_is_backlog_full(conn)) {
        tg_client_conn_finish_request(
            conn, request,
            tg_lib_set_error(TOOLGATE_ERR_BUSY,
                             "%s does not read its requests; the request was "
                             "not executed",
                             conn->endpoint.text),
            TG_STR_NONE);
        return;
    }

    if (request->timeout != 0) {
        uv_update_time(runtime->loop);
        request->deadline = uv_now(runtime->loop) + request->timeout;
        tg_runtime_schedule(runtime, request->deadline);
    }

    /* A new connection must not renew the subscription. */
    if (request->subscription == TG_CLIENT_UNSUBSCRIBE) {
        tg_client_conn_remove_subscription(conn, request->uv_request.params);
    }

    if (request->uv_request.list != NULL) {
        tg_mcp_list_init(&request->list, tg_alloc_libc(),
                         TG_UV_CLIENT_LIST_PAGES_MAX);
        request->list.kind = request->kind;
    }

    /* After the grace period a request tries to connect at once. */
    if (client->state == TG_UV_CLIENT_WAITING
        && uv_now(runtime->loop) >= conn->grace_until)
    {
        tg_uv_client_connect(client);
    }

    tg_uv_client_send_request(client, &request->uv_request);
}

void
tg_client_conn_run_request(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    tg_client_request_t *request;

    request = command->request;
    tg_runtime_command_free(command);

    if (runtime == NULL) {
        request->on_response(
            request->call,
            tg_lib_set_error(TOOLGATE_ERR_CONNECTION,
                             "the client was closed; the request was not "
                             "executed"),
            NULL, 0, request->data);
        free(request);
        return;
    }

    tg_client_conn_send_request((tg_client_conn_t *) runtime, request);
}

void
tg_client_conn_run_cancel(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    toolgate_call_t call;
    tg_client_conn_t *conn;
    tg_client_request_t *request;

    memcpy(&call, command->text, sizeof(call));
    tg_runtime_command_free(command);
    conn = (tg_client_conn_t *) runtime;

    for (request = conn != NULL ? conn->first : NULL; request != NULL;
         request = request->next)
    {
        if (request->call == call) {
            tg_uv_client_cancel_request(&conn->client, &request->uv_request);
            tg_client_conn_finish_request(
                conn, request,
                tg_lib_set_error(TOOLGATE_ERR_GONE, "the call was cancelled"),
                TG_STR_NONE);
            return;
        }
    }
}

static void
tg_client_conn_timeout_request(tg_client_conn_t *conn,
                               tg_client_request_t *request)
{
    int was_sent;

    was_sent = request->uv_request.is_sent;
    tg_uv_client_cancel_request(&conn->client, &request->uv_request);
    tg_client_conn_finish_request(
        conn, request,
        tg_lib_set_error(TOOLGATE_ERR_TIMEOUT,
                         "no response from %s within %llu ms; %s",
                         conn->endpoint.text,
                         (unsigned long long) request->timeout,
                         was_sent ? "the request was cancelled"
                                  : "the request was not executed"),
        TG_STR_NONE);
}

static void
tg_client_conn_run_timers(tg_runtime_t *runtime)
{
    tg_client_conn_t *conn;
    tg_client_request_t *request, *next;
    uint64_t due, now;

    conn = (tg_client_conn_t *) runtime;
    now = uv_now(runtime->loop);
    due = UINT64_MAX;

    for (request = conn->first; request != NULL; request = next) {
        next = request->next;

        if (request->deadline != 0 && request->deadline <= now) {
            tg_client_conn_timeout_request(conn, request);
        } else if (request->deadline != 0 && request->deadline < due) {
            due = request->deadline;
        }
    }

    tg_runtime_schedule(runtime, due);
}

static void
tg_client_conn_flush(tg_runtime_t *runtime)
{
    tg_uv_client_flush(&((tg_client_conn_t *) runtime)->client);
}

static void
tg_client_conn_stop(tg_runtime_t *runtime)
{
    tg_client_conn_t *conn;
    tg_client_request_t *request;

    conn = (tg_client_conn_t *) runtime;

    while ((request = conn->first) != NULL) {
        tg_uv_client_cancel_request(&conn->client, &request->uv_request);
        tg_client_conn_finish_request(
            conn, request,
            tg_lib_set_error(TOOLGATE_ERR_CONNECTION,
                             "the client was closed; the request may have "
                             "been executed"),
            TG_STR_NONE);
    }

    tg_lib_lock();
    conn->fd = -1;
    conn->is_connected = 0;

    if (conn->opener != NULL) {
        tg_waiter_complete(conn->opener,
                           tg_lib_set_error(TOOLGATE_ERR_CONNECTION,
                                            "the client was closed"),
                           NULL);
        conn->opener = NULL;
    }

    tg_lib_unlock();
    tg_uv_client_close(&conn->client);
}

static void
tg_client_conn_on_closed(void *host)
{
    tg_runtime_unref_handle(host);
}

void
tg_client_conn_free(tg_runtime_t *runtime)
{
    tg_client_conn_t *conn;

    conn = (tg_client_conn_t *) runtime;

    /* A connection that was never opened has no client. */
    if (conn->client.loop != NULL) {
        tg_uv_client_deinit(&conn->client);
    }

    tg_client_conn_free_subscriptions(conn);
    tg_uv_endpoint_free(&conn->endpoint);
    free(conn->address);
    free(conn->info);
}

void
tg_client_conn_open(tg_client_conn_t *conn)
{
    static const tg_uv_client_ops_t ops = {
        .on_response = tg_client_conn_on_response,
        .opened = tg_client_conn_on_open,
        .on_disconnect = tg_client_conn_on_disconnect,
        .on_conn_lost = tg_client_conn_on_lost,
        .notification = tg_client_conn_on_notification,
        .trace = tg_client_conn_on_trace,
        .closed = tg_client_conn_on_closed,
    };
    tg_uv_client_t *client;

    client = &conn->client;
    client->endpoint = &conn->endpoint;
    client->connect_timeout = conn->conf.connect_timeout;
    client->has_endless_reconnect = conn->conf.hooks == NULL;
    client->is_persistent = conn->conf.hooks == NULL;
    client->info = conn->info;
    client->has_mcp_initialize = conn->conf.hooks == NULL
                                 && (conn->conf.notified != NULL
                                     || conn->conf.updated != NULL);
    conn->runtime.run_timers = tg_client_conn_run_timers;
    conn->runtime.flush = tg_client_conn_flush;
    conn->runtime.stop = tg_client_conn_stop;
    conn->runtime.nopen++;
    tg_uv_client_init(client, &conn->runtime.sched, &ops, conn,
                      TG_DIALECT_JSONRPC, (size_t) conn->conf.max_frame);
    tg_uv_client_connect(client);
}
