/*
 * A worker's connection to toolgate-runner. If no runner accepts it, the worker
 * starts one, which outlives the worker.
 */
#include "nginx/upstream/ngx_tg_runner.h"

/* Largest message in bytes: a max_output of 32 MiB, every byte escaped. */
#define NGX_TG_RUNNER_FRAME_MAX 268435456
/* Limits of requests and bytes that wait while the runner does not read. */
#define NGX_TG_RUNNER_REQUESTS_MAX 4096
#define NGX_TG_RUNNER_WAITING_BYTES_MAX 67108864
/* Delays between connects, and a start's time on a busy machine, in ms. */
#define NGX_TG_RUNNER_RETRY_DELAY_MIN 2
#define NGX_TG_RUNNER_RETRY_DELAY_MAX 200
#define NGX_TG_RUNNER_START_TIMEOUT 10000
/* --- notifications of the runner --- */

/* Forwards progress, a log message, or a server request to the call. */
static void
ngx_tg_runner_on_call_notification(ngx_tg_upstream_conn_t *conn,
                                   const tg_message_t *message)
{
    ngx_tg_upstream_request_t *request;

    request = ngx_tg_upstream_conn_find_request(conn, message->p.id);

    if (request != NULL && request->progress != NULL) {
        request->progress(request->data, message);
    }
}

static void
ngx_tg_relayed_call_notify_gone(ngx_tg_relayed_call_t *relayed)
{
    ngx_tg_relayed_call_remove(relayed);
    relayed->on_gone(relayed->data);
}

/* Cancels a call that this worker runs for another worker. */
static void
ngx_tg_runner_on_cancel(ngx_tg_runner_t *runner, tg_str_t params)
{
    ngx_tg_relayed_call_t *relayed;
    ngx_queue_t *q;
    tg_str_t key;

    if (tg_json_get_member(params, TG_STR("key"), &key) != TG_OK) {
        return;
    }

    for (q = ngx_queue_head(&runner->relayed);
         q != ngx_queue_sentinel(&runner->relayed); q = ngx_queue_next(q))
    {
        relayed = ngx_queue_data(q, ngx_tg_relayed_call_t, queue);

        if (tg_json_string_eq(key, tg_str_from_cstr(relayed->key))) {
            ngx_tg_relayed_call_notify_gone(relayed);
            return;
        }
    }
}

/* Writes the runner's message to NGINX's error log. */
static void
ngx_tg_runner_on_log(tg_str_t params)
{
    tg_str_t level, text;
    tg_buf_t buf;
    int64_t n;

    if (tg_json_get_member(params, TG_STR("level"), &level) != TG_OK
        || tg_json_parse_int64(level, &n) != TG_OK || n < NGX_LOG_EMERG
        || n > NGX_LOG_DEBUG
        || !tg_json_has_member(params, TG_STR("text"), TG_JSON_STRING, &text))
    {
        return;
    }

    tg_buf_init(&buf, tg_alloc_libc());
    tg_json_append_unescaped(&buf, tg_json_string_body(text));
    ngx_log_error((ngx_uint_t) n, ngx_cycle->log, 0, "toolgate-runner: %*s",
                  buf.len, buf.data);
    tg_buf_deinit(&buf);
}

static void
ngx_tg_runner_notify_subscribers(ngx_tg_runner_t *runner, tg_str_t method,
                                 tg_str_t params)
{
    ngx_tg_runner_subscriber_t *subscriber;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&runner->subscribers);
         q != ngx_queue_sentinel(&runner->subscribers); q = ngx_queue_next(q))
    {
        subscriber = ngx_queue_data(q, ngx_tg_runner_subscriber_t, queue);
        subscriber->on_notification(subscriber->data, method, params);
    }
}

static void
ngx_tg_runner_on_notification(ngx_tg_upstream_conn_t *conn, tg_str_t method,
                              const tg_message_t *message)
{
    if (tg_json_body_eq_text(method, TG_STR("progress"))
        || tg_json_body_eq_text(method, TG_STR("message"))
        || tg_json_body_eq_text(method, TG_STR("ask"))
        || tg_json_body_eq_text(method, TG_STR("unask")))
    {
        ngx_tg_runner_on_call_notification(conn, message);
    } else if (tg_json_body_eq_text(method, TG_STR("cancel"))) {
        ngx_tg_runner_on_cancel(conn->data, message->params);
    } else if (tg_json_body_eq_text(method, TG_STR("log"))) {
        ngx_tg_runner_on_log(message->params);
    } else {
        ngx_tg_runner_notify_subscribers(conn->data, method, message->params);
    }
}

/* --- connect and disconnect --- */

/* Requests the runner's log messages, which this worker writes from now on. */
static ngx_int_t
ngx_tg_runner_on_connected(ngx_tg_upstream_conn_t *conn)
{
    ngx_tg_runner_t *runner = conn->data;

    return runner->is_of_other_config
                   || tg_caller_send_request(&conn->caller, TG_STR("log"),
                                             TG_STR("{}"), runner, NULL)
                          == TG_OK
               ? NGX_OK
               : NGX_ERROR;
}

/* Takes the response to the log request as a sign that the runner serves. */
static ngx_uint_t
ngx_tg_runner_on_response(ngx_tg_upstream_conn_t *conn, void *tag,
                          const tg_response_t *answer)
{
    if (tag != conn->data) {
        return 0;
    }

    if (answer->kind == TG_RESPONSE_RESULT) {
        ngx_tg_runner_set_serving(conn->data);
    }

    return 1;
}

/* Starts the runner if no process accepts, unless it was just started. */
static ngx_int_t
ngx_tg_runner_on_connect_failed(ngx_tg_upstream_conn_t *conn, ngx_err_t err)
{
    ngx_tg_runner_t *runner = conn->data;

    if (ngx_current_msec - conn->first_try_at > NGX_TG_RUNNER_START_TIMEOUT) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, err,
                      "toolgate-runner does not answer at \"%s\"; run \"%V "
                      "--state-dir %V --foreground\" to see why",
                      runner->sockaddr.sun_path, &runner->path,
                      &runner->state_dir);
        return NGX_ERROR;
    }

    return err == NGX_ENOENT || err == NGX_ECONNREFUSED
                   || (err == NGX_EACCES && runner->is_of_other_config)
               ? ngx_tg_runner_start_if_due(runner)
               : NGX_OK;
}

/*
 * Handles a lost connection. With calls in flight, starts the next runner at
 * once: if the supervisor was killed as well, only a new runner ends the old
 * programs.
 */
static void
ngx_tg_runner_on_lost(ngx_tg_upstream_conn_t *conn, ngx_uint_t nrequests,
                      ngx_uint_t has_ended)
{
    ngx_tg_runner_t *runner = conn->data;

    ngx_tg_runner_subscriber_t *subscriber;
    ngx_queue_t *q;

    while (!ngx_queue_empty(&runner->relayed)) {
        ngx_tg_relayed_call_notify_gone(ngx_queue_data(
            ngx_queue_head(&runner->relayed), ngx_tg_relayed_call_t, queue));
    }

    for (q = ngx_queue_head(&runner->subscribers);
         q != ngx_queue_sentinel(&runner->subscribers); q = ngx_queue_next(q))
    {
        subscriber = ngx_queue_data(q, ngx_tg_runner_subscriber_t, queue);
        subscriber->on_lost(subscriber->data);
    }

    if (!has_ended || runner->is_of_other_config) {
        return;
    }

    if (nrequests != 0) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "toolgate-runner exited with %ui %s in flight; "
                      "restarting it",
                      nrequests, tg_pick_plural(nrequests, "call", "calls"));
        ngx_tg_upstream_conn_connect(conn);

    } else if (!conn->has_received && !ngx_tg_worker_is_exiting()
               && conn->state == NGX_TG_UPSTREAM_CONN_CLOSED)
    {
        /* An exiting runner had accepted: count it as unreachable. */
        ngx_tg_upstream_conn_fail(conn, NGX_ECONNREFUSED);
    }
}

static const ngx_tg_upstream_conn_ops_t ngx_tg_runner_ops = {
    .on_connect_failed = ngx_tg_runner_on_connect_failed,
    .on_connected = ngx_tg_runner_on_connected,
    .answer = ngx_tg_runner_on_response,
    .on_lost = ngx_tg_runner_on_lost,
    .notification = ngx_tg_runner_on_notification,
};

void
ngx_tg_runner_init(ngx_tg_runner_t *runner)
{
    ngx_tg_upstream_conn_t *conn;

    ngx_queue_init(&runner->relayed);
    ngx_queue_init(&runner->subscribers);

    conn = &runner->conn;
    conn->ops = &ngx_tg_runner_ops;
    conn->data = runner;
    ngx_str_set(&conn->name, "toolgate-runner");
    conn->sockaddr = (struct sockaddr *) &runner->sockaddr;
    conn->socklen = sizeof(runner->sockaddr);
    conn->max_requests = NGX_TG_RUNNER_REQUESTS_MAX;
    conn->max_bytes = NGX_TG_RUNNER_WAITING_BYTES_MAX;
    conn->min_delay = NGX_TG_RUNNER_RETRY_DELAY_MIN;
    conn->max_delay = NGX_TG_RUNNER_RETRY_DELAY_MAX;
    conn->connect_time = NGX_TG_RUNNER_START_TIMEOUT;
    conn->is_never_greedy = 1;
    ngx_tg_runner_set_serving(runner);
    ngx_tg_upstream_conn_init(conn, TG_DIALECT_JSONRPC,
                              NGX_TG_RUNNER_FRAME_MAX);
}

int
ngx_tg_runner_send_request(ngx_tg_runner_t *runner, tg_str_t method,
                           tg_str_t params, ngx_tg_upstream_request_t *request)
{
    return ngx_tg_upstream_conn_send_request(&runner->conn, method, params,
                                             request);
}

ngx_uint_t
ngx_tg_runner_is_reachable(const ngx_tg_runner_t *runner)
{
    ngx_uint_t is_reachable;
    int fd;

    if (runner->conn.state == NGX_TG_UPSTREAM_CONN_OPEN) {
        return 1;
    }

    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    is_reachable = fd != -1
                   && connect(fd, (const struct sockaddr *) &runner->sockaddr,
                              sizeof(runner->sockaddr))
                          == 0;

    if (fd != -1) {
        (void) close(fd);
    }

    return is_reachable;
}

void
ngx_tg_runner_hold_conn(ngx_tg_runner_t *runner)
{
    runner->conn.nholds++;

    if (runner->conn.connection != NULL) {
        runner->conn.connection->idle = 0;
    }
}

/* Wakes the connection, which may now be idle. */
void
ngx_tg_runner_release_conn(ngx_tg_runner_t *runner)
{
    runner->conn.nholds--;
    ngx_tg_upstream_conn_wake(&runner->conn);
}

void
ngx_tg_runner_add_relayed_call(ngx_tg_runner_t *runner,
                               ngx_tg_relayed_call_t *relayed)
{
    relayed->runner = runner;
    ngx_queue_insert_tail(&runner->relayed, &relayed->queue);
    ngx_tg_runner_hold_conn(runner);
}

void
ngx_tg_runner_add_subscriber(ngx_tg_runner_t *runner,
                             ngx_tg_runner_subscriber_t *subscriber)
{
    ngx_queue_insert_tail(&runner->subscribers, &subscriber->queue);
}

void
ngx_tg_relayed_call_remove(ngx_tg_relayed_call_t *relayed)
{
    if (relayed->runner == NULL) {
        return;
    }

    ngx_queue_remove(&relayed->queue);
    ngx_tg_runner_release_conn(relayed->runner);
    relayed->runner = NULL;
}

void
ngx_tg_runner_notify(ngx_tg_runner_t *runner, tg_str_t method, tg_str_t params)
{
    if (runner->conn.state == NGX_TG_UPSTREAM_CONN_OPEN
        && tg_caller_send_notification(&runner->conn.caller, method, params)
               == TG_OK)
    {
        ngx_tg_upstream_conn_wake(&runner->conn);
    }
}

void
ngx_tg_runners_exit_process(ngx_cycle_t *cycle)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_runner_t **runners;
    ngx_uint_t i;

    mcf = ngx_tg_cycle_get_main_conf(cycle);

    if (mcf == NULL) {
        return;
    }

    runners = mcf->runners.elts;

    for (i = 0; i < mcf->runners.nelts; i++) {
        ngx_tg_upstream_conn_deinit(&runners[i]->conn);
        ngx_tg_runner_close_report(runners[i]);
    }
}
